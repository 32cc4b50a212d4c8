/* test_chart.c: tests that charts are consistent for any input, and survive files and merges as described in chart.h. */
#include "chart.h"
#include "mem.h"
#include "test.h"
#include "test_random.h"
#include "wire_profile.h"

#include <string.h>

static uint32_t frame(struct profile *p, const char *name)
{
	return profile_frame(p, (struct str){ name, strlen(name) }, (struct str){ "", 0 }, 0);
}

static struct profile *any_tree(uint32_t nodes)
{
	struct profile *p = profile_new();

	profile_keep_chart(p, true);
	profile_column(p, "calls", "count");
	for (uint32_t i = 0; i < nodes; i++) {
		char name[2] = { (char)('a' + below(5)), 0 };
		uint32_t node = profile_child(p, below(3) ? p->node_count - 1 : below(p->node_count), frame(p, name));

		profile_add(p, node, 0, 1);
	}
	p->start_ns = 1000;
	p->end_ns = 5000;
	return p;
}

/* Checks all pairs against the definition. */
static bool is_consistent(const struct profile *p, const struct chart *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		const struct chart_call *call = &c->calls[i];
		bool is_inside = !call->depth && p->parents[call->node] == PROFILE_ROOT;

		if (call->node == PROFILE_ROOT || call->end_ns < call->start_ns || (i && call->start_ns < c->calls[i - 1].start_ns))
			return false;
		for (uint32_t k = 0; k < i; k++) {
			const struct chart_call *before = &c->calls[k];

			if (before->depth == call->depth && before->end_ns > call->start_ns)
				return false;
			is_inside |= before->depth + 1 == call->depth && before->node == p->parents[call->node] &&
				     before->start_ns <= call->start_ns && before->end_ns >= call->end_ns;
		}
		if (!is_inside)
			return false;
	}
	return true;
}

static bool same(const struct chart *a, const struct chart *b)
{
	if (!a || !b || a->count != b->count || a->start_ns != b->start_ns)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (a->calls[i].node != b->calls[i].node || a->calls[i].depth != b->calls[i].depth ||
		    a->calls[i].start_ns != b->calls[i].start_ns || a->calls[i].end_ns != b->calls[i].end_ns)
			return false;
	return true;
}

/* Makes calls like a program. */
static void make_calls(struct profile *p, uint32_t node, int64_t *now)
{
	int64_t start = *now;
	uint32_t place = p->chart->count;

	chart_add(p->chart, p, node, start, INT64_MAX);
	*now += below(3);
	for (uint32_t n = node + 1; n < p->node_count; n++)
		for (uint32_t i = below(3); p->parents[n] == node && i > 0 && p->chart->count < 200; i--)
			make_calls(p, n, now);
	*now += below(3);
	p->chart->calls[place].end_ns = *now;
}

static struct profile *any_run(void)
{
	struct profile *p = any_tree(1 + below(20));
	int64_t now = 0;

	p->chart = chart_new(p->start_ns);
	make_calls(p, 1, &now);
	return p;
}

TEST(random_calls_form_a_consistent_chart)
{
	uint32_t kept = 0;

	for (unsigned round = 0; round < 3000; round++) {
		struct profile *p = any_tree(2 + below(12));
		struct chart *c = chart_new(0);

		for (uint32_t i = below(60); i > 0; i--) {
			int64_t start = (int64_t)below(50), duration = below(10) ? (int64_t)below(30) : below(2) ? INT64_MAX : -5;

			chart_add(c, p, below(p->node_count), below(20) ? start : INT64_MAX - start, duration);
		}
		kept += c->count;
		CHECK(is_consistent(p, c));
		chart_free(c);
		profile_free(p);
	}
	CHECK(kept > 3000);
}

TEST(calls_of_a_program_are_kept_unchanged)
{
	for (unsigned round = 0; round < 300; round++) {
		struct profile *p = any_run();
		struct chart *again = chart_new(p->chart->start_ns);

		CHECK(is_consistent(p, p->chart));
		for (uint32_t i = 0; i < p->chart->count; i++) {
			const struct chart_call *call = &p->chart->calls[i];

			CHECK(chart_add(again, p, call->node, call->start_ns, call->end_ns - call->start_ns));
		}
		CHECK(same(p->chart, again));
		chart_free(again);
		profile_free(p);
	}
}

