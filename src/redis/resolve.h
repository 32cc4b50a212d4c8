/* resolve.h: resolves host names without blocking the loop.
 *
 * Numeric addresses and paths of sockets are resolved at once; names are looked up in a separate thread, which ends
 * when the system's resolver returns (after about ten seconds at worst), even if the lookup was canceled. */
#ifndef REDIS_RESOLVE_H
#define REDIS_RESOLVE_H

#include "loop.h"
#include <netdb.h>

struct resolve;

/* `done` is called once, from the loop or before this returns, with addresses that the receiver frees (address_free),
 * or with NULL and a sentence. The lookup is over by then: `*ret` is NULL and must not be canceled. */
int resolve_start(const char *host, unsigned port, struct loop *loop,
		  void (*done)(void *data, struct addrinfo *addresses, const struct err *err), void *data,
		  struct resolve **ret, struct err *err);

/* Cancels the lookup; `done` will not be called. NULL is fine; returns NULL. */
struct resolve *resolve_cancel(struct resolve *r);

#endif
