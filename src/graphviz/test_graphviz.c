/* test_graphviz.c: whatever Graphviz does, the caller gets a picture or a sentence, in time. */

#include "clock.h"
#include "graphviz.h"
#include "test.h"

static const struct graphviz_limits limits = { 20000, (size_t)1 << 30, 10 << 20 };

TEST(a_graph_becomes_a_picture)
{
	_cleanup_(buf_done) struct buf out = { 0 };
	struct err err = { 0 };

	if (!graphviz_known())
		SKIP("built without Graphviz");
	buf_init(&out);
	CHECK_INT(graphviz_draw("digraph g { a -> b }", "svg", &limits, &out, &err), 0);
	CHECK(strstr(out.data, "<svg ") && strstr(out.data, "</svg>"));
}

TEST(what_is_no_graph_or_no_format_is_a_sentence)
{
	_cleanup_(buf_done) struct buf out = { 0 };
	struct err err = { 0 };

	if (!graphviz_known())
		SKIP("built without Graphviz");
	buf_init(&out);
	CHECK_INT(graphviz_draw("digraph {{{", "svg", &limits, &out, &err), -EINVAL);
	CHECK_STR(err.text, "Graphviz could not read the graph");
	CHECK_INT(graphviz_draw("digraph g { a }", "nonsense", &limits, &out, &err), -EINVAL);
	CHECK_STR(err.text, "Graphviz cannot draw 'nonsense' here");
	CHECK_INT(out.size, 0);
}

/* Everything calls everything: minutes of work. */
static void put_dense(struct buf *dot, int n)
{
	buf_puts(dot, "digraph g {\n");
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 8; k++)
			buf_printf(dot, "n%d -> n%d [label=\"%d\"];\n", i, (i * 7 + k * k * 31 + 1) % n, k);
	buf_puts(dot, "}\n");
}

TEST(a_graph_that_takes_too_long_is_given_up_in_time)
{
	_cleanup_(buf_done) struct buf dot = { 0 }, out = { 0 };
	struct graphviz_limits short_limits = { 200, (size_t)1 << 30, 10 << 20 };
	struct err err = { 0 };
	int64_t start = clock_monotonic_ns();

	if (!graphviz_known())
		SKIP("built without Graphviz");
	buf_init(&dot);
	buf_init(&out);
	put_dense(&dot, 1500);
	CHECK_INT(graphviz_draw(dot.data, "svg", &short_limits, &out, &err), -ETIMEDOUT);
	CHECK_STR(err.text, "Graphviz took longer than 200 ms");
	/* A child that was not ended would run for minutes; the bound is wide for slow machines. */
	CHECK(clock_monotonic_ns() - start < INT64_C(20000000000));
	CHECK_INT(out.size, 0);
}

TEST(a_picture_above_the_limit_is_refused)
{
	_cleanup_(buf_done) struct buf out = { 0 };
	struct graphviz_limits small = { 20000, (size_t)1 << 30, 100 };
	struct err err = { 0 };

	if (!graphviz_known())
		SKIP("built without Graphviz");
	buf_init(&out);
	CHECK_INT(graphviz_draw("digraph g { a -> b }", "svg", &small, &out, &err), -EFBIG);
	CHECK_INT(out.size, 0);
}

TEST_MAIN()
