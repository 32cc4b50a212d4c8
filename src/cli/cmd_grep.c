/* cmd_grep.c: `strobe grep`: lists the functions that were running most often, like arclamp-grep. */

#include "commands.h"

#include "arclamp_directory.h"
#include "grep_inputs.h"
#include "inputs.h"
#include "io.h"
#include "json.h"
#include "leaderboard.h"
#include "mem.h"
#include "profile_url.h"
#include "secrets.h"
#include "text.h"

#include <string.h>

#define COUNT_MAX	1000000

static struct grep_query query = { .resolution = "daily", .entrypoint = "all", .to = "now" };
static const char *pattern = "", *slice = "-2:", *logs, *arclamp;
static struct option_list skip;
static long wanted = 20;
static bool json, no_skip, keep_lowercase;
static char column[64];			/* column named by a URL; "" if none */

static const struct option_spec options[] = {
	{ OPTION_STRING, 0, "grep", "TEXT", &pattern, "Only stacks that contain TEXT.",
	  "TEXT is literal, and is searched in whole stacks such as \"a;b;c\"." },
	{ OPTION_INT, 'n', "rows", "N", &wanted, "Number of functions to list (default: 20).",
	  "Alias: --count, as in arclamp-grep." },
	{ OPTION_INT, 0, "count", "N", &wanted, NULL },
	{ OPTION_STRING, 0, "entrypoint", "NAME", &query.entrypoint,
	  "Only this entry point, such as index (default: all)." },
	{ OPTION_STRING, 0, "channel", "NAME", &query.channel, "Only this profiler, such as excimer-wall.",
	  "The default is excimer; logs that name no profiler are read as well." },
	{ OPTION_LIST, 0, "skip", "GLOB", &skip, "Skip functions that match (* ? []); repeatable.",
	  "The patterns replace the list of arclamp-grep." },
	{ OPTION_FLAG, 0, "no-skip", NULL, &no_skip, "Skip nothing." },
	{ OPTION_FLAG, 0, "lowercase", NULL, &keep_lowercase, "Also count names without a capital letter.",
	  "By default functions of PHP and files are skipped, whose names have none." },
	{ OPTION_FLAG, 0, "json", NULL, &json, "Print JSON." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Input (default: logs, unless FILE, --store or --url is given)" },
	{ OPTION_STRING, 0, "logs", "DIR", &logs,
	  "Tree of trace logs (default: /srv/arclamp/logs).", "The logs may be compressed." },
	{ OPTION_STRING, 0, "arclamp", "FILE", &arclamp,
	  "Use base_path of this arclamp-log.yaml." },
	{ OPTION_STRING, 0, "resolution", "PERIOD", &query.resolution,
	  "Period: hourly, daily (default), weekly, ...",
	  "PERIOD is the name of a directory in the tree." },
	{ OPTION_STRING, 0, "slice", "A:B", &slice, "Slice of the logs, as in Python (default: -2:).",
	  "The matching logs are sorted, oldest first: -2: is the two newest, : is all." },
	{ OPTION_STRING, 0, "store", "URL", &query.store, "Read a store, such as sqlite:/var/lib/strobe." },
	{ OPTION_STRING, 'u', "url", "URL", &query.url, "Ask a daemon, such as http://127.0.0.1:8787." },
	{ OPTION_STRING, 0, "token-file", "FILE", &query.token_file,
	  "File with the daemon's token (or STROBE_TOKEN).", "It is also sent to a FILE that is a URL." },
	{ OPTION_STRING, 0, "from", "TIME", &query.from, "Start, such as -2h or 2026-11-20 (default: -2d).",
	  "Only with --store or --url. A time of day is written 2026-11-20T07:30." },
	{ OPTION_STRING, 0, "to", "TIME", &query.to, "End (default: now)." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "grep",
	.usage = "[--grep TEXT] [--entrypoint NAME] [OPTIONS] [FILE...]",
	.summary = "list the most frequent functions, as arclamp-grep does",
	.description =
		"Reads stacks from trace logs, profiles of any format, a store or a running daemon, and counts each "
		"for its deepest function that is not skipped. Percentages are of the counted samples. Names that "
		"differ only in the version of MediaWiki are merged. A FILE may also be the URL of a page or of the API of "
		"`strobe serve`.\n\n"
		"The exit code is 4 when nothing was counted; a message then says what was searched.",
	.examples =
		"strobe grep --entrypoint index --grep EditPage\n"
		"strobe grep --resolution hourly --slice=-24: -n 10\n"
		"strobe grep --store sqlite:/var/lib/strobe --from -15m --no-skip --lowercase\n"
		"strobe grep 'http://127.0.0.1:8787/?from=-1h&entry=api*'\n"
		"strobe grep /srv/arclamp/logs/daily/2026-11-20.all.log.gz --json\n",
	.choices =
		"resolution hourly daily weekly\n",
	.options = options,
};

/* Same patterns as arclamp-grep. */
static const char *const usual_skip[] = {
	"*BagOStuff*", "*Http::exec*", "*ObjectCache*", "/srv*", "AutoLoader*", "Curl*", "Database*", "Hooks*",
	"Http::*", "LoadBalancer*", "Memcached*", "wfGetDB*",
};

/* --- The command line --- */

/* "-2:", "3:5", ":5"; "3" is "3:". */
static int parse_slice(void)
{
	const char *at = slice;
	char *end;

	query.first = strtol(at, &end, 10);
	query.has_first = end != at;
	at = end;
	if (*at == ':') {
		at++;
		query.last = strtol(at, &end, 10);
		query.has_last = end != at;
		at = end;
	}
	if (*at || !*slice)
		return command_invalid(&spec, "slice", "A:B with whole numbers, either of which may be empty");
	return 0;
}

static int parse(int operands)
{
	static char entrypoint[256];
	size_t n = strlen(query.entrypoint);

	if (wanted < 1 || wanted > COUNT_MAX)
		return command_invalid(&spec, "rows", "1 to %d", COUNT_MAX);
	if ((operands > 0) + (query.store != NULL) + (query.url != NULL) > 1)
		return command_usage(&spec, "FILE, --store and --url exclude each other");
	if (query.from && !query.store && !query.url)
		return command_usage(&spec, "--from needs --store or --url; select logs with --resolution and --slice");
	if (no_skip && skip.count)
		return command_usage(&spec, "--skip and --no-skip exclude each other");
	if (!query.from)
		query.from = "-2d";
	/* Also accepts "index.php", as written in the header. */
	if (n > 4 && n < sizeof(entrypoint) && !strcmp(query.entrypoint + n - 4, ".php")) {
		memcpy(entrypoint, query.entrypoint, n - 4);
		query.entrypoint = entrypoint;
	}
	return parse_slice();
}

/* --- Output --- */

static void put_rule(struct buf *out, size_t columns)
{
	while (columns--)
		buf_putc(out, '-');
	buf_putc(out, '\n');
}

static void put_heading(struct buf *out, bool of_files)
{
	buf_printf(out, "Top %ld functions", wanted);
	if (*pattern) {
		buf_puts(out, " in traces matching \"");
		text_put_plain(out, (struct str){ pattern, strlen(pattern) });
		buf_puts(out, "\"");
	}
	if (of_files)
		buf_puts(out, ":");
	else if (!strcmp(query.entrypoint, "all"))
		buf_puts(out, ", all entry-points:");
	else
		buf_printf(out, ", %s.php:", query.entrypoint);
}

static size_t rows_shown(const struct leaderboard *l)
{
	return l->count < (size_t)wanted ? l->count : (size_t)wanted;
}

static double percent(const struct leaderboard *l, size_t i)
{
	return 100.0 * (double)l->rows[i].samples / (double)l->samples;
}

static void put_rows(const struct leaderboard *l, struct buf *out)
{
	bool color = command_wants_color(STDOUT_FILENO);
	size_t widest = 0;

	for (size_t i = 0; i < rows_shown(l); i++)
		if (text_columns(l->rows[i].name) > widest)
			widest = text_columns(l->rows[i].name);
	for (size_t i = 0; i < rows_shown(l); i++) {
		buf_printf(out, "% 4ld | %s", (long)i + 1, color ? "\033[93m" : "");
		text_put_plain(out, l->rows[i].name);
		for (size_t n = text_columns(l->rows[i].name); n < widest; n++)
			buf_putc(out, ' ');
		buf_printf(out, "%s |% 5.2f%%\n", color ? "\033[0m" : "", percent(l, i));
	}
}

static void put_table(const struct leaderboard *l, const struct grep_inputs *in, bool of_files, struct buf *out)
{
	_cleanup_(buf_done) struct buf heading = { 0 };
	size_t columns;

	buf_init(&heading);
	put_heading(&heading, of_files);
	columns = text_columns((struct str){ heading.data, heading.size });
	buf_printf(out, "%s\n", heading.data);
	put_rule(out, columns);
	put_rows(l, out);
	put_rule(out, columns);
	buf_puts(out, query.store || query.url ? "Samples of:\n" : of_files ? "Files:\n" : "Log files:\n");
	for (size_t i = 0; i < in->sources.count; i++) {
		buf_puts(out, " - ");
		text_put_plain(out, (struct str){ in->sources.items[i], strlen(in->sources.items[i]) });
		buf_putc(out, '\n');
	}
	buf_putc(out, '\n');
}

static void put_samples(struct json *j, const struct leaderboard *l, int64_t samples)
{
	if (l->scale == 1)
		json_i64(j, samples);
	else
		json_double(j, (double)samples / (double)l->scale);
}

static void put_json_rows(struct json *j, const struct leaderboard *l)
{
	json_key(j, "functions");
	json_open_array(j);
	for (size_t i = 0; i < rows_shown(l); i++) {
		json_open_object(j);
		json_key(j, "function");
		json_bytes(j, l->rows[i].name);
		json_key(j, "samples");
		put_samples(j, l, l->rows[i].samples);
		json_key(j, "percent");
		json_double(j, percent(l, i));
		json_end(j);
	}
	json_end(j);
}

static void put_json(const struct leaderboard *l, const struct grep_inputs *in, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_open_object(&j);
	json_key(&j, "grep");
	json_str(&j, *pattern ? pattern : NULL);
	json_key(&j, "entrypoint");
	json_str(&j, query.entrypoint);
	json_key(&j, "sources");
	json_open_array(&j);
	for (size_t i = 0; i < in->sources.count; i++)
		json_str(&j, in->sources.items[i]);
	json_end(&j);
	json_key(&j, "samples");
	put_samples(&j, l, l->samples);
	json_key(&j, "passed_over");
	put_samples(&j, l, l->passed_over);
	json_key(&j, "unmatched");
	put_samples(&j, l, l->unmatched);
	json_key(&j, "count");
	json_u64(&j, l->count);
	put_json_rows(&j, l);
	json_end(&j);
	buf_putc(out, '\n');
}

/* Prints why nothing was counted, with the inputs. */
static void explain_empty(const struct leaderboard *l, const struct grep_inputs *in)
{
	const char *what = in->sources.count == 1 ? in->sources.items[0] : NULL;
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	if (in->why.size)
		buf_puts(&b, in->why.data);
	else if (what)
		buf_printf(&b, "in %s there are", what);
	else
		buf_printf(&b, "in %zu sources there are", in->sources.count);
	if (!in->why.size && !l->unmatched && !l->passed_over)
		buf_puts(&b, " no samples");
	if (!in->why.size && l->unmatched)
		buf_printf(&b, " %.10g samples of stacks without \"%s\"", (double)l->unmatched / (double)l->scale, pattern);
	if (!in->why.size && l->passed_over)
		buf_printf(&b, "%s %.10g samples of stacks in which every function is skipped (--no-skip, "
			       "--lowercase)",
			   l->unmatched ? " and" : "", (double)l->passed_over / (double)l->scale);
	fputs("strobe grep: nothing to list: ", stderr);
	fprintf(stderr, "%s\n", b.data);
}

/* Chooses the column named by --column, or else by the first URL if the profile has it. */
static uint32_t choose_column(const struct profile *p)
{
	uint32_t named = *column ? profile_find_column(p, column) : UINT32_MAX;

	return named != UINT32_MAX ? named : profile_pick_column(p, NULL);
}

static int show(const struct grep_inputs *in, bool of_files)
{
	struct leaderboard_options o = {
		.grep = pattern, .keep_lowercase = keep_lowercase,
		.skip = no_skip ? NULL : skip.count ? skip.items : usual_skip,
		.skip_count = no_skip ? 0 : skip.count ? skip.count : ARRAY_SIZE(usual_skip),
	};
	_cleanup_(buf_done) struct buf out = { 0 };
	uint32_t chosen = choose_column(in->profile);
	struct leaderboard l;
	struct err err = { 0 };
	int code = EXIT_OK;

	buf_init(&out);
	leaderboard_make(in->profile, chosen, &o, &l);
	inputs_report_side(in->profile, &spec, chosen);
	if (!l.count) {
		explain_empty(&l, in);
		code = EXIT_NO_SAMPLES;
	}
	if (json)
		put_json(&l, in, &out);
	else if (l.count)
		put_table(&l, in, of_files, &out);
	leaderboard_done(&l);
	return io_write_all(STDOUT_FILENO, out.data, out.size, &err) < 0 ? command_fail(&spec, &err) : code;
}

static int load_logs(struct grep_inputs *in, struct err *err)
{
	_cleanup_(freep) char *place = NULL;
	int r = arclamp_directory(logs, arclamp, &place, err);

	query.logs = place;
	return r < 0 ? r : grep_inputs_logs(in, &query, err);
}

static int load_address(struct grep_inputs *in, const char *url, struct err *err)
{
	size_t room = strlen(url) + 64;
	_cleanup_(freep) char *shown = xmalloc(room);
	int r = profile_url_load(url, in->profile, NULL, column, sizeof(column), err);

	snprintf(shown, room, "%s", url);
	secrets_redact(shown, room);
	return grep_inputs_add(in, shown, r, err);
}

static int load_files(struct grep_inputs *in, char **files, int count, struct err *err)
{
	int r = 0;

	profile_url_token_file = query.token_file;
	for (int i = 0; i < count && r >= 0; i++) {
		if (!profile_url_is(files[i]) && (r = profile_url_refuse_store(files[i], err)) < 0)
			return err_set(err, r, "'%s' is a store; read it with --store %s", files[i], files[i]);
		r = profile_url_is(files[i]) ? load_address(in, files[i], err) : grep_inputs_files(in, &files[i], 1, err);
	}
	return r;
}

static int load(struct grep_inputs *in, char **files, int operands, struct err *err)
{
	return operands	   ? load_files(in, files, operands, err) :
	       query.store ? grep_inputs_store(in, &query, err) :
	       query.url   ? grep_inputs_daemon(in, &query, err) :
			     load_logs(in, err);
}

static int run(int argc, char **argv)
{
	struct grep_inputs in;
	struct err err = { 0 };
	int operands, code;

	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if ((code = parse(operands)))
		return code;
	grep_inputs_init(&in);
	if (load(&in, argv + 1, operands, &err) < 0) {
		code = command_fail(&spec, &err);
	} else {
		fputs(in.warnings.data, stderr);
		code = show(&in, operands > 0);
	}
	grep_inputs_done(&in);
	free(skip.items);
	return code;
}

const struct command command_grep = { &spec, run };
