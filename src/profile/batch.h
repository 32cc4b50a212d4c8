/* batch.h: the interface between collecting and storing: the input of about a second, ready to be stored. */
#ifndef PROFILE_BATCH_H
#define PROFILE_BATCH_H

#include "profile.h"
#include "strobe_wire.h"

#define BATCH_BUCKET_NS	(10LL * 1000000000LL)
#define DAY_BUCKETS	8640

/* Values by node of the batch's shared stacks: each row has a value per column of the entry's profile. See
 * batch_rows.h. */
struct batch_rows {
	uint32_t *nodes;			/* ascending, without duplicates */
	int64_t *values;
	size_t count;
	size_t node_capacity, value_capacity, merged;	/* private */
};

/* The measurements of one series (a set of labels with its clock and period) in one bucket: the sum of `profile` and
 * `rows`, which may have stacks in common. */
struct batch_entry {
	int64_t bucket_ns;			/* start of the bucket, a multiple of BATCH_BUCKET_NS, since 1970 */
	const struct labels *labels;
	enum strobe_clock clock;
	int64_t period_ns;
	const struct profile *profile;		/* columns as received; its times and labels are ignored */
	struct batch_rows rows;			/* empty unless all sinks support them */
	bool from_lines;			/* everything came as folded lines, which are also among the batch's
						 * lines */
};

/* A folded line as received, for sinks that keep lines. */
struct batch_line {
	const char *bytes;			/* without a newline; may contain any other byte, including NUL */
	uint32_t size;
	uint32_t entry;				/* index of the entry that it was added to, whose labels have the tag
						 * and profiler */
	int64_t time_ns;			/* since 1970 */
};

/* Stored completely or not at all. Batches are deduplicated by id; 0 means no id. A batch may contain several entries
 * of one series and bucket; they add up. */
struct batch {
	uint64_t id;
	const struct batch_entry *entries;
	size_t count;
	const struct profile *stacks;		/* stacks of the rows of all entries, with lines, without columns; NULL if none has rows */
	const struct batch_line *lines;		/* in order of arrival; none unless a sink wants them */
	size_t line_count;
};

#endif
