/* coalesce.h: queries that are the same and wait at the same time become one.
 *
 * The first one that waits leads. Whoever asks the same before it begins follows, and is given the same answer, which is made
 * after everybody asked: nobody gets older data than alone. "now" in it is the moment at which it begins. Any thread.
 */
#ifndef SERVE_COALESCE_H
#define SERVE_COALESCE_H

#include "http.h"

struct waiting_query {
	const struct request *request;
	struct waiting_query *next;		/* of those that lead, or of the followers of one */
	struct waiting_query *followers;
};

struct coalesce {
	pthread_mutex_t lock;
	struct waiting_query *leaders;
};

void coalesce_init(struct coalesce *c);
void coalesce_done(struct coalesce *c);

/* True if another one leads, whose thread answers `w` then; else `w` leads until coalesce_begin. It must stay where it is. */
bool coalesce_join(struct coalesce *c, struct waiting_query *w);

/* Nobody follows from now on. */
void coalesce_begin(struct coalesce *c, struct waiting_query *w);

#endif
