/* networks.h: ranges of IP addresses, such as those of reverse proxies, and single ones.
 *
 * IPv4 addresses are kept as IPv6 ones (::ffff:192.0.2.7), so that an address is the same over either protocol. */
#ifndef SERVE_NETWORKS_H
#define SERVE_NETWORKS_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ip {
	uint8_t bytes[16];
};

struct network {
	struct ip first;
	unsigned bits;			/* significant bits of `first`, 0 to 128 */
};

/* "192.0.2.7" or "2001:db8::1", also in brackets. False for anything else. */
bool ip_parse(const char *text, size_t n, struct ip *ret);

/* Returns the address under which a sender is counted: for IPv6, its /64. */
struct ip ip_of_sender(const struct ip *ip);

/* Parses "10.0.0.0/8", "2001:db8::/32", or a single address. Returns -EINVAL with what to use in `err`. */
int network_parse(const char *text, struct network *ret, struct err *err);

bool networks_contain(const struct network *networks, size_t count, const struct ip *ip);

#endif
