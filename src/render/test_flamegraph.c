/* test_flamegraph.c: tests the invariants of every picture, for all profiles and options. */

#include "picture.h"

#include "test.h"
#include "xml_check.h"

static uint32_t frame(struct profile *p, const char *name, size_t n)
{
	return profile_frame(p, (struct str){ name, n }, (struct str){ name, n }, 7);
}

static void add(struct profile *p, const char *a, const char *b, int64_t value)
{
	uint32_t column = profile_column(p, "samples", "count");
	uint32_t frames[2] = { frame(p, a, strlen(a)), frame(p, b, strlen(b)) };

	profile_add(p, profile_stack(p, frames, 2), column, value);
}

static bool is_well_formed(const struct buf *b)
{
	size_t at;
	const char *wrong = xml_check(b->data, b->size, &at);

	if (wrong)
		printf("# offset %zu: %s: %.60s\n", at, wrong, b->data + at);
	return !wrong;
}

/* Draws and checks the picture; the caller frees. */
static char *draw(const struct profile *p, const struct flamegraph_options *o)
{
	struct buf b;

	buf_init(&b);
	CHECK_INT(flamegraph_svg(p, o, &b, NULL), 0);
	CHECK(is_well_formed(&b));
	return buf_take(&b, NULL);
}

TEST(narrow_pictures_truncate_lines_but_keep_them_complete_for_scripts)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(freep) char *wide = NULL, *narrow = NULL;
	struct flamegraph_options o;

	flamegraph_defaults(&o);
	o.column = profile_column(p, "samples", "count");
	o.title = "caf\u00e9 \u2013 \"a day\" & a night of all that was sampled there";
	profile_add(p, profile_child(p, PROFILE_ROOT, frame(p, "f", 1)), o.column, 1);
	wide = draw(p, &o);
	CHECK(strstr(wide, "&amp; a night of all that was sampled there</text>"));
	CHECK(!strstr(wide, "data-whole"));
	o.width = 260;
	narrow = draw(p, &o);
	CHECK(strstr(narrow, ">caf\u00e9 \u2013 &quot;a day&quot; &amp; a nig\u2026</text>"));
	CHECK(strstr(narrow, " data-whole=\"caf\u00e9 \u2013 &quot;a day&quot; &amp; a night of all that was sampled there\">"));
}

TEST(names_of_all_bytes_give_a_well_formed_picture)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	uint32_t column = profile_column(p, "samples", "count");
	struct flamegraph_options o;

	flamegraph_defaults(&o);
	o.column = column;
	for (int first = 0; first < 256; first++) {
		for (int second = 0; second < 256; second += 5) {
			char name[] = { (char)first, (char)second, (char)first };

			profile_add(p, profile_child(p, PROFILE_ROOT, frame(p, name, 3)), column, 1);
		}
	}
	o.min_width = 0;
	free(draw(p, &o));
	o.reverse = o.inverted = o.hash = true;
	free(draw(p, &o));
}

TEST(names_of_64_kb_and_names_that_look_like_markup_are_handled)
{
	static const char *const nasty[] = {
		"]]>", "</script>", "<![CDATA[", "</title></g></svg>", "&amp;", "&#0;", "\"'><", "-->", "\xed\xa0\x80",
		"\xef\xbf\xbf", "\xf4\x90\x80\x80", "\xc0\xaf", "\xe2\x80\xa8", "<?xml?>", "a\rb\tc\nd", "_[k]", "",
	};
	_cleanup_(profile_freep) struct profile *p = profile_new();
	uint32_t column = profile_column(p, "samples", "count");
	_cleanup_(freep) char *large = malloc(65536);
	struct flamegraph_options o;

	flamegraph_defaults(&o);
	o.column = column;
	for (size_t i = 0; i < 65536; i++)
		large[i] = (char)(i % 251);
	profile_add(p, profile_child(p, PROFILE_ROOT, frame(p, large, 65536)), column, 100);
	for (size_t i = 0; i < ARRAY_SIZE(nasty); i++) {
		profile_add(p, profile_child(p, PROFILE_ROOT, frame(p, nasty[i], strlen(nasty[i]))), column, 10);
		o.title = o.subtitle = o.notes = o.font_type = o.name_type = nasty[i];
		o.count_name = i & 1 ? nasty[i] : NULL;
		free(draw(p, &o));
	}
}

