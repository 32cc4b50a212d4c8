/* day_values.h: adds up the rows of a day's chunks, by column and node.
 *
 * A large query spends most of its time here, waiting for memory: each row is for one of half a million nodes. So a
 * row writes to only one array for samples and time (time is computed per period once the day is complete), and rows
 * are decoded and prefetched in groups before they are added. */
#ifndef STORE_DAY_VALUES_H
#define STORE_DAY_VALUES_H

#include "sqlite_scan.h"
#include "stack_tree.h"

#define DAY_VALUES_PERIODS	4u		/* clocks and periods of one day whose time is computed at the end */

struct day_values {
	struct profile *profile;		/* the profile that has the columns */
	int64_t *columns[PROFILE_COLUMNS];	/* by column of the profile, then by node; NULL if all are 0 */

	/* private */
	struct weighed {			/* samples whose time is computed at the end */
		uint32_t samples, time;		/* columns of the profile */
		int64_t period_ns;
		int64_t *values;		/* samples, by node */
	} weighed[DAY_VALUES_PERIODS];
	uint32_t weighed_count, node_count;
};

/* The buckets of a chunk's hour in which rows were added, [first, end), and their samples. `end` is 0 if no rows were
 * added. */
struct rows_added {
	unsigned first, end;
	uint64_t samples;
};

void day_values_init(struct day_values *v, struct profile *p);
void day_values_done(struct day_values *v);

/* Adds the requested rows; `tree` is the day's. Returns 0, or -EBADMSG after adding the rows before the damage. */
int day_values_add(struct day_values *v, const struct stack_tree *tree, const struct scan_chunk *c, struct rows_added *ret);

/* Call once, after all chunks of the day were added and before reading `columns`: removes from the tree and the
 * values all nodes that neither have values nor lead to one, and renumbers the rest without gaps. */
void day_values_finish(struct day_values *v, struct stack_tree *tree);

#endif
