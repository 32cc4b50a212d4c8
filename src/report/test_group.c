/* test_group.c: tests grouping, the search for functions, averages, and CSV. */

#include "csv.h"
#include "report.h"
#include "test.h"
#include <errno.h>

static uint32_t frame(struct profile *p, const char *name, size_t n, const char *file, uint32_t line)
{
	return profile_frame(p, (struct str){ name, n }, (struct str){ file, strlen(file) }, line);
}

/* Returns the group of a function in a buffer that the next call reuses. */
static const char *group(const char *name, const char *file, enum report_by by)
{
	static char text[200];
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf out = { 0 };

	buf_init(&out);
	report_group_name(p, frame(p, name, strlen(name), file, 7), by, &out);
	snprintf(text, sizeof(text), "%s", out.data);
	return text;
}

/* "a;b 3" for each node with a value, in the order of the tree. */
static void put_stacks(const struct profile *p, struct buf *out)
{
	for (uint32_t n = 0; n < p->node_count; n++) {
		uint32_t at = n, line[8];
		size_t depth = 0;

		if (!p->columns[0].self[n])
			continue;
		for (; at != PROFILE_ROOT; at = p->parents[at])
			line[depth++] = p->node_frames[at];
		while (depth--) {
			struct str name = profile_name(p, line[depth]);

			buf_printf(out, "%.*s;", (int)name.n, name.p);
		}
		buf_printf(out, " %lld\n", (long long)p->columns[0].self[n]);
	}
}

static void own_stacks(const char *const files[4], struct buf *out)
{
	static const char *const names[] = { "main", "App\\run", "Lib\\each", "strlen" };
	_cleanup_(profile_freep) struct profile *p = profile_new(), *own = NULL;
	uint32_t column = profile_column(p, "samples", "count"), f[4], app;

	for (int i = 0; i < 4; i++)
		f[i] = frame(p, names[i], strlen(names[i]), files[i], 1);
	app = profile_stack(p, (uint32_t[]){ f[0], f[2], f[1] }, 3);
	profile_add(p, profile_stack(p, f, 2), column, 1);
	profile_add(p, profile_stack(p, f, 3), column, 2);
	profile_add(p, profile_stack(p, f, 4), column, 4);
	profile_add(p, app, column, 8);
	profile_add(p, profile_stack(p, &f[3], 1), column, 16);
	own = report_group(p, REPORT_BY_OWN);
	CHECK_INT(profile_sum(own, 0), 31);
	put_stacks(own, out);
}

TEST(libraries_and_builtins_count_for_the_calling_application_function)
{
	_cleanup_(buf_done) struct buf out = { 0 };

	buf_init(&out);
	own_stacks((const char *const[]){ "/srv/index.php", "/srv/src/App.php", "/srv/vendor/a/b/Lib.php", "" }, &out);
	CHECK_STR(out.data, "main;App\\run; 15\n[other code]; 16\n");
}

TEST(the_autoloader_of_composer_is_not_application_code)
{
	_cleanup_(buf_done) struct buf out = { 0 };

	buf_init(&out);
	own_stacks((const char *const[]){ "/srv/index.php", "/srv/vendor/autoload.php", "/srv/vendor/composer/ClassLoader.php", "" }, &out);
	CHECK_STR(out.data, "main; 15\n[other code]; 16\n");
}

TEST(without_files_all_functions_are_application_code)
{
	_cleanup_(buf_done) struct buf out = { 0 };

	buf_init(&out);
	own_stacks((const char *const[]){ "", "", "", "" }, &out);
	CHECK_STR(out.data, "main;Lib\\each;App\\run; 8\nmain;App\\run; 1\nmain;App\\run;Lib\\each; 2\nmain;App\\run;Lib\\each;strlen; 4\nstrlen; 16\n");
}

