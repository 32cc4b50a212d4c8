/* test_stack_filters.c: filters by executed line keep the same stacks as filtering the view by line. */

#include "mem.h"
#include "report.h"
#include "stack_filters.h"
#include "test.h"
#include "test_random.h"

#include <string.h>

static struct str s(const char *text)
{
	return (struct str){ text, strlen(text) };
}

static uint32_t call(struct profile *p, uint32_t caller, const char *name, const char *file, uint32_t defined, uint32_t line)
{
	return profile_child_at(p, caller, profile_frame(p, s(name), s(file), defined), line);
}

static struct profile *new_profile(void)
{
	struct profile *p = profile_new();

	profile_column(p, "samples", "count");
	profile_keep_lines(p, true);
	return p;
}

/* Has functions of a file, some with unknown lines, and functions of PHP, which have neither file nor line. */
static struct profile *random_profile(void)
{
	struct profile *p = new_profile();

	for (uint32_t i = 0; i < 60; i++) {
		uint32_t node = PROFILE_ROOT, depth = 1 + below(6);

		for (uint32_t d = 0; d < depth; d++) {
			char name[16];
			bool internal = !below(3);

			snprintf(name, sizeof(name), "%c%u", internal ? 'i' : 'f', below(3));
			node = internal ? call(p, node, name, "", 0, 0) : call(p, node, name, "x.php", 10, below(4) ? 10 + below(4) : 0);
		}
		profile_add(p, node, 0, 1 + (int64_t)below(9));
	}
	return p;
}

static struct view view_of(const char *text, bool keep)
{
	struct view v = { .by = REPORT_BY_LINE };

	v.stack_filters[v.stack_filter_count++] = (struct view_stack_filter){ .text = text, .keep = keep };
	return v;
}

static void apply(const struct view *v, struct profile **p, struct profile **before)
{
	struct profile *none = NULL;
	struct err err = { 0 };

	CHECK_INT(stack_filters_apply(v, p, before ? before : &none, &err), 0);
}

static int64_t value_of(const struct profile *lines, const char *name)
{
	int64_t sum = 0;

	for (uint32_t n = 1; n < lines->node_count; n++) {
		struct str is = profile_name(lines, lines->node_frames[n]);

		if (is.n == strlen(name) && !memcmp(is.p, name, is.n))
			sum += lines->columns[0].self[n];
	}
	return sum;
}

/* Groups the stacks by line, and filters by the resulting names. */
static struct profile *filtered_by_name(const struct profile *p, const char *name, bool keep)
{
	_cleanup_(profile_freep) struct profile *lines = report_group(p, REPORT_BY_LINE);
	_cleanup_(freep) bool *of = report_no_frames(lines);

	for (uint32_t f = 0; f < lines->frame_count; f++)
		of[f] = profile_name(lines, f).n == strlen(name) && !memcmp(profile_name(lines, f).p, name, strlen(name));
	return report_filter(lines, keep ? of : NULL, keep ? NULL : of);
}

TEST(filters_by_line_keep_the_stacks_that_the_view_by_line_shows)
{
	static const char *const names[] = { "x.php:11", "x.php:13", "x.php [no line]", "[no file]" };
	static const char *const patterns[] = { "^x.php:11$", "^x.php:13$", "^x.php .no line.$", "^.no file.$" };

	for (int round = 0; round < 400; round++) {
		const char *name = names[round / 2 % 4];
		bool keep = round % 2;
		_cleanup_(profile_freep) struct profile *p = random_profile(), *wanted = filtered_by_name(p, name, keep);
		_cleanup_(profile_freep) struct profile *lines = NULL;
		struct view v = view_of(patterns[round / 2 % 4], keep);

		apply(&v, &p, NULL);
		lines = report_group(p, REPORT_BY_LINE);
		CHECK_INT(profile_sum(p, 0), profile_sum(wanted, 0));
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			CHECK_INT(value_of(lines, names[i]), value_of(wanted, names[i]));
	}
}

static struct profile *cart(void)
{
	struct profile *p = new_profile();
	uint32_t main = call(p, PROFILE_ROOT, "{main}", "index.php", 0, 3), add = call(p, main, "add", "lib.php", 10, 12);

	profile_add(p, call(p, add, "strlen", "", 0, 0), 0, 4);
	profile_add(p, call(p, main, "add", "lib.php", 10, 15), 0, 2);
	profile_add(p, call(p, PROFILE_ROOT, "{main}", "index.php", 0, 7), 0, 1);
	return p;
}

TEST(unknown_lines_keep_their_name_if_no_others_are_left)
{
	_cleanup_(profile_freep) struct profile *p = cart(), *lines = NULL;
	struct view v = view_of("lib.php .no line.", true);

	profile_add(p, call(p, PROFILE_ROOT, "add", "lib.php", 10, 0), 0, 9);
	apply(&v, &p, NULL);
	lines = report_group(p, REPORT_BY_LINE);
	CHECK_INT(value_of(lines, "lib.php [no line]"), 9);
}

TEST(internal_functions_count_for_the_calling_line_unless_filters_name_no_line)
{
	static const struct {
		const char *pattern;
		bool keep;
		int64_t left;
	} cases[] = {
		{ "lib.php:12", true, 4 }, { "lib.php:12", false, 3 }, { "index.php:3", true, 6 }, { "lib", false, 1 },
		{ "^strlen$", true, 4 }, { "^add$", false, 1 }, { "nothing", true, 0 }, { "nothing", false, 7 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(profile_freep) struct profile *p = cart();
		struct view v = view_of(cases[i].pattern, cases[i].keep);

		apply(&v, &p, NULL);
		CHECK_INT(profile_sum(p, 0), cases[i].left);
	}
}

TEST(both_sides_of_a_comparison_are_filtered_by_the_same_kind_of_names)
{
	_cleanup_(profile_freep) struct profile *p = cart(), *before = new_profile(), *two = cart();
	struct view v = view_of("add", false);

	profile_add(before, call(before, PROFILE_ROOT, "f", "add.php", 1, 2), 0, 5);
	apply(&v, &p, &before);
	CHECK_INT(profile_sum(p, 0), 7);
	CHECK_INT(profile_sum(before, 0), 0);

	/* No stack through line 7 remains for the second filter, which still applies to lines. */
	profile_add(two, call(two, call(two, PROFILE_ROOT, "{main}", "index.php", 0, 3), "{closure:index.php:7}", "lib.php", 20, 21), 0, 8);
	v = view_of("lib.php", true);
	v.stack_filters[v.stack_filter_count++] = (struct view_stack_filter){ .text = "index.php:7" };
	apply(&v, &two, NULL);
	CHECK_INT(profile_sum(two, 0), 14);
}

TEST_MAIN()
