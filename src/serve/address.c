/* address.c: reads "host:port". Strict, because what is accepted here decides who may read the daemon. */

#include "address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

static bool is_host_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Copies `n` bytes in lower case; -EINVAL if `n` is 0 or too large. */
static int take_host(struct address *a, const char *p, size_t n)
{
	if (n == 0 || n >= sizeof(a->host))
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		a->host[i] = lower(p[i]);
	a->host[n] = '\0';
	return 0;
}

static int check_host(const struct address *a)
{
	struct in6_addr in6;

	if (a->bracketed)
		return inet_pton(AF_INET6, a->host, &in6) == 1 ? 0 : -EINVAL;
	for (const char *p = a->host; *p; p++)
		if (!is_host_char(*p))
			return -EINVAL;
	return 0;
}

static int take_port(struct address *a, const char *p)
{
	int port = 0;

	if (*p == '\0')
		return -EINVAL;
	for (; *p; p++) {
		if (*p < '0' || *p > '9')
			return -EINVAL;
		port = port * 10 + (*p - '0');
		if (port > 65535)
			return -ERANGE;
	}
	a->port = port;
	return 0;
}

int address_parse(const char *text, struct address *ret)
{
	struct address a = { .port = -1 };
	const char *start = text, *end;
	int r;

	a.bracketed = *text == '[';
	if (a.bracketed) {
		start++;
		end = strchr(start, ']');
		if (!end || (end[1] != ':' && end[1] != '\0'))
			return -EINVAL;
	} else {
		end = start + strcspn(start, ":");
	}

	r = take_host(&a, start, (size_t)(end - start));
	if (r < 0 || (r = check_host(&a)) < 0)
		return r;
	if (a.bracketed)
		end++;
	if (*end == ':' && (r = take_port(&a, end + 1)) < 0)
		return r;

	*ret = a;
	return 0;
}

bool address_is_loopback(const struct address *a)
{
	struct in_addr in;
	struct in6_addr in6;

	if (a->bracketed)
		return inet_pton(AF_INET6, a->host, &in6) == 1 && IN6_IS_ADDR_LOOPBACK(&in6);
	if (inet_pton(AF_INET, a->host, &in) == 1)
		return ntohl(in.s_addr) >> 24 == 127;
	return strcmp(a->host, "localhost") == 0;
}

bool address_is_wildcard(const struct address *a)
{
	struct in6_addr in6;

	if (a->bracketed)
		return inet_pton(AF_INET6, a->host, &in6) == 1 && IN6_IS_ADDR_UNSPECIFIED(&in6);
	return strcmp(a->host, "0.0.0.0") == 0;
}
