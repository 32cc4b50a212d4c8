/* test_layout.c: tests the positions of frames. */

#include "layout.h"

#include "test.h"

static const struct layout_limits everything = { .min_width = 0, .width = 1000, .depth_max = UINT32_MAX };

static uint32_t frame(struct profile *p, const char *name)
{
	return profile_frame(p, (struct str){ name, strlen(name) }, (struct str){ "", 0 }, 0);
}

/* Adds a stack of one-letter functions. */
static void add(struct profile *p, const char *stack, int64_t value)
{
	uint32_t column = profile_column(p, "samples", "count"), node = PROFILE_ROOT;

	for (const char *c = stack; *c; c++)
		node = profile_child(p, node, frame(p, (char[]){ *c, 0 }));
	profile_add(p, node, column, value);
}

/* Returns all boxes as "name depth start value", separated by spaces. */
static const char *text_of(const struct profile *p, const struct layout *l)
{
	static char text[1024];
	size_t n = 0;

	text[0] = 0;
	for (size_t i = 0; i < l->count; i++) {
		const struct layout_box *b = &l->boxes[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s:%u:%lld+%lld", i ? " " : "",
				      b->frame == UINT32_MAX ? "all" : profile_name(p, b->frame).p, b->depth,
				      (long long)b->start, (long long)b->value);
	}
	return text;
}

TEST(siblings_are_sorted_by_name_and_follow_the_self_value_of_their_parent)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	struct layout l;

	add(p, "mz", 4);
	add(p, "m", 3);
	add(p, "mab", 2);
	add(p, "ma", 1);
	layout_init(&l, p, 0, &everything);
	CHECK_STR(text_of(p, &l), "all:0:0+10 m:1:0+10 a:2:3+3 b:3:4+2 z:2:6+4");
	CHECK_INT(l.depth, 3);
	CHECK_INT(l.total, 10);
	layout_done(&l);
}

TEST(equal_profiles_have_equal_layouts_for_any_order_of_stacks)
{
	_cleanup_(profile_freep) struct profile *p = profile_new(), *q = profile_new();
	const char *const stacks[] = { "abc", "abd", "b", "ba", "a", "cab", "abca" };
	char first[1024];
	struct layout l;

	for (size_t i = 0; i < 7; i++) {
		add(p, stacks[i], (int64_t)i + 1);
		add(q, stacks[6 - i], 7 - (int64_t)i);
	}
	layout_init(&l, p, 0, &everything);
	snprintf(first, sizeof(first), "%s", text_of(p, &l));
	layout_done(&l);
	layout_init(&l, q, 0, &everything);
	CHECK_STR(text_of(q, &l), first);
	layout_done(&l);
}

/* Adds five frames below a tenth of the total, which is 100, and one of 90. */
static void add_narrow(struct profile *p)
{
	add(p, "bc", 4);
	add(p, "bd", 4);
	add(p, "bde", 1);
	add(p, "e", 1);
}

TEST(narrow_frames_are_counted_with_their_descendants)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	struct layout_limits limits = { .min_width = 10, .width = 100, .depth_max = UINT32_MAX };
	struct layout l;

	add(p, "a", 90);
	add_narrow(p);
	layout_init(&l, p, 0, &limits);
	CHECK_STR(text_of(p, &l), "all:0:0+100 a:1:0+90");
	CHECK_INT(l.narrow, 5);
	CHECK_INT(l.narrow_value, 10);
	layout_done(&l);
}

TEST(hidden_boxes_follow_the_drawn_ones_and_sums_are_complete)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	struct layout_limits limits = { .min_width = 10, .width = 100, .depth_max = UINT32_MAX, .hidden_max = 5 };
	struct layout l;

	add(p, "z", 90);
	add_narrow(p);
	layout_init(&l, p, 0, &limits);
	CHECK_STR(text_of(p, &l), "all:0:0+100 z:1:0+90 b:1:90+9 c:2:90+4 d:2:94+5 e:3:98+1 e:1:99+1");
	CHECK_INT(l.drawn, 2);
	CHECK(!l.boxes[1].hidden && l.boxes[2].hidden && l.boxes[6].hidden);
	CHECK_INT(l.depth, 1);
	CHECK_INT(l.depth_boxes, 3);
	CHECK_INT(l.narrow, 5);
	CHECK_INT(l.beyond, 0);
	layout_done(&l);
	limits.hidden_max = 4;
	layout_init(&l, p, 0, &limits);
	CHECK_STR(text_of(p, &l), "all:0:0+100 z:1:0+90 b:1:90+9 c:2:90+4 d:2:94+5");
	CHECK_INT(l.narrow, 5);
	CHECK_INT(l.beyond, 2);
	layout_done(&l);
}

TEST(a_frame_of_exactly_the_minimum_width_is_drawn)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	struct layout_limits limits = { .min_width = 7, .percent = true, .width = 1180, .depth_max = UINT32_MAX };
	struct layout l;

	add(p, "a", 93);
	add(p, "b", 7);
	layout_init(&l, p, 0, &limits);
	CHECK_INT(l.count, 3);
	layout_done(&l);
}

TEST(frames_above_the_depth_limit_are_counted)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	struct layout_limits limits = everything;
	struct layout l;

	limits.depth_max = 2;
	add(p, "abcde", 3);
	layout_init(&l, p, 0, &limits);
	CHECK_STR(text_of(p, &l), "all:0:0+3 a:1:0+3 b:2:0+3");
	CHECK_INT(l.deep, 3);
	CHECK_INT(l.depth_uncut, 5);
	layout_done(&l);
}

TEST(a_stack_of_half_a_million_frames_is_laid_out_without_recursion)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	uint32_t column = profile_column(p, "samples", "count"), node = PROFILE_ROOT, f = frame(p, "f");
	struct layout l;

	for (int i = 0; i < 500000; i++)
		node = profile_child(p, node, f);
	profile_add(p, node, column, 1);
	layout_init(&l, p, column, &everything);
	CHECK_INT(l.count, 500001);
	CHECK_INT(l.boxes[500000].depth, 500000);
	layout_done(&l);
}

TEST(negative_values_take_no_width_and_sums_saturate)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	struct layout l;

	add(p, "a", INT64_MAX);
	add(p, "b", INT64_MAX);
	add(p, "c", -5);
	layout_init(&l, p, 0, &everything);
	CHECK_INT(l.total, INT64_MAX);
	CHECK_INT(l.count, 3);
	for (size_t i = 0; i < l.count; i++)
		CHECK(l.boxes[i].start >= 0 && l.boxes[i].value > 0);
	layout_done(&l);
}

TEST(an_empty_profile_has_no_boxes)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	struct layout l;

	layout_init(&l, p, UINT32_MAX, &everything);
	CHECK_INT(l.count, 0);
	layout_done(&l);
	add(p, "ab", 0);
	layout_init(&l, p, 0, &everything);
	CHECK_INT(l.count, 0);
	layout_done(&l);
}

TEST_MAIN()
