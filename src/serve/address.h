/* address.h: "host:port" as people write it after --listen and as browsers send it in Host and Origin.
 *
 * Hosts are kept in lower case and without brackets. Nothing here uses the network. */
#ifndef SERVE_ADDRESS_H
#define SERVE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#define ADDRESS_HOST 256	/* a DNS name has 253 characters at most */

struct address {
	char host[ADDRESS_HOST];
	int port;		/* -1 if none was written */
	bool bracketed;		/* an IPv6 address, written [::1] */
};

/* Returns 0, -ERANGE for a port above 65535, or -EINVAL for anything else that is not a host name or IP address with an
 * optional port. */
int address_parse(const char *text, struct address *ret);

/* localhost (RFC 6761: never resolved by the network), 127.0.0.0/8 and ::1. */
bool address_is_loopback(const struct address *a);
bool address_is_wildcard(const struct address *a);	/* 0.0.0.0 and :: */

#endif
