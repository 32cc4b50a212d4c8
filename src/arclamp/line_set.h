/* line_set.h: the lines of folded stacks of all inputs, equal ones once: a log of a day has a million lines and a few
 * ten thousand different ones. */
#ifndef ARCLAMP_LINE_SET_H
#define ARCLAMP_LINE_SET_H

#include "render.h"

struct line_set {
	struct flamegraph_line *lines;	/* in the order in which they came first */
	size_t count, capacity;
	bool keep_order;		/* only neighbors that are equal are one */
	uint64_t number;		/* number of the line that came last */

	/* private */
	struct arena text;
	struct line_slot *slots;
	size_t slot_count;
};

void line_set_init(struct line_set *s, bool keep_order);
void line_set_done(struct line_set *s);

/* Copies the line if it is new. `data` is the line_set: it fits format_options.take_line. */
void line_set_take(void *data, struct str line);

/* Adds the flame chart of a profile that has one, as stacks in the order of time with their nanoseconds. Calls too short to be seen
 * in a picture of some thousand pixels are time of their callers. */
int line_set_take_chart(struct line_set *s, const struct profile *p, struct err *err);

/* Adds the stacks of a profile. The result is that of the writer of folded stacks: how many had no place there. */
int line_set_take_profile(struct line_set *s, const struct profile *p, uint32_t column, struct err *err);

#endif
