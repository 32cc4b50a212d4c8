/* store.h: stores samples and runs, to be queried by time and label.
 *
 * A store keeps, per 10-second bucket and series (a set of labels with its sampling clock and period), how often
 * each stack was seen. It returns any time range and any label filter merged into one profile. Accepted means
 * committed: once store_append returns 0, a crash of the program or the machine does not lose the batch.
 *
 * It also keeps runs: whole exact profiles, each by itself, under a source (a namespace) and an id. A run is stored
 * once: adding it again changes nothing, and a different run with the same name is refused.
 *
 * One writer (append, maintain) and any number of readers may work on one `struct store` from different threads;
 * each of the two writer calls must come from one thread at a time. Runs may be added and removed by any thread.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "err.h"
#include "batch.h"
#include "stack_values.h"

enum label_match {
	LABEL_IS,
	LABEL_IS_NOT,
	LABEL_IS_PREFIX,
	LABEL_IS_NOT_PREFIX,
};

struct label_filter {
	const char *key, *value;	/* a series without the label has the value "" */
	enum label_match match;
};

static inline bool label_filter_excludes(const struct label_filter *f)
{
	return f->match == LABEL_IS_NOT || f->match == LABEL_IS_NOT_PREFIX;
}

struct store_query {
	int64_t from_ns, to_ns;			/* buckets that overlap [from, to) */
	const struct label_filter *filters;	/* all must match; of several for one key that exclude nothing, any */
	size_t filter_count;
	uint32_t max_nodes;			/* limit of the profile's nodes, at most 2^30; those beyond are pruned (profile_prune), the least first. 0 is no limit */
	uint32_t refuse_above;			/* more nodes than this are -ENOMEM as soon as that is foreseeable, which
						 * saves the work; 0 is no limit. Not every store can foresee it */
	bool lines;				/* the profile keeps executed lines, and has a node for each */
};

/* The data that a query covered, so that an empty answer can say why. */
struct store_query_stats {
	uint64_t days, series, series_matched, chunks, samples;
	int64_t first_ns, last_ns;		/* range of the whole store; 0 and 0 if it is empty */
	uint64_t damaged_days;			/* requested days with unreadable or missing data */
	bool pruned;				/* the profile had more nodes than requested … */
	int64_t pruned_samples;			/* … and this many samples were pruned */
};

struct store_limits {
	int64_t max_age_ns;			/* days wholly older than this expire; 0 keeps all */
	uint64_t max_bytes;			/* above this, the oldest days, then hours are evicted; 0 is no limit */
	uint64_t min_free_bytes;		/* the same while the disk has less free space; 0 is no limit */
	bool min_free_is_guess;			/* a default: a tenth of a smaller disk is enough */
	/* Runs are removed in the order in which they were stored, since a run may be imported long after it ran. */
	int64_t runs_max_age_ns;		/* since it was stored; 0 keeps all */
	uint64_t runs_max_count;		/* limit per source; 0 is no limit */
	uint64_t runs_max_bytes;		/* limit of all runs together; 0 is no limit */
};

/* Reasons to remove a day or a run: it expires by age, is evicted by count or size (or for lack of free space), or a
 * user requested it. */
enum store_removal {
	STORE_REMOVED_AGE,
	STORE_REMOVED_COUNT,
	STORE_REMOVED_SIZE,
	STORE_REMOVED_REQUEST,
	STORE_REMOVALS
};

struct store_stats {
	uint64_t bytes, days, batches, deduplicated_batches, samples_stored, commits, commit_ns_total, commit_ns_max;
	uint64_t compactions, errors;
	uint64_t days_removed[STORE_REMOVALS];	/* by age and size only */
	uint64_t hours_evicted;			/* from the day being written */
	uint64_t partial_hour_evicted_seconds;	/* from the hour being written */
	uint64_t stacks_truncated;		/* nodes above the limit of a day; they count for their callers */
	uint64_t free_bytes;			/* free space on the disk, now */
	uint64_t days_damaged;			/* days with data set aside or unreadable now */
	int64_t oldest_ns, newest_ns;
	uint64_t runs, runs_bytes;		/* stored now */
	uint64_t runs_added, runs_removed[STORE_REMOVALS];	/* since it was opened */
};

struct store_run_total {
	char name[64], unit[64];		/* as in struct profile_column */
	int64_t value;
};

