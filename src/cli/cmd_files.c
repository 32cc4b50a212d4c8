/* cmd_files.c: `strobe files`: the files that PHP opens, reads and writes, with the stack behind them. */

#include "commands.h"

#include "clock.h"
#include "file_registry.h"
#include "file_rows.h"
#include "grid.h"
#include "json.h"
#include "languages.h"
#include "recording_options.h"
#include "recording_run.h"
#include "text.h"

static struct target_options targets;
static const char *duration_text, *offsets;
static bool reads, writes, by_bytes, by_latency, by_count, all_files, json;
static long rows_wanted = 10;

static const struct option_spec options[] = {
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Processes (default: every PHP)" },
	TARGET_OPTIONS(targets),
	{ OPTION_FLAG, 'a', "all", NULL, &targets.all, "Every PHP process (default)." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Files" },
	{ OPTION_FLAG, 'r', "reads", NULL, &reads, "Only reads." },
	{ OPTION_FLAG, 'w', "writes", NULL, &writes, "Only writes; with -r both, but no other calls." },
	{ OPTION_FLAG, 0, "all-files", NULL, &all_files, "Include sockets, pipes and anonymous files." },
	{ OPTION_STRING, 'd', "duration", "DURATION", &duration_text,
	  "Duration, such as 10 or 5m (default: until Ctrl-C)." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Output" },
	{ OPTION_FLAG, 0, "latency", NULL, &by_latency, "Sort by time (default)." },
	{ OPTION_FLAG, 0, "bytes", NULL, &by_bytes, "Sort by bytes read and written." },
	{ OPTION_FLAG, 0, "count", NULL, &by_count, "Sort by calls." },
	{ OPTION_INT, 'n', "rows", "N", &rows_wanted, "Number of files (default: 10; 0: all)." },
	{ OPTION_FLAG, 0, "json", NULL, &json, "Print JSON." },
	{ OPTION_STRING, 0, "php-offsets", "FILE", &offsets, "As in strobe record." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "files",
	.usage = "[OPTIONS]",
	.summary = "list the files that PHP processes open, read and write",
	.description =
		"Records the system calls of running PHP processes from outside, and lists the files that they "
		"open, read, write, stat and fsync: time, calls, failed calls, bytes, and the most expensive PHP "
		"stack with its share. Files are shown with their full path as the process sees it.\n\n"
		"It needs the same privileges as `strobe record`; `strobe record --file-io` draws a graph of the "
		"same data. The exit code is 4 when no call was recorded.",
	.examples =
		"strobe files -p 1234 -d 10\n"
		"strobe files --fpm -w --bytes -d 60 -n 20\n"
		"strobe files --json -d 10\n",
	.options = options,
};

static int check_options(int64_t *ret_duration_ns, int operands)
{
	if (target_options_check(&targets, &spec, operands))
		return EXIT_USAGE;
	if (by_bytes + by_latency + by_count > 1)
		return command_usage(&spec, "--latency, --bytes and --count exclude each other");
	if (rows_wanted < 0)
		return command_invalid(&spec, "rows", "0 (all) or more");
	return command_duration(&spec, "duration", duration_text, ret_duration_ns);
}

static u32 operations(void)
{
	if (!reads && !writes)
		return (1u << FILE_OPERATIONS) - 1;
	return (reads ? 1u << FILE_READ : 0) | (writes ? 1u << FILE_WRITE : 0);
}

static enum file_weight weight(void)
{
	return by_bytes ? FILE_BY_BYTES : by_count ? FILE_BY_COUNT : FILE_BY_LATENCY;
}

/* --- as a table */

/* Root first. */
static void put_stack(const struct profile *p, u32 node, struct buf *out)
{
	if (p->parents[node] != PROFILE_ROOT) {
		put_stack(p, p->parents[node], out);
		buf_puts(out, ";");
	}
	text_put_plain(out, profile_name(p, p->node_frames[node]));
}

static void put_cells(struct grid *g, const struct file_row *row)
{
	grid_value(g, (int64_t)row->all.ns, "nanoseconds");
	grid_value(g, (int64_t)row->all.calls, "count");
	grid_value(g, (int64_t)row->all.failed, "count");
	grid_value(g, (int64_t)row->operations[FILE_READ].bytes, "bytes");
	grid_value(g, (int64_t)row->operations[FILE_WRITE].bytes, "bytes");
}

static void put_table(const struct file_rows *r, size_t shown, struct buf *out)
{
	static const char *const headings[] = { "time", "calls", "failed", "read", "written" };
	struct grid g;

	grid_init(&g, ARRAY_SIZE(headings));
	for (size_t i = 0; i < ARRAY_SIZE(headings); i++)
		grid_text(&g, headings[i]);
	for (size_t i = 0; i < shown; i++)
		put_cells(&g, &r->rows[i]);
	grid_put(&g, 0, out);
	buf_puts(out, "file, and the stack that caused most\n");
	for (size_t i = 0; i < shown; i++) {
		const struct file_row *row = &r->rows[i];
		u64 part = file_count_weight(&row->by_stack, weight()), whole = file_count_weight(&row->all, weight());

		grid_put(&g, i + 1, out);
		text_put_plain(out, row->path);
		buf_puts(out, "\n    ");
		buf_put_fixed(out, whole ? 100.0 * (double)part / (double)whole : 0, 1);
		buf_puts(out, " %  ");
		put_stack(r->stacks, row->stack, out);
		buf_putc(out, '\n');
	}
	if (shown < r->count)
		buf_printf(out, "%zu more files; -n 0 prints all\n", r->count - shown);
	grid_done(&g);
}

/* --- as JSON */

static void put_number(struct json *j, const char *key, u64 value)
{
	json_key(j, key);
	json_u64(j, value);
}

static void put_count(struct json *j, const struct file_count *c)
{
	put_number(j, "calls", c->calls);
	put_number(j, "failed", c->failed);
	put_number(j, "bytes", c->bytes);
	put_number(j, "ns", c->ns);
}

static void put_frames(struct json *j, const struct profile *p, u32 node)
{
	if (node == PROFILE_ROOT)
		return;
	put_frames(j, p, p->parents[node]);
	json_bytes(j, profile_name(p, p->node_frames[node]));
}

static void put_row(struct json *j, const struct file_rows *r, const struct file_row *row)
{
	json_open_object(j);
	json_key(j, "path");
	json_bytes(j, row->path);
	put_count(j, &row->all);
	json_key(j, "operations");
	json_open_object(j);
	for (unsigned i = 0; i < FILE_OPERATIONS; i++) {
		if (!row->operations[i].calls)
			continue;
		json_key(j, file_operation_names[i]);
		json_open_object(j);
		put_count(j, &row->operations[i]);
		json_end(j);
	}
	json_end(j);
	json_key(j, "stack");
	json_open_object(j);
	json_key(j, "frames");
	json_open_array(j);
	put_frames(j, r->stacks, row->stack);
	json_end(j);
	put_count(j, &row->by_stack);
	json_end(j);
	json_end(j);
}

static void put_json(const struct file_rows *r, size_t shown, const struct record_summary *s, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_open_object(&j);
	json_key(&j, "seconds");
	json_double(&j, s->seconds);
	put_count(&j, &r->whole);
	json_key(&j, "left_out");
	json_open_object(&j);
	put_number(&j, "other_kinds", s->counters[COUNTER_FILE_OTHER_KINDS]);
	put_number(&j, "not_open", s->counters[COUNTER_FILE_NOT_OPEN]);
	put_number(&j, "begun_before", s->counters[COUNTER_FILE_BEGUN_BEFORE]);
	put_number(&j, "lost", s->counters[COUNTER_LOST_TABLE]);
	put_number(&j, "files", r->count - shown);
	json_end(&j);
	record_summary_put_counts(s, &j);
	json_key(&j, "files");
	json_open_array(&j);
	for (size_t i = 0; i < shown; i++)
		put_row(&j, r, &r->rows[i]);
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

/* --- */

static int show(struct recorder *r)
{
	_cleanup_(buf_done) struct buf out = { 0 }, said = { 0 };
	struct record_summary s = { 0 };
	struct file_rows rows;
	size_t shown;

	buf_init(&out);
	buf_init(&said);
	file_rows_init(&rows, recorder_stacks(r), weight(), operations());
	shown = rows_wanted && (size_t)rows_wanted < rows.count ? (size_t)rows_wanted : rows.count;
	recorder_summary(r, &s);
	record_summary_put(&s, &said);
	if (json)
		put_json(&rows, shown, &s, &out);
	else if (rows.count)
		put_table(&rows, shown, &out);
	fwrite(said.data, 1, said.size, stderr);
	fwrite(out.data, 1, out.size, stdout);
	shown = rows.count;
	file_rows_done(&rows);
	return shown ? EXIT_OK : EXIT_NO_SAMPLES;
}

static int run(int argc, char **argv)
{
	struct recorder_options o = { .file_io = true };
	struct recorder *r = NULL;
	struct err err = { 0 };
	int64_t duration_ns = 0;
	int operands, code = command_options(&spec, argc, argv, false, &operands);

	if (code >= 0)
		return code;
	if ((code = check_options(&duration_ns, operands)))
		return code;
	target_options_fill(&targets, &o);
	o.other_kinds = all_files;
	o.php_offsets = offsets;
	o.languages = LANGUAGE_PHP;
	recording_catch_signals();
	code = recorder_open(&r, &o, &err);
	if (code >= 0)
		code = recording_run(r, &(struct recording_run){ .duration_ns = duration_ns }, &err);
	code = code < 0 ? command_fail(&spec, &err) : show(r);
	recorder_free(r);
	return code;
}

const struct command command_files = { &spec, run };
