/* batch.h: the seam between collecting and storing: the input of about a second, ready to be stored. */
#ifndef PROFILE_BATCH_H
#define PROFILE_BATCH_H

#include "profile.h"
#include "strobe_wire.h"

#define BATCH_BUCKET_NS	(10LL * 1000000000LL)
#define DAY_BUCKETS	8640

/* Values by node of the batch's shared stacks: `column_count` of the entry's profile for each row. See batch_rows.h. */
struct batch_rows {
	uint32_t *nodes;			/* ascending, each once */
	int64_t *values;
	size_t count;
	size_t node_capacity, value_capacity, merged;	/* private */
};

/* The measurements of one series (a set of labels with its clock and period) in one bucket: those of `profile` and those of
 * `rows`, which may have stacks in common. */
struct batch_entry {
	int64_t bucket_ns;			/* start of the bucket, a multiple of BATCH_BUCKET_NS, since 1970 */
	const struct labels *labels;
	enum strobe_clock clock;
	int64_t period_ns;
	const struct profile *profile;		/* columns as they arrived; times and labels in it are ignored */
	struct batch_rows rows;			/* none unless all sinks read them */
	bool from_lines;			/* all of it came as folded lines, which stand among the batch's lines
						 * too */
};

/* A folded line as it came, for sinks that keep lines. */
struct batch_line {
	const char *bytes;			/* without a newline; any other bytes, NUL too */
	uint32_t size;
	uint32_t entry;				/* the entry of the batch that it went to: its labels say tag and
						 * profiler */
	int64_t time_ns;			/* since 1970 */
};

/* All of it is stored, or nothing. Batches are deduplicated by id; 0 is no id. A batch may
 * hold several entries of one series and bucket; they add up. */
struct batch {
	uint64_t id;
	const struct batch_entry *entries;
	size_t count;
	const struct profile *stacks;		/* stacks of the rows of all entries, with lines, without columns; NULL if none has rows */
	const struct batch_line *lines;		/* in the order in which they came; none unless a sink wants them */
	size_t line_count;
};

#endif
