/* test_line_options.c: the parameters of sources of lines. */

#include "line_options.h"
#include "mem.h"
#include "test.h"

#include <string.h>

TEST(a_query_sets_labels_clock_and_period)
{
	struct line_options o;
	struct err err;

	CHECK_INT(line_options_parse("label.host=web%201&clock=cpu&period=0.01&channel=excimer", &o, &err), 0);
	CHECK_STR(labels_get(&o.hints.labels, "host"), "web 1");
	CHECK_INT(o.hints.clock, STROBE_CLOCK_CPU);
	CHECK_INT(o.hints.period_ns, 10000000);
	CHECK_STR(o.channel, "excimer");
	line_options_done(&o);
	CHECK_INT(line_options_parse(NULL, &o, &err), 0);
	line_options_done(&o);
}

TEST(invalid_parameters_are_rejected)
{
	static const char *const bad[] = {
		"clock=sun",
		"period=often",
		"color=red",
		"label.a-b=1",
		"label.host",
		"channel=%zz",
		"label.host=a%00b",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct line_options o;
		struct err err = { 0 };

		CHECK_INT(line_options_parse(bad[i], &o, &err), -EINVAL);
		CHECK(err.text[0]);
		line_options_done(&o);
	}
}

TEST_MAIN()
