/* sqlite_runs.h: all runs of a store in one SQLite file, DIRECTORY/runs.sqlite.
 *
 *   run       id            counts up; the order in which runs were stored
 *             source, run   its name; unique together
 *             start_ns, duration_ns, stored_ns
 *             url, name     NULL if it has none
 *             labels        the others, see labels_put
 *             totals        of all columns, see run_totals.h
 *             wall_ns, cpu_ns, memory_bytes, peak_memory_bytes, calls
 *                           the totals that lists are sorted by, RUN_TOTAL_MISSING if missing (since schema 2)
 *             kind          see run_kind.h (since schema 3)
 *             nodes         of the profile
 *             digest        XXH3 (128 bits) of the message below: identity of a run
 *             bytes         approximate size here
 *   profile   id, data      one or more messages of kind run (wire/strobe_wire.h), packed (pack.h). They start at 0
 *                           and end after the duration, so that the same profile gives the same digest whenever it is
 *                           stored
 *
 * Each order of a list has its index, whose rows end with the id. Schema 1 had no columns and indexes of totals, and schema 2
 * no kinds: writers add them, readers compute them.
 *
 * Removing a row of `run` removes its profile. PRAGMA application_id is RUNS_APPLICATION, user_version RUNS_SCHEMA.
 *
 * Several processes may write to it, each in transactions of its own: the daemon, and `strobe import` beside it. A
 * "file" here is one connection, which one thread uses at a time.
 */
#ifndef STORE_SQLITE_RUNS_H
#define STORE_SQLITE_RUNS_H

#include "err.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RUNS_APPLICATION	0x53545252	/* "STRR" */
#define RUNS_SCHEMA		3
#define RUNS_NAME		"runs.sqlite"

struct runs_file {
	char *path;
	sqlite3 *db;
	int64_t schema;				/* schema of the file; below RUNS_SCHEMA only for readers */
	dev_t device;
	ino_t inode;
};

/* The name of a run, cut to the length by which lists are sorted. */
#define RUNS_NAME_SQL	"substr(CAST(coalesce(name, url, run) AS BLOB), 1, 200)"

char *runs_file_path(const char *directory);		/* the caller frees */

/* Opens the file; for writing, creates it if missing. -ENOENT: it does not exist, so there are no runs. -EBADMSG:
 * damaged or foreign. -ENOTSUP: written by a newer Strobe. Other errors as in sqlite_failed. */
int runs_file_open(const char *directory, bool to_write, struct runs_file **ret, struct err *err);
struct runs_file *runs_file_close(struct runs_file *f);	/* NULL is fine; returns NULL */
bool runs_file_is_current(const struct runs_file *f);

/* Runs SQL without results; `doing` is used in the error: "cannot DOING 'PATH': …". */
int runs_file_exec(struct runs_file *f, const char *sql, const char *doing, struct err *err);

/* The number of runs and their size; zeros if unknown. */
void runs_file_count(const char *directory, uint64_t *ret_runs, uint64_t *ret_bytes);

#endif
