/* clickhouse_runs.h: the live rows, shards and names of runs, for all queries of the table `runs`. */
#ifndef STORE_CLICKHOUSE_RUNS_H
#define STORE_CLICKHOUSE_RUNS_H

#include "clickhouse_ask.h"

/* Rows are physically removed later than they are marked. */
#define CLICKHOUSE_LIVE	"seq NOT IN (SELECT seq FROM runs_removed)"

/* The runs of one name go to one shard, as long as the number of shards is the same. */
unsigned clickhouse_run_shard(const struct clickhouse_store *s, const char *source, const char *id);

/* " AND source = … AND id = …" */
void sql_put_run_name(struct buf *sql, const char *source, const char *id);

int clickhouse_no_such_run(const char *source, const char *id, struct err *err);		/* -ENOENT */

/* Notes that runs are removed: rows of month and seq. */
int clickhouse_note_removed(struct clickhouse_store *s, unsigned shard, const struct buf *rows, struct err *err);

/* Counts runs removed by users, or by the limits, and their bytes. */
void clickhouse_count_removed(struct clickhouse_store *s, uint64_t removed, uint64_t expired, uint64_t bytes);

#endif
