/* batch.h: the seam between collecting and storing: what came in during about a second, ready to be kept. */
#ifndef COLLECT_BATCH_H
#define COLLECT_BATCH_H

#include "profile.h"
#include "strobe_wire.h"

#define BATCH_BUCKET_NS	(10LL * 1000000000LL)

/* What was measured for one series (a set of labels with its clock and period) in one bucket. */
struct batch_entry {
	int64_t bucket_ns;			/* start of the bucket, a multiple of BATCH_BUCKET_NS, since 1970 */
	const struct labels *labels;
	enum strobe_clock clock;
	int64_t period_ns;
	const struct profile *profile;		/* columns as they arrived; times and labels in it are ignored */
};

/* All of it is kept, or nothing. The id makes a batch that is handed over twice count once; 0 is no id. A batch may
 * hold several entries of one series and bucket; they add up. */
struct batch {
	uint64_t id;
	const struct batch_entry *entries;
	size_t count;
};

#endif
