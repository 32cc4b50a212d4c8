/* pyroscope_timeline.h: values over time, of all series together or by labels. */
#ifndef SERVE_PYROSCOPE_TIMELINE_H
#define SERVE_PYROSCOPE_TIMELINE_H

#include "pyroscope_calls.h"

struct pyroscope_group {
	struct labels labels;
	double *values, sum;		/* by step */
	struct buf *exemplars;		/* by step; NULL: none */
};

struct pyroscope_timeline {
	struct pyroscope_selection selection;
	int64_t start_ns, step_ns;	/* the first edge, and the distance between edges */
	size_t steps;
	struct pyroscope_group *groups;
	size_t count, capacity;
	struct intern keys;		/* keys of the groups */
};

/* Fills the timeline of the type, selector, range, step and group_by of the query. -EINVAL with a sentence; call _done in any case. */
int pyroscope_timeline_init(struct pyroscope_timeline *t, struct pyroscope_request *q, struct err *err);
void pyroscope_timeline_done(struct pyroscope_timeline *t);

#endif
