/* sqlite_store.h: a store that is a directory with one SQLite file per day.
 *
 *   DIRECTORY/LOCK                          held (flock) by the writer, with its process id inside
 *   DIRECTORY/YYYY-MM-DD.db, -wal, -shm     a day, see sqlite_day.h
 *   DIRECTORY/runs.sqlite, -wal, -shm       all runs, see sqlite_runs.h
 *   DIRECTORY/….corrupt-N                   a damaged or foreign file that was set aside
 *
 * The writer keeps a few days open. Every query opens its own connections, so that any thread and any other process
 * can read while the writer writes.
 */
#ifndef STORE_SQLITE_STORE_H
#define STORE_SQLITE_STORE_H

#include "files_lock.h"
#include "lock.h"
#include "sqlite_day.h"
#include "sqlite_runs.h"
#include "store.h"

#define SQLITE_STORE_OPEN_DAYS	4	/* with their dictionaries in memory */

/* RUNS: adds runs while another process writes samples. */
enum sqlite_store_mode { SQLITE_STORE_READ, SQLITE_STORE_WRITE, SQLITE_STORE_RUNS };

struct sqlite_store {
	struct store store;		/* first, so that pointers can be converted */
	char *directory;
	enum sqlite_store_mode mode;
	int lock_fd;

	struct lock runs_writer;	/* guards `runs`, and writing to it */
	struct runs_file *runs;		/* opened for writing on first use */

	struct lock writer;		/* guards everything down to `cap_reported`, and all writing */
	struct day *days[SQLITE_STORE_OPEN_DAYS];
	uint64_t uses;
	struct map settled;		/* days that need no further compaction */
	struct map kept_ids;		/* batches that may be redelivered, whatever their age */
	bool cap_reported;
	uint64_t bytes_before;		/* size of the days after the previous maintenance; 0: none yet */

	struct files_lock files;

	struct lock counting;
	struct store_stats stats;	/* the counters in it */
	struct map suspects;		/* days that a query found damaged; examined by the next maintenance */
};

int sqlite_store_open(const char *directory, enum sqlite_store_mode mode, struct store **ret, struct err *err);

/* Lists the days that have a file, in ascending order. The caller frees the list. */
int sqlite_store_days(const struct sqlite_store *s, int64_t **ret, size_t *ret_count, struct err *err);

/* Returns the writer's connection to a day, which stays the store's. Opens the file, and sets a damaged one aside.
 * The writer lock must be held. */
int sqlite_store_day(struct sqlite_store *s, int64_t number, struct day **ret, struct err *err);
struct day *sqlite_store_open_day(struct sqlite_store *s, int64_t number);	/* NULL if it is not open */
void sqlite_store_close_day(struct sqlite_store *s, int64_t number);

/* Renames a damaged file to .corrupt-N, logs and counts it. The writer lock must be held. */
int sqlite_store_set_aside(struct sqlite_store *s, int64_t number, const char *why, struct err *err);

/* The same for any file of the directory, which must not be open in this process. */
int sqlite_store_set_file_aside(struct sqlite_store *s, const char *path, const char *why, const char *outcome,
				struct err *err);

/* Lists the days of which something was set aside, in no particular order. Returns their number; the caller frees the
 * list. */
size_t sqlite_store_damaged(const struct sqlite_store *s, int64_t **ret);

void sqlite_store_count_error(struct sqlite_store *s);

/* Notes that a reader found the day damaged: it is counted, logged once, and examined by the next maintenance. */
void sqlite_store_note_piece(struct sqlite_store *s, int64_t number);	/* one damaged chunk: only counted */
void sqlite_store_suspect(struct sqlite_store *s, int64_t number, const char *why);

/* Defined in the other files of this folder. */
int sqlite_query(struct store *store, const struct store_query *q, struct profile **ret, struct store_query_stats *stats,
		 struct err *err);
