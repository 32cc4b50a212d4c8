/* run_unfinished.h: open runs and open samples (kinds 3 and 4 of wire/strobe_wire.h), as they were last told.
 *
 * Anything still in it when nothing comes any more belongs to processes that were killed, or that still run.
 */
#ifndef RUN_RUN_UNFINISHED_H
#define RUN_RUN_UNFINISHED_H

#include "strobe_wire.h"

#define UNFINISHED_ENDED 256u

struct unfinished {			/* all zero is empty */
	struct open_part *first;
	uint64_t ended[UNFINISHED_ENDED];	/* hashes of the keys that ended last: a thread that tells of another one may be late */
	unsigned next_ended;
};

/* Notes an open message, in place of what it says again. */
void unfinished_put(struct unfinished *u, const struct strobe_wire_message *m);

/* A message that is whole has come: what was open of it is forgotten. */
void unfinished_end(struct unfinished *u, const struct strobe_wire_message *m);

/* Calls `take` with each message that is left, in the order of their beginning, and forgets them. Runs of which nothing is
 * known but that they have begun have no nodes. */
void unfinished_take(struct unfinished *u, void (*take)(void *data, const struct strobe_wire_message *m), void *data);

void unfinished_done(struct unfinished *u);

#endif
