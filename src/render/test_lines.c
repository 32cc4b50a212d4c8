/* test_lines.c: tests lines laid out and drawn like flamegraph.pl; expected values come from running it. */

#include "lines.h"
#include "nameattr.h"
#include "palette_map.h"
#include "render.h"

#include "test.h"
#include "xml_check.h"

#define LINES_MAX 32

/* Splits text into lines. */
static size_t lines_of(const char *text, struct flamegraph_line lines[LINES_MAX])
{
	size_t n = 0;

	while (*text && n < LINES_MAX) {
		size_t length = strcspn(text, "\n");

		lines[n] = (struct flamegraph_line){ { text, length }, 1, n + 1 };
		n++;
		text += length + (text[length] == '\n');
	}
	return n;
}

static struct flamegraph_options compat(void)
{
	struct flamegraph_options o;

	flamegraph_defaults(&o);
	o.compat = true;
	return o;
}

/* Returns "name@start+width name@start+width", in preorder. */
static const char *boxes(const char *text, const struct flamegraph_options *o)
{
	static char out[1024];
	struct flamegraph_line lines[LINES_MAX];
	struct line_layout l;
	size_t n = 0;

	CHECK_INT(line_layout_init(&l, lines, lines_of(text, lines), o, NULL), 0);
	*out = 0;
	for (size_t i = 0; i < l.count && n < sizeof(out); i++)
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%.*s@%g+%g", i ? " " : "", (int)l.boxes[i].name.n,
				      l.boxes[i].name.p, l.boxes[i].start, l.boxes[i].width);
	line_layout_done(&l);
	return out;
}

static char *draw(const char *text, const struct flamegraph_options *o, int want)
{
	struct flamegraph_line lines[LINES_MAX];
	const char *wrong;
	struct buf b;
	size_t at;

	buf_init(&b);
	CHECK_INT(flamegraph_svg_lines(lines, lines_of(text, lines), o, &b, NULL), want);
	wrong = want == -EINVAL ? NULL : xml_check(b.data, b.size, &at);
	if (wrong)
		printf("# offset %zu: %s\n", at, wrong);
	CHECK(!wrong);
	return buf_take(&b, NULL);
}

static bool shows(const char *text, const struct flamegraph_options *o, const char *part)
{
	_cleanup_(freep) char *svg = draw(text, o, 0);

	return strstr(svg, part) != NULL;
}

TEST(neighbors_merge_unless_a_sibling_separates_them)
{
	struct flamegraph_options o = compat();

	CHECK_STR(boxes("foo 3\nfoo.bar;x 300\nfoo;y 4", &o),
		  "@0+307 foo@0+3 foo.bar@3+300 x@3+300 foo@303+4 y@303+4");
	CHECK_STR(boxes("b 1\na;x 2\na;y 3", &o), "@0+6 a@0+5 x@0+2 y@2+3 b@5+1");
}

TEST(lines_are_sorted_including_their_counts)
{
	struct flamegraph_options o = compat();

	/* "a 10" before "a 9", and both before "a;b 1", since a space sorts before a semicolon. */
	CHECK_STR(boxes("a;b 1\na 9\na 10", &o), "@0+20 a@0+20 b@19+1");
	CHECK_STR(boxes("a b;c 1\na;c 1\na b 1", &o), "@0+3 a b@0+2 c@1+1 a@2+1 c@2+1");
}

TEST(repeated_lines_are_added_up)
{
	struct flamegraph_line lines[] = { { { "a 2", 3 }, 3, 1 }, { { "b 0.1", 5 }, 10, 2 } };
	struct flamegraph_options o = compat();
	struct line_layout l;

	CHECK_INT(line_layout_init(&l, lines, 2, &o, NULL), 0);
	CHECK(l.total > 6.9999 && l.total < 7.0001 && l.total != 7);	/* ten additions, not one product */
	CHECK_INT((int64_t)l.stacks, 13);
	line_layout_done(&l);
}

TEST(a_flame_chart_keeps_the_order)
{
	struct flamegraph_options o = compat();

	o.flamechart = true;
	CHECK_STR(boxes("b 1\na;x 2\nb 3\nb 1", &o), "@0+7 b@0+1 a@1+2 x@1+2 b@3+4");
}

TEST(stacks_are_reversed_before_sorting)
{
	struct flamegraph_options o = compat();

	o.reverse = true;
	CHECK_STR(boxes("a;b;x 1\nc;x 2\n;d 4", &o), "@0+7 d@0+4 x@4+3 b@4+1 a@4+1 c@5+2");
}

TEST(empty_frames_are_kept_except_at_the_end)
{
	struct flamegraph_options o = compat();

	CHECK_STR(boxes("a;;b 1\nc;; 1\n;; 2", &o), "@0+4 a@2+1 @2+1 b@2+1 c@3+1");
}

