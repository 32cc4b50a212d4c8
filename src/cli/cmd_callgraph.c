/* cmd_callgraph.c: `strobe callgraph`: callers and callees as a picture. */

#include "commands.h"

#include "callgraph_fit.h"
#include "clock.h"
#include "format.h"
#include "gzip.h"
#include "inputs.h"
#include "io.h"
#include "mem.h"
#include "pictures.h"
#include "report.h"
#include "text.h"

#include <string.h>

#define PICTURE_MAX ((size_t)256 << 20)
#define MEMORY_MAX ((size_t)1 << 30)
#define LIMIT_MIN_NS (NS_PER_SECOND / 10)
#define LIMIT_MAX_NS (3600 * (int64_t)NS_PER_SECOND)

static struct format_options reading;
static const char *from, *output, *column, *function, *by = "function", *title, *focus, *ignore;
static long nodes = CALLGRAPH_NODES;
static const char *limit_text;
static int64_t limit_ns = 2 * (int64_t)NS_PER_SECOND;
static double threshold, seconds;		/* `limit_ns` in seconds */
static bool quiet;
static int64_t began_ns;

static const struct option_spec options[] = {
	{ OPTION_STRING, 'o', "output", "FILE", &output, "Write to FILE: .svg, .svgz, .png, .pdf, .dot, or -.",
	  "The suffix selects the format. With - SVG goes to standard output." },
	{ OPTION_STRING, 0, "from", "FORMAT", &from,
	  "Input format (default: auto-detect)." },
	PROFILE_URL_OPTION,
	{ OPTION_STRING, 0, "column", "COLUMN", &column, "Column (default: time for traces, else samples).",
	  "Columns are values such as samples or cpu_ns. Alias: --metric." },
	{ OPTION_STRING, 0, "metric", "COLUMN", &column, NULL },
	{ OPTION_STRING, 0, "title", "TEXT", &title, "Title of the graph." },
	{ OPTION_FLAG, 'q', "quiet", NULL, &quiet, "Print errors only." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Contents" },
	{ OPTION_INT, 0, "nodes", "N", &nodes,
	  "Functions with the largest totals (default: 150)." },
	{ OPTION_DOUBLE, 0, "threshold", "PERCENT", &threshold,
	  "Leave out less than this share (default: 0.5)." },
	{ OPTION_STRING, 0, "function", "FUNCTION", &function, "Only stacks through FUNCTION: name, or unique part.",
	  "The part may be a regular expression that matches only one name." },
	{ OPTION_STRING, 0, "by", "GROUP", &by, "Group by function (default), class, file, line, ...",
	  "The others are namespace, package and own; strobe-report(1) describes them." },
	{ OPTION_STRING, 0, "seconds", "DURATION", &limit_text,
	  "Time limit, kept by drawing less (default: 2s).", "A number without a unit is in seconds; 500ms is half a second." },
	{ OPTION_STRING, 0, "focus", "REGEX", &focus, "Only stacks with a function that matches." },
	{ OPTION_STRING, 0, "ignore", "REGEX", &ignore, "Leave out stacks with a function that matches." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "callgraph",
	.usage = "[FILE...|-] [-o FILE] [--function FUNCTION]",
	.summary = "draw a call graph with its critical path",
	.description =
		"Reads profiles as `strobe report` does, also from a URL of `strobe serve`, and draws a call graph. Boxes are functions, redder with a "
		"larger self value; arrows are calls, thicker with a larger value. The critical path, along the "
		"heaviest arrows, is blue. A function or arrow that occurs several times in a stack counts "
		"once.\n\n"
		"A comparison, given by its URL or as folded stacks with two counts, is drawn with both sides: orange is "
		"more than before, blue is less, and dashed is gone.\n\n"
		"Graphviz computes the layout in a separate process, and the command ends within two seconds: if a "
		"graph takes longer, fewer functions are drawn and the command says so. On a machine that is too busy "
		"even for a dozen functions, it waits two more seconds. In a browser the wheel, + and - "
		"zoom, dragging moves, and 0 shows everything.\n\n"
		"The exit code is 4 when nothing was sampled.",
	.examples =
		"strobe callgraph profile.strobe -o calls.svg\n"
		"strobe callgraph --function PDO::query --threshold 0 -o query.svg\n"
		"strobe callgraph --by namespace profile.strobe -o map.png\n"
		"strobe callgraph profile.strobe -o - --column cpu_ns >calls.svg\n",
	.more_choices = inputs_format_choices,
	.choices =
		"by function line file class namespace package own\n",
	.options = options,
};

struct target {
	const char *path, *format;
	bool compress;
};

static int choose_output(struct target *t)
{
	static const char *const kinds[][2] = {
		{ ".svg", "svg" }, { ".png", "png" }, { ".pdf", "pdf" }, { ".dot", "dot" }, { ".gv", "dot" },
	};

	*t = (struct target){ output ? output : isatty(STDOUT_FILENO) ? "callgraph.svg" : "-", NULL, false };
	t->compress = picture_path_is_packed(t->path);
	if (t->compress || !strcmp(t->path, "-"))
		t->format = "svg";
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (text_path_ends(t->path, kinds[i][0]))
			t->format = kinds[i][1];
	if (!t->format)
		return command_usage(&spec, "cannot infer the output format from '%s'; use .svg, .svgz, .png, .pdf or "
				     ".dot, or - for standard output", t->path);
	return 0;
}

static void warn_reduced(const struct callgraph_fit *fit)
{
	const struct callgraph_counts *c = &fit->counts;

	if (fit->reduced && !quiet)
		fprintf(stderr, "strobe callgraph: %s, so the picture shows %zu of %zu functions%s; select fewer with "
				"--threshold, --nodes or --function, or allow more --seconds\n",
			fit->why, c->shown, c->functions,
			fit->plain ? ", and arrows without labels" : "");
}

/* The deadline of Graphviz: a fifth of the time limit is reserved for what follows, since killing a process and
 * writing the picture take time on a busy machine. However long reading took, layout gets at least a fifth. */
static int64_t end_of_layout(void)
{
	int64_t all = (int64_t)(1e9 * seconds), end = began_ns + all / 5 * 4, least = clock_monotonic_ns() + all / 5;

	return end > least ? end : least;
}

/* Draws the picture, or prints why that failed. */
static int lay_out(struct graphviz *graphviz, const struct profile *p, const struct callgraph_options *o,
		   struct buf *picture, struct err *err)
{
	_cleanup_(callgraph_freep) struct callgraph *graph = callgraph_new(p, o, err);
	struct callgraph_fit fit = { 0 };
	int r = graph ? callgraph_fit_draw(graphviz, graph, o->max_nodes, seconds, end_of_layout(), picture, &fit, err) : -EINVAL;

	warn_reduced(&fit);
	if (r == -ETIMEDOUT)
		return err_set(err, r, "Graphviz could not lay out even a few functions in %g seconds; is the machine "
				       "busy? -o FILE.dot writes the graph for dot",
			       seconds + 2);
	return r < 0 ? err_prefix(err, "cannot draw the graph; -o FILE.dot still works") : 0;
}

static int make(struct graphviz *graphviz, const struct profile *p, const struct callgraph_options *o,
		const struct target *t, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf picture = { 0 }, svg = { 0 };
	bool is_svg = !strcmp(t->format, "svg");
	int r;

	if (!strcmp(t->format, "dot"))
		return callgraph_dot(p, o, out, NULL, err);
	buf_init(&picture);
	buf_init(&svg);
	if ((r = lay_out(graphviz, p, o, &picture, err)) < 0)
		return r;
	if (is_svg)
		callgraph_finish_svg((struct str){ picture.data, picture.size }, &svg);
	if (t->compress)
		return gzip_put(out, svg.data, svg.size, err);
	buf_put(out, is_svg ? svg.data : picture.data, is_svg ? svg.size : picture.size);
	return 0;
}

static int draw(struct graphviz *graphviz, struct inputs *in, const struct target *t, enum report_by groups)
{
	_cleanup_(freep) bool *through = NULL;
	_cleanup_(buf_done) struct buf out = { 0 };
	struct callgraph_options o;
	struct err err = { 0 };
	int code;

	callgraph_defaults(&o);
	o.title = title;
	o.max_nodes = (size_t)nodes;
	o.threshold = threshold;
	inputs_show_names(in);
	if ((code = inputs_select(in, &spec, focus, ignore)))
		return code;
	if (groups != REPORT_BY_FUNCTION)
		inputs_replace(in, report_group(in->profile, groups));
	if ((code = inputs_column(in, &spec, column, &o.column)))
		return code;
	inputs_difference(in, column, &o.column, &o.before_column);
	o.value_name = o.before_column == UINT32_MAX ? NULL : "difference";
	if (!inputs_have_values(in, &spec, o.column, o.before_column != UINT32_MAX))
		return EXIT_NO_SAMPLES;
	through = report_no_frames(in->profile);
	if (function && report_find(in->profile, function, through, &err) < 0)
		return command_fail(&spec, &err);
	o.focus = function ? through : NULL;

	buf_init(&out);
	if (make(graphviz, in->profile, &o, t, &out, &err) < 0 || io_write_file(t->path, out.data, out.size, &err) < 0)
		return command_fail(&spec, &err);
	if (strcmp(t->path, "-") && !quiet)
		fprintf(stderr, "strobe callgraph: wrote %s\n", t->path);
	return EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct graphviz_limits limits = { 0, MEMORY_MAX, PICTURE_MAX };
	_cleanup_(graphviz_freep) struct graphviz *graphviz = NULL;
	struct callgraph_options defaults;
	struct inputs in = { 0 };
	struct err err = { 0 };
	enum report_by groups = REPORT_BY_FUNCTION;
	struct target target;
	int operands, code;

	began_ns = clock_monotonic_ns();
	callgraph_defaults(&defaults);
	threshold = defaults.threshold;
	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if ((code = choose_output(&target)))
		return code;
	if (!report_by_parse(by, &groups))
		return command_invalid(&spec, "by", "function, line, file, class, namespace, package or own");
	if (nodes < 1 || nodes > CALLGRAPH_NODES_MAX)
		return command_invalid(&spec, "nodes", "1 to %d", CALLGRAPH_NODES_MAX);
	if (limit_text && (clock_parse_duration(limit_text, &limit_ns, NULL) < 0 || limit_ns < LIMIT_MIN_NS || limit_ns > LIMIT_MAX_NS))
		return command_invalid(&spec, "seconds", "a duration from 100ms to 1h, such as 500ms or 10 (seconds)");
	if (!(threshold >= 0 && threshold <= 100))
		return command_invalid(&spec, "threshold", "0 to 100 percent");

	seconds = (double)limit_ns / NS_PER_SECOND;
	if ((code = inputs_format(&spec, from, &reading.format)))
		return code;
	limits.cpu_seconds = (int)seconds + 1;
	if (strcmp(target.format, "dot") && graphviz_start(target.format, &limits, &graphviz, &err) < 0)
		return command_fail(&spec, &err);
	code = inputs_load_as(&in, &spec, &reading, argv + 1, (size_t)operands);
	if (!code)
		code = draw(graphviz, &in, &target, groups);
	inputs_done(&in);
	return code;
}

const struct command command_callgraph = { &spec, run };
