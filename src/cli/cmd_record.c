/* cmd_record.c: `strobe record`: samples running PHP and Perl processes from outside. */

#include "commands.h"

#include "clock.h"
#include "histogram.h"
#include "io.h"
#include "languages.h"
#include "mem.h"
#include "profile_file.h"
#include "record_sender.h"
#include "recording_options.h"
#include "recording_run.h"
#include "report.h"

#include <string.h>

#define HZ_MAX		10000
#define HOST_MAX	255u
#define SEND_NS		(10 * (int64_t)NS_PER_SECOND)

#define NOT_GIVEN (-1e300)
static double rate = NOT_GIVEN;
static const char *output, *to, *duration_text, *minimum_text, *php_offsets, *perl_offsets;
static struct option_list extra_labels;
static long rows = 10;
static struct target_options targets;
static struct frame_options frames;
static bool quiet, off_cpu, wall, idle;
static struct stack_registry_layers layers;
static bool no_lines, file_io, by_bytes, by_latency, by_count, all_files, distribution;

static const struct option_spec options[] = {
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Processes (default: every PHP; with --lang perl, every Perl)" },
	TARGET_OPTIONS(targets),
	{ OPTION_FLAG, 'a', "all", NULL, &targets.all, "Every PHP and Perl process." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Measurements" },
	{ OPTION_DOUBLE, 'F', "rate", "HZ", &rate, "Samples per second and CPU (default: 99)." },
	{ OPTION_STRING, 'd', "duration", "DURATION", &duration_text,
	  "Duration, such as 10 or 5m (default: until Ctrl-C)." },
	{ OPTION_FLAG, 0, "off-cpu", NULL, &off_cpu,
	  "Time off CPU instead: blocked, or waiting for a CPU." },
	{ OPTION_FLAG, 0, "wall", NULL, &wall, "Time on and off CPU in one profile, in nanoseconds." },
	{ OPTION_FLAG, 0, "file-io", NULL, &file_io, "File I/O instead: read, write, open, stat, fsync.",
	  "The file is a frame below PHP's frames." },
	{ OPTION_FLAG, 0, "latency", NULL, &by_latency, "With --file-io: weigh calls by their time (default)." },
	{ OPTION_FLAG, 0, "bytes", NULL, &by_bytes, "With --file-io: weigh calls by bytes transferred." },
	{ OPTION_FLAG, 0, "count", NULL, &by_count, "With --file-io: weigh each call the same." },
	{ OPTION_FLAG, 0, "all-files", NULL, &all_files,
	  "With --file-io: sockets, pipes, anonymous files too." },
	{ OPTION_FLAG, 0, "distr", NULL, &distribution, "Also print a histogram of durations.",
	  "It shows waits with --off-cpu and --wall, and calls with --file-io." },
	{ OPTION_STRING, 0, "min", "DURATION", &minimum_text,
	  "Leave out waits and calls shorter than DURATION." },
	{ OPTION_FLAG, 0, "idle", NULL, &idle, "Keep waits outside functions, such as idle workers." },
	{ OPTION_STRING, 0, "php-offsets", "FILE", &php_offsets,
	  "Offsets for another PHP, from scripts/php-offsets." },
	{ OPTION_STRING, 0, "perl-offsets", "FILE", &perl_offsets,
	  "The same for Perl, from scripts/perl-offsets." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Frames (default: all)" },
	FRAME_OPTIONS(frames),
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Output" },
	{ OPTION_STRING, 'o', "output", "FILE", &output, "Output, such as x.svg (default: profile.strobe).",
	  "The suffix selects the format: .strobe, a picture (.svg, .html) or a format of `strobe convert`." },
	{ OPTION_FLAG, 0, "no-lines", NULL, &no_lines,
	  "Do not record executed lines." },
	{ OPTION_STRING, 0, "to", "URL", &to,
	  "Send profiles to a daemon every 10 seconds instead.", "URL is unix:SOCKET, or the path of the socket." },
	{ OPTION_LIST, 0, "label", "LABEL=VALUE", &extra_labels, "With --to: host=NAME, or pid without a value.",
	  "The default host is the name of this machine." },
	{ OPTION_INT, 0, "rows", "N", &rows, "Rows of the function table (default: 10; 0: all)." },
	{ OPTION_FLAG, 'q', "quiet", NULL, &quiet, "Print errors only." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "record",
	.usage = "[OPTIONS]",
	.summary = "sample running PHP and Perl processes from outside",
	.description =
		"Samples running PHP and Perl processes from outside: no extension, no restart, no configuration. "
		"The kernel (eBPF) reads their stacks while the process is interrupted, so stacks are never torn "
		"and no process is stopped. Processes are recognized by their executable, so even those that live "
		"for milliseconds are sampled.\n\n"
		"It needs root, or CAP_BPF and CAP_PERFMON, plus CAP_SYS_PTRACE for containers. Without them it "
		"reads the memory of your own PHP processes instead, which gives PHP frames only, and first says "
		"what is missing and how to get it. Supported: PHP 7.4 and 8.0 to 8.5, as a program or a library "
		"(mod_php), thread-safe or not; Perl 5.36, 5.40 and 5.42, as a program or a library, with or without "
		"threads (subs, evals and formats, as caller() reports them). Ctrl-C stops the recording and keeps it. The "
		"summary counts the ticks, those that found PHP or Perl, and the losses.\n\n"
		"Profiles that --to sends have the labels pool, container, entry, method and host. The exit code is "
		"4 when nothing was sampled.",
	.examples =
		"strobe record -d 10 -o profile.svg\n"
		"strobe record -p 1234 -F 999 -d 30\n"
		"strobe record --fpm --off-cpu -d 60 -o waits.html\n"
		"strobe record --lang perl -d 10 -o perl.svg\n"
		"strobe record --fpm --file-io --bytes -d 60 -o files.html\n"
		"strobe record --to unix:/run/strobe/strobe.sock\n",
	.choices =
		"lang php perl native\n"
		"label pid host=\n",
	.options = options,
};

static int check_file_io(void)
{
	if (!file_io && (by_bytes || by_latency || by_count || all_files))
		return command_usage(&spec, "--%s needs --file-io",
				     by_bytes ? "bytes" : by_latency ? "latency" : by_count ? "count" : "all-files");
	if (by_bytes + by_latency + by_count > 1)
		return command_usage(&spec, "--latency, --bytes and --count exclude each other; a .strobe file has all three");
	if (distribution && !off_cpu && !wall && !file_io)
		return command_usage(&spec, "--distr needs --off-cpu, --wall or --file-io");
	if (distribution && (quiet || to))
		return command_usage(&spec, "--distr and --%s exclude each other", quiet ? "quiet" : "to");
	if (!file_io)
		return 0;
	if (off_cpu || wall)
		return command_usage(&spec, "--file-io and --%s exclude each other", wall ? "wall" : "off-cpu");
	if (frames.kernel || frames.native)
		return command_usage(&spec, "--file-io has PHP's frames alone; leave -%c out", frames.kernel ? 'k' : 'n');
	if (frames.language && strcmp(frames.language, "php"))
		return command_usage(&spec, "--file-io has PHP's frames alone; leave --lang out");
	return 0;
}

static int check_frames(void)
{
	int code = frame_options_check(&frames, &targets, &spec);

	if (!frame_options_any(&frames))
		frames.user = frames.kernel = true;
	frame_options_fill(&frames, &layers);
	return code;
}

static bool take_label(const char *text, struct recorder_options *o)
{
	if (!strcmp(text, "pid"))
		return o->pid_label = true;
	if (strncmp(text, "host=", 5) || !text[5] || strlen(text + 5) > HOST_MAX)
		return false;
	o->host = text + 5;
	return true;
}

static int check_options(struct recorder_options *o, int64_t *ret_duration_ns, int operands)
{
	struct err err = { 0 };

	if (target_options_check(&targets, &spec, operands))
		return EXIT_USAGE;
	if (off_cpu && wall)
		return command_usage(&spec, "--wall includes --off-cpu; give only one of them");
	if (rate == NOT_GIVEN)
		rate = 99;
	else if (off_cpu || file_io)
		return command_usage(&spec, file_io ?
		  "-F and --file-io exclude each other: --file-io records every call" :
				     "-F and --off-cpu exclude each other: --off-cpu takes no samples on CPU; did "
				     "you mean --wall?");
	if (!(rate >= 1 && rate <= HZ_MAX) || rate != (double)(long)rate)
		return command_invalid(&spec, "rate", "a whole number from 1 to %d", HZ_MAX);
	if (rows < 0)
		return command_invalid(&spec, "rows", "0 (all) or more");
	if (((minimum_text && !file_io) || idle) && !off_cpu && !wall)
		return command_usage(&spec, idle ? "--idle needs --off-cpu or --wall" : "--min needs --off-cpu, --wall or --file-io");
	if (check_file_io())
		return EXIT_USAGE;
	if (command_duration(&spec, "duration", duration_text, ret_duration_ns))
		return EXIT_USAGE;
	if (minimum_text && clock_parse_duration(minimum_text, &o->min_ns, NULL) < 0)
		return command_invalid(&spec, "min", "a duration such as 1ms");
	if (to && output)
		return command_usage(&spec, "--to and -o exclude each other");
	for (size_t i = 0; i < extra_labels.count; i++)
		if (!to)
			return command_usage(&spec, "--label %s needs --to", extra_labels.items[i]);
		else if (!take_label(extra_labels.items[i], o))
			return command_usage(&spec, "invalid --label '%s'; use pid or host=NAME", extra_labels.items[i]);
	if (!output)
		output = "profile.strobe";
	if (!to && profile_file_check(output, &err) < 0)
		return command_fail(&spec, &err);
	return check_frames();
}

static void fill_options(struct recorder_options *o)
{
	target_options_fill(&targets, o);
	o->hz = off_cpu || file_io ? 0 : (unsigned)rate;
	o->off_cpu = off_cpu || wall;
	o->file_io = file_io;
	o->other_kinds = all_files;
	o->distribution = distribution;
	o->idle = idle;
	o->native = layers.native && !file_io;
	o->kernel = layers.kernel && !file_io;
	o->languages = file_io ? LANGUAGE_PHP : recording_languages(&frames, &targets);
	o->labels = to != NULL;
	o->open_waits = to != NULL;
	o->php_offsets = php_offsets;
	o->perl_offsets = perl_offsets;
}

/* --- to the daemon */

struct sending {
	struct record_sender *sender;
	struct stack_registry_layers layers;
	int64_t since_ns;		/* wall clock */
	unsigned hz;
	uint64_t lost;			/* lost samples reported so far */
	struct err problem;		/* the last error, once reported */
};

static void send_profile(void *data, struct profile *p)
{
	struct sending *s = data;
	struct err err = { 0 };

	p->start_ns = s->since_ns;
	p->end_ns = clock_wall_ns();
	p->period_ns = s->hz ? NS_PER_SECOND / s->hz : 0;
	if (record_sender_add(s->sender, p, &err) < 0)
		fprintf(stderr, "strobe: a profile was dropped: %s\n", err.text);
}

/* An unavailable daemon is reported once, and again after it has been available. */
static void send_waiting(struct sending *s)
{
	struct err err = { 0 };
	int e = record_sender_flush(s->sender, &err);

	if (e < 0 && strcmp(err.text, s->problem.text))
		fprintf(stderr, "strobe: %s; recorded samples are queued\n", err.text);
	s->problem = err;
}

static void send_losses(struct sending *s, const struct recorder *r)
{
	struct labels labels;
	enum strobe_drop reason;
	uint64_t lost = recorder_lost(r, &reason);

	labels_init(&labels);
	recorder_labels(r, &labels);
	record_sender_lose(s->sender, &labels, reason, lost - s->lost);
	s->lost = lost;
	labels_done(&labels);
}

static int send_all(void *data, struct recorder *r, struct err *err)
{
	struct sending *s = data;
	int e = recorder_take(r, &s->layers, s, send_profile, err);

	send_losses(s, r);
	s->since_ns = clock_wall_ns();
	send_waiting(s);
	return e;
}

/* --- */

static int put_table(struct buf *b, const struct profile *p, struct err *err)
{
	struct report_options o = {
		.column = profile_pick_column(p, NULL),
		.limit = (size_t)rows,
		.width = command_terminal_width(STDERR_FILENO),
		.color = command_wants_color(STDERR_FILENO),
	};

	return report_flat_table(p, &o, b, err);
}

static void put_distribution(struct recorder *r, struct buf *b)
{
	struct distribution d;

	recorder_distribution(r, &d);
	histogram_put(&d, file_io ? "File I/O latency distribution" : "Off-CPU time distribution", b);
}

/* Every wait ends inside the kernel's scheduler, so the table shows the place where waits left user mode. */
static struct profile *make_table_profile(struct recorder *r)
{
	struct stack_registry_layers chosen = layers;
	u64 left_out;

	chosen.waits_end_in_user = true;
	return stack_registry_profile(recorder_stacks(r), &chosen, &left_out);
}

/* An empty recording does not overwrite an earlier file. */
static int show(struct recorder *r, const struct recorder_options *o, struct err *err)
{
	_cleanup_(buf_done) struct buf text = { 0 }, file = { 0 };
	_cleanup_(profile_freep) struct profile *p = NULL, *of_table = NULL;
	struct record_summary s = { 0 };
	int e = 0;

	p = stack_registry_profile(recorder_stacks(r), &layers, &s.left_out);
	p->end_ns = clock_wall_ns();
	p->start_ns = p->end_ns - recorder_elapsed_ns(r);
	p->period_ns = o->hz ? NS_PER_SECOND / o->hz : 0;
	recorder_summary(r, &s);
	record_summary_label(&s, &p->labels);
	buf_init(&text);
	buf_init(&file);
	record_summary_put(&s, &text);
	if (distribution)
		put_distribution(r, &text);
	if (record_summary_is_empty(&s)) {
		fwrite(text.data, 1, text.size, stderr);
		return EXIT_NO_SAMPLES;
	}
	e = profile_file_put(output, p, &file, err);
	if (e > 0)
		buf_printf(&text, "strobe: %s\n", err->text);
	if (e >= 0)
		e = io_write_file(output, file.data, file.size, err);
	if (e >= 0 && !quiet && o->off_cpu && layers.kernel && (layers.php || layers.native))
		of_table = make_table_profile(r);
	if (e >= 0 && !quiet)
		e = put_table(&text, of_table ? of_table : p, err);
	if (e >= 0 && strcmp(output, "-"))
		profile_file_put_next_step(output, &text);
	if (!quiet || e < 0)
		fwrite(text.data, 1, text.size, stderr);
	return e < 0 ? e : EXIT_OK;
}

static int show_sent(struct recorder *r, const struct sending *s)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	struct record_summary summary = { 0 };

	recorder_summary(r, &summary);
	buf_init(&text);
	record_summary_put(&summary, &text);
	buf_printf(&text, "strobe: %llu profiles were sent to %s\n", (unsigned long long)record_sender_sent(s->sender), to);
	if (record_sender_lost_bytes(s->sender))
		buf_printf(&text, "strobe: %llu bytes of profiles were lost: the daemon was unavailable for too long\n",
			   (unsigned long long)record_sender_lost_bytes(s->sender));
	if (!quiet || *s->problem.text)
		fwrite(text.data, 1, text.size, stderr);
	if (*s->problem.text)
		return EXIT_ERROR;
	return record_summary_is_empty(&summary) ? EXIT_NO_SAMPLES : EXIT_OK;
}

static int record_to_daemon(struct recorder *r, const struct recorder_options *o, int64_t duration_ns, struct err *err)
{
	struct sending s = {
		.layers = layers,
		.since_ns = clock_wall_ns(),
		.hz = o->hz,
	};
	int code = record_sender_new(&s.sender, to, err);

	if (code < 0)
		return code;
	code = recording_run(r, &(struct recording_run){ duration_ns, quiet, SEND_NS, send_all, &s }, err);
	if (code >= 0)
		code = send_all(&s, r, err);
	if (code >= 0)
		code = show_sent(r, &s);
	record_sender_free(s.sender);
	return code;
}

static int record_to_file(struct recorder *r, const struct recorder_options *o, int64_t duration_ns, struct err *err)
{
	int code = recording_run(r, &(struct recording_run){ .duration_ns = duration_ns, .quiet = quiet }, err);

	return code < 0 ? code : show(r, o, err);
}

static int report_method(const struct recorder_options *o, struct recorder *r, struct err *err)
{
	recording_layers(o, r, &layers);
	layers.lines = !no_lines;
	layers.file_io = o->file_io;
	layers.weight = by_bytes ? FILE_BY_BYTES : by_count ? FILE_BY_COUNT : FILE_BY_LATENCY;
	return recording_warn_fallback(o, r, &layers, err);
}

static int run(int argc, char **argv)
{
	struct recorder_options o = { 0 };
	struct recorder *r = NULL;
	struct err err = { 0 };
	int64_t duration_ns = 0;
	int operands, code = command_options(&spec, argc, argv, false, &operands);

	if (code >= 0)
		return code;
	if ((code = check_options(&o, &duration_ns, operands)))
		return code;
	fill_options(&o);
	recording_catch_signals();
	code = recorder_open(&r, &o, &err);
	if (code >= 0)
		code = report_method(&o, r, &err);
	if (code >= 0)
		code = (to ? record_to_daemon : record_to_file)(r, &o, duration_ns, &err);
	if (code < 0)
		code = command_fail(&spec, &err);
	recorder_free(r);
	return code;
}

const struct command command_record = { &spec, run };