TEST(counts_are_parsed_as_by_perl)
{
	struct flamegraph_options o = compat();
	_cleanup_(freep) char *svg = NULL;

	CHECK_STR(boxes("a 1.5\nb 2.", &o), "@0+3.5 a@0+1.5 b@1.5+2");
	CHECK_STR(boxes("a\t007\na  3", &o), "@0+10 a@0+7 a @7+3");
	svg = draw("a 5\nb -3\nc x\nd .5\ne 1e3\nf 2\r\n\nlast", &o, 7);
	CHECK(strstr(svg, "all (5 samples, 100%)"));
	CHECK(strstr(svg, "7 lines without a count are left out"));
}

TEST(two_counts_are_the_difference_of_the_leaf_frame)
{
	struct flamegraph_options o = compat();

	CHECK(shows("p;a 10 30\np;b 10 30", &o, ">p (60 samples, 100.00%; 0.00%)<"));
	CHECK(shows("p;a 10 30\np;b 10 30", &o, ">a (30 samples, 50.00%; +33.33%)<"));
	CHECK(shows("p;a 30 10\np;b 10 30", &o, "fill=\"rgb(0,0,255)\""));
	CHECK(shows("p;a 30 10\np;b 10 20", &o, "fill=\"rgb(255,105,105)\""));
	o.negate = true;
	CHECK(shows("p;a 10 30\np;b 10 30", &o, ">a (30 samples, 50.00%; -33.33%)<"));
	CHECK(shows("p;a 30 10\np;b 10 20", &o, "fill=\"rgb(105,105,255)\""));
}

TEST(a_frame_without_width_replaces_one_that_ends_at_its_position)
{
	struct flamegraph_options o = compat();

	CHECK_STR(boxes("foo 3 4\nfoo.bar;x 3 0\nfoo;y 4 0\nz 0 5", &o), "@0+9 z@4+5");
	o.min_width = 0;
	CHECK_STR(boxes("foo 3 4\nfoo.bar;x 3 0\nfoo;y 4 0\nz 0 5", &o),
		  "@0+9 foo.bar@4+0 x@4+0 foo@4+0 y@4+0 z@4+5");
}

TEST(total_and_factor_change_only_the_displayed_numbers)
{
	struct flamegraph_options o = compat();

	o.total = 40;
	o.factor = 1000;
	CHECK(shows("a 10", &o, "all (40,000 samples, 100%)"));
	CHECK(shows("a 10", &o, "a (10,000 samples, 25.00%)</title><rect x=\"10.0\" y=\"37\" width=\"295.0\""));
	o.total = 4;		/* less than the sum */
	CHECK(shows("a 10", &o, "all (10,000 samples, 100%)"));
	o.factor = 0;
	free(draw("a 10", &o, -EINVAL));
}

TEST(wakers_in_chains_are_marked)
{
	struct flamegraph_options o = compat();

	o.colors = "chain";
	CHECK_STR(boxes("a;b;--;c;d;--;e 2", &o), "@0+2 a@0+2 b@0+2 --@0+2 c_[w]@0+2 d_[w]@0+2 --@0+2 e_[w]@0+2");
	CHECK_STR(boxes("a 2", &o), "@0+2 a@0+2 --@0+2");
}

TEST(input_without_counts_yields_a_picture_and_an_error)
{
	struct flamegraph_options o = compat();
	_cleanup_(freep) char *none = draw("", &o, -ENODATA), *zero = draw("a 0\nb", &o, -ENODATA);

	CHECK(strstr(none, "Nothing was sampled: 0 lines"));
	CHECK(strstr(zero, "Nothing was sampled: 2 lines, none with a count above zero"));
}

TEST(overlong_counts_are_rejected_with_their_line)
{
	struct flamegraph_line line[2] = { { { "b 1", 3 }, 1, 1 } };
	struct flamegraph_options o = compat();
	struct err err = { 0 };
	char digits[402] = "a ";
	struct buf b;

	memset(digits + 2, '9', 398);
	line[1] = (struct flamegraph_line){ { digits, 400 }, 1, 2 };
	buf_init(&b);
	CHECK_INT(flamegraph_svg_lines(line, 2, &o, &b, &err), -ERANGE);
	CHECK_STR(err.text, "line 2 has a count that is out of range");
	buf_done(&b);
}

TEST(large_counts_are_exact)
{
	struct flamegraph_options o = compat();

	CHECK(shows("a 9007199254740993\nb 1", &o, "all (9,007,199,254,740,994 samples"));
	CHECK(shows("a 18446744073709551615\nb 18446744073709551615", &o, "all (36,893,488,147,419,103,232 samples"));
}

TEST(frames_whose_ends_differ_only_as_integers_are_distinguished)
{
	struct flamegraph_options o = compat();

	o.min_width = 0;
	/* As doubles, 2^63 and 2^63 + 7 are equal. */
	CHECK(shows("A;--;A;x 9223372036854775808\nB;--;--;A 7", &o, "<title>-- (9,223,372,036,854,775,808 samples, "
		    "100.00%)"));
	CHECK(shows("A;--;A;x 9223372036854775808\nB;--;--;A 7", &o, "<title>-- (7 samples, 0.00%)"));
}

