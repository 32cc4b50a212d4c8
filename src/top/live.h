/* live.h: recent and cumulative measurements of a running recording; the cumulative ones since the last reset.
 *
 * Measurements arrive in intervals of about a second: first the profiles, each with its labels, then the end with the
 * totals of the recording so far. The newest intervals form the window; all are also added up, in limited memory.
 * Independent of the display.
 */
#ifndef TOP_LIVE_H
#define TOP_LIVE_H

#include "profile.h"
#include "record_summary.h"

struct live;

enum live_period { LIVE_WINDOW, LIVE_ALL };

/* Restricts stacks to one value of one label; `key` NULL: no restriction. */
struct live_scope {
	const char *key, *value;
};

struct live *live_new(int64_t window_ns);
struct live *live_free(struct live *l);			/* NULL is fine; returns NULL */
struct live *live_copy(const struct live *l);		/* a snapshot */

/* Adds a profile to the open interval, and owns it. */
void live_add(struct live *l, struct profile *p);

/* Ends the interval at `now_ns` of a monotonic clock. `totals` are those of the recording since its start. */
void live_close(struct live *l, const struct record_summary *totals, int64_t now_ns);

/* Starts over: drops measurements up to the end of the last interval. */
void live_reset(struct live *l);

/* Returns the length of the period that was measured. */
int64_t live_length_ns(const struct live *l, enum live_period period);

/* Returns the period's part of the totals. */
void live_summary(const struct live *l, enum live_period period, struct record_summary *ret);

/* Calls `each` for every profile of the period; there may be several with the same labels. */
void live_each(const struct live *l, enum live_period period, void *data, void (*each)(void *data, const struct profile *p));

/* Returns all stacks of the period and scope as one profile; the caller frees. */
struct profile *live_profile(const struct live *l, enum live_period period, const struct live_scope *scope);

#endif
