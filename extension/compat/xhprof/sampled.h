/* sampled.h: the sampling mode of xhprof and uprofiler: one entry per interval, its time as the key, the stack as the
 * text.
 *
 *	["1700000000.200000" => "main()==>goo==>bar", "1700000000.300000" => "main()==>goo==>bar==>usleep", …]
 *
 * Times are those of a grid of intervals since 1970. The stack begins where sampling was started: "main()" stands for
 * what was running then. No call observer is needed: a timer interrupts the VM. If that was not possible for a while,
 * the next stack counts for each interval that has passed.
 */
#ifndef STROBE_SAMPLED_H
#define STROBE_SAMPLED_H

#include "call_pairs.h"

struct sampled_options {
	const struct edge_names *names;
	uint64_t interval_us;		/* above 0, at most a year */
	zend_long depth;		/* maximum number of frames, counted from the leaf */
	bool on_grid;			/* samples are taken at the times in their keys; otherwise an interval after
					 * the start, … */
};

struct sampled;

/* Starts sampling. NULL, with an errno in `ret_error`, if there is no memory or no thread for the timer. */
struct sampled *sampled_start(const struct sampled_options *options, int *ret_error);

/* Stops sampling and fills `ret` with the array. */
void sampled_stop(struct sampled *s, zval *ret);

/* Stops sampling without a result. NULL is fine. */
void sampled_drop(struct sampled *s);

#endif