TEST(the_class_precedes_the_double_colon)
{
	CHECK_STR(group("App\\Cart::total", "", REPORT_BY_CLASS), "App\\Cart");
	CHECK_STR(group("strlen", "", REPORT_BY_CLASS), "[no class]");
	CHECK_STR(group("App\\helper", "", REPORT_BY_CLASS), "[no class]");
	CHECK_STR(group("App\\Cart::{closure}", "", REPORT_BY_CLASS), "App\\Cart");
	CHECK_STR(group("App\\Cart::{closure:Other::run():12}", "", REPORT_BY_CLASS), "App\\Cart");
	CHECK_STR(group("{closure:App\\Cart::total():12}", "", REPORT_BY_CLASS), "App\\Cart");
	CHECK_STR(group("{closure:App\\helper():12}", "", REPORT_BY_CLASS), "[no class]");
	CHECK_STR(group("{closure:/srv/a.php:3}", "", REPORT_BY_CLASS), "[no class]");
	CHECK_STR(group("std::map<a::b, int>::find", "", REPORT_BY_CLASS), "std::map<a::b, int>");
	CHECK_STR(group("::", "", REPORT_BY_CLASS), "[no class]");
	CHECK_STR(group("", "", REPORT_BY_CLASS), "[no class]");
}

TEST(the_namespace_precedes_the_last_backslash)
{
	static const char anonymous[] = "App\\Base@anonymous\0/srv/a\\b.php:3$0::run";
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf out = { 0 };

	CHECK_STR(group("App\\Http\\Kernel::handle", "", REPORT_BY_NAMESPACE), "App\\Http");
	CHECK_STR(group("App\\helper", "", REPORT_BY_NAMESPACE), "App");
	CHECK_STR(group("{closure:App\\Http\\helper():12}", "", REPORT_BY_NAMESPACE), "App\\Http");
	CHECK_STR(group("Cart::total", "", REPORT_BY_NAMESPACE), "[no namespace]");
	CHECK_STR(group("main", "", REPORT_BY_NAMESPACE), "[no namespace]");
	buf_init(&out);
	report_group_name(p, frame(p, anonymous, sizeof(anonymous) - 1, "", 0), REPORT_BY_NAMESPACE, &out);
	CHECK_STR(out.data, "App");
}

TEST(packages_are_derived_from_path_module_or_namespace_in_this_order)
{
	CHECK_STR(group("Twig\\Environment::render", "/srv/vendor/twig/twig/src/Environment.php", REPORT_BY_PACKAGE),
		  "twig/twig");
	CHECK_STR(group("f", "/srv/vendor/a/b/vendor/c/d/f.php", REPORT_BY_PACKAGE), "c/d");
	CHECK_STR(group("f", "/srv/vendor/autoload.php", REPORT_BY_PACKAGE), "[no package]");
	CHECK_STR(group("f", "/srv/vendor//x/f.php", REPORT_BY_PACKAGE), "[no package]");
	CHECK_STR(group("memcpy", "/usr/lib/x86_64-linux-gnu/libc.so.6", REPORT_BY_PACKAGE), "libc.so.6");
	CHECK_STR(group("main", "/usr/sbin/php-fpm8.2", REPORT_BY_PACKAGE), "php-fpm8.2");
	CHECK_STR(group("vfs_read_[k]", "", REPORT_BY_PACKAGE), "[kernel]");
	CHECK_STR(group("vfs_read", "[kernel.kallsyms]", REPORT_BY_PACKAGE), "[kernel]");
	CHECK_STR(group("Acme\\Shop\\Cart\\Item::price", "/srv/src/Item.php", REPORT_BY_PACKAGE), "Acme\\Shop");
	CHECK_STR(group("Acme\\f", "/usr/lib/x.php", REPORT_BY_PACKAGE), "Acme");
	CHECK_STR(group("strlen", "", REPORT_BY_PACKAGE), "[no package]");
}

