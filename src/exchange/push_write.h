/* push_write.h: entries of a batch as a request of Pyroscope's push.v1. */
#ifndef EXCHANGE_PUSH_WRITE_H
#define EXCHANGE_PUSH_WRITE_H

#include "batch.h"
#include "err.h"

/* Appends one series with one profile: its labels, and __name__ by its columns and clock ("process_cpu", "wall",
 * "memory", "mutex", "block"). If samples have a period, a time column is added, which Pyroscope's readers expect.
 * `service` is the service_name of series without that label. */
int push_write_entry(const struct batch_entry *e, const char *service, struct buf *out, struct err *err);

#endif
