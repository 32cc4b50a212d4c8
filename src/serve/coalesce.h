/* coalesce.h: merges identical queries that wait at the same time into one.
 *
 * The first waiting query is the leader. Identical queries that arrive before it begins follow it and get the same
 * answer, which is computed after all of them have arrived, so none gets older data than on its own. "now" is the
 * time at which the leader begins. Any thread.
 */
#ifndef SERVE_COALESCE_H
#define SERVE_COALESCE_H

#include "http.h"

struct waiting_query {
	const struct request *request;
	struct waiting_query *next;		/* in the list of leaders, or of the followers of one */
	struct waiting_query *followers;
};

struct coalesce {
	pthread_mutex_t lock;
	struct waiting_query *leaders;
};

void coalesce_init(struct coalesce *c);
void coalesce_done(struct coalesce *c);

/* True if `w` follows another query, whose thread answers it; else `w` leads until coalesce_begin. `w` must not be moved. */
bool coalesce_join(struct coalesce *c, struct waiting_query *w);

/* Ends the wait of `w`: later queries no longer follow it. */
void coalesce_begin(struct coalesce *c, struct waiting_query *w);

#endif