int sqlite_values(struct store *store, const struct store_query *q, const char *column, struct stack_values *ret,
		  struct store_query_stats *stats, struct err *err);
int sqlite_timeline(struct store *store, const struct store_query *q, int64_t step_ns, uint64_t *samples, size_t n,
		    struct err *err);
int sqlite_sums(struct store *store, const struct store_query *q, int64_t step_ns, store_sums_callback *take, void *data,
		struct err *err);
int sqlite_labels(struct store *store, const struct store_query *q, struct store_labels *ret, struct err *err);

/* Compacts the hours of all days that are over at `now_ns`. The writer lock must not be held. */
int sqlite_compact(struct sqlite_store *s, int64_t now_ns, struct err *err);

/* The approximate number of bytes of an hour's `recent` held in memory at a time. An hour of a large fleet has more,
 * and is read in several passes, each for other series. Tests change it. */
extern int64_t sqlite_compact_bytes;

/* Removes data above the limits. The writer lock must not be held. */
int sqlite_retain(struct sqlite_store *s, const struct store_limits *l, int64_t now_ns, struct err *err);

/* Evicts the oldest hours of a day, and finally the beginning of the newest one, until its file takes no more than
 * `keep` bytes; the newest minute stays. Adds to `ret`. The writer lock must not be held. */
struct sqlite_store_shrunk {
	uint64_t hours, seconds;	/* whole hours, and seconds of the newest one */
};
int sqlite_store_shrink_day(struct sqlite_store *s, int64_t number, uint64_t keep, struct sqlite_store_shrunk *ret,
			    struct err *err);

/* Frees stacks, frames and series that no sample of the day needs any longer. The writer lock must not be held; it is
 * taken while the file is written. */
int sqlite_store_sweep(struct sqlite_store *s, int64_t number, struct err *err);

int sqlite_add_runs(struct store *store, struct store_new_run *runs, size_t count, int64_t now_ns, struct err *err);
int sqlite_list_runs(struct store *store, const struct store_run_query *q, struct store_runs *ret, struct err *err);
int sqlite_run_sources(struct store *store, struct store_label *ret, struct err *err);
int sqlite_get_run(struct store *store, const char *source, const char *id, const struct store_profile_limits *most,
		   struct store_run *ret, struct profile **ret_profile, struct err *err);
int sqlite_remove_run(struct store *store, const char *source, const char *id, struct err *err);

/* Opens a connection for one query. Returns 0 without a connection if there are no runs at all. */
int sqlite_runs_open(struct sqlite_store *s, struct runs_file **ret, struct err *err);

/* Reads a run from a row with these columns of the table `run r`; the caller frees its members. */
#define SQLITE_RUN_COLUMNS	"r.id, r.source, r.run, r.start_ns, r.duration_ns, r.stored_ns, r.url, r.name, r.labels, " \
				"r.totals, r.nodes, r.bytes"
enum { ROW_ROWID, ROW_SOURCE, ROW_ID, ROW_START, ROW_DURATION, ROW_STORED, ROW_URL, ROW_NAME, ROW_LABELS, ROW_TOTALS, ROW_NODES,
       ROW_BYTES_TAKEN, ROW_COLUMNS };
void sqlite_run_take(sqlite3_stmt *row, struct store_run *ret);

/* Removes runs above the limits. */
int sqlite_retain_runs(struct sqlite_store *s, const struct store_limits *l, int64_t now_ns, struct err *err);

uint64_t sqlite_store_bytes(const struct sqlite_store *s);
uint64_t sqlite_store_free_bytes(const struct sqlite_store *s);		/* free space on its disk; UINT64_MAX if unknown */

/* Tells whether the disk has less free space than the limits require. */
bool sqlite_store_is_short(const struct sqlite_store *s, const struct store_limits *l);

/* Returns the start of the first bucket with samples and the end of the last one; false for an empty store. */
bool sqlite_store_extent(const struct sqlite_store *s, int64_t *ret_first_ns, int64_t *ret_last_ns);

#endif