TEST(large_and_fractional_counts_are_added_without_rounding_errors)
{
	struct flamegraph_options o = compat();

	CHECK(shows("a;b 1 9007199254740993\nc;d 0.5 0.5\ne;f 0.3 123456789012345", &o,
		    "<title>e (123,456,789,012,344 samples, 1.35%; 0.00%)"));
	CHECK(shows("a 9007199254740993\nb 5. 1.0", &o, "<title>all (9,007,199,254,740,994 samples"));
}

TEST(names_of_all_bytes_give_a_well_formed_picture_of_lines)
{
	struct flamegraph_options o = compat();

	o.min_width = 0;
	o.count_name = "&<>\"']]>";
	for (int c = 1; c < 256; c++) {
		char line[] = { (char)c, 'x', ';', (char)0xe2, (char)c, ' ', '1', 0 };

		if (c != '\n')
			free(draw(line, &o, 0));
	}
}

/* --- Attributes and colors --- */

TEST(attributes_make_links_and_stay_well_formed)
{
	static const char file[] = "a\thref=http://x/?a=1&amp;b=2&c\ttitle=<A> &amp; \"B\"\tid=i\n"
				   "b\tclass=x\tg_extra=class=\"again\" data-n='<1>'\ta_extra=ignored=\"without href\"\n";
	struct flamegraph_options o = compat();
	struct nameattr *attributes = NULL;

	CHECK_INT(nameattr_read(file, strlen(file), &attributes, NULL), 0);
	o.nameattr = attributes;
	CHECK(shows("a 1", &o, "<g id=\"i\"><a xlink:href=\"http://x/?a=1&amp;b=2&amp;c\" target=\"_top\">"
			       "<title>&lt;A&gt; &amp; \"B\"</title><rect "));
	CHECK(shows("b 1", &o, "<g class=\"x\" data-n=\"&lt;1&gt;\"><title>b (1"));
	nameattr_free(attributes);
}

TEST(invalid_attributes_are_rejected_with_their_line)
{
	static const char *const files[] = { "a\n", "a\tid=1\nb\tnothing\n", "a\tg_extra=onclick\n",
					     "a\tg_extra=x='1\n",
					     "a\tg_extra=svg:x='1'\n", "a\thref=x\ta_extra=<b/>\n",
					     "a\tg_extra=xmlns='x'\n" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct nameattr *a = NULL;
		struct err err = { 0 };

		CHECK_INT(nameattr_read(files[i], strlen(files[i]), &a, &err), -EINVAL);
		CHECK(strstr(err.text, i == 1 ? "line 2" : "line 1"));
	}
}

TEST(saved_colors_take_precedence_and_new_names_are_added)
{
	struct flamegraph_options o = compat();
	struct palette_map *map = palette_map_new();
	struct buf b;

	CHECK_INT((int64_t)palette_map_read(map, "a->rgb(1,2,3)\nold->rgb(4,5,6)", 29, true), 0);
	o.palette_map = map;
	CHECK(shows("a;b 1", &o, "fill=\"rgb(1,2,3)\""));
	buf_init(&b);
	palette_map_write(map, &b);
	CHECK_STR(b.data, "->rgb(213,39,9)\na->rgb(1,2,3)\nb->rgb(230,117,28)\nold->rgb(4,5,6)\n");
	buf_done(&b);
	palette_map_free(map);
}

TEST(methods_with_an_arrow_keep_their_color_except_in_compatible_mode)
{
	static const char file[] = "Foo->bar->rgb(1,2,3)\nnothing\nFoo->baz\n";
	struct palette_map *better = palette_map_new(), *compatible = palette_map_new();

	CHECK_INT((int64_t)palette_map_read(better, file, strlen(file), false), 2);
	CHECK(palette_map_find(better, (struct str){ "Foo->bar", 8 }) != NULL);
	CHECK(palette_map_find(better, (struct str){ "Foo", 3 }) == NULL);
	CHECK_INT((int64_t)palette_map_read(compatible, file, strlen(file), true), 0);
	CHECK_STR(palette_map_find(compatible, (struct str){ "Foo", 3 })->p, "baz");
	CHECK_STR(palette_map_find(compatible, (struct str){ "nothing", 7 })->p, "");
	palette_map_free(better);
	palette_map_free(compatible);
}

TEST(other_encodings_use_character_references)
{
	struct flamegraph_options o = compat();

	o.encoding = "ISO-8859-1";
	CHECK(shows("\303\251 1", &o, "encoding=\"ISO-8859-1\""));
	CHECK(shows("\303\251 1", &o, "<title>&#xe9; (1 samples"));
	o.encoding = "UTF-16";
	free(draw("a 1", &o, -EINVAL));
}

TEST(bidirectional_control_characters_are_replaced_in_labels)
{
	struct flamegraph_options o = compat();

	CHECK(shows("\342\200\256thgir 1", &o, ">\357\277\275thgir</text>"));
	CHECK(shows("a\342\201\247b'\" 1", &o, ">a\357\277\275b'\"</text>"));
	CHECK(shows("\342\200\256thgir 1", &o, "<title>\342\200\256thgir (1 samples"));
}

TEST_MAIN()
