/* test_pair_frames.c: closures and generated classes of two profiles are paired. */
#include "pair_frames.h"

#include "mem.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static struct str s(const char *text)
{
	return (struct str){ text, strlen(text) };
}

/* Returns the lines of `b` that closures on these lines of `a` are paired with, 0 for none; each list ends with 0. */
static void paired(const char *name, const uint32_t *before, const uint32_t *after, uint32_t ret[8])
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new(), *into = profile_new();
	uint32_t in_a[16] = { 0 }, in_b[16] = { 0 };

	/* Two functions on both sides. */
	profile_frame(a, s("first"), s("/r/7/a.php"), 10);
	profile_frame(b, s("first"), s("/r/8/a.php"), 12);
	profile_frame(a, s("second"), s("/r/7/a.php"), 100);
	profile_frame(b, s("second"), s("/r/8/a.php"), 133);
	for (size_t i = 0; before[i]; i++)
		profile_frame(a, s(name), s("/r/7/a.php"), before[i]);
	for (size_t i = 0; after[i]; i++)
		profile_frame(b, s(name), s("/r/8/a.php"), after[i]);
	pair_frames(into, a, b, PAIR_RELEASES, false, in_a, in_b);
	for (uint32_t i = 0; before[i]; i++) {
		ret[i] = 0;
		for (uint32_t j = 2; j < b->frame_count; j++)
			if (in_b[j] == in_a[2 + i])
				ret[i] = b->frames[j].line;
	}
}

#define LINES(...) (const uint32_t[]){ __VA_ARGS__, 0 }

TEST(closures_that_all_moved_are_not_paired_with_their_neighbors)
{
	uint32_t got[8];

	paired("{closure}", LINES(20, 21, 22), LINES(23, 24, 25), got);
	CHECK_INT(got[0], 23);
	CHECK_INT(got[1], 24);
	CHECK_INT(got[2], 25);
	paired("App\\Cart::{closure}", LINES(20, 21, 22), LINES(22, 23, 24, 30), got);
	CHECK_INT(got[0], 22);
	CHECK_INT(got[1], 23);
	CHECK_INT(got[2], 24);
}

TEST(closures_are_paired_within_their_enclosing_function)
{
	uint32_t got[8];

	/* Each side has one that the other side lacks. */
	paired("{closure}", LINES(20, 110), LINES(143, 150), got);
	CHECK_INT(got[1], 143);
	CHECK_INT(got[0], 0);
	paired("{closure}", LINES(50, 60, 110), LINES(62, 143), got);
	CHECK_INT(got[0], 0);
	CHECK_INT(got[1], 62);
	CHECK_INT(got[2], 143);
}

/* `first` moved by two lines, including its closures. */
TEST(closures_are_not_paired_across_others_that_stayed)
{
	static const uint32_t wanted[] = { 0, 39, 0, 60, 73 }, below[] = { 22, 32, 82, 92 };
	uint32_t got[8];

	/* 20 and 45 would both have moved by 41 lines. */
	paired("{closure}", LINES(20, 37, 45, 58, 71), LINES(39, 60, 61, 73, 86), got);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		CHECK_INT(got[i], wanted[i]);
	/* New code before these two. */
	paired("{closure}", LINES(20, 30, 40, 50), LINES(22, 32, 82, 92), got);
	for (size_t i = 0; i < ARRAY_SIZE(below); i++)
		CHECK_INT(got[i], below[i]);
}

/* Samples of the same file contain other closures each time. */
TEST(closures_executed_by_only_one_side_stay_unpaired)
{
	uint32_t got[8];

	paired("{closure}", LINES(2, 3), LINES(2, 4), got);
	CHECK_INT(got[0], 2);
	CHECK_INT(got[1], 0);
	paired("{closure}", LINES(20, 50, 90), LINES(22, 70, 92), got);
	CHECK_INT(got[1], 0);
	CHECK_INT(got[2], 92);
	paired("{closure}", LINES(3), LINES(7), got);	/* the only one moved */
	CHECK_INT(got[0], 7);
}

TEST(lines_in_names_and_file_columns_do_not_prevent_pairing)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new(), *into = profile_new();
	uint32_t in_a[8], in_b[8];

	profile_frame(a, s("/r/7/a.php"), s("/r/7/a.php"), 0);
	profile_frame(b, s("/r/8/a.php"), s("/r/8/a.php"), 0);
	profile_frame(a, s("T::{closure:/r/7/a.php(3)}"), s(""), 0);
	profile_frame(b, s("T::{closure:/r/8/a.php(4)}"), s(""), 0);
	profile_frame(a, s("T::{closure:/r/7/a.php(3)#2}"), s(""), 0);
	profile_frame(b, s("T::{closure:/r/8/a.php(4)#2}"), s(""), 0);
	profile_frame(a, s("U::{closure:/r/7/a.php(3)}"), s(""), 0);
	profile_frame(b, s("V::{closure:/r/8/a.php(3)}"), s(""), 0);
	pair_frames(into, a, b, PAIR_RELEASES, false, in_a, in_b);
	for (int i = 0; i < 3; i++)
		CHECK_INT(in_a[i], in_b[i]);
	CHECK(in_a[3] != in_b[3]);
	CHECK_STR(profile_name(into, in_a[1]).p, "T::{closure:/r/8/a.php(4)}");
	CHECK_INT(into->frame_count, 5);

	pair_frames(into, a, b, PAIR_AS_WRITTEN, false, in_a, in_b);
	for (int i = 0; i < 4; i++)
		CHECK(in_a[i] != in_b[i]);
}

TEST(generated_classes_are_paired_by_the_rest_of_their_names)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new(), *into = profile_new();
	uint32_t in_a[8], in_b[8];

	profile_frame(a, s("Mock_Cart_59d6f7a8::total"), s(""), 0);
	profile_frame(a, s("Mock_Cart_39d6f7a8::total"), s(""), 0);
	profile_frame(a, s("same_0123456789"), s(""), 0);
	profile_frame(b, s("same_0123456789"), s(""), 0);
	profile_frame(b, s("Mock_Cart_19d6f7a8::total"), s(""), 0);
	profile_frame(b, s("Mock_Cart_09d6f7a8::total"), s(""), 0);
	profile_frame(b, s("Mock_Cart_09d6f7a8::add"), s(""), 0);
	pair_frames(into, a, b, PAIR_RELEASES, false, in_a, in_b);
	CHECK_INT(in_a[0], in_b[1]);
	CHECK_INT(in_a[1], in_b[2]);
	CHECK_INT(in_a[2], in_b[0]);
	CHECK_INT(into->frame_count, 4);
}

TEST(thousands_of_closures_of_one_name_are_paired_in_order)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new(), *into = profile_new();
	uint32_t *in_a = xcalloc(3000, sizeof(*in_a)), *in_b = xcalloc(3000, sizeof(*in_b));

	for (uint32_t i = 0; i < 3000; i++) {
		profile_frame(a, s("{closure}"), s("/a.php"), 10 + i);
		profile_frame(b, s("{closure}"), s("/a.php"), 11 + i);
	}
	pair_frames(into, a, b, PAIR_RELEASES, false, in_a, in_b);
	for (uint32_t i = 0; i < 3000; i++)
		CHECK_INT(in_a[i], in_b[i]);
	free(in_a);
	free(in_b);
}

TEST_MAIN()
