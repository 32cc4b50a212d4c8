/* store.h: where samples stay, and can be asked for by time and label.
 *
 * A store keeps, per 10-second bucket and series (a set of labels with its sampling clock and period), how often
 * each stack was seen. It gives back any time range and any label filter merged into one profile. Accepted means
 * committed: once store_append returns 0, a crash of the program or the machine does not lose the batch.
 *
 * One writer (append, maintain) and any number of readers may work on one `struct store` from different threads;
 * each of the two writer calls must come from one thread at a time.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "err.h"
#include "batch.h"
#include "profile.h"

enum label_match { LABEL_IS, LABEL_IS_NOT, LABEL_IS_PREFIX };

struct label_filter {
	const char *key, *value;	/* a series without the label has the value "" */
	enum label_match match;
};

struct store_query {
	int64_t from_ns, to_ns;			/* buckets that overlap [from, to) */
	const struct label_filter *filters;	/* all must hold; several LABEL_IS of one key: any of them */
	size_t filter_count;
};

/* What a query looked at, so that an empty answer can say why. */
struct store_looked {
	uint64_t days, series, series_matched, chunks, samples;
	int64_t first_ns, last_ns;		/* what the whole store covers; 0 and 0 if it is empty */
};

struct store_limits {
	int64_t max_age_ns;			/* days wholly older than this are removed; 0 keeps all */
	uint64_t max_bytes;			/* oldest days are removed above this; 0 is no limit */
};

struct store_stats {
	uint64_t bytes, days, batches, replays, samples_stored, commits, commit_ns_total, commit_ns_max;
	uint64_t compactions, days_expired, errors;
	int64_t oldest_ns, newest_ns;
};

/* One label and its values, most samples first. */
struct store_label {
	char *key;
	struct store_label_value { char *value; uint64_t samples; } *values;
	size_t value_count;
};

struct store_labels {
	struct store_label *items;
	size_t count;
};

struct store_ops;
struct store {
	const struct store_ops *ops;
};

/* What a backend provides; callers use the functions below. */
struct store_ops {
	const char *scheme;			/* "sqlite" */
	int (*append)(struct store *s, const struct batch *b, struct err *err);
	int (*query)(struct store *s, const struct store_query *q, struct profile **ret, struct store_looked *looked,
		     struct err *err);
	int (*timeline)(struct store *s, const struct store_query *q, int64_t step_ns, uint64_t *samples, size_t n,
			struct err *err);
	int (*labels)(struct store *s, const struct store_query *q, struct store_labels *ret, struct err *err);
	int (*maintain)(struct store *s, const struct store_limits *l, int64_t now_ns, struct err *err);
	void (*stats)(struct store *s, struct store_stats *ret);
	struct store *(*close)(struct store *s);
};

/* Opens, or creates, the store of `url`: "sqlite:/var/lib/strobe" (a directory). -EBUSY with a sentence when another
 * process writes to it; `read_only` opens beside such a writer and cannot append. */
int store_open(const char *url, bool read_only, struct store **ret, struct err *err);
struct store *store_close(struct store *s);		/* NULL is fine; returns NULL */

/* A batch whose id (not 0) is in the store already is a replay: it changes nothing and is no error. */
int store_append(struct store *s, const struct batch *b, struct err *err);

/* The caller frees *ret, which is never NULL on success: an empty profile has one node. Its columns are those of the
 * series that matched, then `wall_ns` or `cpu_ns` where clock and period are known. Its labels are those that all
 * matching series share. */
int store_query(struct store *s, const struct store_query *q, struct profile **ret, struct store_looked *looked,
		struct err *err);

/* Samples per step: samples[i] covers from + i × step; `n` steps, step a multiple of BATCH_BUCKET_NS. */
int store_timeline(struct store *s, const struct store_query *q, int64_t step_ns, uint64_t *samples, size_t n,
		   struct err *err);

/* The labels of the series that match and have samples in the range, with their values. */
int store_labels(struct store *s, const struct store_query *q, struct store_labels *ret, struct err *err);
void store_labels_done(struct store_labels *l);

/* Background work: compacts hours that are over, removes what is above the limits. Call it every minute or so. */
int store_maintain(struct store *s, const struct store_limits *l, int64_t now_ns, struct err *err);

void store_stats(struct store *s, struct store_stats *ret);

#endif
