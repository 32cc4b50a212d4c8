/* pyroscope_query.h: reads fields of Pyroscope's requests by name, since each name has the same meaning in all of
 * them. */
#ifndef SERVE_PYROSCOPE_QUERY_H
#define SERVE_PYROSCOPE_QUERY_H

#include "arena.h"
#include "err.h"
#include "protobuf_message.h"

struct pyroscope_texts {
	const char **items;
	size_t count, capacity;
};

#define PYROSCOPE_TEXTS_MAX	4096u		/* bytes of one field */

struct pyroscope_query {
	const char *type, *selector, *name;	/* "" if missing */
	int64_t start_ms, end_ms;
	int64_t max_nodes, limit;
	double step_s;
	uint64_t format, exemplars, heatmap;	/* enums of messages.h */
	struct pyroscope_texts matchers, label_names, group_by, call_site, spans, traces, profiles;
	struct arena bytes;
};

/* Reads the fields of a message that message_check accepted. -EINVAL with a sentence; call _done in any case. */
int pyroscope_query_read(struct pyroscope_query *q, const struct message *m, const void *bytes, size_t n, struct err *err);
void pyroscope_query_done(struct pyroscope_query *q);

#endif
