/* sqlite_day.h: one day in one self-contained SQLite file, DIRECTORY/YYYY-MM-DD.db (UTC).
 *
 *   frame_block, node_block   first, data            the day's stacks, see stack_tree.h
 *   line_block                first, data            executed lines of nodes; exists once a node has one. Readers without
 *                                                    this table see functions: a node per line, which add up
 *   series                    id, labels, clock, period_ns, columns       see series.h; without columns: a hole, whose number
 *                                                          no sample uses any more
 *   recent                    id, bucket, series, data     samples as they were committed, in the order of commits, so
 *                                                          that a commit writes to the end of the file and nowhere
 *                                                          else; bucket counts 10 seconds from midnight. series is
 *                                                          BUNDLE_SERIES and data a bundle (bundle.h), or, written by
 *                                                          earlier versions, data is a chunk of that series
 *   chunk                     id, data               id = hour << 24 | series: hours that were compacted
 *   batch                     seq, id                which batches are in this file
 *
 * PRAGMA application_id is DAY_APPLICATION. user_version is raised once the file has what an earlier Strobe would stumble at or
 * miss: DAY_HOLES (see sqlite_sweep.c), DAY_BUNDLES. A struct day belongs to one thread at a time.
 */
#ifndef STORE_SQLITE_DAY_H
#define STORE_SQLITE_DAY_H

#include "bundle.h"
#include "series.h"
#include "stack_dict.h"
#include <sqlite3.h>
#include <sys/types.h>

#define DAY_APPLICATION	0x53545242	/* "STRB" */
#define DAY_HOLES	2		/* values of user_version, see above */
#define DAY_BUNDLES	3
#define DAY_SCHEMA	DAY_BUNDLES	/* the last one that can be read */
#define DAY_SERIES	(1u << 24)	/* cap of series in a day */

struct day {
	int64_t number;			/* days since 1970 */
	char *path;
	sqlite3 *db;
	uint32_t hours_to_compact;	/* one bit per hour with rows in `recent`; maintained by the writer */
	uint64_t used;			/* when the store last used it; the least recently used day is closed first */

	/* private: the writer's view of the file, loaded by the first append and dropped by one that failed */
	struct stack_dict *stacks;
	struct intern series;		/* keys; number + 1 is the id */
	struct map batches;
	bool loaded, cut_reported;
	dev_t device;
	ino_t inode;
};

/* Returns "DIRECTORY/2026-11-21.db" followed by `suffix`; the caller frees it. */
char *day_path(const char *directory, int64_t number, const char *suffix);

/* Returns the number of the day with this file name, or -1 if it is not the name of a day file. */
int64_t day_of_name(const char *name);

/* Returns the day that a file of this name belongs to: a day file, its log, index or journal, or a file that was set
 * aside (see ret_set_aside); -1 if none. */
int64_t day_of_piece(const char *name, bool *ret_set_aside);

enum day_mode { DAY_READ, DAY_WRITE };

/* Opens the file; DAY_WRITE creates it if it does not exist. -ENOENT: does not exist. -EBADMSG: damaged or foreign,
 * or written by a newer Strobe. Other errors as in sqlite_failed. */
int day_open(const char *directory, int64_t number, enum day_mode mode, struct day **ret, struct err *err);
struct day *day_close(struct day *d);		/* NULL is fine; returns NULL */

/* Returns false once the file has been removed or replaced; further writes would be lost. */
bool day_is_current(const struct day *d);

/* Stores the part of the batch that falls into this day, or nothing. Returns 1, or 0 if the file already has a batch
 * with that id. Adds to `ret` the amount stored. */
struct day_appended {
	uint64_t samples;		/* sum of the column "samples" */
	uint64_t nodes_cut;		/* stacks that were cut at a known caller: the day has too many */
};
int day_append(struct day *d, const struct batch *b, struct day_appended *ret, struct err *err);

/* Drops the cached stacks, series and batches, so that the next append reads them from the file: after a commit
 * that failed, memory is ahead of it. */
void day_forget(struct day *d);

/* The same for nodes and frames that became holes in the file, see stack_dict_make_holes, and for such series. */
void day_make_holes(struct day *d, const uint8_t *nodes, const uint8_t *frames);

/* Runs SQL without results; `doing` is used in the error: "cannot DOING 'PATH': …". */
int day_exec(struct day *d, const char *sql, const char *doing, struct err *err);
int day_prepare(struct day *d, const char *sql, sqlite3_stmt **ret, struct err *err);

/* Returns unused pages to the file system if there are more than `keep`, and truncates the WAL. A reader may prevent
 * the truncation; it is then left to the next call. */
int day_release_space(struct day *d, int64_t keep, const char *doing, struct err *err);

/* Returns one number, or `otherwise` if the statement has no result or fails. */
int64_t day_number(struct day *d, const char *sql, int64_t otherwise);

/* Raises user_version to `needed` if it is lower. Call it in the transaction that makes it necessary. */
int day_raise_schema(struct day *d, int64_t needed, struct err *err);

/* The bytes of a column, "" if NULL; and the samples of a row of `recent` whose columns series and data begin at
 * `column`. Both are valid until the statement's next step. */
struct str day_bytes(sqlite3_stmt *row, int column);
void bundle_of_row(struct bundle_reader *r, sqlite3_stmt *row, int column);

/* Reads the series from a row whose columns labels, clock, period_ns and columns begin at `column`. Returns -EBADMSG
 * if malformed. */
int series_of_row(sqlite3_stmt *row, int column, struct series *ret);
void series_key_of_row(sqlite3_stmt *row, int column, struct buf *out);	/* replaces the content of `out` */
bool series_row_is_hole(sqlite3_stmt *row, int column);

/* Finds the first bucket of the day that has samples and the one after the last; returns false if there are none. */
bool day_extent(struct day *d, unsigned *ret_first, unsigned *ret_end);

static inline int64_t day_start_ns(int64_t number)
{
	return number * (int64_t)DAY_BUCKETS * BATCH_BUCKET_NS;
}

static inline int64_t chunk_id(unsigned hour, uint32_t series)
{
	return (int64_t)hour << 24 | series;
}

#endif
