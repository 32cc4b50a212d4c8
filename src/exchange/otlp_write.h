/* otlp_write.h: entries of batches as a request of OTLP profiles, in the layout of opentelemetry-proto 1.10. */
#ifndef EXCHANGE_OTLP_WRITE_H
#define EXCHANGE_OTLP_WRITE_H

#include "batch.h"
#include "err.h"

struct otlp_writer;

/* Starts a request. `service` is the service.name of series without the label service_name. */
struct otlp_writer *otlp_writer_new(const char *service);
struct otlp_writer *otlp_writer_free(struct otlp_writer *w);	/* NULL is fine; returns NULL */

/* Adds one resource with the labels of the entry, and a profile per column with values. */
void otlp_writer_add(struct otlp_writer *w, const struct batch_entry *e);

/* The approximate size in bytes so far. */
size_t otlp_writer_size(const struct otlp_writer *w);

/* Appends the request; can be called once. */
void otlp_writer_end(struct otlp_writer *w, struct buf *out);

#endif
