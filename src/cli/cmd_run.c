/* cmd_run.c: `strobe run -- php script.php`: one command under the extension, with no set-up and no root. */

#include "commands.h"

#include "child.h"
#include "clock.h"
#include "extension_file.h"
#include "php.h"
#include "run_recording.h"
#include "run_result.h"
#include "source.h"
#include "workspace.h"

#include <string.h>

/* Exit codes of our own failures, as in env and timeout. */
#define EXIT_SETUP		125
#define EXIT_NOT_EXECUTABLE	126
#define EXIT_NOT_FOUND		127

/* Gives remaining children of the command, such as background workers, time to finish. */
#define GRACE_NS		(200 * 1000000LL)
#define GRACE_STEP_NS		(10 * 1000000LL)

#define RATE_DEFAULT	100
#define RATE_MAX		10000		/* the extension's shortest period is 0.1 ms */

#define NOT_GIVEN (-1e300)
static double rate = NOT_GIVEN;
static const char *clock_name, *output = "profile.strobe", *extension;
static long rows = 10;
static bool quiet, trace, flame_chart;

static const struct option_spec options[] = {
	{ OPTION_DOUBLE, 'F', "rate", "HZ", &rate, "Samples per second and PHP process (default: 100)." },
	{ OPTION_STRING, 0, "clock", "CLOCK", &clock_name,
	  "Clock: wall (default) or cpu (excludes waiting)." },
	{ OPTION_FLAG, 't', "trace", NULL, &trace,
	  "Measure every call exactly instead of sampling." },
	{ OPTION_FLAG, 0, "flame-chart", NULL, &flame_chart, "With --trace: also record each call, in order.",
	  "The limit is 1,000,000 calls (strobe.trace_chart_calls)." },
	{ OPTION_STRING, 'o', "output", "FILE", &output, "Output, such as x.svg (default: profile.strobe).",
	  "The suffix selects the format: .strobe, a picture (.svg, .html) or a format of `strobe convert`." },
	{ OPTION_INT, 'n', "rows", "N", &rows, "Rows of the function table (default: 10; 0: all)." },
	{ OPTION_STRING, 0, "extension", "FILE", &extension, "Use this strobe.so instead of searching for one." },
	{ OPTION_FLAG, 'q', "quiet", NULL, &quiet, "Print errors only." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "run",
	.usage = "[OPTIONS] -- COMMAND [ARGUMENT...]",
	.summary = "run a PHP command and profile it",
	.description =
		"Runs COMMAND with the sampling extension loaded into every PHP that it starts, prints the "
		"functions that took the most time to standard error, and writes the profile. It needs no setup and "
		"no root.\n\n"
		"With --trace every call of every function is counted and measured, with its stack, in the command "
		"and in the PHP processes that it forks or starts; their values are added up. `strobe flamegraph "
		"--column memory_bytes` and the like show the other metrics of the profile; `strobe import` stores "
		"it as a run. With --flame-chart the profile also has the calls of the command's own PHP process one by one, over time, for "
		"`strobe convert` to Chrome's and speedscope's formats and `strobe flamegraph --flamechart`.\n\n"
		"Input, output and exit code of the command stay as they are. The exit code is 128 + N when signal "
		"N ended the command, 125 when strobe itself failed, 126 when the command cannot be "
		"executed, and 127 when it is not found.\n\n"
		"PHP gets its settings through PHP_INI_SCAN_DIR, so a command that clears its environment or runs "
		"`php -n` is not profiled.",
	.examples =
		"strobe run -- php script.php\n"
		"strobe run -F 1000 -o import.svg -- php bin/console import\n"
		"strobe run --trace -- php script.php\n"
		"strobe run --trace --flame-chart -- php script.php\n"
		"strobe run --clock cpu -- vendor/bin/phpunit\n",
	.choices =
		"clock wall cpu\n",
	.options = options,
};

struct run {
	struct loop *loop;
	struct workspace workspace;
	struct recording recording;
	struct child child;
	struct source *source;
	struct watch grace;
	int64_t started_ns, ended_ns;
};

static bool has_ended(const struct run *r)
{
	return r->source->counters.connections_now == 0 || clock_monotonic_ns() - r->ended_ns >= GRACE_NS;
}

static void grace_step(struct watch *w, uint32_t events)
{
	struct run *r = (struct run *)((char *)w - offsetof(struct run, grace));

	loop_timer_read(w);
	if (has_ended(r))
		loop_stop(r->loop, 0);
}

static void command_ended(struct child *c)
{
	struct run *r = (struct run *)((char *)c - offsetof(struct run, child));

	r->ended_ns = clock_monotonic_ns();
	if (loop_add_timer(r->loop, &r->grace, GRACE_STEP_NS, NULL) < 0)
		loop_stop(r->loop, 0);
}

static void run_done(struct run *r)
{
	r->source = source_close(r->source);
	if (r->grace.fd >= 0)
		loop_remove_timer(r->loop, &r->grace);
	child_done(&r->child);
	workspace_done(&r->workspace);
	recording_done(&r->recording);
	r->loop = loop_free(r->loop);
}

static int run_init(struct run *r, const struct php *php, const char *file, struct err *err)
{
	struct workspace_settings settings = { file, clock_name, 1 / rate, trace, flame_chart };
	_cleanup_(freep) char *url = NULL;
	struct source_receiver receiver;
	int e;

	r->grace = (struct watch){ .ready = grace_step, .fd = -1 };
	r->child.signals.fd = -1;
	r->child.ended = command_ended;
	recording_init(&r->recording);
	r->loop = loop_new(err);
	if (!r->loop)
		return err->code;
	/* Signal handlers come first: an interrupt after this point must not leave the directory behind. */
	if ((e = child_init(&r->child, r->loop, err)) < 0 ||
	    (e = workspace_init(&r->workspace, &settings, err)) < 0)
		return e;
	if (asprintf(&url, "unix:%s", r->workspace.socket) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	receiver = recording_receiver(&r->recording);
	return source_open(url, r->loop, &receiver, &r->source, err);
}

/* Runs the command until it exits. Returns its exit code, or one of ours. */
static int run_command(struct run *r, const char *program, char **argv, struct err *err)
{
	int code;

	r->started_ns = clock_monotonic_ns();
	if (child_start(&r->child, program, argv, r->workspace.scan_dir, &code, err) < 0 ||
	    (code = EXIT_SETUP, loop_run(r->loop, err)) < 0) {
		command_fail(&spec, err);
		return code;
	}
	source_stop(r->source);		/* reads pending input */
	r->source = source_close(r->source);
	recording_end(&r->recording);
	return r->child.exit_code;
}

static int show_result(const struct run *r, const struct php *php, int argc, char **argv, struct err *err)
{
	const struct rusage *u = &r->child.usage;
	struct run_result result = {
		.recording = &r->recording,
		.wall_ns = r->ended_ns - r->started_ns,
		.cpu_ns = (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * NS_PER_SECOND +
			  (u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000LL,
		.rate = rate,
		.clock = clock_name,
		.php_version = php->version,
		.signal = r->child.signal,
		.settings_ignored = php_ignores_settings(argc, argv),
		.jit = r->child.signal && !trace && !r->recording.samples && php_jit_prevents_samples(php->path, argc, argv),
		.output = output,
		.rows = (size_t)rows,
		.quiet = quiet,
		.trace = trace,
	};

	return run_result_show(&result, err);
}

static int check_options(int operands)
{
	if (operands == 0)
		return command_usage(&spec, "missing command, as in: strobe run -- php script.php");
	if (trace && (rate != NOT_GIVEN || clock_name))
		return command_usage(&spec, "--trace and %s exclude each other: --trace measures every call",
				     rate != NOT_GIVEN ? "-F" : "--clock");
	if (flame_chart && !trace)
		return command_usage(&spec, "--flame-chart needs --trace: samples have no order of calls");
	if (rate == NOT_GIVEN)
		rate = RATE_DEFAULT;
	clock_name = clock_name ? clock_name : "wall";
	if (!(rate * 3600 >= 1 && rate <= RATE_MAX))
		return command_invalid(&spec, "rate", "at most %d, and at least one sample per hour", RATE_MAX);
	if (strcmp(clock_name, "wall") && strcmp(clock_name, "cpu"))
		return command_invalid(&spec, "clock", "wall or cpu");
	if (rows < 0)
		return command_invalid(&spec, "rows", "0 (all) or more");
	return 0;
}

/* Does everything that can fail before the command starts. Returns 0 or an exit code. */
static int prepare(struct run *r, const char *name, char **ret_program, struct php *php, struct err *err)
{
	_cleanup_(freep) char *path = NULL, *file = NULL;
	int e = php_find_program(name, ret_program);

	if (e < 0) {
		err_set(err, e, e == -ENOENT ? "command '%s' not found" : "'%s' is not an executable program",
			name);
		return e == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	}
	if (run_result_check(output, err) < 0 || php_find(*ret_program, &path, err) < 0 ||
	    php_probe(path, php, err) < 0)
		return EXIT_SETUP;
	if (!php->has_strobe && extension_file_find(php, extension, &file, err) < 0)
		return EXIT_SETUP;
	return run_init(r, php, file, err) < 0 ? EXIT_SETUP : 0;
}

static int run(int argc, char **argv)
{
	_cleanup_(freep) char *program = NULL;
	struct run r = { .grace.fd = -1, .child.signals.fd = -1 };
	struct php php = { 0 };
	struct err err = { 0 };
	int operands, code;

	if ((code = command_options(&spec, argc, argv, true, &operands)) >= 0)
		return code == EXIT_USAGE ? EXIT_SETUP : code;
	if (check_options(operands))
		return EXIT_SETUP;
	argv[1 + operands] = NULL;

	code = prepare(&r, argv[1], &program, &php, &err);
	if (code)
		command_fail(&spec, &err);
	else
		code = run_command(&r, program, argv + 1, &err);
	if (r.child.over && show_result(&r, &php, operands, argv + 1, &err) < 0) {
		command_fail(&spec, &err);
		code = code ? code : EXIT_SETUP;
	}
	run_done(&r);
	php_done(&php);
	return code;
}

const struct command command_run = { &spec, run };
