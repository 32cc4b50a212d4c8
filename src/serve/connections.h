/* connections.h: the open connections, so that idle clients cannot lock out others.
 *
 * At its connection limit libmicrohttpd accepts no more until a connection has been idle for 30 seconds. Below that
 * limit each new connection closes the one that has been idle for longest: first one without a complete request,
 * else one that does not read its response, never one whose response is being made. Any thread. */
#ifndef SERVE_CONNECTIONS_H
#define SERVE_CONNECTIONS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum connection_state {
	CONNECTION_READS,	/* waiting for a request, or for the rest of one */
	CONNECTION_ANSWERS,	/* the response is being made */
	CONNECTION_SENDS,	/* the response is being sent */
};

struct connection;

struct connections {
	pthread_mutex_t lock;
	struct connection *first, *last;	/* the connection idle for longest comes first */
	unsigned live, most;			/* connections that were not shut down; the limit */
	bool is_full;				/* logged, and still true */
	_Atomic uint64_t evicted;		/* closed to make room for new ones */
};

void connections_init(struct connections *c, unsigned most);
void connections_done(struct connections *c);		/* after all connections were removed */

/* The caller keeps the descriptor, and removes the connection before closing it. Above `most` connections,
 * another one is shut down (shutdown(2)), which its owner sees as EOF. */
struct connection *connections_add(struct connections *c, int fd);
void connections_remove(struct connections *c, struct connection *one);		/* NULL is fine */

/* Shuts down the connection that has been sending its response for the longest time, if that exceeds `longer_than_ns`:
 * used when such responses hold memory that others need. False if there is none. */
bool connections_evict(struct connections *c, int64_t longer_than_ns);

/* Records the connection's new state, which resets its idle time. NULL is fine. */
void connections_set_state(struct connections *c, struct connection *one, enum connection_state state);

#endif
