/* metrics.h: every counter in Prometheus' text format, version 0.0.4. */
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include "http.h"

/* Appends all metrics. `resident_bytes` is that of this process; 0 if unknown (then it is omitted). */
void metrics_put(const struct server_context *s, int64_t now_ns, uint64_t resident_bytes, struct buf *out);

void metrics_answer(struct server_context *s, const struct request *q, struct response *r);

#endif
