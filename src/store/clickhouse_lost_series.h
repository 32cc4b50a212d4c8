/* clickhouse_lost_series.h: restores the labels of a server's samples. */
#ifndef STORE_CLICKHOUSE_LOST_SERIES_H
#define STORE_CLICKHOUSE_LOST_SERIES_H

#include "clickhouse_store.h"

/* Finds days for which a server has samples but no series, and copies the series from the other servers. If that is
 * not enough, logs one message per server and hour, whatever the number of days. */
int clickhouse_restore_series(struct clickhouse_store *s, int64_t now_ns, struct err *err);

#endif
