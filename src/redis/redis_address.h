/* redis_address.h: resolves a host, or the path of a unix socket.
 *
 * A host that begins with a '/' is the path of a socket; its port is ignored. Everything else is resolved by the
 * system, which may be slow unless `flags` has AI_NUMERICHOST. */
#ifndef REDIS_ADDRESS_H
#define REDIS_ADDRESS_H

#include <netdb.h>
#include <stdbool.h>

#define ADDRESS_PATH_MAX	107u		/* the kernel's limit, in bytes */

static inline bool address_is_path(const char *host)
{
	return host[0] == '/';
}

/* Returns the host of another port on the same machine: the path of a socket only leads to that socket, whatever the
 * port. */
static inline const char *address_machine(const char *host)
{
	return address_is_path(host) ? "127.0.0.1" : host;
}

/* Returns a form of the host in which two URLs of one server compare equal, without a lookup: 127.0.0.1, 127.1 and
 * ::1 become "localhost", other numeric addresses have their usual form, names are in lower case. The caller frees it. */
char *address_canonical(const char *host);

/* Returns 0, or an error of getaddrinfo. The caller frees the result with address_free, not with freeaddrinfo. */
int address_look_up(const char *host, unsigned port, int flags, struct addrinfo **ret);
void address_free(struct addrinfo *a);		/* NULL is fine */

#endif
