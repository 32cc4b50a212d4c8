/* test_lines.c: tests the values of lines against an independent count over every stack. */
#include "annotate.h"
#include "mem.h"
#include "test.h"
#include "test_random.h"

#include <string.h>

#define LINES 8u

/* Functions f0 to f3 in two files, whose lines are sometimes unknown, and strlen, which has neither line nor file. */
static struct profile *random_profile(void)
{
	struct profile *p = profile_new();
	uint32_t column = profile_column(p, "samples", "count");

	profile_keep_lines(p, true);
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t node = PROFILE_ROOT, depth = 1 + below(7);

		for (uint32_t d = 0; d < depth; d++) {
			uint32_t k = below(5), line = below(4) ? 1 + below(LINES - 1) : 0;
			char name[8] = "strlen", file[8] = "";

			if (k < 4) {
				snprintf(name, sizeof(name), "f%u", k);
				snprintf(file, sizeof(file), "/%u.php", k / 2);
			}
			node = profile_child_at(p, node, profile_frame(p, (struct str){ name, strlen(name) },
								       (struct str){ file, strlen(file) }, k < 4),
						k < 4 ? line : 0);
		}
		profile_add(p, node, column, 1 + (int64_t)below(9));
	}
	return p;
}

struct counts {
	int64_t self[LINES], total[LINES];
};

/* Annotates a file, or a function in it. */
static void count(const struct profile *p, const char *file, const char *function, struct counts *ret)
{
	*ret = (struct counts){ 0 };
	for (uint32_t n = 1; n < p->node_count; n++) {
		bool seen[LINES] = { false }, innermost = true;
		int64_t samples = p->columns[0].self[n];

		for (uint32_t up = n; up; up = p->parents[up]) {
			uint32_t f = p->node_frames[up], line = profile_line(p, up);

			if (!strcmp(profile_name(p, f).p, "strlen"))
				continue;
			if (!strcmp(profile_file(p, f).p, file) && (!function || !strcmp(profile_name(p, f).p, function))) {
				ret->self[line] += innermost ? samples : 0;
				ret->total[line] += seen[line] ? 0 : samples;
				seen[line] = true;
			}
			innermost = false;
		}
	}
}

static void check(const struct profile *p, const char *file, const char *function)
{
	_cleanup_(profile_freep) struct profile *lines = report_lines(p, function);
	_cleanup_(freep) bool *of = report_no_frames(lines);
	struct annotate_lines found;
	struct counts expected;
	size_t at = 0;

	for (uint32_t f = 0; f < lines->frame_count; f++)
		of[f] = !strcmp(profile_file(lines, f).p, file) && (!function || !strcmp(profile_name(lines, f).p, function));
	count(p, file, function, &expected);
	annotate_lines_of(lines, 0, of, &found);
	CHECK_INT(found.whole, profile_sum(p, 0));
	for (uint32_t line = 1; line < LINES; line++) {
		if (!expected.total[line])
			continue;
		CHECK(at < found.count && found.list[at].line == line);
		if (at == found.count)
			break;
		CHECK_INT(found.list[at].self, expected.self[line]);
		CHECK_INT(found.list[at++].total, expected.total[line]);
	}
	CHECK_INT(at, found.count);
	annotate_lines_done(&found);
}

TEST(values_of_lines_match_their_stacks)
{
	for (int i = 0; i < 20; i++) {
		struct profile *p = random_profile();

		check(p, "/0.php", NULL);
		check(p, "/1.php", NULL);
		check(p, "/0.php", "f1");
		profile_free(p);
	}
}

/* Lines have no influence on rows of functions: those are the same as without lines. */
TEST(executed_lines_do_not_affect_rows_of_functions)
{
	struct profile *p = random_profile(), *plain = profile_without_lines(p);
	size_t count_a, count_b;
	struct flat_row *a = report_flat(p, 0, REPORT_SORT_TOTAL, &count_a), *b = report_flat(plain, 0, REPORT_SORT_TOTAL, &count_b);

	CHECK(plain->node_count < p->node_count);
	CHECK_INT(count_a, count_b);
	for (size_t i = 0; i < count_a && i < count_b; i++) {
		CHECK_STR(profile_name(p, a[i].frame).p, profile_name(plain, b[i].frame).p);
		CHECK_INT(a[i].self, b[i].self);
		CHECK_INT(a[i].total, b[i].total);
	}
	free(a);
	free(b);
	profile_free(plain);
	profile_free(p);
}

TEST_MAIN()
