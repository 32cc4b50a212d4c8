/* cmd_callgraph.c: `strobe callgraph`: who calls whom, as a picture. */

#include "commands.h"

#include "callgraph.h"
#include "clock.h"
#include "format.h"
#include "graphviz.h"
#include "gzip.h"
#include "inputs.h"
#include "io.h"
#include "mem.h"
#include "report.h"

#include <math.h>
#include <string.h>

#define PICTURE_MAX ((size_t)256 << 20)
#define MEMORY_MAX ((size_t)1 << 30)

static struct format_options reading;
static const char *from, *output, *column, *function, *by = "function", *title, *focus, *ignore;
static long nodes = CALLGRAPH_NODES;
static double threshold, seconds = 2;
static bool quiet;
static int64_t began_ns;

static const struct option_spec options[] = {
	{ OPTION_STRING, 'o', "output", "OUT", &output,
	  "Where the picture goes, and what it is by the end of its name: .svg, .svgz, .png, .pdf, or .dot (Graphviz's "
	  "language); - is standard output, as SVG." },
	{ OPTION_STRING, 0, "from", "FORMAT", &from,
	  "What the input is, if that shall not be seen by its content: folded, strobe, xhprof, ..." },
	{ OPTION_STRING, 0, "column", "NAME", &column,
	  "What is counted: samples, wall_ns, cpu_ns, calls, memory_bytes, ...; unless given, time of a trace and "
	  "samples of a sampling profile. --metric is the same." },
	{ OPTION_STRING, 0, "metric", "NAME", &column, NULL },
	{ OPTION_STRING, 0, "title", "TEXT", &title, "A heading." },
	{ OPTION_FLAG, 'q', "quiet", NULL, &quiet, "Print nothing unless something went wrong." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "What is shown" },
	{ OPTION_INT, 'n', "nodes", "N", &nodes, "Functions at most, those with the largest total; 150 unless given." },
	{ OPTION_DOUBLE, 0, "threshold", "PERCENT", &threshold,
	  "Leave out functions and arrows below so many per cent of all; 0.5 unless given." },
	{ OPTION_STRING, 0, "function", "NAME", &function,
	  "Only stacks through this function: its callers and what it calls. A whole name, or a part or regular "
	  "expression that fits only one." },
	{ OPTION_STRING, 0, "by", "WHAT", &by, "What a box is: function (default), line, file, class, namespace or package." },
	{ OPTION_DOUBLE, 0, "seconds", "S", &seconds,
	  "How long laying out may take before fewer functions are tried; 2 unless given." },
	{ OPTION_STRING, 0, "focus", "REGEX", &focus, "Only stacks with a function that matches." },
	{ OPTION_STRING, 0, "ignore", "REGEX", &ignore, "No stacks with a function that matches." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "callgraph",
	.usage = "[FILE...|-] [-o OUT.svg|png|pdf|dot] [--function NAME]",
	.summary = "draw who calls whom, with the path that took most",
	.description =
		"Reads profiles as `strobe report` does and draws a box for each function, the redder the more it took itself, "
		"and an arrow for each caller and callee, the thicker the more went through it. The path along the "
		"heaviest arrows is blue. A function or arrow that stands on a stack several times counts once.\n\n"
		"Graphviz lays the boxes out, in a process of its own, for two seconds at most: a graph that takes longer is "
		"drawn with fewer functions, and the command says so. In a browser the wheel and + - zoom, dragging moves, "
		"0 shows all.\n\n"
		"The exit code is 4 when nothing was sampled.",
	.examples =
		"strobe callgraph profile.strobe -o calls.svg\n"
		"strobe callgraph --function PDO::query --threshold 0 -o query.svg\n"
		"strobe callgraph --by namespace profile.strobe -o map.png\n"
		"strobe callgraph profile.strobe -o - --metric cpu_ns >calls.svg\n",
	.options = options,
};

struct target {
	const char *path, *format;
	bool compress;
};

static bool ends_in(const char *path, const char *suffix)
{
	size_t n = strlen(path), m = strlen(suffix);

	return n > m && !strcmp(path + n - m, suffix);
}

static int choose_output(struct target *t)
{
	static const char *const kinds[][2] = {
		{ ".svg", "svg" }, { ".png", "png" }, { ".pdf", "pdf" }, { ".dot", "dot" }, { ".gv", "dot" },
	};

	*t = (struct target){ output ? output : isatty(STDOUT_FILENO) ? "callgraph.svg" : "-", NULL, false };
	t->compress = ends_in(t->path, ".svgz") || ends_in(t->path, ".svg.gz");
	if (t->compress || !strcmp(t->path, "-"))
		t->format = "svg";
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (ends_in(t->path, kinds[i][0]))
			t->format = kinds[i][1];
	if (!t->format)
		return command_usage(&spec, "cannot tell what '%s' shall be by its name; it may end in .svg, .svgz, .png, "
					    ".pdf or .dot, or be - for standard output", t->path);
	return 0;
}

static bool *frames_of(const struct profile *p)
{
	return xcalloc((size_t)p->frame_count + 1, sizeof(bool));
}

static void replace(struct inputs *in, struct profile *by_this)
{
	profile_free(in->profile);
	in->profile = by_this;
}

static int select_stacks(struct inputs *in)
{
	_cleanup_(freep) bool *wanted = frames_of(in->profile), *unwanted = frames_of(in->profile);
	struct err err = { 0 };

	if ((focus && report_match(in->profile, focus, wanted, &err) < 0) ||
	    (ignore && report_match(in->profile, ignore, unwanted, &err) < 0))
		return command_usage(&spec, "%s", err.text);
	if (focus || ignore)
		replace(in, report_filter(in->profile, focus ? wanted : NULL, ignore ? unwanted : NULL));
	return 0;
}

/* What is tried one after the other, in eight tenths of the time, as a process that has to be ended takes a while too: the
 * wish, then fewer functions and arrows that cost less. */
static const struct attempt {
	double share;
	size_t max_nodes;
	bool plain;
} attempts[] = {
	{ 0.45, SIZE_MAX, false }, { 0.2, 100, true }, { 0.1, 40, true }, { 0.05, 12, true },
};

static void say_reduced(const struct callgraph_counts *c, size_t attempt)
{
	if (attempt && !quiet)
		fprintf(stderr, "strobe callgraph: laying the graph out takes too long, so it shows %zu of %zu functions and "
				"arrows without words; --threshold, --nodes or --function choose fewer, --seconds gives it "
				"time\n", c->shown, c->functions);
}

/* Milliseconds for this attempt: its share, but not beyond the end of all. */
static int time_for(const struct attempt *a, int64_t end_ns)
{
	int64_t left = (end_ns - clock_monotonic_ns()) / 1000000, wish = (int64_t)(1000 * seconds * a->share);

	return left < 1 ? 1 : (int)(left < wish ? left : wish);
}

/* Laying out takes more than the square of the arrows: 200 with words a second, 600 ten. What could not be done in time is
 * not begun. */
static bool is_hopeless(const struct callgraph_counts *c, const struct attempt *a)
{
	return !a->plain && (double)c->edges_shown > 200 * sqrt(seconds);
}

/* When the command has to be done. Reading may have taken long; half of the time is for laying out in any case. */
static int64_t end_of_time(void)
{
	int64_t now = clock_monotonic_ns(), all = (int64_t)(1e9 * seconds), end = began_ns + all;

	return end > now + all / 2 ? end : now + all / 2;
}

/* The picture in `format`, or the sentence why there is none. */
static int lay_out(const struct profile *p, const struct callgraph_options *o, const char *format, struct buf *picture,
		   struct err *err)
{
	int64_t end = end_of_time();
	_cleanup_(callgraph_freep) struct callgraph *graph = callgraph_new(p, o, err);
	_cleanup_(buf_done) struct buf dot = { 0 };
	int r = graph ? -ETIMEDOUT : -EINVAL;

	buf_init(&dot);
	for (size_t i = 0; i < ARRAY_SIZE(attempts) && r == -ETIMEDOUT; i++) {
		const struct attempt *a = &attempts[i];
		struct graphviz_limits limits = { 0, MEMORY_MAX, PICTURE_MAX };
		struct callgraph_counts counts;

		buf_reset(&dot);
		callgraph_put(graph, o->max_nodes < a->max_nodes ? o->max_nodes : a->max_nodes, a->plain, &dot, &counts);
		if (is_hopeless(&counts, a))
			continue;
		limits.wall_ms = time_for(a, end);
		r = graphviz_draw(dot.data, format, &limits, picture, err);
		if (r == 0)
			say_reduced(&counts, i);
	}
	if (r == -ETIMEDOUT)
		return err_set(err, r, "Graphviz could not lay out even a few functions in %g seconds; is the machine "
			       "busy? -o OUT.dot writes the graph for dot", seconds);
	return r < 0 ? err_prefix(err, "no picture, but -o OUT.dot would work") : 0;
}

static int make(const struct profile *p, const struct callgraph_options *o, const struct target *t, struct buf *out,
		struct err *err)
{
	_cleanup_(buf_done) struct buf picture = { 0 }, svg = { 0 };
	bool is_svg = !strcmp(t->format, "svg");
	int r;

	if (!strcmp(t->format, "dot"))
		return callgraph_dot(p, o, out, NULL, err);
	buf_init(&picture);
	buf_init(&svg);
	if ((r = lay_out(p, o, t->format, &picture, err)) < 0)
		return r;
	if (is_svg)
		callgraph_finish_svg((struct str){ picture.data, picture.size }, &svg);
	if (t->compress)
		return gzip_put(out, svg.data, svg.size, err);
	buf_put(out, is_svg ? svg.data : picture.data, is_svg ? svg.size : picture.size);
	return 0;
}

static int draw(struct inputs *in, const struct target *t, enum report_by groups)
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
	if ((code = select_stacks(in)))
		return code;
	if (groups != REPORT_BY_FUNCTION)
		replace(in, report_group(in->profile, groups));
	if ((code = inputs_column(in, &spec, column, &o.column)))
		return code;
	if (!inputs_have_values(in, &spec, o.column, false))
		return EXIT_NOTHING;
	through = frames_of(in->profile);
	if (function && report_find(in->profile, function, through, &err) < 0)
		return command_cannot(&spec, &err);
	o.focus = function ? through : NULL;

	buf_init(&out);
	if (make(in->profile, &o, t, &out, &err) < 0 || io_write_file(t->path, out.data, out.size, &err) < 0)
		return command_cannot(&spec, &err);
	if (strcmp(t->path, "-") && !quiet)
		fprintf(stderr, "strobe callgraph: wrote %s\n", t->path);
	return EXIT_FINE;
}

static int run(int argc, char **argv)
{
	struct callgraph_options defaults;
	struct inputs in = { 0 };
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
		return command_usage(&spec, "--by '%s' is not known; it may be function, line, file, class, namespace or package",
				     by);
	if (nodes < 1 || nodes > CALLGRAPH_NODES_MAX)
		return command_usage(&spec, "--nodes %ld makes no sense; it is from 1 to %d", nodes, CALLGRAPH_NODES_MAX);
	if (!(seconds >= 0.1 && seconds <= 3600))
		return command_usage(&spec, "--seconds %g makes no sense; it is from 0.1 to 3600", seconds);
	if (!(threshold >= 0 && threshold <= 100))
		return command_usage(&spec, "--threshold %g makes no sense; it is from 0 to 100 per cent", threshold);

	if ((code = inputs_from(&spec, from, &reading.format)))
		return code;
	code = inputs_load_as(&in, &spec, &reading, argv + 1, (size_t)operands);
	if (!code)
		code = draw(&in, &target, groups);
	inputs_done(&in);
	return code;
}

const struct command command_callgraph = { &spec, run };
