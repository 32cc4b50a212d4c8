/* clickhouse_runs.h: parts of SQL for all queries of the table `runs`: live rows, shards and names. */
#ifndef STORE_CLICKHOUSE_RUNS_H
#define STORE_CLICKHOUSE_RUNS_H

#include "clickhouse_ask.h"

/* Rows are deleted some time after they are marked as removed. */
#define CLICKHOUSE_LIVE	"seq NOT IN (SELECT seq FROM runs_removed)"

/* All runs with one name are on one shard, as long as the number of shards does not change. */
unsigned clickhouse_run_shard(const struct clickhouse_store *s, const char *source, const char *id);

/* " AND source = … AND id = …" */
void sql_put_run_name(struct buf *sql, const char *source, const char *id);

int clickhouse_no_such_run(const char *source, const char *id, struct err *err);		/* -ENOENT */

/* Marks runs as removed: rows of month and seq. */
int clickhouse_note_removed(struct clickhouse_store *s, unsigned shard, const struct buf *rows, struct err *err);

/* Adds to the statistics the runs removed by users or by the limits, and their size. */
void clickhouse_count_removed(struct clickhouse_store *s, const uint64_t removed[STORE_REMOVALS], uint64_t bytes);

#endif