static void put_open(void *out, uint32_t call)
{
	buf_printf(out, "(%u", call);
}

static void put_close(void *out, uint32_t call)
{
	buf_printf(out, ")");
}

TEST(a_walk_opens_and_closes_calls_in_order)
{
	struct profile *p = profile_new();
	uint32_t a = profile_child(p, 0, frame(p, "a")), b = profile_child(p, a, frame(p, "b")), c = profile_child(p, b, frame(p, "c"));
	struct chart *chart = chart_new(0);
	struct buf out;

	buf_init(&out);
	/* Calls without any length, so that only the nodes tell how they are nested. */
	chart_add(chart, p, a, 5, 0);
	chart_add(chart, p, b, 5, 0);
	chart_add(chart, p, c, 5, 0);
	chart_add(chart, p, b, 5, 0);
	chart_add(chart, p, a, 7, 10);
	CHECK(!chart_add(chart, p, c, 8, 1));
	chart_add(chart, p, b, 8, 20);
	chart_walk(chart, put_open, put_close, &out);
	CHECK_STR(out.data, "(0(1(2))(3))(4(5))");
	CHECK_INT(chart->calls[5].end_ns, 17);
	CHECK_INT(chart_end(chart), 17);
	buf_done(&out);
	chart_free(chart);
	profile_free(p);
}

static struct profile *through_bytes(const struct profile *p, bool keep)
{
	struct profile *back = profile_new();
	struct strobe_wire_message m;
	struct buf b;

	buf_init(&b);
	profile_keep_chart(back, keep);
	CHECK_INT(wire_profile_write_run(p, &b, NULL), 0);
	CHECK_INT(strobe_wire_parse(b.data, b.size, &m), STROBE_WIRE_OK);
	CHECK_INT(wire_profile_add_whole(back, &m, NULL), 0);
	back->start_ns = (int64_t)m.info.start_ns;
	buf_done(&b);
	return back;
}

TEST(a_chart_survives_encoding_on_request)
{
	for (unsigned round = 0; round < 200; round++) {
		struct profile *p = any_run(), *back = through_bytes(p, true), *plain = through_bytes(p, false);

		CHECK(same(p->chart, back->chart));
		CHECK(!plain->chart && plain->node_count == p->node_count);
		profile_free(p);
		profile_free(back);
		profile_free(plain);
	}
}

/* As if a child that began earlier had been merged into it. */
TEST(a_chart_that_begins_after_its_profile_keeps_its_offset)
{
	struct profile *p = any_run(), *back;
	int64_t before = p->chart->calls[0].start_ns;

	p->start_ns -= 300;
	back = through_bytes(p, true);
	CHECK_INT(back->chart->count, p->chart->count);
	CHECK_INT(back->chart->start_ns + back->chart->calls[0].start_ns, 1000 + before);
	profile_free(p);
	profile_free(back);
}

TEST(merging_a_second_run_drops_the_chart)
{
	struct profile *p = any_run(), *q = any_run(), *all = profile_new(), *other = profile_new();

	profile_keep_chart(all, true);
	profile_merge(all, p);
	CHECK(same(all->chart, p->chart) && is_consistent(all, all->chart));
	profile_merge(all, q);
	CHECK(!all->chart);
	profile_merge(other, p);
	CHECK(!other->chart);
	profile_free(p);
	profile_free(q);
	profile_free(all);
	profile_free(other);
}

TEST(a_chart_above_the_limit_keeps_its_first_calls_and_joins_the_cut_ones)
{
	for (unsigned round = 0; round < 200; round++) {
		struct wire_capacity capacity = { .nodes = 1 + below(8), .edge_nodes = 1, .edge_pairs = 1, .calls = below(40) };
		struct profile *p = any_run(), *back = profile_new();
		struct strobe_wire_message m;
		struct buf b;

		buf_init(&b);
		profile_keep_chart(back, true);
		CHECK_INT(wire_profile_write_run(p, &b, NULL), 0);
		CHECK_INT(strobe_wire_parse(b.data, b.size, &m), STROBE_WIRE_OK);
		CHECK(wire_profile_add_whole(back, &m, &capacity) >= 0);
		CHECK(back->chart && back->chart->count <= capacity.calls && is_consistent(back, back->chart));
		buf_done(&b);
		profile_free(p);
		profile_free(back);
	}
}

TEST_MAIN()
