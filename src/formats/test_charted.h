/* test_charted.h: a profile with a flame chart, for the tests of formats that support it. */
#ifndef FORMATS_TEST_CHARTED_H
#define FORMATS_TEST_CHARTED_H

#include "chart.h"

/* a calls b twice, with another b and a c in between: merged, they are not in this order. */
static struct profile *charted(void)
{
	struct profile *p = profile_new();
	uint32_t calls = profile_column(p, "calls", "count"), wall = profile_column(p, "wall_ns", "nanoseconds");
	uint32_t a = profile_child(p, 0, profile_frame(p, (struct str){ "a", 1 }, (struct str){ "/a.php", 6 }, 3));
	uint32_t b = profile_child(p, a, profile_frame(p, (struct str){ "b", 1 }, (struct str){ "", 0 }, 0));
	uint32_t c = profile_child(p, a, profile_frame(p, (struct str){ "c", 1 }, (struct str){ "", 0 }, 0));

	p->chart = chart_new(0);
	chart_add(p->chart, p, a, 10, 5000);
	chart_add(p->chart, p, b, 1000, 500);
	chart_add(p->chart, p, c, 2000, 0);
	chart_add(p->chart, p, b, 2000, 1001);
	profile_add(p, a, calls, 1);
	profile_add(p, b, calls, 2);
	profile_add(p, c, calls, 1);
	profile_add(p, a, wall, 3499);
	profile_add(p, b, wall, 1501);
	return p;
}

#endif
