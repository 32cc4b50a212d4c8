/* test_difference.c: tests that a picture of a difference shows both sides completely, and describes the changes. */

#include "difference.h"

#include "diff.h"
#include "mem.h"
#include "test.h"
#include "test_random.h"
#include "xml_check.h"

static uint32_t child(struct profile *p, uint32_t parent, const char *name)
{
	return profile_child(p, parent, profile_frame(p, (struct str){ name, strlen(name) }, (struct str){ "", 0 }, 0));
}

static void set(struct profile *p, uint32_t node, int64_t before, int64_t after)
{
	profile_add(p, node, profile_column(p, "before", "count"), before);
	profile_add(p, node, profile_column(p, "after", "count"), after);
}

static struct flamegraph_options options_of(const struct profile *p)
{
	struct flamegraph_options o;

	flamegraph_defaults(&o);
	o.before_column = profile_find_column(p, "before");
	o.column = profile_find_column(p, "after");
	return o;
}

/* Draws and checks the picture; the caller frees. */
static char *draw(const struct profile *p, const struct flamegraph_options *o)
{
	struct buf b;
	const char *wrong;
	size_t at;

	buf_init(&b);
	CHECK_INT(flamegraph_svg(p, o, &b, NULL), 0);
	wrong = xml_check(b.data, b.size, &at);
	if (wrong)
		printf("# offset %zu: %s: %.60s\n", at, wrong, b.data + at);
	CHECK(!wrong);
	return buf_take(&b, NULL);
}

/* p calls a and b, which both tripled; "gone" is only before and "new" only after. */
static struct profile *sample(void)
{
	struct profile *p = profile_new();
	uint32_t parent = child(p, PROFILE_ROOT, "p");

	set(p, child(p, parent, "a"), 10, 30);
	set(p, child(p, parent, "b"), 10, 30);
	set(p, child(p, PROFILE_ROOT, "gone"), 20, 0);
	set(p, child(p, PROFILE_ROOT, "new"), 0, 20);
	set(p, child(p, PROFILE_ROOT, "same"), 20, 20);
	return p;
}

TEST(titles_show_the_values_of_both_sides_and_their_change)
{
	_cleanup_(profile_freep) struct profile *p = sample();
	struct flamegraph_options o = options_of(p);
	_cleanup_(freep) char *svg = draw(p, &o);

	CHECK(strstr(svg, "<title>p (before 20 samples, 33.33%; after 60 samples, 60.00%; +40, +200.00%, +66.67 "
		     "points)</title>"));
	CHECK(strstr(svg, "<title>a (before 10 samples, 16.67%; after 30 samples, 30.00%; +20, +200.00%, +33.33 "
		     "points; "
			  "all of it self)</title>"));
	CHECK(strstr(svg, "<title>same (before 20 samples, 33.33%; after 20 samples, 20.00%; no change; all of it "
		     "self)</title>"));
	CHECK(strstr(svg, "<title>all (before 60 samples, 100.00%; after 100 samples, 100.00%; +40, +66.67%, +66.67 "
		     "points)</title>"));
}

static const char *fill_of(const char *svg, const char *function)
{
	char title[64];
	const char *at;

	snprintf(title, sizeof(title), "<title>%s (", function);
	at = strstr(svg, title);
	return at ? strstr(at, "fill=\"") : "";
}

TEST(changes_that_may_be_noise_are_pale_and_do_not_scale_the_others)
{
	_cleanup_(profile_freep) struct profile *p = sample();
	struct flamegraph_options o = options_of(p);
	struct diff d = { .profile = p, .before = o.before_column, .after = o.column, .measured = o.before_column, .factor = 1,
			  .before_weight = 2, .after_weight = 2 };
	_cleanup_(freep) char *svg = NULL;

	o.compared = &d;
	svg = draw(p, &o);
	CHECK(strstr(fill_of(svg, "p"), "fill=\"rgb(230,97,1)\"") == fill_of(svg, "p"));
	CHECK(strstr(fill_of(svg, "a"), "fill=\"rgb(243,227,216)\"") == fill_of(svg, "a"));
	CHECK(strstr(fill_of(svg, "same"), "fill=\"rgb(240,240,240)\"") == fill_of(svg, "same"));
}

