/* clickhouse_ask.h: sends one request to one shard, or the same request to each.
 *
 * Always insert text into SQL with sql_put_string; send many values as a table beside the query. */
#ifndef STORE_CLICKHOUSE_ASK_H
#define STORE_CLICKHOUSE_ASK_H

#include "buf.h"
#include "clickhouse_store.h"
#include "intern.h"

struct clickhouse_request {
	const char *sql;
	const char *query_id;			/* NULL: the server generates one. Never use one twice at a time */
	const char *session;			/* keeps temporary tables; NULL: none */
	const char *table;			/* NULL: none; else the columns of the table `given`: "stack UInt64" */
	const struct buf *rows;			/* RowBinary: rows of `given`, or to insert if that is missing */
	bool writes;
	bool is_number;				/* the answer is one number; this and writes have no memory limit */
	bool anywhere;				/* the request does not depend on the database */
	int64_t within_ns;			/* deadline of the answer; 0: the store's limit */
};

/* Appends the answer to `ret` (NULL: no answer is expected). -EHOSTUNREACH, -ETIMEDOUT, -ECONNRESET: the shard is
 * unavailable. -EOVERFLOW: the query exceeds the limits of time, memory or size. -EBUSY: a query with this id is
 * running. */
int clickhouse_ask(struct clickhouse_store *s, unsigned shard, const struct clickhouse_request *r, struct buf *ret,
		   struct err *err);
int clickhouse_run(struct clickhouse_store *s, unsigned shard, const char *sql, struct err *err);

/* Sends a query whose result is one number. */
int clickhouse_ask_number(struct clickhouse_store *s, unsigned shard, const char *sql, uint64_t *ret, struct err *err);

/* Calls `one` for each shard, in parallel. Unavailable shards are added to `missing` if others respond; any other
 * error fails the whole query. -EAGAIN: tables have disappeared, and will be recreated. */
typedef int clickhouse_one(struct clickhouse_store *s, unsigned shard, void *data, struct err *err);
int clickhouse_each(struct clickhouse_store *s, clickhouse_one *one, void *data, struct err *err);

/* Calls `one` for this shard only, waiting a few seconds at most if the server is down or hangs. */
int clickhouse_one_shard(struct clickhouse_store *s, unsigned shard, clickhouse_one *one, void *data, struct err *err);

/* Checks that each shard has its tables, in our version. All of them must answer within a few seconds; `err` names those that do not. A
 * failure is cached for a moment, so that frequent callers wait once. */
int clickhouse_ready(struct store *store, struct err *err);

bool clickhouse_is_unreachable(int rc);		/* whether an error means that the connection failed */

/* Sums stop at the ends of Int64, where sum() would wrap. */
#define CLICKHOUSE_SUM	"multiIf(sum(toFloat64(value)) >= 9223372036854775807., toInt64(9223372036854775807), "	\
		"sum(toFloat64(value)) <= -9223372036854775808., bitShiftLeft(toInt64(-1), 63), sum(value))"

/* Appends 'text', quoted; it may contain any bytes. */
void sql_put_string(struct buf *sql, struct str text);

/* Appends " AND day >= … AND …" for the range; returns false if it is empty. Days end in 2149. */
bool sql_put_range(struct buf *sql, const struct store_query *q);
bool sql_put_days(struct buf *sql, const struct store_query *q);	/* the same in whole days */
bool sql_put_months(struct buf *sql, const struct store_query *q);

/* Appends " AND …" for the arrays `keys` and `vals`. */
void sql_put_filters(struct buf *sql, const struct label_filter *filters, size_t count);

#define CLICKHOUSE_DAYS	65536			/* range of a Date */

/* Returns the month of a day (days since 1970) as a number, such as 202611. */
uint32_t clickhouse_month(int64_t day);

#endif
