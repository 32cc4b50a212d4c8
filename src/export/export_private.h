/* export_private.h: shared by the exporter and the two protocols. */
#ifndef EXPORT_EXPORT_PRIVATE_H
#define EXPORT_EXPORT_PRIVATE_H

#include "exporter.h"

#include "buf.h"
#include "http_client.h"
#include "rejected_series.h"
#include "url.h"

#define EXPORT_REQUEST_BYTES	((size_t)4 << 20)	/* approximate; receivers accept several times as much */

/* The outcome of one entry of a request that was accepted in part. */
enum export_outcome {
	EXPORT_STORED,
	EXPORT_REJECTED,
	EXPORT_RETRIED,
};

/* The protocol-specific parts of an exporter. */
struct export_kind {
	struct url_kind url;
	const char *path;
	const char *headers[3];
	/* Appends a request with entries from `first` up to, but not including, `end`, and returns the number of
	 * entries used. -EINVAL, -E2BIG or -EFBIG with a sentence: the first entry can never be sent. */
	ssize_t (*write)(const struct exporter *x, const struct batch *b, size_t first, size_t end, struct buf *out,
			 struct err *err);		/* indices are in the exporter's order */
	bool (*is_retried)(int status, const struct http_answer *a);
	/* If an error names the entries that failed, sets the outcomes of all `n`, which begin as EXPORT_STORED, and returns
	 * their number. NULL: errors name none. */
	size_t (*read_failed)(const struct http_answer *a, size_t n, enum export_outcome *outcomes);
	/* Reads the receiver's error message or, with status 200, the number of profiles that it rejected. */
	uint64_t (*read_answer)(const struct http_answer *a, int status, struct buf *ret_sentence);
};

struct exporter {
	const struct export_kind *kind;
	struct url url;
	struct http_client *client;
	const char *service, *tenant;		/* tenant: NULL: the one of each series */

	/* used only by the sink's thread */
	size_t at_once;				/* entries in one request that the receiver accepts; 0: unlimited … */
	int64_t at_once_end_ns;			/* … after this time (monotonic) */
	struct rejected_series rejected;
	uint32_t *order;			/* entries of the batch in flight, grouped by tenant and, within that, suspects last;
						 * NULL: no batch */
	size_t suspects_at_once;		/* in one request of this batch */
	size_t done;				/* entries of `order` that are finished */
	bool accepted;				/* at least one request of the batch was accepted */
	unsigned failures;			/* in a row */
	int64_t pause_end_ns;			/* monotonic */
	char why[256];				/* the last error, reported during the pause */
	int64_t say_rejected_ns;

	struct exporter_counters counters;
};

extern const struct export_kind export_otlp, export_pyroscope;

/* --- exporter.c --- */

const struct batch_entry *export_entry(const struct exporter *x, const struct batch *b, size_t i);	/* in its order */
bool export_is_success(int status);
void export_put_text(const struct http_answer *a, struct buf *ret);	/* the body of an answer, truncated */

#endif
