/* line_set.h: collects lines of folded stacks of all inputs, each distinct line once: a day's log has a million
 * lines, but only tens of thousands of distinct ones. */
#ifndef ARCLAMP_LINE_SET_H
#define ARCLAMP_LINE_SET_H

#include "render.h"

struct line_set {
	struct flamegraph_line *lines;	/* in order of first occurrence */
	size_t count, capacity;
	bool keep_order;		/* merge only adjacent equal lines */
	uint64_t number;		/* index of the last line added */

	/* private */
	struct arena text;
	struct line_slot *slots;
	size_t slot_count;
};

void line_set_init(struct line_set *s, bool keep_order);
void line_set_done(struct line_set *s);

/* Copies the line if it is new. `data` is the line_set, for use as format_options.take_line. */
void line_set_take(void *data, struct str line);

/* Adds the flame chart of a profile, if it has one, as stacks in time order with nanoseconds. Calls too short to be
 * visible in a picture of a few thousand pixels count for their callers. */
int line_set_take_chart(struct line_set *s, const struct profile *p, struct err *err);

/* Adds the stacks of a profile. Returns the result of the folded writer: the number of stacks that cannot be
 * represented. */
int line_set_take_profile(struct line_set *s, const struct profile *p, uint32_t column, struct err *err);

#endif