/* Metadata of a run. */
struct store_run {
	char source[STROBE_WIRE_RUN_KEY + 1], id[STROBE_WIRE_RUN_KEY + 1];
	char *url, *name;			/* NULL if it has none */
	int64_t start_ns, duration_ns;		/* since 1970; the time when it was stored if the start is unknown */
	int64_t stored_ns;
	struct labels labels;			/* without source, id, url and name */
	struct store_run_total totals[PROFILE_COLUMNS];
	size_t total_count;
	uint32_t nodes;
	uint64_t bytes;				/* size in the store */
};

/* A run to be added. Its source, id, url and name are labels of the profile; without a source it gets "default", and
 * without an id a generated one. */
struct store_new_run {
	const struct profile *profile;

	/* Filled in: the name of the run, and 1 if it is stored, 0 if it existed already, -EEXIST if a different run
	 * has its name, or -EINVAL, -E2BIG or -EFBIG if it can never be stored; then `err` has the reason. */
	char source[STROBE_WIRE_RUN_KEY + 1], id[STROBE_WIRE_RUN_KEY + 1];
	int result;
	struct err err;
};

/* Sort orders of lists of runs. Runs without a total sort with the smallest ones. */
enum store_run_order {
	STORE_RUNS_BY_START, STORE_RUNS_BY_DURATION, STORE_RUNS_BY_WALL, STORE_RUNS_BY_CPU, STORE_RUNS_BY_MEMORY,
	STORE_RUNS_BY_PEAK, STORE_RUNS_BY_CALLS, STORE_RUNS_BY_SOURCE, STORE_RUNS_BY_ID,
	STORE_RUNS_BY_NAME,			/* or the URL, or the id; only the first 200 bytes */
	STORE_RUN_ORDERS
};

/* A condition on a label of a run that only the caller can check. The value is that of the first label of `keys` that
 * the run has and that is not empty, or else `otherwise`; "source" counts as a label. */
struct store_run_condition {
	const char *const *keys;
	size_t key_count;
	const char *otherwise;			/* not NULL */
	const char *value;			/* if not NULL, the condition holds for this value, or if `negated`, for all others */
	bool negated;
	bool (*holds)(const void *data, const char *value);
	const void *data;
};

struct store_run_query {
	const char *source, *id;		/* NULL: any */
	int64_t from_ns, to_ns;			/* started in [from, to); to_ns 0 is no end */
	const char *url_part, *id_part;		/* the URL or the id contains this; NULL: any */
	const char *text;			/* source, id, URL, name or a label's value contains this in any case (of
						 * ASCII letters); NULL: any */
	enum store_run_order order;
	bool ascending;				/* least first; the last one stored comes last among equal ones */
	const struct label_filter *filters;	/* as in store_query */
	size_t filter_count;
	const struct store_run_condition *conditions;	/* all must hold. A store that cannot check one before the limit
							 * may also return runs for which it does not hold */
	size_t condition_count;
	const char *total_part;			/* has a total whose name or unit contains this; NULL: any */
	bool distinct;				/* one run of each source, set of labels (without those of label_is_of_runs) and
						 * set of totals' names; a store may return more of them. Only by start, the
						 * latest first, and only the first page */
	size_t limit;				/* at least 1 */
	const char *after;			/* `next` of the previous answer; NULL or "" for the first page */
};

/* Limits of the profile of a run. */
struct store_profile_limits {
	uint32_t nodes;				/* in memory equivalent to this many tree nodes; 0: no limit */
	const char *column;			/* nodes with its least values are pruned first; NULL: the default */
	bool chart;				/* with its flame chart, if it has one */
	bool lines;				/* the profile keeps executed lines, and has a node for each */
};

#define STORE_RUNS_NEXT		448u

