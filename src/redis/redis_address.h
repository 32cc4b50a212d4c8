/* redis_address.h: the addresses of a host, or of the unix socket that a path names.
 *
 * A host that begins with a '/' is the path of a socket; its port means nothing. Everything else goes to the system's
 * resolver, which may be slow unless `flags` have AI_NUMERICHOST. */
#ifndef REDIS_ADDRESS_H
#define REDIS_ADDRESS_H

#include <netdb.h>
#include <stdbool.h>

#define ADDRESS_PATH_MAX	107u		/* bytes that the kernel takes */

static inline bool address_is_path(const char *host)
{
	return host[0] == '/';
}

/* The host on which another port of the same machine is: the path of a socket leads to that socket for any port. */
static inline const char *address_machine(const char *host)
{
	return address_is_path(host) ? "127.0.0.1" : host;
}

/* A form of the host by which two URLs of one server compare equal, without a lookup: 127.0.0.1, 127.1 and ::1 are
 * "localhost", other numeric addresses have their usual form, names are in lower case. The caller frees it. */
char *address_canonical(const char *host);

/* 0, or an error of getaddrinfo. The caller frees with address_free, not with freeaddrinfo. */
int address_look_up(const char *host, unsigned port, int flags, struct addrinfo **ret);
void address_free(struct addrinfo *a);		/* NULL is fine */

#endif