TEST(the_table_contains_names_only_if_the_titles_do_not)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	struct flamegraph_options o;
	char *svg;

	flamegraph_defaults(&o);
	o.column = 0;
	add(p, "main", "load (all)", 3);
	add(p, "main", "\t<&'\"\xff (", 1);
	svg = draw(p, &o);
	CHECK(!strstr(svg, "\"names\""));
	free(svg);
	o.count_name = "ms (wall)";	/* the text after the last " (" is then only a part of the suffix */
	svg = draw(p, &o);
	CHECK(strstr(svg, "\"names\":[\"all\",\"main\""));
	free(svg);
}

static size_t count(const char *from, const char *end, const char *what)
{
	size_t n = 0;

	while ((from = strstr(from, what)) && from < end) {
		from++;
		n++;
	}
	return n;
}

/* Estimates the size of flamegraph.pl's picture: 12.7 kB around its frames, and per frame 21 more bytes of tags and
 * 36 of an empty label (bench/svg_size.py). */
static size_t their_size(const char *svg)
{
	const char *frames = strstr(svg, "<g id=\"frames\">"), *end = strstr(svg, "<text id=\"details\"");
	size_t n, labels;

	CHECK(frames && end);
	n = count(frames, end, "<rect ");
	labels = count(frames, end, "<text ");
	return 12700 + (size_t)(end - frames) + 21 * n + 36 * (n - labels);
}

/* The number was 300 before searches had a worker, which takes 340 bytes in each picture. */
TEST(from_320_frames_on_a_picture_is_no_larger_than_one_of_flamegraph_pl)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	uint32_t column = profile_column(p, "samples", "count");
	uint32_t frames[5];
	struct flamegraph_options o;
	char *svg;

	for (int i = 0; i < 190; i++) {
		for (int k = 0, part = i; k < 5; k++, part /= 3) {
			char name[32];
			int n = snprintf(name, sizeof(name), "Some\\Class%d::method%d", k, part);

			frames[4 - k] = profile_frame(p, (struct str){ name, (size_t)n }, (struct str){ "", 0 }, 0);
		}
		profile_add(p, profile_stack(p, frames, 5), column, 1 + i % 9);
	}
	flamegraph_defaults(&o);
	o.column = column;
	svg = draw(p, &o);
	CHECK(count(svg, strchr(svg, 0), "<title>") < 320);
	CHECK(strlen(svg) <= their_size(svg));
	free(svg);
}

TEST(the_picture_of_an_empty_profile_contains_a_message)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(freep) char *without_columns = NULL, *without_values = NULL;
	struct flamegraph_options o;

	flamegraph_defaults(&o);
	without_columns = draw(p, &o);
	CHECK(strstr(without_columns, "Nothing was sampled: 0 stacks") != NULL);
	add(p, "a", "b", 0);
	o.column = 0;
	without_values = draw(p, &o);
	CHECK(strstr(without_values, "none with a value in column samples") != NULL);
}

TEST(the_unit_follows_from_the_column_unless_specified)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(freep) char *time = NULL, *named = NULL, *calls = NULL;
	struct flamegraph_options o;

	add(p, "a", "b", 0);
	profile_add(p, 2, profile_column(p, "wall_ns", "nanoseconds"), 1240000000);
	profile_add(p, 2, profile_column(p, "calls", "count"), 1234);
	flamegraph_defaults(&o);
	o.column = 1;
	time = draw(p, &o);
	CHECK(strstr(time, "<title>b (1.24 s, 100.00%)</title>") != NULL);
	o.column = 2;
	calls = draw(p, &o);
	CHECK(strstr(calls, "<title>b (1,234 calls, 100.00%)</title>") != NULL);
	o.count_name = "beans";
	named = draw(p, &o);
	CHECK(strstr(named, "<title>b (1,234 beans, 100.00%)</title>") != NULL);
}

/* x = 10 + 1180/3 = 403.33, 10 + 2 × 1180/3 = 796.67: the width is the difference of the printed values. */
TEST(coordinates_are_rounded_before_widths_are_computed)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(freep) char *svg = NULL;
	struct flamegraph_options o;

	add(p, "m", "a", 1);
	add(p, "m", "b", 1);
	add(p, "m", "c", 1);
	flamegraph_defaults(&o);
	o.column = 0;
	svg = draw(p, &o);
	CHECK(strstr(svg, "<rect x=\"10.0\" y=\"37\" width=\"393.3\" height=\"15.0\"") != NULL);
	CHECK(strstr(svg, "<rect x=\"403.3\" y=\"37\" width=\"393.4\" height=\"15.0\"") != NULL);
	CHECK(strstr(svg, "<rect x=\"796.7\" y=\"37\" width=\"393.3\" height=\"15.0\"") != NULL);
}

