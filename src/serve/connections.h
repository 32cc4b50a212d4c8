/* connections.h: who is connected, so that those who send nothing cannot keep the others out.
 *
 * libmicrohttpd takes so many connections and then none, until one has been silent for 30 seconds. With fewer than that
 * we hang up on whoever has done nothing for the longest time, each time that one more comes: first on one who has not
 * sent a whole request, else on one who does not read the answer, never on one whose answer is being made. Any
 * thread. */
#ifndef SERVE_CONNECTIONS_H
#define SERVE_CONNECTIONS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum connection_state {
	CONNECTION_READS,	/* a request is awaited, or a part of it is there */
	CONNECTION_ANSWERS,	/* it is being answered */
	CONNECTION_SENDS,	/* the answer is on its way */
};

struct connection;

struct connections {
	pthread_mutex_t lock;
	struct connection *first, *last;	/* the one that did nothing for the longest time is the first */
	unsigned live, most;			/* without those that we hung up on */
	bool is_full;				/* said, and not over */
	_Atomic uint64_t given_way;		/* counted */
};

void connections_init(struct connections *c, unsigned most);
void connections_done(struct connections *c);		/* when all of them were removed */

/* The descriptor stays the caller's, who removes the connection before closing it. When there are more than `most`,
 * another one is shut down (shutdown(2)), which its owner sees as the end of what it sends. */
struct connection *connections_add(struct connections *c, int fd);
void connections_remove(struct connections *c, struct connection *one);		/* NULL is fine */

/* Hangs up on the one that has been sending its answer for the longest time, if that is longer than so long: for when
 * such answers hold what others need. False if there is none. */
bool connections_give_way(struct connections *c, int64_t longer_than_ns);

/* It did something now. NULL is fine. */
void connections_note(struct connections *c, struct connection *one, enum connection_state state);

#endif
