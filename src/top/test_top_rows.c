/* test_top_rows.c: tests the content and order of rows. */

#include "top_rows.h"
#include "test.h"

#include <string.h>

static struct str str_of(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static const struct { const char *stack[4]; const char *entry; int64_t on, off; } stacks[] = {
	{ { "main", "A\\B\\Cart::total", "usort" }, "shop", 30, 0 },
	{ { "main", "A\\B\\Cart::total", "A\\B\\Cart::total" }, "shop", 20, 5 },
	{ { "main", "sleep" }, "job", 0, 1000 },
	{ { "main", "A\\C\\Page::show" }, "job", 50, 7 },
};

static struct live *made(void)
{
	struct live *l = live_new(0);
	struct record_summary s = { .seconds = 1, .refused = "", .first_file = "" };

	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		struct profile *p = profile_new();
		uint32_t on = profile_column(p, "cpu_ns", "nanoseconds"), off = profile_column(p, "off_cpu_ns", "nanoseconds");
		uint32_t node = PROFILE_ROOT;

		for (size_t n = 0; n < 4 && stacks[i].stack[n]; n++)
			node = profile_child(p, node, profile_frame(p, str_of(stacks[i].stack[n]), str_of("/srv/x.php"), 3));
		profile_add(p, node, on, stacks[i].on);
		profile_add(p, node, off, stacks[i].off);
		labels_set(&p->labels, "entry", 5, stacks[i].entry, strlen(stacks[i].entry));
		live_add(l, p);
	}
	live_close(l, &s, 1000);
	return l;
}

/* Returns "name self total off-self off-total; …". */
static const char *text_of(enum top_by by, enum top_sort sort, const char *filter, const struct live_scope *scope)
{
	static char text[2000];
	struct live *l = made();
	struct top_rows r;
	regex_t regex;

	top_rows_init(&r);
	top_rows_fill(&r, l, LIVE_ALL, scope, by);
	if (filter) {
		CHECK_INT(regcomp(&regex, filter, REG_EXTENDED | REG_ICASE), 0);
		top_rows_filter(&r, &regex);
		regfree(&regex);
	}
	top_rows_sort(&r, sort);
	*text = 0;
	for (size_t i = 0; i < r.count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s %d %d %d %d", i ? "; " : "", r.rows[i].name.p,
			 (int)r.rows[i].self, (int)r.rows[i].total, (int)r.rows[i].off_self, (int)r.rows[i].off_total);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), " of %d %d", (int)r.on_cpu, (int)r.off_cpu);
	top_rows_done(&r);
	live_free(l);
	return text;
}

TEST(functions_have_self_and_total_and_recursion_counts_once)
{
	CHECK_STR(text_of(TOP_BY_FUNCTION, TOP_SELF, NULL, NULL),
		  "A\\C\\Page::show 50 50 7 7; usort 30 30 0 0; A\\B\\Cart::total 20 50 5 5; main 0 100 0 1012; sleep 0 0 1000 1000"
		  " of 100 1012");
}

TEST(rows_can_be_sorted_by_each_column)
{
	CHECK_STR(text_of(TOP_BY_FUNCTION, TOP_TOTAL, NULL, NULL),
		  "main 0 100 0 1012; A\\C\\Page::show 50 50 7 7; A\\B\\Cart::total 20 50 5 5; usort 30 30 0 0; sleep 0 0 1000 1000"
		  " of 100 1012");
	CHECK_STR(text_of(TOP_BY_FUNCTION, TOP_OFF_SELF, NULL, NULL),
		  "sleep 0 0 1000 1000; A\\C\\Page::show 50 50 7 7; A\\B\\Cart::total 20 50 5 5; main 0 100 0 1012; usort 30 30 0 0"
		  " of 100 1012");
	CHECK_STR(text_of(TOP_BY_FUNCTION, TOP_OFF_TOTAL, NULL, NULL),
		  "main 0 100 0 1012; sleep 0 0 1000 1000; A\\C\\Page::show 50 50 7 7; A\\B\\Cart::total 20 50 5 5; usort 30 30 0 0"
		  " of 100 1012");
	CHECK_STR(text_of(TOP_BY_FUNCTION, TOP_NAME, NULL, NULL),
		  "A\\B\\Cart::total 20 50 5 5; A\\C\\Page::show 50 50 7 7; main 0 100 0 1012; sleep 0 0 1000 1000; usort 30 30 0 0"
		  " of 100 1012");
}

TEST(rows_of_equal_total_are_sorted_by_off_cpu_time)
{
	struct top_row rows[] = { { .name = str_of("md5"), .self = 60, .total = 60, .off_self = 1, .off_total = 1 },
				  { .name = str_of("script.php"), .total = 60, .off_total = 5000 } };
	struct top_rows r = { .rows = rows, .count = 2 };

	top_rows_sort(&r, TOP_TOTAL);
	CHECK(!memcmp(r.rows[0].name.p, "script.php", r.rows[0].name.n));
	top_rows_sort(&r, TOP_SELF);
	CHECK(!memcmp(r.rows[0].name.p, "md5", r.rows[0].name.n));
}

TEST(a_filter_hides_rows_without_changing_numbers)
{
	CHECK_STR(text_of(TOP_BY_FUNCTION, TOP_SELF, "cart|SLEEP", NULL),
		  "A\\B\\Cart::total 20 50 5 5; sleep 0 0 1000 1000 of 100 1012");
}

TEST(rows_of_classes_and_packages_are_computed_from_the_same_stacks)
{
	CHECK_STR(text_of(TOP_BY_CLASS, TOP_SELF, NULL, NULL),
		  "A\\C\\Page 50 50 7 7; [no class] 30 100 1000 1012; A\\B\\Cart 20 50 5 5 of 100 1012");
	CHECK_STR(text_of(TOP_BY_PACKAGE, TOP_SELF, NULL, NULL),
		  "A\\C 50 50 7 7; [no package] 30 100 1000 1012; A\\B 20 50 5 5 of 100 1012");
}

TEST(the_time_of_a_label_includes_all_of_its_stacks)
{
	CHECK_STR(text_of(TOP_BY_ENTRY, TOP_OFF_SELF, NULL, NULL), "job 50 50 1007 1007; shop 50 50 5 5 of 100 1012");
	CHECK_STR(text_of(TOP_BY_POOL, TOP_SELF, NULL, NULL), " 100 100 1012 1012 of 100 1012");
}

TEST(a_scope_applies_to_functions_and_labels)
{
	struct live_scope shop = { "entry", "shop" };

	CHECK_STR(text_of(TOP_BY_FUNCTION, TOP_SELF, NULL, &shop),
		  "usort 30 30 0 0; A\\B\\Cart::total 20 50 5 5; main 0 50 0 5 of 50 5");
	CHECK_STR(text_of(TOP_BY_ENTRY, TOP_SELF, NULL, &shop), "shop 50 50 5 5 of 50 5");
}

TEST(names_of_groupings_and_orders_can_be_parsed_back)
{
	for (enum top_by by = 0; by < TOP_BYS; by++) {
		enum top_by found;

		CHECK(top_by_parse(top_by_name(by), &found) && found == by);
	}
	for (enum top_sort sort = 0; sort < TOP_SORTS; sort++) {
		enum top_sort found;

		CHECK(top_sort_parse(top_sort_name(sort), &found) && found == sort);
	}
}

TEST_MAIN()
