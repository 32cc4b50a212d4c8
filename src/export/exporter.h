/* exporter.h: a sink that sends batches to other servers: otlp://host:4318 and pyroscope://host:4040.
 *
 * A batch is one request, or several where it is large or of several tenants. Requests that were accepted, or rejected for good,
 * are not sent again when the batch is retried; one whose answer was lost is, so that the receiver may count it twice.
 * Retry-After is honored. Does not know who shows its counters. */
#ifndef EXPORT_EXPORTER_H
#define EXPORT_EXPORTER_H

#include "collector.h"

#include <stdatomic.h>

struct exporter;

struct exporter_counters {
	_Atomic uint64_t requests, bytes;		/* sent, with the size of the bodies */
	_Atomic uint64_t retried_requests;		/* failed, and were or will be sent again */
	_Atomic uint64_t refused_requests, refused_samples;	/* refused for ever */
	_Atomic uint64_t left_out_profiles;		/* dropped from accepted requests */
};

/* Takes a URL of one of the two schemes; -EINVAL with a sentence. Nothing is sent before the first batch. */
int exporter_open(const char *url, struct exporter **ret, struct err *err);
struct exporter *exporter_close(struct exporter *x);		/* NULL is fine; returns NULL */

struct collector_sink exporter_sink(struct exporter *x);
const char *exporter_url(const struct exporter *x);		/* without passwords */
const struct exporter_counters *exporter_counters(const struct exporter *x);	/* any thread */

#endif
