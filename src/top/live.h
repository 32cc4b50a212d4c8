/* live.h: recent and cumulative measurements of a running recording; the cumulative ones since the last reset.
 *
 * Measurements come in intervals of about a second: the profiles of one, each with its labels, and then its end with the
 * totals of the recording up to there. The newest intervals are the window; all are added up as well, within a bound of
 * memory. Independent of the display.
 */
#ifndef TOP_LIVE_H
#define TOP_LIVE_H

#include "profile.h"
#include "record_summary.h"

struct live;

enum live_period { LIVE_WINDOW, LIVE_ALL };

/* Stacks of one value of one label; `key` NULL is no restriction. */
struct live_scope {
	const char *key, *value;
};

struct live *live_new(int64_t window_ns);
struct live *live_free(struct live *l);			/* NULL is fine; returns NULL */
struct live *live_copy(const struct live *l);		/* as it is now */

/* Adds a profile to the open interval, and owns it. */
void live_add(struct live *l, struct profile *p);

/* Ends the interval at `now_ns` of a monotonic clock. `totals` are of the recording since its start. */
void live_close(struct live *l, const struct record_summary *totals, int64_t now_ns);

/* Starts over: measurements before the last end are dropped. */
void live_reset(struct live *l);

/* The length of the period, as far as it was measured. */
int64_t live_length_ns(const struct live *l, enum live_period period);

/* The period's part of the totals. */
void live_summary(const struct live *l, enum live_period period, struct record_summary *ret);

/* Calls `each` for every profile of the period; those of equal labels may come several times. */
void live_each(const struct live *l, enum live_period period, void *data, void (*each)(void *data, const struct profile *p));

/* All stacks of the period and scope in one profile; the caller frees. */
struct profile *live_profile(const struct live *l, enum live_period period, const struct live_scope *scope);

#endif