TEST(a_plugin_or_theme_of_wordpress_is_a_package)
{
	CHECK_STR(group("shop_prices", "/srv/wp/wp-content/plugins/shop/src/prices.php", REPORT_BY_PACKAGE), "plugins/shop");
	CHECK_STR(group("hello_dolly", "/srv/wp/wp-content/plugins/hello.php", REPORT_BY_PACKAGE), "plugins/hello.php");
	CHECK_STR(group("f", "/srv/wp/wp-content/mu-plugins/cache/cache.php", REPORT_BY_PACKAGE), "mu-plugins/cache");
	CHECK_STR(group("Theme\\Page::title", "/srv/wp/wp-content/themes/dark/page.php", REPORT_BY_PACKAGE), "themes/dark");
	CHECK_STR(group("f", "/srv/wp/wp-content/plugins/shop/vendor/a/b/f.php", REPORT_BY_PACKAGE), "a/b");
	CHECK_STR(group("f", "/srv/wp/wp-content/plugins/", REPORT_BY_PACKAGE), "[no package]");
	CHECK_STR(group("f", "/srv/wp/wp-content/plugins//f.php", REPORT_BY_PACKAGE), "[no package]");
	CHECK_STR(group("f", "/srv/wp/wp-content/uploads/f.php", REPORT_BY_PACKAGE), "[no package]");
	CHECK_STR(group("WP_Query::get_posts", "/srv/wp/wp-includes/class-wp-query.php", REPORT_BY_PACKAGE), "[no package]");
}

TEST(unknown_lines_and_files_are_marked)
{
	CHECK_STR(group("f", "/srv/a.php", REPORT_BY_LINE), "/srv/a.php:7");
	CHECK_STR(group("f", "", REPORT_BY_LINE), "[no file]");
	CHECK_STR(group("f", "/srv/a.php", REPORT_BY_FILE), "/srv/a.php");
	CHECK_STR(group("f", "", REPORT_BY_FILE), "[no file]");
}

static uint32_t add(struct profile *p, const char *const *names, int64_t v)
{
	uint32_t frames[8], node;
	size_t depth = 0;

	for (; names[depth]; depth++)
		frames[depth] = frame(p, names[depth], strlen(names[depth]), "/a.php", 1);
	node = profile_stack(p, frames, depth);
	profile_add(p, node, profile_column(p, "samples", "count"), v);
	return node;
}

TEST(a_recursive_class_counts_once_per_stack)
{
	_cleanup_(profile_freep) struct profile *p = profile_new(), *g = NULL;
	_cleanup_(freep) struct flat_row *rows = NULL;
	size_t n;

	add(p, (const char *[]){ "A::f", "A::g", "B::h", "A::f", NULL }, 5);
	add(p, (const char *[]){ "A::f", "B::h", NULL }, 2);
	g = report_group(p, REPORT_BY_CLASS);
	rows = report_flat(g, 0, REPORT_SORT_TOTAL, &n);
	CHECK_INT(n, 2);
	CHECK_STR(profile_name(g, rows[0].frame).p, "A");
	CHECK_INT(rows[0].total, 7);
	CHECK_INT(rows[0].self, 5);
	CHECK_INT(rows[1].total, 7);
	CHECK_INT(rows[1].self, 2);
}

TEST(focus_keeps_stacks_and_ignore_removes_them)
{
	_cleanup_(profile_freep) struct profile *p = profile_new(), *f = NULL, *i = NULL;
	bool focus[3] = { false }, ignore[3] = { false };

	add(p, (const char *[]){ "main", "load", NULL }, 5);
	add(p, (const char *[]){ "main", "draw", NULL }, 70);
	add(p, (const char *[]){ "main", NULL }, 100);
	CHECK_INT(report_match(p, "^L.*D$", focus, NULL), 1);
	f = report_filter(p, focus, NULL);
	CHECK_INT(profile_sum(f, 0), 5);
	CHECK_INT(f->frame_count, 2);
	CHECK_INT(report_match(p, "draw", ignore, NULL), 1);
	i = report_filter(p, NULL, ignore);
	CHECK_INT(profile_sum(i, 0), 105);
	CHECK_INT(report_match(p, "(", ignore, NULL), -EINVAL);
}

