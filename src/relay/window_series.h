/* window_series.h: a window's data in memory: one profile per series and bucket.
 *
 * Messages are queued here and merged all at once: from one second to the next the profiles would leave the
 * processor's cache. */
#ifndef RELAY_WINDOW_SERIES_H
#define RELAY_WINDOW_SERIES_H

#include "intern.h"
#include "labels.h"
#include "profile.h"
#include "wire_queue.h"

struct series {
	struct labels labels;
	int64_t bucket_ns, period_ns;
	enum strobe_clock clock;
	struct profile *profile;
	uint64_t samples;
};

/* Members may be read; `list` is valid after window_series_merge. */
struct window_series {
	const char *host;			/* label for messages without a host; "" adds none */
	struct intern keys;			/* a key's number is that of its series */
	struct series *list;
	size_t count, capacity;
	struct wire_queue waiting;
};

void window_series_init(struct window_series *s, const char *host);	/* `host` stays the caller's */
void window_series_done(struct window_series *s);
void window_series_clear(struct window_series *s);

/* Adds a message that strobe_wire_parse accepted; its bytes are copied. */
void window_series_add(struct window_series *s, const struct strobe_wire_message *m);
void window_series_merge(struct window_series *s);
bool window_series_is_empty(const struct window_series *s);

#endif
