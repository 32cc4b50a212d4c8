/* test_diff_report.c: checks that tables of differences add up, whatever is compared and however it is scaled. */

#include "diff_report.h"

#include "mem.h"
#include "test.h"
#include "test_random.h"

#include <math.h>

static struct profile *random_profile(uint32_t nodes, uint32_t frames, const char *column, const char *unit)
{
	struct profile *p = profile_new();
	uint32_t c = profile_column(p, column, unit);

	for (uint32_t i = 0; i < nodes; i++) {
		char name[32];
		uint32_t frame;

		snprintf(name, sizeof(name), "f%u", below(frames));
		frame = profile_frame(p, (struct str){ name, strlen(name) }, (struct str){ "", 0 }, 0);
		profile_add(p, profile_child(p, below(p->node_count), frame), c, (int64_t)below(1000));
	}
	return p;
}

TEST(measured_deltas_add_up_and_scaled_values_are_rounded_individually)
{
	for (int round = 0; round < 300; round++) {
		bool sampled = round & 1;
		const char *column = sampled ? "samples" : "wall_ns", *unit = sampled ? "count" : "nanoseconds";
		_cleanup_(profile_freep) struct profile *a = random_profile(1 + below(200), 1 + below(30), column,
									    unit);
		_cleanup_(profile_freep) struct profile *b = random_profile(1 + below(200), 1 + below(30), column,
									    unit);
		struct diff_options scale = { .scale = round & 2 ? DIFF_BY_TOTAL : DIFF_AS_IT_IS };
		struct diff_report_options o = { .all = true, .sort = round & 4 ? REPORT_SORT_TOTAL : REPORT_SORT_SELF };
		_cleanup_(diff_report_done) struct diff_report r = { 0 };
		_cleanup_(diff_done) struct diff d = { 0 };
		int64_t deltas = 0;

		if (profile_diff(a, 0, b, 0, &scale, &d, NULL) < 0)
			continue;
		diff_report_init(&r, &d, &o);
		for (size_t i = 0; i < r.count; i++) {
			deltas += r.rows[i].self.after - r.rows[i].self.before;
			CHECK_INT(r.rows[i].self.before, llround((double)r.rows[i].self_measured * d.factor));
			CHECK_INT(r.rows[i].total.before, llround((double)r.rows[i].total_measured * d.factor));
			CHECK(sampled || r.rows[i].self.noise == 0);
			CHECK(r.rows[i].total.after >= r.rows[i].self.after);
		}
		if (!(round & 2)) {
			CHECK_INT(deltas, profile_sum(d.profile, d.after) - profile_sum(d.profile, d.before));
			CHECK_INT(deltas, r.all.after - r.all.before);
		}
		CHECK(!(round & 2) || r.all.after == r.all.before);
		CHECK_INT(r.count, r.compared);
	}
}

static void set(struct profile *p, const char *name, const char *callee, int64_t value)
{
	uint32_t column = profile_column(p, "wall_ns", "nanoseconds"), frames[2];

	frames[0] = profile_frame(p, (struct str){ name, strlen(name) }, (struct str){ "", 0 }, 0);
	frames[1] = profile_frame(p, (struct str){ callee, strlen(callee) }, (struct str){ "", 0 }, 0);
	profile_add(p, profile_stack(p, frames, *callee ? 2 : 1), column, value);
}

TEST(growth_is_attributed_to_a_function_with_its_callees_or_to_the_whole_profile)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new();
	struct diff_options scale = { .scale = DIFF_BY_TOTAL };
	struct diff_report_options o = { 0 };
	_cleanup_(diff_report_done) struct diff_report r = { 0 }, whole = { 0 };
	_cleanup_(diff_done) struct diff shares = { 0 }, values = { 0 };
	uint32_t frame;
	double change;

	/* A callee moved into its caller: the caller did not grow; the other growth is 10 of 100. */
	set(a, "caller", "callee", 50);
	set(a, "other", "", 30);
	set(a, "rest", "", 20);
	set(b, "caller", "", 50);
	set(b, "other", "", 40);
	set(b, "rest", "", 10);
	CHECK_INT(profile_diff(a, 0, b, 0, &scale, &shares, NULL), 0);
	diff_report_init(&r, &shares, &o);
	CHECK(diff_report_grew(&r, 9, &frame, &change));
	CHECK(frame != UINT32_MAX && !memcmp(profile_name(shares.profile, frame).p, "other", 5));
	CHECK(change > 9.99 && change < 10.01);
	CHECK(!diff_report_grew(&r, 10.1, &frame, &change));

	set(b, "rest", "", 100);
	scale.scale = DIFF_AS_IT_IS;
	CHECK_INT(profile_diff(a, 0, b, 0, &scale, &values, NULL), 0);
	diff_report_init(&whole, &values, &o);
	CHECK(diff_report_grew(&whole, 99, &frame, &change));
	CHECK(frame == UINT32_MAX && change > 99.99 && change < 100.01);
}

TEST_MAIN()