TEST(labels_are_truncated_to_the_available_width)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(freep) char *svg = NULL;
	struct flamegraph_options o;

	add(p, "m", "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 1);
	add(p, "m", "zz", 29);
	flamegraph_defaults(&o);
	o.column = 0;
	svg = draw(p, &o);
	/* 1180 / 30 = 39.3 px are five characters of 7.08 px. */
	CHECK(strstr(svg, ">\xc3\xa9\xc3\xa9\xc3\xa9..</text>") != NULL);
}

TEST(invalid_options_are_rejected_with_an_error)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	struct flamegraph_options good, o;
	struct buf b;

	flamegraph_defaults(&good);
	buf_init(&b);
#define REFUSED(assignment)							\
	do {									\
		struct err err = { 0 };						\
										\
		o = good;							\
		o.assignment;							\
		CHECK_INT(flamegraph_svg(p, &o, &b, &err), -EINVAL);		\
		CHECK(strlen(err.text) > 0);					\
	} while (0)
	REFUSED(width = 0);
	REFUSED(width = 1e300);
	REFUSED(width = __builtin_nan(""));
	REFUSED(frame_height = -1);
	REFUSED(min_width = -0.1);
	REFUSED(font_size = __builtin_inf());
	REFUSED(font_width = 0);
	REFUSED(colors = "beige");
	REFUSED(bg_colors = "\"/><script>");
	REFUSED(column = 0);
#undef REFUSED
	CHECK_INT(b.size, 0);
	buf_done(&b);
}

TEST(the_xml_checker_of_these_tests_rejects_malformed_documents)
{
	static const char *const bad[] = {
		"", "<a>", "<a></b>", "<a/><b/>", "<a b=\"<\"/>", "<a b=\"1\" b=\"2\"/>", "<a>&x;</a>", "<a>]]></a>",
		"<a>\x01</a>", "<a>\xff</a>", "<a><![CDATA[</a>", "text", "<a b=c/>",
	};
	static const char good[] = "<?xml version=\"1.0\"?>\n<a b=\"&lt;\"><c/>x<![CDATA[<]]></a>\n";
	size_t at;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(xml_check(bad[i], strlen(bad[i]), &at) != NULL);
	CHECK(xml_check(good, strlen(good), &at) == NULL);
}

TEST(recordings_from_outside_are_colored_by_layer)
{
	struct profile *p = profile_new();
	struct flamegraph_options o;

	flamegraph_defaults(&o);
	flamegraph_suit(&o, p);
	CHECK_INT(o.color_by, COLOR_BY_FUNCTION);
	labels_set(&p->labels, "sampler", 7, "record", 6);
	flamegraph_suit(&o, p);
	CHECK_INT(o.color_by, COLOR_BY_LAYER);
	profile_free(p);
}

static void check_layer_of_script(const char *other, const char *file, enum group_layer wanted)
{
	static const char script[] = "/usr/local/bin/report";
	struct profile *p = profile_new();
	uint32_t frame = profile_frame(p, (struct str){ script, strlen(script) }, (struct str){ script, strlen(script) }, 1);
	struct flamegraph_options o;
	struct picture g = { .p = p, .o = &o };
	struct rgb found, color = group_layer_color(wanted, (struct str){ script, strlen(script) });

	profile_frame(p, (struct str){ other, strlen(other) }, (struct str){ file, strlen(file) }, 1);
	flamegraph_defaults(&o);
	CHECK_INT(picture_check(&g, NULL), 0);
	found = picture_color_by(&g, frame, COLOR_BY_LAYER);
	CHECK(found.r == color.r && found.g == color.g && found.b == color.b);
	profile_free(p);
}

TEST(a_script_without_a_suffix_has_the_language_of_the_other_frames)
{
	check_layer_of_script("Report::total", "/srv/lib/Report.pm", LAYER_PERL);
	check_layer_of_script("total", "/srv/lib/report.php", LAYER_PHP);
}

TEST_MAIN()