TEST(functions_in_no_remaining_stack_are_removed)
{
	_cleanup_(profile_freep) struct profile *p = profile_new(), *f = NULL;
	bool ignore[5] = { false };

	add(p, (const char *[]){ "main", "show", "draw", NULL }, 5);
	add(p, (const char *[]){ "main", "show", "again", "draw", NULL }, 5);
	add(p, (const char *[]){ "main", "idle", NULL }, 0);
	add(p, (const char *[]){ "main", NULL }, 100);
	CHECK_INT(report_match(p, "draw", ignore, NULL), 1);
	f = report_filter(p, NULL, ignore);
	CHECK_INT(profile_sum(f, 0), 100);
	CHECK_INT(f->frame_count, 2);
	CHECK_STR(profile_name(f, 1).p, "idle");
}

TEST(functions_are_found_by_name_then_substring_then_regular_expression)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	struct err err = { 0 };
	bool of[4] = { false };

	add(p, (const char *[]){ "main", "Cart::total", "Cart::total_with_tax", "Router::match", NULL }, 1);
	CHECK_INT(report_find(p, "Cart::total", of, &err), 1);
	CHECK(!of[0] && of[1] && !of[2] && !of[3]);
	CHECK_INT(report_find(p, "cart::TOTAL", of, &err), 1);
	CHECK(of[1] && !of[2]);
	CHECK_INT(report_find(p, "_tax", of, &err), 1);
	CHECK(of[2]);
	CHECK_INT(report_find(p, "^R.*h$", of, &err), 1);
	CHECK(of[3]);
	CHECK_INT(report_find(p, "Cart", of, &err), -ENOTUNIQ);
	CHECK_STR(err.text, "'Cart' matches 2 functions: 'Cart::total', 'Cart::total_with_tax'; give the "
		  "whole name of one");
	CHECK_INT(report_find(p, "Cart::totla", of, &err), -ENOENT);
	CHECK_STR(err.text, "there is no function 'Cart::totla' among 4; did you mean 'Cart::total'?");
	CHECK_INT(report_find(p, "mtach", of, &err), -ENOENT);
	CHECK_STR(err.text, "there is no function 'mtach' among 4; did you mean 'Router::match'?");
	CHECK_INT(report_find(p, "(", of, &err), -ENOENT);
	CHECK_INT(report_find(p, "", of, &err), -EINVAL);
}

TEST(the_average_of_runs_has_the_exact_weighted_sum)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new(), *average = NULL;
	uint64_t weights[] = { 1000000, 2000000 };
	int64_t sum = 0, scale = 1000000;

	for (int i = 0; i < 100; i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%d", i);
		add(a, (const char *[]){ "main", name, NULL }, 1);
		if (i % 2)
			add(b, (const char *[]){ "main", name, NULL }, 1);
	}
	add(b, (const char *[]){ "main", "only", NULL }, 6);
	average = report_average((const struct profile *const[]){ a, b }, weights, 2);
	/* (100 + 2 × 56) / 3 = 70.67 */
	CHECK_INT(profile_scale(average, 0), scale);
	CHECK_INT(profile_sum(average, 0), 70666667);
	CHECK_INT(average->node_count, 103);
	for (uint32_t n = 0; n < average->node_count; n++)
		sum += average->columns[0].self[n];
	CHECK_INT(sum, 70666667);
}

/* Each of 100 functions calls two others for one unit each, in one run of two: averages are 50 each. */
TEST(the_average_of_each_function_is_exact_even_for_tiny_stacks)
{
	static const char *const units[] = { "bytes", "count" };

	for (size_t u = 0; u < ARRAY_SIZE(units); u++) {
		_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new(), *average = NULL;
		_cleanup_(freep) struct flat_row *rows = NULL;
		size_t count;

		for (int i = 0; i < 100; i++)
			for (int k = 0; k < 2; k++) {
				char name[8];

				snprintf(name, sizeof(name), "f%d", i);
				add(a, (const char *[]){ "main", name, k ? "g" : "h", NULL }, 1);
			}
		snprintf(a->columns[0].unit, sizeof(a->columns[0].unit), "%s", units[u]);
		profile_column(b, a->columns[0].name, units[u]);
		average = report_average((const struct profile *const[]){ a, b }, (uint64_t[]){ 1, 1 }, 2);
		rows = report_flat(average, 0, REPORT_SORT_SELF, &count);
		CHECK_INT(count, 103);
		for (int i = 0; i < 2; i++)
			CHECK_INT(rows[i].self, 50 * profile_scale(average, 0));
	}
}

