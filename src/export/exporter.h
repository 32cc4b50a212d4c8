/* exporter.h: a sink that sends batches to other servers: otlp://host:4318 and pyroscope://host:4040.
 *
 * A batch is one request, or several if it is large, has several tenants, or has series that were in a rejected request
 * (rejected_series.h). When a batch is retried, requests, or series of them, that were accepted or permanently rejected are not
 * sent again; a request whose answer was lost is, so the receiver may count it twice. Retry-After is honored. */
#ifndef EXPORT_EXPORTER_H
#define EXPORT_EXPORTER_H

#include "collector.h"

#include <stdatomic.h>

struct exporter;

struct exporter_counters {
	_Atomic uint64_t requests, bytes;		/* sent, with the size of the bodies */
	_Atomic uint64_t retried_requests;		/* failed, and were or will be sent again */
	_Atomic uint64_t rejected_requests, rejected_samples;	/* permanently */
	_Atomic uint64_t rejected_profiles;		/* rejected by the receiver from requests that it accepted */
};

/* Takes a URL of one of the two schemes; -EINVAL with a sentence. Nothing is sent before the first batch. */
int exporter_open(const char *url, struct exporter **ret, struct err *err);
struct exporter *exporter_close(struct exporter *x);		/* NULL is fine; returns NULL */

struct collector_sink exporter_sink(struct exporter *x);
const char *exporter_url(const struct exporter *x);		/* without passwords */
const struct exporter_counters *exporter_counters(const struct exporter *x);	/* any thread */

#endif
