/* cmd_flamegraph.c: `strobe flamegraph`: any known profile as an SVG, with flamegraph.pl's options. */

#include "commands.h"

#include "amount.h"
#include "chart.h"
#include "diff_picture.h"
#include "gzip.h"
#include "io.h"
#include "mem.h"
#include "nameattr.h"
#include "page_file.h"
#include "palette_map.h"
#include "pictures.h"
#include "profile_file.h"
#include "sides.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define NAMEATTR_MAX	((size_t)64 << 20)	/* size limit of the files of --nameattr and --cp */

static const char palette_file[] = "palette.map";

static struct picture_order base;
static struct option_list also;
static const char *output, *min_width, *column, *focus, *nameattr, *from;
static const char *usual_colors;		/* the default; any other palette was requested */
static const char *color_by, *width_of, *delta;
static bool quiet, random_colors, keep_colors;

static const struct option_spec options[] = {
	{ OPTION_STRING, 'o', "output", "FILE", &output, "Write to FILE: .svg, .svgz, .html, or - for stdout.",
	  "An .html page also has tables and the call graph; standard output gets SVG." },
	{ OPTION_LIST, 0, "also", "CHANGES:FILE", &also, "Draw another picture, with CHANGES; repeatable.",
	  "CHANGES are options that differ for that picture; its input is the same." },
	{ OPTION_STRING, 0, "focus", "REGEX", &focus, "Only stacks with a function that matches.",
	  "REGEX is an extended regular expression. Alias: --function." },
	{ OPTION_STRING, 0, "function", "REGEX", &focus, NULL },
	{ OPTION_STRING, 0, "column", "COLUMN", &column, "Column (default: time for traces, else samples).",
	  "The widths show it: samples, wall_ns, cpu_ns, calls, memory_bytes, ... Alias: --metric." },
	{ OPTION_STRING, 0, "metric", "COLUMN", &column, NULL },
	{ OPTION_STRING, 0, "from", "FORMAT", &from, "Input format (default: auto-detect)." },
	PROFILE_URL_OPTION,
	{ OPTION_FLAG, 'q', "quiet", NULL, &quiet, "Print errors only." },
	{ OPTION_FLAG, 0, "compat", NULL, &base.o.compat, "Draw frames as flamegraph.pl does, bugs included.",
	  "Widths and texts are the same to the last digit." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Shape" },
	{ OPTION_FLAG, 0, "inverted", NULL, &base.o.inverted, "Icicle graph: the root on top." },
	{ OPTION_FLAG, 0, "reverse", NULL, &base.o.reverse,
	  "Merge stacks from the leaves, to see their callers." },
	{ OPTION_FLAG, 0, "flamechart", NULL, &base.o.flamechart, "Flame chart: time from left to right.",
	  "Frames are in the order of the calls of a trace, or else of the input lines." },
	{ OPTION_STRING, 0, "minwidth", "N[%]", &min_width, "Leave out narrower frames (default: 0.1).",
	  "N is in pixels, or, as N%, in percent of the width." },
	{ OPTION_DOUBLE, 0, "width", "PX", &base.o.width, "Width (default: 1200; in a browser, the window's)." },
	{ OPTION_DOUBLE, 0, "height", "PX", &base.o.frame_height, "Height of a frame (default: 16)." },
	{ OPTION_DOUBLE, 0, "total", "N", &base.o.total, "Value of the whole width (default: sum of counts).",
	  "Use it to draw several pictures to one scale. The counts may add up to less." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Text" },
	{ OPTION_STRING, 0, "title", "TEXT", &base.o.title, "Title (default: \"Flame Graph\").",
	  "With --inverted or --flamechart the default is \"Icicle Graph\" or \"Flame Chart\"." },
	{ OPTION_STRING, 0, "subtitle", "TEXT", &base.o.subtitle, "Second, smaller line below the title." },
	{ OPTION_STRING, 0, "countname", "TEXT", &base.o.count_name,
	  "Name of the counted unit (default: by the column)." },
	{ OPTION_DOUBLE, 0, "factor", "N", &base.o.factor, "Multiply counts by N where they are shown." },
	{ OPTION_STRING, 0, "nametype", "TEXT", &base.o.name_type,
	  "Description of a name (default: \"Function:\")." },
	{ OPTION_STRING, 0, "notes", "TEXT", &base.o.notes, "Description stored in the file, not shown." },
	{ OPTION_STRING, 0, "nameattr", "FILE", &nameattr, "Attributes of frames, a line for each name.",
	  "A line has the name of a function, then id=, class=, title=, href=, target=, g_extra= or a_extra=, separated by tabs." },
	{ OPTION_STRING, 0, "fonttype", "FONT", &base.o.font_type, "Font (default: Verdana)." },
	{ OPTION_DOUBLE, 0, "fontsize", "PX", &base.o.font_size, "Font size (default: 12)." },
	{ OPTION_DOUBLE, 0, "fontwidth", "N", &base.o.font_width,
	  "Character width / font size (default: 0.59).",
	  "This is the average, by which labels are truncated." },
	{ OPTION_STRING, 0, "encoding", "ENCODING", &base.o.encoding,
	  "Encoding of the document (default: UTF-8).",
	  "ISO-8859-1 and other supersets of ASCII are possible; all other characters become references such as &#228;." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Colors" },
	{ OPTION_STRING, 0, "colors", "PALETTE", &base.o.colors,
	  "Palette: hot (default), mem, io, java, js, perl, ...",
	  "The others are wakeup, chain, red, green, blue, aqua, yellow, purple and orange." },
	{ OPTION_STRING, 0, "color", "PALETTE", &base.o.colors, NULL },
	{ OPTION_STRING, 0, "bgcolors", "COLOR", &base.o.bg_colors,
	  "Background: yellow, blue, green, grey or #rrggbb.",
	  "The default depends on the palette." },
	{ OPTION_STRING, 0, "color-by", "GROUP", &color_by, "Color by function (default), layer or package.",
	  "Layers are PHP, native, kernel and so on; they are the default after `strobe record`." },
	{ OPTION_FLAG, 0, "hash", NULL, &base.o.hash,
	  "Colors by a hash of the name, mostly of its start." },
	{ OPTION_FLAG, 0, "random", NULL, &random_colors, "Random colors, different on every run." },
	{ OPTION_FLAG, 0, "cp", NULL, &keep_colors,
	  "Keep the colors of functions in ./palette.map." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Differences (folded stacks with two counts, output of strobe diff)" },
	{ OPTION_STRING, 0, "width-of", "MODE", &width_of,
	  "Width: maximum (default), after, before, difference.",
	  "The value that widths show; maximum is the larger of before and after." },
	{ OPTION_STRING, 0, "delta", "MODE", &delta, "Change that colors show: inclusive (default), self.",
	  "The change with callees (inclusive) or of the frame alone (self)." },
	{ OPTION_FLAG, 0, "negate", NULL, &base.o.negate, "Swap the colors of more and less." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "flamegraph",
	.usage = "[FILE...|-] [-o FILE]",
	.summary = "draw a profile as a flame graph (SVG, HTML)",
	.description =
		"Reads profiles of any known format (`strobe convert --help` lists them; also compressed by gzip or "
		"zstd), adds them up and draws them. Without FILE it reads standard input if that is piped, else "
		"profile.strobe, which `strobe run` writes. A FILE may also be the URL of a page or of the API "
		"of `strobe serve`. Without -o the picture goes to standard output, or to "
		"flamegraph.svg when that is a terminal.\n\n"
		"The picture is self-contained: open it in any browser, click a frame to zoom, search with Ctrl-F. "
		"Options have the same names and effects as in flamegraph.pl, and lines with two counts are drawn "
		"as a difference, as it does. The changes of --also are separated by commas: forward, reverse, inverted, "
		"hash, colors=, title=, subtitle=, minwidth=, column=, and focus=REGEX as the last one.\n\n"
		"The exit code is 4 when nothing was sampled; the picture then says so.",
	.examples =
		"strobe flamegraph -o profile.svg\n"
		"strobe flamegraph monday.strobe tuesday.strobe --title Week -o week.svgz\n"
		"zcat stacks.folded.gz | strobe flamegraph --reverse --colors blue > out.svg\n"
		"strobe flamegraph day.log -o day.svgz --also reverse,colors=blue:leaves.svgz\n",
	.more_choices = inputs_format_choices,
	.choices =
		"colors hot mem io wakeup chain java js perl red green blue aqua yellow purple orange\n"
		"bgcolors yellow blue green grey\n"
		"color-by function layer package\n"
		"width-of maximum after before difference\n"
		"delta inclusive self\n",
	.options = options,
	.single_dash = true,
};

static int write_bytes(const struct picture_order *order, struct buf *drawn)
{
	_cleanup_(buf_done) struct buf packed = { 0 };
	struct err err = { 0 };
	bool pack = order->form == PICTURE_SVGZ;
	int e = 0;

	buf_init(&packed);
	if (pack)
		e = gzip_put(&packed, drawn->data, drawn->size, &err);
	if (e >= 0)
		e = io_write_file(order->path, pack ? packed.data : drawn->data, pack ? packed.size : drawn->size,
				  &err);
	if (e < 0)
		return command_fail(&spec, &err);
	if (strcmp(order->path, "-") && !quiet)
		fprintf(stderr, "strobe flamegraph: wrote %s\n", order->path);
	return 0;
}

/* `r` is the result of the renderer. */
static int finish_picture(const struct picture_order *order, struct buf *drawn, int r, const struct err *err)
{
	int code;

	if (r == -EINVAL)
		return command_usage(&spec, "%s", err->text);
	if (r < 0 && r != -ENODATA)
		return command_fail(&spec, err);
	code = write_bytes(order, drawn);
	if (code)
		return code;
	if (r)
		fprintf(stderr, "strobe flamegraph: %s\n", err->text);
	return r == -ENODATA ? EXIT_NO_SAMPLES : EXIT_OK;
}

/* A --total smaller than the sum would make frames wider than the picture. */
static void check_total(double sum)
{
	static bool said;

	if (base.o.total > 0 && base.o.total < sum && !said)
		fprintf(stderr, "strobe flamegraph: --total %.15g is less than the sum of counts, %.15g, and is ignored\n",
			base.o.total, sum);
	said = true;
}

static int draw_lines(const struct picture_order *order, const struct line_set *lines)
{
	_cleanup_(freep) struct flamegraph_line *kept = NULL;
	_cleanup_(buf_done) struct buf drawn = { 0 };
	struct err err = { 0 };
	size_t count;
	int r;

	buf_init(&drawn);
	kept = picture_order_filter_lines(order, lines, &count);
	r = flamegraph_svg_lines(kept, count, &order->o, &drawn, &err);
	return finish_picture(order, &drawn, r, &err);
}

/* Reports if no stack has the requested function. */
static bool has_stacks(const struct picture_order *order, const struct profile *p)
{
	if (!order->focus || p->node_count > 1)
		return true;
	fprintf(stderr, "strobe flamegraph: no stack has a function that matches '%s'\n", order->focus);
	return false;
}

static int draw_profile(struct picture_order *order, struct inputs *in)
{
	_cleanup_(profile_freep) struct profile *filtered = NULL;
	_cleanup_(buf_done) struct buf drawn = { 0 }, description = { 0 };
	struct flamegraph_options drawing;
	struct inputs seen;
	struct err err = { 0 };
	double scale = 1;
	bool has_values;
	int code, r;

	buf_init(&drawn);
	buf_init(&description);
	if ((code = inputs_column(in, &spec, order->column, &order->o.column)))
		return code;
	inputs_difference(in, order->column, &order->o.column, &order->o.before_column);
	if (in->is_comparison && !order->o.title)
		order->o.title = diff_picture_title(order->o.inverted);
	seen = *in;
	if (order->focus)
		seen.profile = filtered = picture_order_filter(order, in->profile);
	if (order->o.column != UINT32_MAX) {
		scale = (double)profile_scale(seen.profile, order->o.column);
		check_total((double)profile_sum(seen.profile, order->o.column) / scale);
	}
	order->o.total *= scale;
	if (!color_by && order->o.colors == usual_colors)
		flamegraph_suit(&order->o, in->profile);
	profile_file_describe(in->profile, &description);
	drawing = order->o;
	if (!drawing.notes && description.size)
		drawing.notes = description.data;
	has_values = has_stacks(order, seen.profile) && inputs_have_values(&seen, &spec, order->o.column, false);
	r = (order->form == PICTURE_HTML ? page_file_put : flamegraph_svg)(seen.profile, &drawing, &drawn, &err);
	code = finish_picture(order, &drawn, r, &err);
	return code ? code : has_values ? EXIT_OK : EXIT_NO_SAMPLES;
}

/* --- The URL of a comparison --- */

static void keep_function(const struct picture_order *order, struct diff *d)
{
	struct profile *whole = d->profile;

	d->profile = picture_order_filter(order, whole);
	profile_free(whole);
}

static int render_difference(const struct picture_order *order, const struct page_comparison *c, struct buf *drawn, struct err *err)
{
	const struct diff *d = c->metrics[0].diff;
	struct flamegraph_options drawing = order->o;

	drawing.column = d->after;
	drawing.before_column = d->before;
	drawing.compared = d;
	drawing.total *= (double)profile_scale(d->profile, d->after);
	if (!drawing.title)
		drawing.title = diff_picture_title(drawing.inverted);
	if (!drawing.count_name && amount_is_count(amount_unit(d->profile->columns[d->after].unit)))
		drawing.count_name = c->metrics[0].name;
	return order->form == PICTURE_HTML ? page_file_put_difference(c, &drawing, drawn, err) : flamegraph_svg(d->profile, &drawing, drawn, err);
}

/* `diffs` has room for all metrics; the first is the one shown. */
static int draw_metrics(const struct picture_order *order, const struct sides *s, const struct diff_options *o, struct diff *diffs)
{
	struct page_metric metrics[SIDES_METRICS] = { { &diffs[0], sides_metric(s) } };
	struct page_comparison c = { .metrics = metrics, .count = 1, .name_before = s->name_before, .name_after = s->name_after, .labels = &s->a.profile->labels };
	_cleanup_(buf_done) struct buf drawn = { 0 };
	struct err err = { 0 };
	bool has_values;
	int code;

	buf_init(&drawn);
	if (order->form == PICTURE_HTML && !s->is_difference)
		c.count = sides_metrics(s, &diffs[0], o, diffs, metrics);
	for (size_t i = 0; i < c.count && order->focus; i++)
		keep_function(order, &diffs[i]);
	has_values = has_stacks(order, diffs[0].profile);
	code = finish_picture(order, &drawn, render_difference(order, &c, &drawn, &err), &err);
	return code ? code : has_values ? EXIT_OK : EXIT_NO_SAMPLES;
}

/* `url` is NULL if the sides come from a file. */
static int choose_scale(const char *url, const struct sides *s, enum diff_scale *ret)
{
	struct str wanted = url ? profile_url_value(url, "scale=") : (struct str){ NULL, 0 };
	char name[16];
	unsigned scale = s->is_scaled || sides_are_sampled(s) ? DIFF_BY_TOTAL : DIFF_AS_IT_IS;
	int code;

	snprintf(name, sizeof(name), "%.*s", (int)wanted.n, wanted.n ? wanted.p : "");
	if (wanted.n && (code = command_choice(&spec, "scale", name, sides_scale_names, &scale)))
		return code;
	*ret = (enum diff_scale)scale;
	return 0;
}

static int draw_comparison(const struct picture_order *order, const char *url, struct sides *s, bool quietly)
{
	struct diff diffs[SIDES_METRICS] = { 0 };
	struct diff_options o = { .whole_a = s->whole_before, .whole_b = s->whole_after };
	struct err err = { 0 };
	int code;

	if (!s->is_difference && (code = sides_columns(s, &spec, order->column)))
		return code;
	if (!inputs_have_values(&s->a, &spec, s->column_before, true) || !inputs_have_values(s->is_difference ? &s->a : &s->b, &spec, s->column_after, true))
		return EXIT_NO_SAMPLES;
	if ((code = choose_scale(url, s, &o.scale)) || (code = sides_check(s, &spec, o.scale, false, quiet || quietly)))
		return code;
	if (profile_diff(s->before, s->column_before, s->after, s->column_after, &o, &diffs[0], &err) < 0)
		return command_fail(&spec, &err);
	code = draw_metrics(order, s, &o, diffs);
	for (size_t i = 0; i < SIDES_METRICS; i++)
		diff_done(&diffs[i]);
	return code;
}

/* Draws both sides as `strobe diff` does. */
static int draw_sides(const struct picture_order *orders, size_t count, const char *url, struct sides *s)
{
	int code = 0, first = 0;

	for (size_t i = 0; i < count && (!code || code == EXIT_NO_SAMPLES); i++) {
		code = draw_comparison(&orders[i], url, s, i > 0);
		first = i ? first : code;
	}
	return code && code != EXIT_NO_SAMPLES ? code : first;
}

static int draw_address(const struct picture_order *orders, size_t count, const struct format_options *reading, const char *url)
{
	struct sides s = { 0 };
	int code = sides_load_address(&s, &spec, reading, url, false);

	if (!code)
		code = draw_sides(orders, count, url, &s);
	sides_done(&s);
	return code;
}

/* If the input is a scaled comparison, and all pictures show it, draws them, frees `in` and returns true. */
static bool draw_scaled(const struct picture_order *orders, size_t count, struct inputs *in, int *ret_code)
{
	struct sides s = { .a = *in };
	bool is_scaled;

	for (size_t i = 0; i < count; i++)
		if (orders[i].column)
			return false;
	is_scaled = sides_take_difference(&s, in->first) && s.is_scaled;
	s.a = (struct inputs){ 0 };
	if (is_scaled) {
		s.a = *in;
		*in = (struct inputs){ 0 };
		*ret_code = draw_sides(orders, count, NULL, &s);
	}
	sides_done(&s);
	return is_scaled;
}

/* Additional inputs of pictures: --nameattr, --cp, --random. */
struct extras {
	struct nameattr *nameattr;
	struct palette_map *colors;
};

static int load_nameattr(struct extras *x)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	struct err err = { 0 };
	int e;

	if (!nameattr)
		return 0;
	buf_init(&text);
	e = io_read_file(nameattr, &text, NAMEATTR_MAX, &err);
	if (e < 0)
		return command_fail(&spec, &err);
	if (nameattr_read(text.data, text.size, &x->nameattr, &err) < 0) {
		err_prefix(&err, "cannot read '%s'", nameattr);
		return command_fail(&spec, &err);
	}
	base.o.nameattr = x->nameattr;
	return 0;
}

static int load_colors(struct extras *x)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	struct err err = { 0 };
	size_t left_out;

	if (!keep_colors)
		return 0;
	base.o.palette_map = x->colors = palette_map_new();
	if (access(palette_file, F_OK) != 0)
		return 0;
	buf_init(&text);
	if (io_read_file(palette_file, &text, NAMEATTR_MAX, &err) < 0)
		return command_fail(&spec, &err);
	left_out = palette_map_read(x->colors, text.data, text.size, base.o.compat);
	if (left_out)
		fprintf(stderr,
		  "strobe flamegraph: ignored %zu line%s of %s that %s no color such as name->rgb(1,2,3)\n",
			left_out, left_out == 1 ? "" : "s", palette_file, left_out == 1 ? "has" : "have");
	return 0;
}

static int save_colors(const struct extras *x)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	struct err err = { 0 };

	if (!x->colors)
		return 0;
	buf_init(&text);
	palette_map_write(x->colors, &text);
	return io_write_file(palette_file, text.data, text.size, &err) < 0 ? command_fail(&spec, &err) : 0;
}

static int load_extras(struct extras *x)
{
	int code;

	while (random_colors && !base.o.random_seed)
		if (getrandom(&base.o.random_seed, sizeof(base.o.random_seed), 0) < 0)
			base.o.random_seed = (uint64_t)time(NULL);
	code = load_nameattr(x);
	return code ? code : load_colors(x);
}

/* Whether to keep lines instead of a profile: with --compat, and if their order matters. */
static bool wants_lines(void)
{
	return base.o.compat || base.o.flamechart;
}

static int draw_all(struct picture_order *orders, size_t count, struct inputs *in, const struct line_set *lines)
{
	int first = 0;

	for (size_t i = 0; i < count; i++) {
		int code = wants_lines() ? draw_lines(&orders[i], lines) : draw_profile(&orders[i], in);

		if (code && code != EXIT_NO_SAMPLES)
			return code;
		if (i == 0)
			first = code;
	}
	return first;
}

/* Strips carriage returns from a flame chart's lines; --compat keeps them. */
static void take_line(void *data, struct str line)
{
	if (!base.o.compat && line.n && line.p[line.n - 1] == '\r')
		line.n--;
	line_set_take(data, line);
}

static int add_profile_lines(struct inputs *in, struct line_set *lines)
{
	struct err err = { 0 };
	int code, r;

	if (in->profile->node_count <= 1)
		return 0;
	if ((code = inputs_column(in, &spec, base.column, &base.o.column)))
		return code;
	if (base.o.flamechart && chart_shows(in->profile, base.column ? base.o.column : UINT32_MAX))
		r = line_set_take_chart(lines, in->profile, &err);
	else
		r = line_set_take_profile(lines, in->profile, base.o.column, &err);
	if (r > 0)
		fprintf(stderr, "strobe flamegraph: %s\n", err.text);
	return r < 0 ? command_fail(&spec, &err) : 0;
}

static int draw_inputs(struct picture_order *orders, size_t count, char **files, size_t file_count)
{
	struct line_set lines;
	struct format_options reading = { .take_line = wants_lines() ? take_line : NULL, .take_data = &lines };
	struct inputs in = { 0 };
	int code;

	line_set_init(&lines, base.o.flamechart);
	reading.keep_chart = base.o.flamechart;
	for (size_t i = 0; i < count; i++)
		reading.keep_chart |= orders[i].form == PICTURE_HTML;
	if ((code = inputs_format(&spec, from, &reading.format)))
		return code;
	if (file_count == 1 && profile_url_is_comparison(files[0]) && !wants_lines())
		return draw_address(orders, count, &reading, files[0]);
	code = inputs_load_as(&in, &spec, &reading, files, file_count);
	if (!code && !wants_lines())
		inputs_show_names(&in);
	if (!code && wants_lines())
		code = add_profile_lines(&in, &lines);
	if (!code && (wants_lines() || !draw_scaled(orders, count, &in, &code)))
		code = draw_all(orders, count, &in, &lines);
	inputs_done(&in);
	line_set_done(&lines);
	return code;
}

/* Parses options whose value is a name. Returns 0 or an exit code. */
static int parse_choices(void)
{
	unsigned by, width, of_delta;
	int code;

	if ((code = command_choice(&spec, "color-by", color_by, flamegraph_color_by_names, &by)) ||
	    (code = command_choice(&spec, "width-of", width_of, flamegraph_width_names, &width)) ||
	    (code = command_choice(&spec, "delta", delta, flamegraph_delta_names, &of_delta)))
		return code;
	base.o.color_by = by;
	base.o.width_of = (enum flamegraph_width_of)width;
	base.o.delta = (enum flamegraph_delta)of_delta;
	return 0;
}

static int set_base(void)
{
	int code;

	base.column = column;
	if ((code = parse_choices()))
		return code;
	if (min_width && (code = picture_order_min_width(&base, &spec, min_width)))
		return code;
	if (focus && (code = picture_order_focus(&base, &spec, focus)))
		return code;
	return picture_order_path(&base, &spec, output ? output : isatty(STDOUT_FILENO) ? "flamegraph.svg" : "-");
}

/* Whether an earlier picture goes to the same file. */
static bool is_taken(const struct picture_order *orders, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(orders[i].path, orders[n].path))
			return true;
	return false;
}

/* Prepares the picture of -o and those of --also; all are checked before the first is drawn. */
static int take_orders(struct picture_order *orders)
{
	struct err err = { 0 };
	int code = 0;

	orders[0] = base;
	for (size_t i = 0; i < also.count && !code; i++)
		code = picture_order_also(&orders[i + 1], &spec, &base, (char *)also.items[i]);
	for (size_t i = 0; i <= also.count && !code; i++)
		if (is_taken(orders, i))
			code = command_usage(&spec, "two pictures would be written to '%s'", orders[i].path);
		else if (flamegraph_check(&orders[i].o, &err) < 0)
			code = command_usage(&spec, "%s", err.text);
		else if (orders[i].form == PICTURE_HTML && wants_lines())
			code = command_usage(&spec,
			  "--compat and --flamechart draw SVG only; '%s' is an HTML page, which has the flame chart of a trace beside its graph",
					     orders[i].path);
	return code;
}

static int run(int argc, char **argv)
{
	_cleanup_(freep) struct picture_order *orders = NULL;
	struct extras extras = { 0 };
	int operands, code;

	flamegraph_defaults(&base.o);
	usual_colors = base.o.colors;
	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	code = set_base();
	if (!code)
		code = load_extras(&extras);
	orders = xcalloc(also.count + 1, sizeof(*orders));
	if (!code)
		code = take_orders(orders);
	if (!code)
		code = draw_inputs(orders, also.count + 1, argv + 1, (size_t)operands);
	if (code == EXIT_OK)
		code = save_colors(&extras);
	for (size_t i = 0; i < also.count + 1; i++)
		picture_order_done(&orders[i]);
	nameattr_free(extras.nameattr);
	palette_map_free(extras.colors);
	free(also.items);
	return code;
}

const struct command command_flamegraph = { &spec, run };
