/* test_top_view.c: tests that keys do what the help says. */

#include "top_view.h"
#include "test.h"

#include <string.h>

static enum top_action press(struct top_view *v, const char *keys)
{
	enum top_action last = TOP_NOTHING;

	for (; *keys; keys++)
		last = top_view_key(v, (unsigned char)*keys, "now.svg");
	return last;
}

TEST(letter_keys_select_the_order)
{
	struct top_view v;

	top_view_init(&v);
	CHECK_INT(press(&v, "t"), TOP_REFILL);
	CHECK_INT(v.sort, TOP_TOTAL);
	press(&v, "o");
	CHECK_INT(v.sort, TOP_OFF_SELF);
	press(&v, ">>");
	CHECK_INT(v.sort, TOP_NAME);
	press(&v, ">");
	CHECK_INT(v.sort, TOP_SELF);
	press(&v, "<<");
	CHECK_INT(v.sort, TOP_OFF_TOTAL);
	press(&v, "1");
	CHECK_INT(v.sort, TOP_SELF);
	v.has_off_cpu = false;
	press(&v, "o");
	CHECK(v.sort == TOP_SELF && strstr(v.message, "--on-cpu"));
	press(&v, ">>");
	CHECK_INT(v.sort, TOP_NAME);
	top_view_done(&v);
}

TEST(tab_cycles_through_groupings)
{
	struct top_view v;

	top_view_init(&v);
	press(&v, "\t\t");
	CHECK_INT(v.by, TOP_BY_FILE);
	for (unsigned i = TOP_BY_FILE; i < TOP_BY_CONTAINER; i++)
		press(&v, "\t");
	CHECK_INT(v.by, TOP_BY_CONTAINER);
	press(&v, "\t");
	CHECK_INT(v.by, TOP_BY_FUNCTION);
	press(&v, "G");
	CHECK_INT(v.by, TOP_BY_CONTAINER);
	v.has_pid = true;
	press(&v, "\t");
	CHECK_INT(v.by, TOP_BY_PID);
	press(&v, "f");
	CHECK_INT(v.by, TOP_BY_FUNCTION);
	top_view_done(&v);
}

TEST(a_filter_is_typed_and_mistakes_are_reported)
{
	struct top_view v;

	top_view_init(&v);
	press(&v, "/(");
	CHECK_INT(press(&v, "\n"), TOP_REDRAW);
	CHECK(v.prompt == TOP_PROMPT_FILTER && !v.has_filter && strstr(v.message, "invalid regular expression"));
	top_view_key(&v, TOP_KEY_BACKSPACE, "");
	press(&v, "caf");
	top_view_key(&v, 0xe9, "");
	top_view_key(&v, TOP_KEY_BACKSPACE, "");
	CHECK_STR(v.input, "caf");
	CHECK_INT(press(&v, "q\n"), TOP_REFILL);
	CHECK_STR(v.filter, "cafq");
	CHECK(v.has_filter && !v.prompt);
	CHECK_INT(top_view_key(&v, TOP_KEY_ESCAPE, ""), TOP_REFILL);
	CHECK(!v.has_filter && !*v.filter);
	press(&v, "/x");
	top_view_key(&v, TOP_KEY_ESCAPE, "");
	CHECK(!v.prompt && !v.has_filter);
	top_view_done(&v);
}

TEST(typed_text_never_exceeds_its_buffer)
{
	struct top_view v;

	top_view_init(&v);
	press(&v, "/");
	for (unsigned i = 0; i < 3 * TOP_INPUT_MAX; i++)
		top_view_key(&v, 0x20ac, "");
	CHECK(strlen(v.input) <= TOP_INPUT_MAX && strlen(v.input) > TOP_INPUT_MAX - 3);
	top_view_key(&v, 21, "");
	CHECK_STR(v.input, "");
	top_view_key(&v, TOP_KEY_BACKSPACE, "");
	CHECK_STR(v.input, "");
	top_view_done(&v);
}

TEST(a_picture_is_saved_under_the_name_shown)
{
	struct top_view v;

	top_view_init(&v);
	press(&v, "w");
	CHECK_STR(v.input, "now.svg");
	CHECK_INT(press(&v, "\n"), TOP_SAVE);
	CHECK(!v.prompt);
	press(&v, "w");
	top_view_key(&v, 21, "");
	CHECK_INT(press(&v, "\n"), TOP_REDRAW);
	top_view_done(&v);
}

static void fill_rows(struct top_rows *r, struct top_row *rows, size_t count)
{
	*r = (struct top_rows){ .rows = rows, .count = count };
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct top_row){ .name = { "index", 5 }, .file = { "", 0 } };
}

TEST(the_selected_row_stays_visible)
{
	struct top_row items[50];
	struct top_rows rows;
	struct top_view v;

	top_view_init(&v);
	fill_rows(&rows, items, 50);
	v.rows = &rows;
	v.page = 10;
	for (int i = 0; i < 12; i++)
		press(&v, "j");
	CHECK_INT(v.selected, 12);
	CHECK_INT(v.first, 3);
	top_view_key(&v, TOP_KEY_END, "");
	CHECK_INT(v.selected, 49);
	CHECK_INT(v.first, 40);
	top_view_key(&v, TOP_KEY_PAGE_UP, "");
	CHECK_INT(v.selected, 40);
	top_view_key(&v, TOP_KEY_HOME, "");
	CHECK_INT(v.selected, 0);
	CHECK_INT(v.first, 0);
	top_view_key(&v, TOP_KEY_END, "");
	rows.count = 3;
	top_view_clamp(&v);
	CHECK_INT(v.selected, 2);
	CHECK_INT(v.first, 0);
	rows.count = 0;
	press(&v, "jk");
	CHECK_INT(v.selected, 0);
	top_view_done(&v);
}