TEST(removed_frames_are_drawn_unless_widths_are_those_after)
{
	_cleanup_(profile_freep) struct profile *p = sample();
	struct flamegraph_options o = options_of(p);
	_cleanup_(freep) char *larger = draw(p, &o), *after = NULL, *before = NULL, *changed = NULL;

	CHECK(strstr(larger, "<title>gone (before 20 samples, 33.33%; after 0 samples, 0.00%; -20, -100.00%, "
		     "-33.33 points"));
	CHECK(strstr(larger, "<title>new (before 0 samples, 0.00%; after 20 samples, 20.00%; +20, new, +33.33 points"));
	o.width_of = WIDTH_OF_AFTER;
	after = draw(p, &o);
	CHECK(!strstr(after, "<title>gone") && strstr(after, "<title>new"));
	o.width_of = WIDTH_OF_BEFORE;
	before = draw(p, &o);
	CHECK(strstr(before, "<title>gone") && !strstr(before, "<title>new"));
	o.width_of = WIDTH_OF_DIFFERENCE;
	changed = draw(p, &o);
	CHECK(strstr(changed, "<title>gone") && strstr(changed, "<title>new") && !strstr(changed, "<title>same"));
}

static struct rgb color_of(const struct profile *p, const struct flamegraph_options *o, uint32_t node)
{
	struct picture_difference *d = difference_new(p, o);
	struct layout_limits limits = { .width = 1000, .depth_max = UINT32_MAX, .widths = d->widths };
	struct layout l;
	struct rgb c;

	layout_init(&l, p, o->column, &limits);
	difference_scale(d, &l);
	c = difference_color(d, &(struct layout_box){ .node = node });
	layout_done(&l);
	difference_free(d);
	return c;
}

TEST(orange_is_more_and_blue_is_less_in_total_or_in_self)
{
	_cleanup_(profile_freep) struct profile *p = sample();
	struct flamegraph_options o = options_of(p);
	struct rgb parent = color_of(p, &o, 1), gone = color_of(p, &o, 4), same = color_of(p, &o, 6);

	CHECK(parent.r > parent.g && parent.g > parent.b);
	CHECK(gone.r < gone.g && gone.g < gone.b);
	CHECK(same.r == same.g && same.g == same.b);
	o.delta = DELTA_SELF;
	parent = color_of(p, &o, 1);
	gone = color_of(p, &o, 4);
	CHECK(parent.r == parent.g && parent.g == parent.b);
	CHECK(gone.r < gone.g && gone.g < gone.b);
}

TEST(frames_stand_on_their_callers_for_any_choice_of_widths)
{
	for (int round = 0; round < 200; round++) {
		_cleanup_(profile_freep) struct profile *p = profile_new();
		struct flamegraph_options o;
		struct picture_difference *d;
		struct layout_limits limits = { .width = 1000, .depth_max = UINT32_MAX };
		struct layout l;
		const struct layout_box *open[300];

		for (uint32_t i = 0; i < 200; i++) {
			char name[8];

			snprintf(name, sizeof(name), "f%u", below(20));
			set(p, child(p, below(p->node_count), name), (int64_t)below(50) - 5, (int64_t)below(50) - 5);
		}
		o = options_of(p);
		o.width_of = (enum flamegraph_width_of)(round % 4);
		d = difference_new(p, &o);
		limits.widths = d->widths;
		layout_init(&l, p, o.column, &limits);
		for (size_t i = 0; i < l.count; i++) {
			const struct layout_box *box = &l.boxes[i];

			open[box->depth] = box;
			CHECK(box->depth == 0 || (box->start >= open[box->depth - 1]->start &&
						  box->start + box->value <= open[box->depth - 1]->start +
						  open[box->depth - 1]->value));
			CHECK(box->depth == 0 || p->parents[box->node] == open[box->depth - 1]->node);
		}
		layout_done(&l);
		difference_free(d);
	}
}

TEST(empty_differences_and_extreme_values_are_handled)
{
	_cleanup_(profile_freep) struct profile *p = profile_new(), *empty = profile_new();
	struct flamegraph_options o;

	set(p, child(p, PROFILE_ROOT, "most"), INT64_MIN, INT64_MAX);
	set(p, child(p, PROFILE_ROOT, "least"), INT64_MAX, INT64_MIN);
	set(p, child(p, PROFILE_ROOT, "both"), INT64_MAX, INT64_MAX);
	o = options_of(p);
	for (int i = 0; i < 8; i++) {
		o.width_of = (enum flamegraph_width_of)(i % 4);
		o.delta = (enum flamegraph_delta)(i / 4);
		o.reverse = i & 1;
		free(draw(p, &o));
	}
	set(empty, child(empty, PROFILE_ROOT, "none"), 0, 0);
	o = options_of(empty);
	free(draw(empty, &o));
}

TEST_MAIN()
