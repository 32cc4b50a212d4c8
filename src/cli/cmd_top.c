/* cmd_top.c: `strobe top`: a live table of the functions that take the most time. */

#include "commands.h"

#include "clock.h"
#include "languages.h"
#include "recording_options.h"
#include "top_session.h"

#include <locale.h>
#include <string.h>
#include <unistd.h>

#define HZ_MAX		10000
#define WINDOW_NS	(5 * (int64_t)NS_PER_SECOND)

#define NOT_GIVEN (-1e300)
static double rate = NOT_GIVEN;
static const char *duration_text, *every_text, *window_text, *minimum_text, *by_text, *sort_text, *filter_text;
static const char *php_offsets, *perl_offsets;
static long rows_wanted = 10;
static struct target_options targets;
static struct frame_options frames;
static struct stack_registry_layers layers;
static bool on_cpu, off_cpu, idle, plain, json;

static const struct option_spec options[] = {
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Processes (default: every PHP; with --lang perl, every Perl)" },
	TARGET_OPTIONS(targets),
	{ OPTION_FLAG, 'a', "all", NULL, &targets.all, "Every PHP and Perl process." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Measurements (default: time on and off CPU)" },
	{ OPTION_FLAG, 0, "on-cpu", NULL, &on_cpu, "Only time on CPU, the cheapest." },
	{ OPTION_FLAG, 0, "off-cpu", NULL, &off_cpu, "Only time off CPU: blocked, or waiting for a CPU." },
	{ OPTION_DOUBLE, 'F', "rate", "HZ", &rate, "Samples per second and CPU (default: 99)." },
	{ OPTION_STRING, 0, "min", "DURATION", &minimum_text, "Leave out waits shorter than DURATION, such as 1ms." },
	{ OPTION_FLAG, 0, "idle", NULL, &idle, "Keep waits outside functions, such as idle workers." },
	{ OPTION_STRING, 0, "php-offsets", "FILE", &php_offsets, "As in strobe record." },
	{ OPTION_STRING, 0, "perl-offsets", "FILE", &perl_offsets, "As in strobe record." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Frames (default: functions of PHP and Perl)" },
	FRAME_OPTIONS(frames),
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Table" },
	{ OPTION_STRING, 0, "by", "GROUP", &by_text, "Group by function (default), class, file, pool, ...",
	  "The others are namespace, package, entry (script), container and pid." },
	{ OPTION_STRING, 0, "sort", "KEY", &sort_text, "Sort by self, total, off, off-total or name." },
	{ OPTION_STRING, 0, "filter", "REGEX", &filter_text, "Only rows whose name or file matches.",
	  "REGEX is an extended regular expression; case is ignored." },
	{ OPTION_STRING, 0, "window", "DURATION", &window_text,
	  "Period that the screen shows (default: 5 seconds)." },
	{ OPTION_STRING, 0, "every", "DURATION", &every_text,
	  "Refresh interval (default: 1s; plain tables: 10s)." },
	{ OPTION_STRING, 'd', "duration", "DURATION", &duration_text,
	  "Duration, such as 10 or 5m (default: until q)." },
	{ OPTION_FLAG, 'b', "plain", NULL, &plain, "Print plain tables, even on a terminal." },
	{ OPTION_FLAG, 0, "json", NULL, &json, "Print each table as a line of JSON." },
	{ OPTION_INT, 0, "rows", "N", &rows_wanted, "Rows of each plain table (default: 10; 0: all)." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "top",
	.usage = "[OPTIONS]",
	.summary = "live view of the PHP functions that take the most time",
	.description =
		"Samples running PHP and Perl processes from outside, as `strobe record` does, and shows a live "
		"table: for each function its time on CPU (self, and total with its callees) and its time off CPU, "
		"asleep or waiting for a CPU, likewise. Rows can also be classes, files, packages, scripts (entry), "
		"pools, containers or processes. The header counts the ticks, those that found PHP, and the losses; "
		"an empty table gives the reason instead.\n\n"
		"On a terminal ? lists the keys: space freezes the table, / filters it, s, t and o sort it, Tab "
		"changes the grouping, Enter opens a script or pool, a shows all time since the start, r resets, d "
		"lists the current requests with their URI, w saves a picture, q quits. If output is not a "
		"terminal, a table of the last 10 seconds is printed every 10 seconds.\n\n"
		"It needs the privileges of `strobe record`. Without BPF it falls back to reading memory, as `strobe record` does. The "
		"exit code is 4 when nothing was sampled.",
	.examples =
		"sudo strobe top --fpm\n"
		"strobe top -p 1234 --sort off\n"
		"strobe top --by entry -d 60 > scripts.txt\n"
		"strobe top --json --every 5s | jq '.rows[0].function'\n",
	.choices =
		"lang php perl native\n"
		"by function class file namespace package entry pool container pid\n"
		"sort self total off off-total name\n",
	.options = options,
};

/* --- the command line */

struct plan {
	struct recorder_options o;
	struct top_session_options session;
};

static int check_view(struct top_view *v)
{
	struct err err = { 0 };

	v->has_on_cpu = !off_cpu;
	v->has_off_cpu = !on_cpu;
	v->sort = off_cpu ? TOP_OFF_SELF : TOP_SELF;
	if (by_text && !top_by_parse(by_text, &v->by))
		return command_invalid(&spec, "by", "function, class, file, namespace, package, entry, pool, container or pid");
	if (sort_text && !top_sort_parse(sort_text, &v->sort))
		return command_invalid(&spec, "sort", "self, total, off, off-total or name");
	if (sort_text && v->sort != TOP_NAME && (v->sort < TOP_OFF_SELF ? off_cpu : on_cpu))
		return command_usage(&spec, "--sort %s is not measured with --%s", sort_text, on_cpu ? "on-cpu" : "off-cpu");
	v->has_pid = v->by == TOP_BY_PID;
	if (filter_text && strlen(filter_text) > TOP_INPUT_MAX)
		return command_invalid(&spec, "filter", "at most %u bytes", TOP_INPUT_MAX);
	if (filter_text && top_view_filter(v, filter_text, &err) < 0)
		return command_usage(&spec, "%s", err.text);
	return 0;
}

static int check_options(struct plan *p, struct top_view *v, int operands)
{
	if (target_options_check(&targets, &spec, operands) || frame_options_check(&frames, &targets, &spec) || check_view(v))
		return EXIT_USAGE;
	if (on_cpu && off_cpu)
		return command_usage(&spec, "--on-cpu and --off-cpu exclude each other; without them both are measured");
	if (rate != NOT_GIVEN && off_cpu)
		return command_usage(&spec,
		  "-F and --off-cpu exclude each other: --off-cpu takes no samples on CPU");
	if (rate == NOT_GIVEN)
		rate = 99;
	if (!(rate >= 1 && rate <= HZ_MAX) || rate != (double)(long)rate)
		return command_invalid(&spec, "rate", "a whole number from 1 to %d", HZ_MAX);
	if (on_cpu && (idle || minimum_text))
		return command_usage(&spec, "--%s and --on-cpu exclude each other", idle ? "idle" : "min");
	if (rows_wanted < 0)
		return command_invalid(&spec, "rows", "0 (all) or more");
	if (plain && json)
		return command_usage(&spec, "--plain and --json exclude each other");
	if (command_duration(&spec, "duration", duration_text, &p->session.duration_ns) ||
	    command_duration(&spec, "every", every_text, &p->session.every_ns) ||
	    command_duration(&spec, "window", window_text, &p->session.window_ns) ||
	    command_duration(&spec, "min", minimum_text, &p->o.min_ns))
		return EXIT_USAGE;
	return 0;
}

static void fill_plan(struct plan *p, const struct top_view *v)
{
	target_options_fill(&targets, &p->o);
	frame_options_fill(&frames, &layers);
	if (!frame_options_any(&frames))
		layers.php = true;
	layers.waits_end_in_user = layers.php || layers.native;
	p->o.hz = off_cpu ? 0 : (unsigned)rate;
	p->o.off_cpu = !on_cpu;
	p->o.idle = idle;
	p->o.native = layers.native;
	p->o.kernel = layers.kernel;
	p->o.languages = recording_languages(&frames, &targets);
	p->o.labels = p->o.open_waits = true;
	p->o.pid_label = v->has_pid;
	p->o.php_offsets = php_offsets;
	p->o.perl_offsets = perl_offsets;
	p->session.layers = &layers;
	p->session.php_offsets = php_offsets;
	p->session.hz = p->o.hz;
	p->session.json = json;
	p->session.rows = (size_t)rows_wanted;
}

/* --- the header */

static void put_list(struct buf *out, const char *one, const char *many, const struct option_list *l)
{
	if (!l->count)
		return;
	buf_printf(out, "%s%s ", out->size ? ", " : "", l->count == 1 ? one : many);
	for (size_t i = 0; i < l->count; i++)
		buf_printf(out, "%s%s", i ? "," : "", l->items[i]);
}

static void put_target(struct buf *out, const struct recorder_options *o)
{
	put_list(out, "process", "processes", &targets.pids);
	put_list(out, "cgroup", "cgroups", &targets.cgroups);
	put_list(out, "container", "containers", &targets.containers);
	if (targets.pattern)
		buf_printf(out, "/%s/", targets.pattern);
	else if (targets.fpm)
		buf_puts(out, "php-fpm");
	else if (!out->size)
		buf_printf(out, "every %s", o->languages == LANGUAGE_PERL ? "Perl" : o->languages == LANGUAGE_PHP ? "PHP" : "PHP and Perl");
}

static void put_frames(struct buf *out, const struct recorder *r)
{
	const bool has[] = { layers.php && recorder_languages(r) & LANGUAGE_PHP, layers.php && recorder_languages(r) & LANGUAGE_PERL,
			     layers.native && !*recorder_fallback(r), layers.kernel && !*recorder_fallback(r) };
	static const char *const names[] = { "PHP", "Perl", "native", "kernel" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (has[i])
			buf_printf(out, "%s%s", out->size ? "+" : "", names[i]);
	buf_puts(out, " frames");
}

/* --- */

/* Plain output is also read by programs, so it is UTF-8 like all other output. */
static void choose_locale(bool screen)
{
	if (!setlocale(LC_CTYPE, screen ? "" : "C.UTF-8"))
		setlocale(LC_CTYPE, "C.UTF-8");
}

static struct terminal *open_screen(void)
{
	bool wanted = !plain && !json && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
	struct terminal *terminal = NULL;
	struct err err = { 0 };

	choose_locale(wanted);
	if (wanted && terminal_open(&terminal, command_wants_color(STDOUT_FILENO), &err) < 0) {
		fprintf(stderr, "strobe top: %s\n", err.text);
		choose_locale(false);
	}
	return terminal;
}

/* The screen has been closed, so the reason why it was empty is printed again. */
static int report_end(const struct recorder *r, bool screen)
{
	_cleanup_(buf_done) struct buf why = { 0 };
	struct record_summary s = { 0 };

	recorder_summary(r, &s);
	if (!record_summary_is_empty(&s))
		return EXIT_OK;
	buf_init(&why);
	record_summary_put(&s, &why);
	if (screen)
		fwrite(why.data, 1, why.size, stderr);
	return EXIT_NO_SAMPLES;
}

static int show(struct recorder *r, struct top_view *v, struct plan *p, struct err *err)
{
	_cleanup_(buf_done) struct buf target = { 0 }, kinds = { 0 };
	struct terminal *terminal;
	bool screen;
	int e;

	buf_init(&target);
	buf_init(&kinds);
	put_target(&target, &p->o);
	put_frames(&kinds, r);
	p->session.target = target.data;
	p->session.frames = kinds.data;
	terminal = open_screen();
	screen = terminal;
	e = top_session_run(r, v, terminal, &p->session, err);
	terminal_close(terminal);
	return e < 0 ? e : report_end(r, screen);
}

static int run(int argc, char **argv)
{
	struct plan plan = { .session.window_ns = WINDOW_NS };
	struct recorder *r = NULL;
	struct top_view view;
	struct err err = { 0 };
	int operands, code = command_options(&spec, argc, argv, false, &operands);

	if (code >= 0)
		return code;
	top_view_init(&view);
	code = check_options(&plan, &view, operands);
	if (code) {
		top_view_done(&view);
		return code;
	}
	fill_plan(&plan, &view);
	code = recorder_open(&r, &plan.o, &err);
	if (code >= 0) {
		recording_layers(&plan.o, r, &layers);
		code = recording_warn_fallback(&plan.o, r, &layers, &err);
	}
	if (code >= 0)
		code = show(r, &view, &plan, &err);
	if (code < 0)
		code = command_fail(&spec, &err);
	recorder_free(r);
	top_view_done(&view);
	return code;
}

const struct command command_top = { &spec, run };
