/* run_bytes.h: encodes a new run as the bytes that every backend stores, and gives it its name. */
#ifndef STORE_RUN_BYTES_H
#define STORE_RUN_BYTES_H

#include "chart.h"
#include "store.h"
#include <xxhash.h>

#define RUN_MADE_IDS	10	/* attempts to generate an id that is free */

struct run_bytes {
	struct profile view;		/* a shallow copy of the profile, with other labels */
	struct chart chart;		/* chart of the view, with borrowed calls and times relative to the run */
	struct labels rest;		/* the labels without a column of their own */
	struct buf message, packed, totals, label_text;
	XXH128_canonical_t digest;
	int64_t start_ns, duration_ns;
};

/* Packs the run, which has its source and id. Call run_bytes_done after an error, too. */
int run_bytes_of(struct run_bytes *e, const struct store_new_run *run, int64_t now_ns, struct err *err);
void run_bytes_done(struct run_bytes *e);

/* Names the run after its profile's labels; returns -EINVAL if these are not valid names. */
int run_take_name(struct store_new_run *run, struct err *err);

/* "20261121-074502-1f9a0c37b2d4": sorts by time; the random part distinguishes runs of one second. */
void run_make_id(int64_t now_ns, char ret[STROBE_WIRE_RUN_KEY + 1]);

/* Tells whether the run itself is invalid, so that a retry would fail, too. */
bool run_is_final(int result);

int64_t run_total_of(const struct profile *p, const char *name);	/* RUN_TOTAL_MISSING if it has none */

/* Adds one message of a run whose messages have `whole` bytes together, within the limits of `most` (NULL: none).
 * Returns 1 if some of it was pruned, -EBADMSG if it is malformed. */
int run_message_add(struct profile *p, const void *bytes, size_t size, uint64_t whole, const struct store_profile_limits *most);

#endif
