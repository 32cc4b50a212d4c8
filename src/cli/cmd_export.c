/* cmd_export.c: `strobe export`: maintenance of a tree of trace logs: pictures, compression, an index, metrics. */

#include "commands.h"
#include "export.h"

#include "arclamp_metrics.h"
#include "arclamp_directory.h"
#include "clock.h"
#include "export_listing.h"
#include "io.h"
#include "mem.h"
#include "size.h"
#include "text.h"
#include "tree_index.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#define LABEL_MAX	64u
#define MEMORY_MIN	((uint64_t)1 << 20)
#define MEMORY_MAX	((uint64_t)1 << 40)
#define TIMEOUT_MAX_NS	NS_PER_DAY

static const char *logs, *arclamp, *svgs, *name = "MediaWiki", *min_width, *upload_command, *output;
static const char *memory_text, *watch_text, *timeout_text;
static struct option_list functions, listings;
static struct flamegraph_options picture;
static bool redraw, no_functions, zstd, quiet;
static long jobs;
static int64_t watch_ns, timeout_ns = 60 * NS_PER_SECOND;
static double older_than = -1;

static const struct option_spec options[] = {
	{ OPTION_STRING, 0, "logs", "DIR", &logs, "Tree of logs (default: /srv/arclamp/logs)." },
	{ OPTION_STRING, 0, "arclamp", "FILE", &arclamp,
	  "Use base_path of this arclamp-log.yaml." },
	{ OPTION_STRING, 0, "svgs", "DIR", &svgs, "Tree of pictures (default: svgs, beside logs).",
	  "The default is the path of the logs, with its last \"logs\" replaced by \"svgs\"." },
	{ OPTION_INT, 'j', "jobs", "N", &jobs, "Processes (default: CPUs, at most 4).",
	  "Each process draws one log. The default for compress is 1." },
	{ OPTION_STRING, 0, "memory", "SIZE", &memory_text, "Memory to draw a log (default: 4G).",
	  "For compress: memory to sort a log before it spills to a file (default: 256M)." },
	{ OPTION_STRING, 0, "upload", "COMMAND", &upload_command, "Run COMMAND for each finished file.",
	  "{} is replaced by its path, {period} by its directory and {name} by its name. Words are separated by "
	  "blanks, quotes keep them together; no shell is involved. If it fails, the file is made again next time." },
	{ OPTION_STRING, 0, "upload-timeout", "DURATION", &timeout_text,
	  "Time limit of the command (default: 60s)." },
	{ OPTION_STRING, 0, "watch", "DURATION", &watch_text,
	  "Repeat DURATION after each run, until a signal." },
	{ OPTION_FLAG, 'q', "quiet", NULL, &quiet, "Print errors only." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "svgs" },
	{ OPTION_STRING, 0, "name", "TEXT", &name, "Prefix of titles (default: MediaWiki).",
	  "The period and the time follow it." },
	{ OPTION_LIST, 0, "fn", "NAME=FUNCTION", &functions, "Also draw stacks with FUNCTION; repeatable.",
	  "They are taken from `all` logs; the picture is called .fn-NAME." },
	{ OPTION_FLAG, 0, "no-fn", NULL, &no_functions, "Draw no pictures of functions." },
	{ OPTION_STRING, 0, "fonttype", "FONT", &picture.font_type, "Font (default: ui-monospace,monospace)." },
	{ OPTION_DOUBLE, 0, "fontsize", "PX", &picture.font_size, "Font size (default: 11)." },
	{ OPTION_STRING, 0, "minwidth", "N[%]", &min_width, "Leave out narrower frames (default: 1).",
	  "N is in pixels, or, as N%, in percent of the width." },
	{ OPTION_FLAG, 0, "redraw", NULL, &redraw, "Redraw up-to-date pictures too." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "compress" },
	{ OPTION_DOUBLE, 0, "older-than", "DAYS", &older_than, "Minimum age of logs (default: 7; 0: all).",
	  "It counts from the last modification, as find -mtime +DAYS does." },
	{ OPTION_FLAG, 0, "zstd", NULL, &zstd, "Use zstd, not gzip: smaller and faster." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "index, metrics" },
	{ OPTION_STRING, 'o', "output", "FILE", &output,
	  "Output, replaced atomically (default: stdout)." },
	{ OPTION_LIST, 0, "listing", "[PERIOD=]FILE", &listings,
	  "index: also list these files; repeatable.",
	  "FILE is the JSON listing of an object store." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "export",
	.usage = "svgs|compress|index|metrics [OPTIONS]",
	.summary = "draw, compress and list the trace logs of Arc Lamp",
	.description =
		"Processes a tree of trace logs, as written by Arc Lamp and `strobe collect`: "
		"DIR/<period>/<time>.<tag>.log, also compressed.\n\n"
		"`svgs` maintains a tree of flame graphs beside it: <time>.<tag>[.fn-<name>][.reversed].svgz, with "
		"the options and titles of Arc Lamp. Each log is read once for all its pictures, only changed logs "
		"are drawn, and pictures of removed logs are removed.\n\n"
		"`compress` sorts old logs, which makes them far smaller, and compresses them; modification times "
		"are kept.\n\n"
		"`index` lists all logs and pictures as JSON, `metrics` prints the arclamp_* series for "
		"Prometheus.\n\n"
		"Only one `svgs` and one `compress` run on a tree at a time; a second one says so and exits with 0. "
		"Files are renamed into place when complete, so any of them may be interrupted at any time. The "
		"exit code is 2 when a file failed; the others are still processed.",
	.examples =
		"strobe export svgs --logs /srv/arclamp/logs --name MediaWiki\n"
		"strobe export svgs --fn Edit=EditPage::edit --upload 'rsync -a {} www:/svgs/'\n"
		"strobe export compress --older-than 3 --zstd\n"
		"strobe export index -o /srv/arclamp/index.json\n"
		"strobe export metrics -o /var/lib/node_exporter/arclamp.prom\n",
	.options = options,
};

/* The default pictures of Arc Lamp. */
static struct export_variant usual[] = {
	{ "EditAction", "MediaWiki\\Actions\\EditAction::show" },
	{ "PreSend", "MediaWiki\\MediaWikiEntryPoint::prepareForOutput" },
	{ "PostSend", "MediaWiki\\MediaWikiEntryPoint::doPostOutputShutdown" },
	{ "Upload", "UploadBase::performUpload" },
};

/* --- Messages, and the lock --- */

static bool has_progress(const struct export_options *o)
{
	return !o->quiet && isatty(STDERR_FILENO);
}

void export_progress(const struct export_options *o, size_t number, size_t of, const char *what)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	if (!has_progress(o))
		return;
	buf_init(&b);
	text_put_plain(&b, (struct str){ what, strlen(what) });
	fprintf(stderr, "\r\033[K%zu of %zu: %s", number + 1, of, b.data);
}