TEST(an_average_omits_columns_missing_from_some_runs)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *b = profile_new(), *average = NULL, *none = NULL;
	_cleanup_(buf_done) struct buf lacks = { 0 };
	const struct profile *both[] = { a, b };

	buf_init(&lacks);
	profile_column(a, "wall_ns", "nanoseconds");
	profile_column(a, "cpu_ns", "nanoseconds");
	profile_column(b, "wall_ns", "nanoseconds");
	average = report_average(both, (uint64_t[]){ 1, 1 }, 2);
	CHECK_INT(average->column_count, 1);
	report_average_lacks(both, (uint64_t[]){ 1, 1 }, 2, &lacks);
	buf_putc(&lacks, 0);
	CHECK_STR(lacks.data, "not averaged, as some runs did not measure it: cpu_ns");
	buf_reset(&lacks);
	report_average_lacks(both, (uint64_t[]){ 1, 0 }, 2, &lacks);
	CHECK_INT(lacks.size, 0);
	none = report_average(both, (uint64_t[]){ 1, 0 }, 2);
	CHECK_INT(none->column_count, 2);
}

TEST(profiles_without_a_common_column_have_no_average)
{
	_cleanup_(profile_freep) struct profile *sampled = profile_new(), *traced = profile_new(), *empty = profile_new();
	const struct profile *all[] = { empty, sampled, traced };
	struct err err;

	profile_column(sampled, "samples", "count");
	profile_column(traced, "wall_ns", "nanoseconds");
	CHECK_INT(report_average_check(all, (uint64_t[]){ 1, 1, 1 }, 3, &err), -EINVAL);
	CHECK_STR(err.text, "these have no average, because they have no value in common: one has samples, which another did not measure");
	CHECK_INT(report_average_check(all, (uint64_t[]){ 1, 1, 0 }, 3, &err), 0);
	profile_column(traced, "samples", "count");
	CHECK_INT(report_average_check(all, (uint64_t[]){ 1, 1, 1 }, 3, &err), 0);
}

TEST(the_average_of_the_largest_values_does_not_overflow)
{
	_cleanup_(profile_freep) struct profile *a = profile_new(), *average = NULL;
	uint64_t weights[] = { REPORT_WEIGHT_MAX, REPORT_WEIGHT_MAX };

	add(a, (const char *[]){ "main", NULL }, INT64_MAX);
	add(a, (const char *[]){ "main", "less", NULL }, INT64_MIN);
	average = report_average((const struct profile *const[]){ a, a }, weights, 2);
	CHECK_INT(average->columns[0].self[1], INT64_MAX);
	CHECK_INT(average->columns[0].self[2], INT64_MIN);
}

TEST(csv_cells_are_quoted_and_never_formulas)
{
	static const char *const texts[] = {
		"plain", "a,b", "say \"x\"", "=1+1", "+1", "-1", "@f", "\t=x", "\r=x", "a\nb", "",
		"=\"a,b\"",
	};
	_cleanup_(buf_done) struct buf out = { 0 };
	struct csv c = { &out };

	buf_init(&out);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		csv_words(&c, texts[i]);
	csv_i64(&c, -5);
	csv_end(&c);
	CHECK_STR(out.data, "plain,\"a,b\",\"say \"\"x\"\"\",'=1+1,'+1,'-1,'@f,' =x,'\uFFFD=x,a b,,\"'=\"\"a,b\"\"\",-5\r\n");
}

TEST_MAIN()
