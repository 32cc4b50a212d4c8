/* test_report.c: tests the invariants of the tables. */

#include "report.h"
#include "test.h"
#include "text.h"

static uint32_t frame(struct profile *p, const char *name)
{
	return profile_frame(p, (struct str){ name, strlen(name) }, (struct str){ "/srv/a.php", 10 }, 7);
}

static void add(struct profile *p, const char *a, const char *b, const char *c, int64_t samples)
{
	uint32_t column = profile_column(p, "samples", "count");
	const char *names[] = { a, b, c };
	uint32_t frames[3];
	size_t depth = 0;

	while (depth < 3 && names[depth]) {
		frames[depth] = frame(p, names[depth]);
		depth++;
	}
	profile_add(p, profile_stack(p, frames, depth), column, samples);
}

static const struct flat_row *row_of(const struct profile *p, const struct flat_row *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(profile_name(p, rows[i].frame).p, name) == 0)
			return &rows[i];
	return NULL;
}

TEST(a_recursive_function_counts_once_per_stack)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(freep) struct flat_row *rows = NULL;
	size_t n;

	add(p, "f", "g", "f", 5);
	add(p, "f", "f", NULL, 3);
	add(p, "f", NULL, NULL, 1);
	add(p, "g", NULL, NULL, 2);
	rows = report_flat(p, 0, REPORT_SORT_SELF, &n);
	CHECK_INT(n, 2);
	CHECK_INT(row_of(p, rows, n, "f")->self, 9);
	CHECK_INT(row_of(p, rows, n, "f")->total, 9);
	CHECK_INT(row_of(p, rows, n, "g")->self, 2);
	CHECK_INT(row_of(p, rows, n, "g")->total, 7);
}

TEST(rows_are_sorted_by_self_or_by_total_then_by_name)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(freep) struct flat_row *by_self = NULL, *by_total = NULL;
	size_t n;

	add(p, "main", "b", NULL, 4);
	add(p, "main", "a", NULL, 4);
	add(p, "main", "c", NULL, 9);
	by_self = report_flat(p, 0, REPORT_SORT_SELF, &n);
	by_total = report_flat(p, 0, REPORT_SORT_TOTAL, &n);
	CHECK_STR(profile_name(p, by_self[0].frame).p, "c");
	CHECK_STR(profile_name(p, by_self[1].frame).p, "a");
	CHECK_STR(profile_name(p, by_self[2].frame).p, "b");
	CHECK_STR(profile_name(p, by_self[3].frame).p, "main");
	CHECK_STR(profile_name(p, by_total[0].frame).p, "main");
}

TEST(a_stack_of_half_a_million_frames_is_walked_without_recursion)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(freep) struct flat_row *rows = NULL;
	uint32_t column = profile_column(p, "samples", "count"), f = frame(p, "down"), node = PROFILE_ROOT;
	size_t n;

	for (int i = 0; i < 500000; i++)
		node = profile_child(p, node, f);
	profile_add(p, node, column, 3);
	rows = report_flat(p, column, REPORT_SORT_SELF, &n);
	CHECK_INT(n, 1);
	CHECK_INT(rows[0].total, 3);
}

TEST(the_table_shows_percentages_values_and_locations)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf out = { 0 };
	struct report_options o = { 0 };

	add(p, "main", "work", NULL, 1500);
	add(p, "main", NULL, NULL, 500);
	buf_init(&out);
	CHECK_INT(report_flat_table(p, &o, &out, NULL), 0);
	CHECK_STR(out.data, " self%  total%     self    total  function\n"
			    "  75.0    75.0    1,500    1,500  work                  /srv/a.php:7\n"
			    "  25.0   100.0      500    2,000  main                  /srv/a.php:7\n");
}

TEST(freed_memory_is_negative_and_percentages_refer_to_allocated_memory)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf out = { 0 };
	struct report_options o = { 0 };

	add(p, "main", "take", NULL, 1000);
	add(p, "main", "give", NULL, -1000);
	CHECK_INT(report_whole(p, 0), 1000);
	buf_init(&out);
	CHECK_INT(report_flat_table(p, &o, &out, NULL), 0);
	CHECK_STR(out.data, " self%  total%     self    total  function\n"
			    " 100.0   100.0    1,000    1,000  take                  /srv/a.php:7\n"
			    "   0.0     0.0        0        0  main                  /srv/a.php:7\n"
			    "-100.0  -100.0   -1,000   -1,000  give                  /srv/a.php:7\n");
}

TEST(a_trace_is_shown_with_all_measured_columns)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf out = { 0 };
	uint32_t memory = profile_column(p, "memory_bytes", "bytes"), calls = profile_column(p, "calls", "count");
	uint32_t wall = profile_column(p, "wall_ns", "nanoseconds"), odd = profile_column(p, "odd", "count");
	uint32_t frames[] = { frame(p, "main()"), frame(p, "load"), frame(p, "main()") };
	uint32_t top = profile_stack(p, frames, 1), below = profile_stack(p, frames, 2),
		again = profile_stack(p, frames, 3);
	struct report_options o = { .column = wall };

	profile_add(p, top, calls, 1);
	profile_add(p, top, wall, 2500000);
	profile_add(p, below, calls, 1200);
	profile_add(p, below, wall, 6500000);
	profile_add(p, below, memory, 4096);
	profile_add(p, again, calls, 2);
	profile_add(p, again, wall, 1000000);
	profile_add(p, again, memory, -2048);
	profile_add(p, again, odd, 9);
	buf_init(&out);
	CHECK_INT(report_wide_table(p, &o, &out, NULL), 0);
	CHECK_STR(out.data, "wall%  calls     wall    wall+     memory  odd  function\n"
			    " 65.0  1,200  6.50 ms  7.50 ms   4.00 KiB    0  load  /srv/a.php:7\n"
			    " 35.0      3  3.50 ms  10.0 ms  -2.00 KiB    9  main()  /srv/a.php:7\n");
}

TEST(a_narrow_terminal_cuts_names_and_keeps_the_end_of_paths)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf out = { 0 };
	struct report_options o = { .width = 72 };

	add(p, "Some\\Very\\Long\\Name\\Of\\A\\Function::that_goes_on", NULL, NULL, 10);
	buf_init(&out);
	CHECK_INT(report_flat_table(p, &o, &out, NULL), 0);
	for (char *line = out.data, *end; (end = strchr(line, '\n')); line = end + 1)
		CHECK(text_columns((struct str){ line, (size_t)(end - line) }) <= 72);
	CHECK(strstr(out.data, "…") != NULL);
	CHECK(strstr(out.data, "a.php:7") != NULL);
}

TEST(names_of_any_bytes_cannot_control_the_terminal)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf out = { 0 };
	struct report_options o = { 0 };

	add(p, "\033]0;title\007\xff\n", NULL, NULL, 10);
	buf_init(&out);
	CHECK_INT(report_flat_table(p, &o, &out, NULL), 0);
	CHECK(!memchr(out.data, '\033', out.size) && !memchr(out.data, '\007', out.size));
	CHECK_INT(out.data[out.size - 1], '\n');
	CHECK(strchr(out.data, '\n') != NULL && strchr(strchr(out.data, '\n') + 1, '\n') == out.data + out.size - 1);
}

TEST(a_profile_without_values_is_rejected_with_an_error)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf out = { 0 };
	struct report_options o = { 0 };
	struct err err = { 0 };

	buf_init(&out);
	CHECK_INT(report_flat_table(p, &o, &out, &err), -EINVAL);
	CHECK(strlen(err.text) > 0);
}

TEST_MAIN()
