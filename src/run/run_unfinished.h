/* run_unfinished.h: open runs and open samples (kinds 3 and 4 of wire/strobe_wire.h), as last reported.
 *
 * Anything left at the end belongs to processes that were killed or are still running.
 */
#ifndef RUN_RUN_UNFINISHED_H
#define RUN_RUN_UNFINISHED_H

#include "strobe_wire.h"

#define UNFINISHED_ENDED 256u

struct unfinished {			/* all zero is empty */
	struct open_part *first;
	uint64_t ended[UNFINISHED_ENDED];	/* hashes of the last keys that ended: a report by another thread may be late */
	unsigned next_ended;
};

/* Notes an open message, replacing its predecessor. */
void unfinished_put(struct unfinished *u, const struct strobe_wire_message *m);

/* Call when a complete message has arrived: drops its open data. */
void unfinished_end(struct unfinished *u, const struct strobe_wire_message *m);

/* Calls `take` with each remaining message, in the order of their start, and drops them. Runs that were only
 * announced have no nodes. */
void unfinished_take(struct unfinished *u, void (*take)(void *data, const struct strobe_wire_message *m), void *data);

void unfinished_done(struct unfinished *u);

#endif