/* Makes two functions with these times on CPU. */
static struct live *two_functions(int64_t a, int64_t b)
{
	struct live *l = live_new(0);
	struct record_summary s = { .seconds = 1, .refused = "", .first_file = "" };
	struct profile *p = profile_new();
	uint32_t column = profile_column(p, "cpu_ns", "nanoseconds");
	struct str none = { "", 0 };

	profile_add(p, profile_child(p, PROFILE_ROOT, profile_frame(p, (struct str){ "a", 1 }, none, 0)), column, a);
	profile_add(p, profile_child(p, PROFILE_ROOT, profile_frame(p, (struct str){ "b", 1 }, none, 0)), column, b);
	live_add(l, p);
	live_close(l, &s, 1000000000);
	return l;
}

TEST(the_selection_follows_its_row)
{
	struct live *first = two_functions(10, 5), *then = two_functions(3, 5);
	struct top_rows rows, next, last;
	struct top_view v;

	top_view_init(&v);
	v.page = 5;
	top_rows_init(&rows);
	top_view_fill(&v, first, &rows);
	press(&v, "j");
	CHECK(v.selected == 1 && *rows.rows[1].name.p == 'b');
	top_rows_init(&next);
	top_view_fill(&v, then, &next);
	CHECK(v.selected == 0 && *next.rows[0].name.p == 'b');
	top_rows_init(&last);
	top_view_fill(&v, first, &last);
	CHECK_INT(v.selected, 0);
	top_rows_done(&rows);
	top_rows_done(&next);
	top_rows_done(&last);
	top_view_done(&v);
	live_free(first);
	live_free(then);
}

TEST(enter_opens_a_script_and_escape_returns)
{
	struct top_row items[2];
	struct top_rows rows;
	struct top_view v;

	top_view_init(&v);
	fill_rows(&rows, items, 2);
	v.rows = &rows;
	v.page = 10;
	CHECK_INT(press(&v, "\n"), TOP_NOTHING);
	v.by = TOP_BY_ENTRY;
	CHECK_INT(press(&v, "\n"), TOP_REFILL);
	CHECK(v.by == TOP_BY_FUNCTION && v.scope.key && !strcmp(v.scope.key, "entry"));
	CHECK_STR(v.scope.value, "index");
	CHECK_INT(top_view_key(&v, TOP_KEY_ESCAPE, ""), TOP_REFILL);
	CHECK(!v.scope.key);
	top_view_done(&v);
}

TEST(d_shows_requests_and_enter_shows_the_stack_of_one)
{
	struct request_row items[2] = { { .stack = { "a\n", 2 } }, { .stack = { "    b\n    main\n", 15 } } };
	struct request_rows rows = { .rows = items, .count = 2 };
	struct top_view v;

	top_view_init(&v);
	v.page = 5;
	CHECK_INT(press(&v, "d"), TOP_REFILL);
	v.request_rows = &rows;
	press(&v, "jjj");
	CHECK_INT(v.selected, 1);
	CHECK_INT(press(&v, "\n"), TOP_REDRAW);
	CHECK_STR(v.stack, "    b\n    main\n");
	rows.count = 0;
	press(&v, "x");
	CHECK(!v.stack && v.requests);
	CHECK_INT(press(&v, "\n"), TOP_NOTHING);
	CHECK_INT(top_view_key(&v, TOP_KEY_ESCAPE, ""), TOP_REFILL);
	CHECK(!v.requests);
	press(&v, "d");
	press(&v, "\t");
	CHECK(!v.requests && v.by == TOP_BY_CLASS);
	top_view_done(&v);
}

TEST(the_selection_follows_its_process)
{
	struct request_row items[2] = { { .thread = { "1", 1 } }, { .thread = { "2", 1 } } }, later[1] = { { .thread = { "2", 1 } } };
	struct request_rows before = { .rows = items, .count = 2 }, rows = { .rows = later, .count = 1 };
	struct top_view v;

	top_view_init(&v);
	v.page = 5;
	press(&v, "d");
	top_view_take_requests(&v, &before, &before);
	press(&v, "j");
	CHECK_INT(v.selected, 1);
	top_view_take_requests(&v, &before, &rows);
	CHECK(v.selected == 0 && v.request_rows == &rows);
	top_view_done(&v);
}

TEST(other_keys_pause_reset_and_quit)
{
	struct top_view v;

	top_view_init(&v);
	press(&v, " ");
	CHECK(v.paused);
	press(&v, "p");
	CHECK(!v.paused);
	press(&v, "a");
	CHECK_INT(v.period, LIVE_ALL);
	CHECK_INT(press(&v, "r"), TOP_RESET);
	CHECK_INT(press(&v, "?"), TOP_REDRAW);
	CHECK(v.help);
	CHECK_INT(press(&v, "q"), TOP_REDRAW);
	CHECK(!v.help);
	CHECK_INT(top_view_key(&v, TOP_KEY_OTHER, ""), TOP_NOTHING);
	CHECK_INT(top_view_key(&v, TOP_KEY_RESIZE, ""), TOP_REDRAW);
	CHECK_INT(press(&v, "q"), TOP_QUIT);
	top_view_done(&v);
}

TEST_MAIN()
