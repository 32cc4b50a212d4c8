/* resolve.h: resolves host names without blocking the loop.
 *
 * Numeric addresses and paths of sockets are answered at once; names are looked up by a thread of their own, which ends
 * when the resolver of the system does (some ten seconds at worst), even if the lookup was canceled. */
#ifndef REDIS_RESOLVE_H
#define REDIS_RESOLVE_H

#include "loop.h"
#include <netdb.h>

struct resolve;

/* `done` is called once from the loop, or before this returns, with addresses that are the receiver's (address_free),
 * or with NULL and a sentence. In its call the lookup is over: `*ret` is NULL by then and need not be canceled. */
int resolve_start(const char *host, unsigned port, struct loop *loop,
		  void (*done)(void *data, struct addrinfo *addresses, const struct err *err), void *data,
		  struct resolve **ret, struct err *err);

/* Nothing is called any more. NULL is fine; returns NULL. */
struct resolve *resolve_cancel(struct resolve *r);

#endif
