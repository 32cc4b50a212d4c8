/* clickhouse_lost_series.h: gives a server back the labels of its samples. */
#ifndef STORE_CLICKHOUSE_LOST_SERIES_H
#define STORE_CLICKHOUSE_LOST_SERIES_H

#include "clickhouse_store.h"

/* Copies the series of days of which a server has samples but no series from the other servers. Where that is not enough, the log says so
 * once an hour: one line for each server, whatever the number of days. */
int clickhouse_restore_series(struct clickhouse_store *s, int64_t now_ns, struct err *err);

#endif
