/* test_leaderboard.c: counts like arclamp-grep: for the deepest frame that is not skipped. */
#include "leaderboard.h"

#include "buf.h"
#include "folded_line.h"
#include "mem.h"
#include "test.h"

static struct profile *make(const char *const *lines)
{
	struct profile *p = profile_new();
	uint32_t column = profile_column(p, "samples", "count"), frames[16];

	for (; *lines; lines++) {
		struct folded_line l;
		size_t depth = 0;

		CHECK(folded_line_parse(*lines, strlen(*lines), false, &l) == FOLDED_STACK);
		for (size_t at = 0, n; at <= l.stack.n; at += n + 1) {
			const char *end = memchr(l.stack.p + at, ';', l.stack.n - at);

			n = end ? (size_t)(end - l.stack.p) - at : l.stack.n - at;
			frames[depth++] = profile_frame(p, (struct str){ l.stack.p + at, n }, (struct str){ "", 0 }, 0);
		}
		profile_add(p, profile_stack(p, frames, depth), column, l.count.whole);
	}
	return p;
}

/* "Name 3, Other 2; passed 1, unmatched 4" */
static const char *board(const char *const *lines, const struct leaderboard_options *o)
{
	static struct buf b;
	struct profile *p = make(lines);
	struct leaderboard l;

	if (!b.data)
		buf_init(&b);
	buf_reset(&b);
	leaderboard_make(p, 0, o, &l);
	for (size_t i = 0; i < l.count; i++)
		buf_printf(&b, "%s%.*s %lld", i ? ", " : "", (int)l.rows[i].name.n, l.rows[i].name.p,
			   (long long)l.rows[i].samples);
	buf_printf(&b, "; passed %lld, unmatched %lld", (long long)l.passed_over, (long long)l.unmatched);
	leaderboard_done(&l);
	profile_free(p);
	return b.data;
}

#define LINES(...) (const char *const[]){ __VA_ARGS__, NULL }

TEST(each_stack_counts_for_its_deepest_name_with_a_capital_letter)
{
	const struct leaderboard_options o = { 0 };

	CHECK_STR(board(LINES("index.php;Cart::add;strlen 3", "index.php;Cart::add;Tax::of 2", "index.php;main 5"), &o),
		  "Cart::add 3, Tax::of 2; passed 5, unmatched 0");
}

TEST(ties_are_sorted_by_name)
{
	const struct leaderboard_options o = { 0 };

	CHECK_STR(board(LINES("x;B 1", "x;A 1", "x;AA 1", "x;C 2"), &o), "C 2, A 1, AA 1, B 1; passed 0, unmatched 0");
}

TEST(patterns_are_skipped_and_lowercase_can_be_kept)
{
	const char *const skip[] = { "Database*", "*Cache" };
	const struct leaderboard_options o = { .skip = skip, .skip_count = 2 }, keep = { .keep_lowercase = true };
	const char *const *lines = LINES("m;Page::get;Database::query;f 4", "m;MyCache 1", "m;Page::get;MyCache::x 2");

	CHECK_STR(board(lines, &o), "Page::get 4, MyCache::x 2; passed 1, unmatched 0");
	CHECK_STR(board(lines, &keep), "f 4, MyCache::x 2, MyCache 1; passed 0, unmatched 0");
}

TEST(versions_of_mediawiki_are_merged_into_one_name)
{
	const struct leaderboard_options o = { .keep_lowercase = true };

	CHECK_STR(board(LINES("/a/php-1.45.0-wmf.3/X.php 1", "/a/php-1.45.0-wmf.11/X.php 1", "/a/1.27wmf10/Y 1",
			      "/a/1.27wmf9/Y 1"),
			&o),
		  "/a/X.XXwmfXX/Y 2, /a/php-X.XXwmfXX/X.php 2; passed 0, unmatched 0");
	CHECK_STR(board(LINES("wmf 1", "A1wmf2 1", "1.2wmf 1", "1.2wmfx 1", ".2wmf3 1"), &o),
		  ".2wmf3 1, 1.2wmf 1, 1.2wmfx 1, A1wmf2 1, wmf 1; passed 0, unmatched 0");
}

TEST(only_stacks_with_the_text_are_counted)
{
	const char *const *lines = LINES("m;Page::edit;Lock::get 1", "m;Page::view;Lock::get 2", "m;Page::edit 4",
					 "n 8");
	struct leaderboard_options o = { .grep = "Page::edit" };

	CHECK_STR(board(lines, &o), "Page::edit 4, Lock::get 1; passed 0, unmatched 10");
	o.grep = "edit;Lo";
	CHECK_STR(board(lines, &o), "Lock::get 1; passed 0, unmatched 14");
	o.grep = "m;Page::edit;Lock::get";
	CHECK_STR(board(lines, &o), "Lock::get 1; passed 0, unmatched 14");
	o.grep = "x;Page::edit";
	CHECK_STR(board(lines, &o), "; passed 0, unmatched 15");
	o.grep = "edit;";
	CHECK_STR(board(lines, &o), "Lock::get 1; passed 0, unmatched 14");
	o.grep = "age;Lock";
	CHECK_STR(board(lines, &o), "; passed 0, unmatched 15");
}

TEST_MAIN()
