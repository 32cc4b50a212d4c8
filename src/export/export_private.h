/* export_private.h: shared by the exporter and the two protocols. */
#ifndef EXPORT_EXPORT_PRIVATE_H
#define EXPORT_EXPORT_PRIVATE_H

#include "exporter.h"

#include "buf.h"
#include "http_client.h"
#include "url.h"

#define EXPORT_REQUEST_BYTES	((size_t)4 << 20)	/* about; receivers take several times as much */

/* The differences between the two. */
struct export_kind {
	struct url_kind url;
	const char *path;
	const char *headers[3];
	/* Appends the request of entries from `first` on, `end` at most, and returns how many it took, or -EINVAL, -E2BIG or -EFBIG
	 * with a sentence: then the first of them can never be sent. */
	ssize_t (*write)(const struct exporter *x, const struct batch *b, size_t first, size_t end, struct buf *out,
			 struct err *err);		/* counted in the exporter's order */
	bool (*is_retried)(int status, const struct http_answer *a);
	/* The sentence of a receiver about an error, or, with 200, the number of profiles that it rejected. */
	uint64_t (*read_answer)(const struct http_answer *a, int status, struct buf *ret_sentence);
};

struct exporter {
	const struct export_kind *kind;
	struct url url;
	struct http_client *client;
	const char *service, *tenant;		/* tenant: NULL is that of each series */

	/* the sink's thread only */
	uint32_t *order;			/* entries of the batch in flight, tenant by tenant; NULL: none is */
	size_t done;				/* so many of them */
	bool accepted;				/* any of them */
	unsigned failures;			/* one after another */
	int64_t pause_end_ns;			/* monotonic */
	char why[256];				/* the last of them, until then */
	int64_t say_refused_ns;

	struct exporter_counters counters;
};

extern const struct export_kind export_otlp, export_pyroscope;

/* --- exporter.c --- */

const struct batch_entry *export_entry(const struct exporter *x, const struct batch *b, size_t i);	/* in its order */
bool export_is_success(int status);
void export_put_text(const struct http_answer *a, struct buf *ret);	/* the body of an answer, cut */

#endif
