/* networks.c: matches addresses against networks, both as 128 bits. */
#include "networks.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

static bool is_mapped(const struct ip *ip)
{
	return memcmp(ip->bytes, mapped, sizeof(mapped)) == 0;
}

bool ip_parse(const char *text, size_t n, struct ip *ret)
{
	char copy[INET6_ADDRSTRLEN + 2];

	if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	}
	if (n >= sizeof(copy))
		return false;
	memcpy(copy, text, n);
	copy[n] = '\0';
	memcpy(ret->bytes, mapped, sizeof(mapped));
	return inet_pton(AF_INET, copy, ret->bytes + sizeof(mapped)) == 1 || inet_pton(AF_INET6, copy, ret->bytes) == 1;
}

struct ip ip_of_sender(const struct ip *ip)
{
	struct ip sender = *ip;

	if (!is_mapped(ip))
		memset(sender.bytes + 8, 0, 8);
	return sender;
}

int network_parse(const char *text, struct network *ret, struct err *err)
{
	size_t n = strcspn(text, "/");
	unsigned long bits;
	unsigned most;
	char *end;

	if (!ip_parse(text, n, &ret->first))
		return err_set(err, -EINVAL, "an IP address, or a range such as 10.0.0.0/8");
	ret->bits = 128;
	if (!text[n])
		return 0;
	most = is_mapped(&ret->first) ? 32 : 128;
	bits = strtoul(text + n + 1, &end, 10);
	if (text[n + 1] < '0' || text[n + 1] > '9' || *end || bits > most)
		return err_set(err, -EINVAL, "0 to %u after the slash", most);
	ret->bits = 128 - most + (unsigned)bits;
	return 0;
}

static bool holds(const struct network *network, const struct ip *ip)
{
	unsigned whole = network->bits / 8, rest = network->bits % 8;

	return memcmp(network->first.bytes, ip->bytes, whole) == 0 &&
	       (!rest || (network->first.bytes[whole] ^ ip->bytes[whole]) >> (8 - rest) == 0);
}

bool networks_contain(const struct network *networks, size_t count, const struct ip *ip)
{
	for (size_t i = 0; i < count; i++)
		if (holds(&networks[i], ip))
			return true;
	return false;
}
