/* day_values.h: adds up the rows of a day's chunks, by column and node.
 *
 * A large query spends most of its time here, waiting for memory: each row is for one of half a million nodes. So a row writes to one
 * array for both samples and their time, which is computed per period when the day is complete, and rows are decoded and prefetched in
 * groups before they are added. */
#ifndef STORE_DAY_VALUES_H
#define STORE_DAY_VALUES_H

#include "sqlite_scan.h"
#include "stack_tree.h"

#define DAY_VALUES_PERIODS	4u		/* clocks and periods of one day whose time is worked out at the end */

struct day_values {
	struct profile *profile;		/* the one that has the columns */
	int64_t *columns[PROFILE_COLUMNS];	/* by column of the profile, then by node; NULL if all are 0 */

	/* private */
	struct weighed {			/* samples whose time is computed at the end */
		uint32_t samples, time;		/* columns of the profile */
		int64_t period_ns;
		int64_t *values;		/* samples, by node */
	} weighed[DAY_VALUES_PERIODS];
	uint32_t weighed_count, node_count;
};

/* The buckets of a chunk's hour in which rows were added, [first, end), and their samples. Nothing was added: end is 0. */
struct rows_added {
	unsigned first, end;
	uint64_t samples;
};

void day_values_init(struct day_values *v, struct profile *p);
void day_values_done(struct day_values *v);

/* Adds the rows that are requested; `tree` is the day's. 0, or -EBADMSG, with what was right before the damage added. */
int day_values_add(struct day_values *v, const struct stack_tree *tree, const struct scan_chunk *c, struct rows_added *ret);

/* Once, when all chunks of the day were added and before `columns` is read: leaves of the tree, and of the values, only the nodes that
 * have values or lead to one, under numbers without gaps. */
void day_values_finish(struct day_values *v, struct stack_tree *tree);

#endif
