/* open_runs.h: the runs that one sender has announced (kind 3 of wire/strobe_wire.h) and that have not come yet.
 *
 * Runs still listed when the connection ends are lost: the sender's process was killed. */
#ifndef COLLECT_OPEN_RUNS_H
#define COLLECT_OPEN_RUNS_H

#include "strobe_wire.h"

#include <stdbool.h>
#include <stddef.h>

#define OPEN_RUNS_MAX	1024u		/* per sender; further ones are ignored, and their loss is not counted */

struct open_runs {
	uint64_t *ids;			/* hashes */
	size_t count, capacity;
};

void open_runs_done(struct open_runs *o);	/* `o` may be all zero */

/* Notes what a message says about open runs. `m` must have been accepted by strobe_wire_parse. */
void open_runs_note(struct open_runs *o, const struct strobe_wire_message *m);

/* Returns the value of a label of such a message, as a pointer into it; NULL if the label is missing. */
const char *open_runs_label(const struct strobe_wire_message *m, const char *name, size_t *ret_length);

#endif