struct store_runs {
	struct store_run *items;
	size_t count;
	char next[STORE_RUNS_NEXT];		/* safe as a file name; "" if there are no more runs */
	uint64_t examined;			/* runs that were read */
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

/* A series of samples, without stacks. */
struct store_series {
	struct labels labels;			/* with "clock" where it is known */
	struct { char name[64], unit[64]; } columns[PROFILE_COLUMNS + 1];	/* its own, then `wall_ns` or `cpu_ns` if clock
										 * and period are known */
	uint32_t column_count;
	uint32_t tag;				/* 0 at first, then free for the caller, to recognize the series in
						 * later calls */
};

/* Receives the values of one series in `count` steps, the first of which begins at from_ns: `values` by step, then by
 * column; NULL if only series were requested. */
typedef void store_sums_callback(void *data, struct store_series *s, int64_t from_ns, const int64_t *values, size_t count);

/* Called for each day that a reader finds damaged; `why` is NULL if only one piece was damaged. */
typedef void store_damage_callback(void *data, int64_t day_ns, const char *why);

struct store_ops;
struct store {
	const struct store_ops *ops;
	store_damage_callback *on_damage;		/* NULL: the store notes, logs and examines it itself */
	void *damage_data;
};

/* The interface of a backend; callers use the functions below. */
struct store_ops {
	const char *scheme;			/* "sqlite" */
	int (*append)(struct store *s, const struct batch *b, struct err *err);
	int (*query)(struct store *s, const struct store_query *q, struct profile **ret, struct store_query_stats *stats,
		     struct err *err);
	int (*values)(struct store *s, const struct store_query *q, const char *column, struct stack_values *ret,
		      struct store_query_stats *stats, struct err *err);	/* NULL: implemented with `query` */
	int (*timeline)(struct store *s, const struct store_query *q, int64_t step_ns, uint64_t *samples, size_t n,
			struct err *err);
	int (*labels)(struct store *s, const struct store_query *q, struct store_labels *ret, struct err *err);
	int (*sums)(struct store *s, const struct store_query *q, int64_t step_ns, store_sums_callback *take, void *data,
		    struct err *err);
	int (*maintain)(struct store *s, const struct store_limits *l, int64_t now_ns, struct err *err);
	void (*keep_ids)(struct store *s, const uint64_t *ids, size_t count);	/* NULL: all ids are kept */
	bool (*is_low_on_space)(struct store *s, const struct store_limits *l);
	void (*stats)(struct store *s, struct store_stats *ret);
	int (*add_runs)(struct store *s, struct store_new_run *runs, size_t count, int64_t now_ns, struct err *err);
	int (*list_runs)(struct store *s, const struct store_run_query *q, struct store_runs *ret, struct err *err);
	int (*run_sources)(struct store *s, struct store_label *ret, struct err *err);
	int (*get_run)(struct store *s, const char *source, const char *id, const struct store_profile_limits *most,
		       struct store_run *ret, struct profile **ret_profile, struct err *err);
	int (*remove_run)(struct store *s, const char *source, const char *id, struct err *err);
	void (*note_damage)(struct store *s, int64_t day_ns, const char *why);
	void (*missing)(struct store *s, char *ret, size_t size);	/* NULL: answers are complete or fail */
	int (*ready)(struct store *s, struct err *err);		/* NULL: checked by an empty timeline */
	struct store *(*close)(struct store *s);
};

/* Opens or creates the store `url`: "sqlite:/var/lib/strobe" (a directory), or "clickhouse://db1:8123/strobe"
 * (docs/clickhouse.md), whose servers need not be up yet. Returns -EBUSY with a sentence if another process writes to
 * it; `read_only` works beside such a writer and cannot append. */
int store_open(const char *url, bool read_only, struct store **ret, struct err *err);

/* Opens the store to read with the deadline `until_ns` (monotonic): waiting for servers takes only a part of the
 * remaining time, so that the answer is in time and names the missing servers. */
int store_open_until(const char *url, int64_t until_ns, struct store **ret, struct err *err);

/* Loads the libraries that a store of this URL needs, for programs that are about to restrict themselves. */
int store_load(const char *url, struct err *err);

/* Call in a process without threads or open stores, each time before it forks one that will read this store: the
 * forked processes share a cache. */
void store_before_fork(const char *url);

/* Opens the store only to add, list and remove runs, even while another process writes to it. */
int store_open_runs(const char *url, struct store **ret, struct err *err);
struct store *store_close(struct store *s);		/* NULL is fine; returns NULL */

/* Commits a batch. A batch whose id (not 0) is already stored is a replay: it changes nothing and is not an error. */
int store_append(struct store *s, const struct batch *b, struct err *err);

/* The caller frees *ret, which is never NULL on success: an empty profile has one node. Its columns are those of the
 * matching series with rows in the range, then `wall_ns` or `cpu_ns` if clock and period are known, in the order of
 * query_columns.h. Its labels are those that all matching series share. */
int store_query(struct store *s, const struct store_query *q, struct profile **ret, struct store_query_stats *stats,
		struct err *err);

/* Returns the values of one column of the profile that store_query would return, looking up names only if the store
 * has to. The caller frees with stack_values_done. Without lines, a node may be there several times, once per
 * line. */
int store_values(struct store *s, const struct store_query *q, const char *column, struct stack_values *ret,
		 struct store_query_stats *stats, struct err *err);

/* Counts samples per step: samples[i] covers from + i × step; `n` steps, step a multiple of BATCH_BUCKET_NS. */
int store_timeline(struct store *s, const struct store_query *q, int64_t step_ns, uint64_t *samples, size_t n,
		   struct err *err);

/* Calls `take` with the sums of each matching series, in steps that begin at multiples of step_ns since 1970; step_ns
 * is a multiple of BATCH_BUCKET_NS that divides an hour. A series and step may come several times, in any order: they
 * add up. With step_ns 0, only the series are passed, without values: at least those with samples in the range, and
 * at most those of its days. This takes milliseconds. */
int store_sums(struct store *s, const struct store_query *q, int64_t step_ns, store_sums_callback *take, void *data,
	       struct err *err);

/* Returns the labels of the matching series with samples in the range, with their values. */
int store_labels(struct store *s, const struct store_query *q, struct store_labels *ret, struct err *err);
void store_labels_done(struct store_labels *l);

/* Background work: compacts past hours, enforces the limits. Call it every minute or so. */
int store_maintain(struct store *s, const struct store_limits *l, int64_t now_ns, struct err *err);

/* Sets the ids of batches that may be redelivered, however old they are. Maintenance forgets others two days after they were
 * stored, so call this before it. */
void store_keep_ids(struct store *s, const uint64_t *ids, size_t count);

/* Whether the disk has less room than the limits require, so that maintenance is due earlier. Cheap enough for each append. */
bool store_is_low_on_space(struct store *s, const struct store_limits *l);

void store_stats(struct store *s, struct store_stats *ret);

/* Calls `callback` for damage that a reader finds, so that it can tell the store that writes. */
void store_on_damage(struct store *reader, store_damage_callback *callback, void *data);
void store_note_damage(struct store *s, int64_t day_ns, const char *why);

/* Lists the servers, if there are several, that were missing from any answer since the store was opened: "db2:8123,
 * db3:8123"; "" if all answers were complete. */
void store_missing(struct store *s, char *ret, size_t size);

#define STORE_MISSING "no answer from %s: the samples and runs of that part of the store are missing here"

/* Tells whether an error means that a server of the store is down, hangs, has lost its tables, or has those of a newer
 * Strobe, so that a retry may succeed. */
bool store_is_unavailable(int code);

/* Checks whether all servers of the store respond; takes a few seconds at most. The error names those that do not. */
int store_ready(struct store *s, struct err *err);

/* --- Runs --- */

/* Adds all runs at once. Returns 0 if all valid ones are committed; each run's result tells whether it is. After an
 * error nothing was stored, and the same call may be retried. */
int store_add_runs(struct store *s, struct store_new_run *runs, size_t count, int64_t now_ns, struct err *err);

/* Returns -EINVAL for an invalid cursor. */
int store_list_runs(struct store *s, const struct store_run_query *q, struct store_runs *ret, struct err *err);
void store_runs_done(struct store_runs *r);

/* Returns the sources with their numbers of runs, most runs first, as the values of a label with the key "source". */
int store_run_sources(struct store *s, struct store_label *ret, struct err *err);
void store_label_done(struct store_label *l);

/* Reads a run and its profile, which has all labels of the run; the caller frees both. Returns -ENOENT with a
 * sentence if it does not exist. If parts above the limits `most` (NULL: none) were pruned, returns 1: see
 * wire_capacity. */
int store_get_run(struct store *s, const char *source, const char *id, const struct store_profile_limits *most,
		  struct store_run *ret, struct profile **ret_profile, struct err *err);
void store_run_done(struct store_run *r);

int store_remove_run(struct store *s, const char *source, const char *id, struct err *err);	/* -ENOENT */

#endif