void export_progress_end(const struct export_options *o)
{
	if (has_progress(o))
		fputs("\r\033[K", stderr);
}

void export_warn(const struct export_options *o, const char *format, ...)
{
	_cleanup_(buf_done) struct buf plain = { 0 };
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	buf_init(&plain);
	text_put_plain(&plain, (struct str){ text, strlen(text) });
	export_progress_end(o);
	fprintf(stderr, "strobe export: %s\n", plain.data);
}

void export_warn_no_log(const struct export_options *o, const struct tree *t, const char *more)
{
	export_warn(o, "no log in '%s': searched %u director%s with %llu other files%s", t->base, t->period_count,
		   t->period_count == 1 ? "y" : "ies", (unsigned long long)(t->others + t->count), more);
}

int export_lock(int dir, const char *file, int *ret_fd, struct err *err)
{
	_cleanup_(fd_closep) int fd = openat(dir, file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_set(err, -errno, "cannot create the lock '%s': %s", file, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return err_set(err, errno == EWOULDBLOCK ? -EBUSY : -errno, "cannot lock '%s': %s", file,
			       strerror(errno));
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* --- The command line --- */

/* Parses "Edit=EditPage::edit"; the label becomes part of a file name. */
static int parse_function(const char *text, struct export_variant *ret)
{
	static const char fit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t n = strspn(text, fit);

	if (!n || n > LABEL_MAX || text[n] != '=' || !text[n + 1] || strpbrk(text + n + 1, ";\n"))
		return command_usage(&spec, "invalid --fn '%s'; use NAME=FUNCTION, where NAME has 1 to %u letters, "
				     "digits, _ or -", text, LABEL_MAX);
	*ret = (struct export_variant){ xstrndup(text, n), text + n + 1 };
	return 0;
}

static int parse_functions(struct export_options *o)
{
	int code = 0;

	if (no_functions)
		return functions.count ? command_usage(&spec, "--fn and --no-fn exclude each other") : 0;
	if (!functions.count) {
		o->variants = usual;
		o->variant_count = ARRAY_SIZE(usual);
		return 0;
	}
	o->variants = xcalloc(functions.count, sizeof(*o->variants));
	for (size_t i = 0; i < functions.count && !code; i++) {
		code = parse_function(functions.items[i], &o->variants[i]);
		o->variant_count += !code;
		for (size_t k = 0; k < i && !code; k++)
			if (!strcmp(o->variants[k].label, o->variants[i].label))
				code = command_usage(&spec, "--fn has two names '%s'", o->variants[i].label);
	}
	return code;
}

static void free_functions(struct export_options *o)
{
	if (o->variants == usual)
		return;
	for (size_t i = 0; i < o->variant_count; i++)
		free((char *)o->variants[i].label);
	free(o->variants);
}

static int parse_min_width(struct export_options *o)
{
	char *end;

	o->picture.min_width = 1;
	if (!min_width)
		return 0;
	o->picture.min_width = strtod(min_width, &end);
	o->picture.min_width_percent = !strcmp(end, "%");
	if (end == min_width || (*end && !o->picture.min_width_percent))
		return command_invalid(&spec, "minwidth", "pixels, such as 0.5, or a share, such as 1%%");
	return 0;
}

static unsigned usual_jobs(bool compress)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return compress ? 1 : n > 4 ? 4 : n < 1 ? 1 : (unsigned)n;
}

static int parse_numbers(struct export_options *o, bool compress)
{
	if (jobs < 0 || jobs > (long)JOBS_MAX)
		return command_invalid(&spec, "jobs", "1 to %u", JOBS_MAX);
	if (older_than != -1 && !(older_than >= 0 && older_than <= 36500))
		return command_invalid(&spec, "older-than", "0 to 36500 days");
	o->jobs = jobs ? (unsigned)jobs : usual_jobs(compress);
	o->older_than_days = older_than == -1 ? 7 : older_than;
	return 0;
}

static int parse_memory(struct export_options *o)
{
	if (!memory_text)
		return 0;
	if (size_parse(memory_text, &o->memory_bytes, NULL) < 0 || o->memory_bytes < MEMORY_MIN || o->memory_bytes > MEMORY_MAX)
		return command_invalid(&spec, "memory", "1M to 1T (a number without a unit is bytes)");
	return 0;
}

static int parse_durations(void)
{
	if (command_duration(&spec, "watch", watch_text, &watch_ns))
		return EXIT_USAGE;
	if (timeout_text && (clock_parse_duration(timeout_text, &timeout_ns, NULL) < 0 || timeout_ns <= 0 || timeout_ns > TIMEOUT_MAX_NS))
		return command_invalid(&spec, "upload-timeout", "a duration up to 1d, such as 30s");
	return 0;
}

/* Rejects options of other subcommands, which would be silently ignored. */
static int check_word(const char *word)
{
	const struct { const char *option, *word; bool given; } only[] = {
		{ "--fn", "svgs", functions.count || no_functions }, { "--redraw", "svgs", redraw },
		{ "--minwidth", "svgs", min_width }, { "--older-than", "compress", older_than != -1 },
		{ "--zstd", "compress", zstd }, { "--listing", "index", listings.count > 0 },
	};
	bool prints = !strcmp(word, "index") || !strcmp(word, "metrics");

	for (size_t i = 0; i < ARRAY_SIZE(only); i++)
		if (only[i].given && strcmp(only[i].word, word) != 0)
			return command_usage(&spec, "%s is an option of `strobe export %s`", only[i].option,
					     only[i].word);
	if (output && !prints)
		return command_usage(&spec, "--output is an option of `strobe export index` and `strobe export "
				     "metrics`");
	if (upload_command && prints)
		return command_usage(&spec, "--upload is an option of `strobe export svgs` and `strobe export "
				     "compress`");
	return 0;
}

static int take_places(struct export_options *o, const char *word, char **ret_logs, char **ret_svgs)
{
	struct err err = { 0 };
	int r = arclamp_directory(logs, arclamp, ret_logs, &err);

	if (r < 0)
		return r == -EINVAL ? command_usage(&spec, "%s", err.text) : command_fail(&spec, &err);
	o->logs = *ret_logs;
	if (svgs && !*svgs)
		return command_usage(&spec, "--svgs is empty");
	*ret_svgs = svgs ? xstrdup(svgs) : tree_pictures_base(o->logs);
	if (!*ret_svgs && !strcmp(word, "svgs"))
		return command_usage(&spec, "cannot infer the tree of pictures: '%s' has no part \"logs\" to replace by "
				     "\"svgs\"; give --svgs DIR", o->logs);
	o->svgs = *ret_svgs;
	return 0;
}

static int parse(struct export_options *o, const char *word, char **ret_logs, char **ret_svgs)
{
	bool compress = !strcmp(word, "compress");
	struct err err = { 0 };
	int code;

	o->name = name;
	o->picture = picture;
	o->redraw = redraw;
	o->zstd = zstd;
	o->quiet = quiet;
	if ((code = check_word(word)) || (code = take_places(o, word, ret_logs, ret_svgs)) ||
	    (code = parse_numbers(o, compress)) || (code = parse_memory(o)) ||
	    (code = parse_durations()) || (code = parse_functions(o)) || (code = parse_min_width(o)))
		return code;
	return flamegraph_check(&o->picture, &err) < 0 ? command_usage(&spec, "%s", err.text) : 0;
}

/* --- index and metrics --- */

static int put_index(const struct export_options *o, struct buf *out, struct err *err)
{
	struct tree of_logs = { 0 }, of_svgs = { 0 };
	struct export_listing listed = { 0 };
	int r = tree_read(o->logs, &of_logs, err);

	if (r >= 0 && o->svgs) {
		r = tree_read(o->svgs, &of_svgs, err);
		r = r == -ENOENT ? 0 : r;
	}
	if (r >= 0)
		r = export_listing_read(&listed, &listings, err);
	if (r >= 0)
		r = tree_index_put(&of_logs, &of_svgs, listed.objects, listed.count, out, err);
	if (r >= 0 && !of_logs.count && !of_svgs.count && !listed.count)
		export_warn_no_log(o, &of_logs, "");
	if (r >= 0 && listed.others)
		export_warn(o, "%llu listed objects are not logs or pictures of a period (DIR/NAME, or PERIOD=FILE)",
			   (unsigned long long)listed.others);
	export_listing_done(&listed);
	tree_done(&of_logs);
	tree_done(&of_svgs);
	return r;
}

static int export_index(const struct export_options *o)
{
	_cleanup_(buf_done) struct buf out = { 0 };
	struct err err = { 0 };

	buf_init(&out);
	if (put_index(o, &out, &err) < 0 || io_write_file(output ? output : "-", out.data, out.size, &err) < 0)
		return command_fail(&spec, &err);
	return EXIT_OK;
}

static int export_metrics(const struct export_options *o)
{
	_cleanup_(buf_done) struct buf out = { 0 };
	struct err err = { 0 };

	buf_init(&out);
	if (arclamp_metrics_put(o->logs, o->svgs, clock_wall_ns(), &out, &err) < 0 ||
	    io_write_file(output ? output : "-", out.data, out.size, &err) < 0)
		return command_fail(&spec, &err);
	return EXIT_OK;
}

/* --- Top level --- */

static const struct word {
	const char *name;
	int (*run)(const struct export_options *o);
} words[] = {
	{ "svgs", export_svgs },
	{ "compress", export_compress },
	{ "index", export_index },
	{ "metrics", export_metrics },
};

static const struct word *find_word(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i].name, text))
			return &words[i];
	return NULL;
}

