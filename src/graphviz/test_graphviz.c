/* test_graphviz.c: tests that callers get a picture or an error in time, however Graphviz behaves. */

#include "clock.h"
#include "graphviz.h"
#include "test.h"

#include <sys/wait.h>

static int64_t in_ms(int ms)
{
	return clock_monotonic_ns() + ms * INT64_C(1000000);
}

static int draw_all(const char *const *dots, size_t count, const char *format, int ms, size_t output, struct buf *out,
		    struct err *err)
{
	struct graphviz_limits limits = { 60, (size_t)1 << 30, output };
	_cleanup_(graphviz_freep) struct graphviz *g = NULL;

	CHECK_INT(graphviz_start(format, &limits, &g, err), 0);
	return graphviz_draw(g, dots, count, in_ms(ms), out, err);
}

static int draw(const char *dot, const char *format, int ms, size_t output, struct buf *out, struct err *err)
{
	return draw_all(&dot, 1, format, ms, output, out, err);
}

#define LONG	120000		/* ms, for work that ends by itself: machines may be slow */
#define LARGE	(10 << 20)

/* Input and output of a test. */
struct drawing {
	struct buf dot, out;
	struct err err;
};

static void drawing_done(struct drawing *d)
{
	buf_done(&d->dot);
	buf_done(&d->out);
}

/* Starts each test. */
#define BEGIN(d)							\
	_cleanup_(drawing_done) struct drawing d = { 0 };		\
									\
	buf_init(&d.dot);						\
	buf_init(&d.out);						\
	if (!graphviz_known())						\
		SKIP("built without Graphviz")

TEST(a_graph_becomes_a_picture)
{
	BEGIN(d);
	CHECK_INT(draw("digraph g { a -> b }", "svg", LONG, LARGE, &d.out, &d.err), 0);
	CHECK(strstr(d.out.data, "<svg ") && strstr(d.out.data, "</svg>"));
}

TEST(an_invalid_graph_or_format_is_an_error)
{
	BEGIN(d);
	CHECK_INT(draw("digraph {{{", "svg", LONG, LARGE, &d.out, &d.err), -EINVAL);
	CHECK_STR(d.err.text, "Graphviz could not read the graph");
	CHECK_INT(draw("digraph g { a }", "nonsense", LONG, LARGE, &d.out, &d.err), -EINVAL);
	CHECK_STR(d.err.text, "Graphviz cannot draw 'nonsense' here");
	CHECK_INT(d.out.size, 0);
}

/* A complete graph, which takes minutes to lay out. */
static void put_dense(struct buf *dot, int n)
{
	buf_puts(dot, "digraph g {\n");
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 8; k++)
			buf_printf(dot, "n%d -> n%d [label=\"%d\"];\n", i, (i * 7 + k * k * 31 + 1) % n, k);
	buf_puts(dot, "}\n");
}

TEST(a_graph_that_takes_too_long_is_abandoned_at_the_deadline)
{
	int64_t start = clock_monotonic_ns();

	BEGIN(d);
	put_dense(&d.dot, 1500);
	CHECK_INT(draw(d.dot.data, "svg", 200, LARGE, &d.out, &d.err), -ETIMEDOUT);
	CHECK_STR(d.err.text, "Graphviz could not lay the graph out in time");
	/* A child that is not killed would run for minutes; the bound is wide for slow machines. */
	CHECK(clock_monotonic_ns() - start < INT64_C(20000000000));
	CHECK_INT(d.out.size, 0);
}

TEST(a_picture_above_the_size_limit_is_rejected)
{
	BEGIN(d);
	CHECK_INT(draw("digraph g { a -> b }", "svg", LONG, 100, &d.out, &d.err), -EFBIG);
	CHECK_INT(d.out.size, 0);
}

