/* cmd_flamegraph.c: `strobe flamegraph`: any known profile as an SVG. */

#include "commands.h"

#include "gzip.h"
#include "inputs.h"
#include "io.h"
#include "render.h"

#include <string.h>

static struct flamegraph_options o;
static const char *output, *min_width, *column;
static const char *color_by;
static bool quiet;

static const struct option_spec options[] = {
	{ OPTION_STRING, 'o', "output", "OUT", &output,
	  "Where the picture goes: a file that ends in .svg, .svgz (compressed) or .html (a canvas, for millions of "
	  "frames), or - for standard output (SVG)." },
	{ OPTION_STRING, 0, "column", "NAME", &column,
	  "What widths mean: samples, wall_ns, cpu_ns, calls, memory_bytes, ...; unless given, time of a trace and "
	  "samples of a sampling profile. --metric is the same." },
	{ OPTION_STRING, 0, "metric", "NAME", &column, NULL },
	{ OPTION_FLAG, 'q', "quiet", NULL, &quiet, "Print nothing unless something went wrong." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Shape" },
	{ OPTION_FLAG, 0, "inverted", NULL, &o.inverted, "Icicles: the root on top." },
	{ OPTION_FLAG, 0, "reverse", NULL, &o.reverse, "Stacks turned over: merged from the leaves, to see who calls them." },
	{ OPTION_STRING, 0, "minwidth", "N[%]", &min_width,
	  "Leave out frames narrower than N px, or than N% of all; 0.1 unless given." },
	{ OPTION_DOUBLE, 0, "width", "PX", &o.width, "Width of the picture; 1200 unless given." },
	{ OPTION_DOUBLE, 0, "height", "PX", &o.frame_height, "Height of one frame; 16 unless given." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Words" },
	{ OPTION_STRING, 0, "title", "TEXT", &o.title, "Heading; \"Flame Graph\" or \"Icicle Graph\" unless given." },
	{ OPTION_STRING, 0, "subtitle", "TEXT", &o.subtitle, "A second, smaller line below the heading." },
	{ OPTION_STRING, 0, "countname", "TEXT", &o.count_name,
	  "What is counted; by the column unless given, where time is shown as time." },
	{ OPTION_STRING, 0, "nametype", "TEXT", &o.name_type, "What a name is; \"Function:\" unless given." },
	{ OPTION_STRING, 0, "notes", "TEXT", &o.notes, "Kept in the file as its description; not shown." },
	{ OPTION_STRING, 0, "fonttype", "FONT", &o.font_type, "Verdana unless given." },
	{ OPTION_DOUBLE, 0, "fontsize", "PX", &o.font_size, "12 unless given." },
	{ OPTION_DOUBLE, 0, "fontwidth", "N", &o.font_width,
	  "Average width of a character in font sizes, by which labels are cut; 0.59 unless given." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Colours" },
	{ OPTION_STRING, 0, "colors", "PALETTE", &o.colors,
	  "hot (default), mem, io, wakeup, chain, java, js, perl, red, green, blue, aqua, yellow, purple or orange." },
	{ OPTION_STRING, 0, "bgcolors", "COLOR", &o.bg_colors,
	  "Background: yellow, blue, green, grey or #rrggbb; by the palette unless given." },
	{ OPTION_STRING, 0, "color-by", "WHAT", &color_by,
	  "function (default), layer (PHP, native code, JIT, kernel) or package (of Composer, namespace, library). The picture "
	  "can switch between them." },
	{ OPTION_FLAG, 0, "hash", NULL, &o.hash, "Colours by the first characters of a name: relatives look alike." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "flamegraph",
	.usage = "[FILE...|-] [-o OUT]",
	.summary = "draw a profile as a flame graph (SVG, HTML)",
	.description =
		"Reads profiles of any known format (.strobe, folded stacks, what xhprof, tideways_xhprof and uprofiler "
		"keep; also compressed by gzip or zstd), adds them up and draws them. Without FILE it draws what is piped into it, else profile.strobe, which `strobe run` "
		"writes. Without -o the picture goes to standard output, or to flamegraph.svg when that is a "
		"terminal.\n\n"
		"The picture needs no network and nothing beside it: open it in any browser, click a frame to zoom, "
		"search with Ctrl-F. Options have the names that they have in flamegraph.pl.\n\n"
		"The exit code is 4 when nothing was sampled; the picture then says so.",
	.examples =
		"strobe flamegraph -o profile.svg\n"
		"strobe flamegraph monday.strobe tuesday.strobe --title Week -o week.svgz\n"
		"zcat stacks.folded.gz | strobe flamegraph --reverse --colors blue > out.svg\n",
	.options = options,
};

/* "0.5" or "1%". */
static int parse_min_width(const char *text)
{
	char *end;

	if (!text)
		return 0;
	o.min_width = strtod(text, &end);
	o.min_width_percent = !strcmp(end, "%");
	if (end == text || (*end && !o.min_width_percent))
		return command_usage(&spec, "--minwidth '%s' is no number of px, such as 0.5, and no share, such as 1%%",
				     text);
	return 0;
}

/* Returns 0 or an exit code. */
static int parse_color_by(const char *text)
{
	if (!text)
		return 0;
	for (unsigned i = 0; flamegraph_color_by_names[i]; i++) {
		if (strcmp(text, flamegraph_color_by_names[i]))
			continue;
		o.color_by = i;
		return 0;
	}
	return command_usage(&spec, "--color-by '%s' is none of function, layer and package", text);
}

static bool ends_in(const char *path, const char *suffix)
{
	size_t n = strlen(path), m = strlen(suffix);

	return n > m && !strcmp(path + n - m, suffix);
}

/* Where the picture goes, and whether compressed. Returns 0 or an exit code. */
static int choose_output(const char **ret_path, bool *ret_compress, bool *ret_html)
{
	const char *path = output;

	if (!path)
		path = isatty(STDOUT_FILENO) ? "flamegraph.svg" : "-";
	*ret_path = path;
	*ret_compress = ends_in(path, ".svgz") || ends_in(path, ".svg.gz");
	*ret_html = ends_in(path, ".html");
	if (strcmp(path, "-") && !ends_in(path, ".svg") && !*ret_compress && !*ret_html)
		return command_usage(&spec, "cannot tell what '%s' shall be by its name; it may end in .svg, .svgz or .html, or "
				     "be - for standard output", path);
	return 0;
}

static int write_picture(struct buf *svg, const char *path, bool compress)
{
	_cleanup_(buf_done) struct buf packed = { 0 };
	struct err err = { 0 };
	int e = 0;

	buf_init(&packed);
	if (compress)
		e = gzip_put(&packed, svg->data, svg->size, &err);
	if (e >= 0)
		e = io_write_file(path, compress ? packed.data : svg->data, compress ? packed.size : svg->size, &err);
	if (e < 0)
		return command_cannot(&spec, &err);
	if (strcmp(path, "-") && !quiet)
		fprintf(stderr, "strobe flamegraph: wrote %s\n", path);
	return 0;
}

static int draw(const struct inputs *in, const char *path, bool compress, bool html)
{
	_cleanup_(buf_done) struct buf svg = { 0 };
	struct err err = { 0 };
	bool has_values;
	int code;

	buf_init(&svg);
	if ((code = inputs_column(in, &spec, column, &o.column)))
		return code;
	inputs_difference(in, column, &o.column, &o.before_column);
	has_values = inputs_have_values(in, &spec, o.column, false);
	if ((html ? flamegraph_html : flamegraph_svg)(in->profile, &o, &svg, &err) < 0)
		return err.code == -EINVAL ? command_usage(&spec, "%s", err.text) : command_cannot(&spec, &err);
	code = write_picture(&svg, path, compress);
	return code ? code : has_values ? EXIT_FINE : EXIT_NOTHING;
}

static int run(int argc, char **argv)
{
	struct inputs in = { 0 };
	const char *path;
	bool compress, html;
	int operands, code;

	flamegraph_defaults(&o);
	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if ((code = parse_min_width(min_width)) || (code = parse_color_by(color_by)) ||
	    (code = choose_output(&path, &compress, &html)))
		return code;

	code = inputs_load(&in, &spec, argv + 1, (size_t)operands);
	if (!code)
		code = draw(&in, path, compress, html);
	inputs_done(&in);
	return code;
}

const struct command command_flamegraph = { &spec, run };
