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
#include "pictures.h"
#include "report.h"
#include "text.h"

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
	{ OPTION_STRING, 0, "by", "WHAT", &by,
	  "What a box is: function (default), line, file, class, namespace or package." },
	{ OPTION_DOUBLE, 0, "seconds", "S", &seconds,
	  "How long the command may take, for which fewer functions are drawn if need be; 2 unless given." },
	{ OPTION_STRING, 0, "focus", "REGEX", &focus, "Only stacks with a function that matches." },
	{ OPTION_STRING, 0, "ignore", "REGEX", &ignore, "No stacks with a function that matches." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "callgraph",
	.usage = "[FILE...|-] [-o OUT.svg|png|pdf|dot] [--function NAME]",
	.summary = "draw who calls whom, with the path that took most",
	.description =
		"Reads profiles as `strobe report` does and draws a box for each function, the redder the more it took "
		"itself, and an arrow for each caller and callee, the thicker the more went through it. The path "
		"along the heaviest arrows is blue. A function or arrow that stands on a stack several times counts "
		"once.\n\n"
		"Graphviz lays the boxes out, in a process of its own, and the command ends within two seconds: of "
		"a graph that takes longer fewer functions are drawn, and the command says so. In a browser the wheel "
		"and + - zoom, dragging moves, 0 shows all.\n\n"
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
		return command_usage(&spec, "cannot tell what '%s' shall be by its name; it may end in .svg, "
				     ".svgz, .png, "
					    ".pdf or .dot, or be - for standard output", t->path);
	return 0;
}

/* What is laid out, one after the other, until the time is over: a few functions, which takes some milliseconds, so
 * that there is a picture whatever becomes of the rest; more of them, with arrows that cost less; and the wish. */
static const struct attempt {
	size_t max_nodes;
	bool plain;
} attempts[] = {
	{ 12, true }, { 40, true }, { SIZE_MAX, false },
};

/* In place of the wish, if it is hopeless. */
static const struct attempt reduced = { 100, true };

struct graph_try {
	struct buf dot;
	struct callgraph_counts counts;
};

static void put_try(struct graph_try *t, const struct callgraph *graph, size_t max_nodes, const struct attempt *a)
{
	buf_reset(&t->dot);
	callgraph_put(graph, max_nodes < a->max_nodes ? max_nodes : a->max_nodes, a->plain, &t->dot, &t->counts);
}

/* Laying out takes more than the square of the arrows: 200 with words a second, 600 ten. What could not be done in time
 * is not begun. */
static bool is_hopeless(const struct callgraph_counts *c)
{
	return (double)c->edges_shown > 200 * sqrt(seconds);
}

static void say_reduced(const struct callgraph_counts *c, const char *why)
{
	if (!quiet)
		fprintf(stderr, "strobe callgraph: %s, so the picture shows %zu of %zu functions and arrows "
			"without words; "
				"--threshold, --nodes or --function choose fewer, --seconds gives it time\n", why,
			c->shown, c->functions);
}

/* Until when Graphviz may work: a fifth of the time is for what comes after, since on a busy machine a process is not
 * ended and a picture not written at once. Reading may have taken long; then a fifth of the time is for laying out in
 * any case. */
static int64_t end_of_layout(void)
{
	int64_t all = (int64_t)(1e9 * seconds), end = began_ns + all / 5 * 4, least = clock_monotonic_ns() + all / 5;

	return end > least ? end : least;
}

static int draw_best(struct graphviz *graphviz, const struct callgraph *graph, size_t max_nodes, struct buf *picture,
		     struct err *err)
{
	struct graph_try tries[ARRAY_SIZE(attempts)] = { 0 }, *wish = &tries[ARRAY_SIZE(attempts) - 1];
	const char *dots[ARRAY_SIZE(attempts)];
	bool hopeless;
	int chosen;

	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++) {
		buf_init(&tries[i].dot);
		put_try(&tries[i], graph, max_nodes, &attempts[i]);
	}
	if ((hopeless = is_hopeless(&wish->counts)))
		put_try(wish, graph, max_nodes, &reduced);
	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++)
		dots[i] = tries[i].dot.data;
	chosen = graphviz_draw(graphviz, dots, ARRAY_SIZE(attempts), end_of_layout(), picture, err);
	if (chosen >= 0 && (hopeless || &tries[chosen] != wish))
		say_reduced(&tries[chosen].counts, &tries[chosen] != wish ? err->text : "laying the graph out would "
			    "take too long");
	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++)
		buf_done(&tries[i].dot);
	return chosen;
}

/* The picture, or the sentence why there is none. */
static int lay_out(struct graphviz *graphviz, const struct profile *p, const struct callgraph_options *o,
		   struct buf *picture, struct err *err)
{
	_cleanup_(callgraph_freep) struct callgraph *graph = callgraph_new(p, o, err);
	int r = graph ? draw_best(graphviz, graph, o->max_nodes, picture, err) : -EINVAL;

	if (r == -ETIMEDOUT)
		return err_set(err, r, "Graphviz could not lay out even a few functions in %g seconds; is the machine "
			       "busy? -o OUT.dot writes the graph for dot", seconds);
	return r < 0 ? err_prefix(err, "no picture, but -o OUT.dot would work") : 0;
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
	if ((code = inputs_select(in, &spec, focus, ignore)))
		return code;
	if (groups != REPORT_BY_FUNCTION)
		inputs_replace(in, report_group(in->profile, groups));
	if ((code = inputs_column(in, &spec, column, &o.column)))
		return code;
	if (!inputs_have_values(in, &spec, o.column, false))
		return EXIT_NOTHING;
	through = report_no_frames(in->profile);
	if (function && report_find(in->profile, function, through, &err) < 0)
		return command_cannot(&spec, &err);
	o.focus = function ? through : NULL;

	buf_init(&out);
	if (make(graphviz, in->profile, &o, t, &out, &err) < 0 || io_write_file(t->path, out.data, out.size, &err) < 0)
		return command_cannot(&spec, &err);
	if (strcmp(t->path, "-") && !quiet)
		fprintf(stderr, "strobe callgraph: wrote %s\n", t->path);
	return EXIT_FINE;
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
		return command_usage(&spec, "--by '%s' is not known; it may be function, line, file, class, namespace "
				     "or package", by);
	if (nodes < 1 || nodes > CALLGRAPH_NODES_MAX)
		return command_usage(&spec, "--nodes %ld makes no sense; it is from 1 to %d", nodes,
				     CALLGRAPH_NODES_MAX);
	if (!(seconds >= 0.1 && seconds <= 3600))
		return command_usage(&spec, "--seconds %g makes no sense; it is from 0.1 to 3600", seconds);
	if (!(threshold >= 0 && threshold <= 100))
		return command_usage(&spec, "--threshold %g makes no sense; it is from 0 to 100 per cent", threshold);

	if ((code = inputs_from(&spec, from, &reading.format)))
		return code;
	limits.cpu_seconds = (int)seconds + 1;
	if (strcmp(target.format, "dot") && graphviz_start(target.format, &limits, &graphviz, &err) < 0)
		return command_cannot(&spec, &err);
	code = inputs_load_as(&in, &spec, &reading, argv + 1, (size_t)operands);
	if (!code)
		code = draw(graphviz, &in, &target, groups);
	inputs_done(&in);
	return code;
}

const struct command command_callgraph = { &spec, run };