TEST(the_last_graph_finished_before_the_deadline_is_used)
{
	int drawn = -1;

	BEGIN(d);
	put_dense(&d.dot, 1500);
	const char *dots[] = { "digraph g { small }", "digraph g { middle -> a }", d.dot.data, "digraph g { never }" };
	/* A busy machine may need longer for the small graphs; the dense one needs minutes. */
	for (int ms = 1000; drawn < 1 && ms <= LONG; ms *= 2) {
		buf_reset(&d.out);
		drawn = draw_all(dots, ARRAY_SIZE(dots), "svg", ms, LARGE, &d.out, &d.err);
	}
	CHECK_INT(drawn, 1);
	CHECK(strstr(d.out.data, "middle") && !strstr(d.out.data, "small"));
	CHECK_STR(d.err.text, "Graphviz could not lay the graph out in time");
}

TEST(graphs_rejected_by_graphviz_do_not_prevent_others)
{
	const char *dots[] = { "digraph g { first }", "digraph {{{", "digraph g { third }", "digraph {{{" };

	BEGIN(d);
	CHECK_INT(draw_all(dots, ARRAY_SIZE(dots), "svg", LONG, LARGE, &d.out, &d.err), 2);
	CHECK_STR(d.err.text, "Graphviz could not read the graph");
	CHECK(strstr(d.out.data, "third"));
}

TEST(a_picture_drawn_before_the_child_died_is_used)
{
	struct graphviz_limits limits = { 1, (size_t)1 << 30, LARGE };
	int drawn = -1;

	BEGIN(d);
	put_dense(&d.dot, 1500);
	const char *dots[] = { "digraph g { small }", d.dot.data };
	/* On a slow machine, loading libraries and fonts alone may take a second. */
	for (; drawn < 0 && limits.cpu_seconds <= 32; limits.cpu_seconds *= 2) {
		_cleanup_(graphviz_freep) struct graphviz *g = NULL;

		CHECK_INT(graphviz_start("svg", &limits, &g, &d.err), 0);
		drawn = graphviz_draw(g, dots, 2, in_ms(LONG), &d.out, &d.err);
	}
	CHECK_INT(drawn, 0);
	CHECK_STR(d.err.text, "Graphviz took too long");
	CHECK(strstr(d.out.data, "small"));
}

/* Pango sorts fonts in threads. A malloc arena for each would take 64 MB of address space, and if a thread cannot be
 * started the process exits. */
TEST(threads_of_libraries_fit_within_the_memory_limit_of_the_child)
{
	static const char graph[] = "digraph { a [label=\"<b>é\" fontname=\"Helvetica,Arial,sans\"] b [label=\"漢字\" fontname=\"DejaVu Sans\"] a -> b "
				    "[label=\"٣\" fontname=serif] c [label=\"ώ\" fontname=\"monospace bold\"] }";
	BEGIN(d);

	for (unsigned i = 0; i < 40; i++) {
		struct graphviz_limits limits = { 60, (size_t)96 << 20, LARGE };
		_cleanup_(graphviz_freep) struct graphviz *g = NULL;
		const char *dot = graph;

		buf_reset(&d.out);
		CHECK_INT(graphviz_start("svg", &limits, &g, &d.err), 0);
		CHECK_INT(graphviz_draw(g, &dot, 1, in_ms(LONG), &d.out, &d.err), 0);
	}
}

TEST(no_child_process_is_left_behind)
{
	struct graphviz_limits limits = { 60, (size_t)1 << 30, LARGE };
	struct graphviz *g = NULL;

	BEGIN(d);
	put_dense(&d.dot, 1500);
	const char *dots[] = { d.dot.data };
	CHECK_INT(graphviz_start("svg", &limits, &g, &d.err), 0);
	CHECK_INT(graphviz_draw(g, dots, 1, in_ms(100), &d.out, &d.err), -ETIMEDOUT);
	graphviz_free(g);
	CHECK_INT(graphviz_start("svg", &limits, &g, &d.err), 0);
	graphviz_free(g);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

TEST_MAIN()