static int reject_word(const char *text)
{
	static const char *const known[] = { "svgs", "compress", "index", "metrics", NULL };
	const char *nearest = options_nearest(text, known);

	if (nearest)
		return command_usage(&spec, "unknown command `strobe export %s`; did you mean '%s'?", text, nearest);
	return command_usage(&spec, "unknown command `strobe export %s`; use svgs, compress, index or metrics",
			     text);
}

static volatile sig_atomic_t ended;

static void end(int signo)
{
	ended = signo;
}

/* A signal ends the program immediately between two runs, but otherwise after the current run. */
static int run_and_watch(const struct word *w, const struct export_options *o)
{
	struct sigaction act = { .sa_handler = end };
	int code = w->run(o);

	if (!watch_ns)
		return code;
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	while (!ended) {
		struct timespec left = { watch_ns / NS_PER_SECOND, watch_ns % NS_PER_SECOND };

		if (nanosleep(&left, NULL) == 0)
			w->run(o);
	}
	return EXIT_OK;
}

static int run_word(const struct word *w, struct export_options *o)
{
	_cleanup_(freep) char *of_logs = NULL, *of_svgs = NULL;
	_cleanup_(upload_done) struct upload upload = { 0 };
	struct err err = { 0 };
	int code = parse(o, w->name, &of_logs, &of_svgs);

	if (!code && upload_command) {
		if (upload_init(&upload, upload_command, (double)timeout_ns / NS_PER_SECOND, &err) < 0)
			code = command_usage(&spec, "--upload: %s", err.text);
		o->upload = &upload;
	}
	return code ? code : run_and_watch(w, o);
}

static int run(int argc, char **argv)
{
	struct export_options o = { .spec = &spec };
	const struct word *w;
	int operands, code;

	flamegraph_defaults(&picture);
	picture.font_type = "ui-monospace,monospace";
	picture.font_size = 11;
	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if (!operands)
		return command_usage(&spec, "missing command; use svgs, compress, index or metrics");
	w = find_word(argv[1]);
	if (!w)
		return reject_word(argv[1]);
	if (operands > 1)
		return command_usage(&spec, "unexpected argument '%s'; strobe export %s takes options only", argv[2], w->name);
	code = run_word(w, &o);
	free_functions(&o);
	free(functions.items);
	free(listings.items);
	return code;
}

const struct command command_export = { &spec, run };
