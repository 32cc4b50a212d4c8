/* spx.c: full reports of SPX: KEY.txt.gz with the events, and KEY.json next to it, which names their values.
 *
 *	[events]
 *	0 1 0.0000 392416.0000		number of the function, 1 at its start, 0 at its end, the values so far
 *	1 1 1250.0000 393000.0000
 *	1 0 9800.0000 401120.0000
 *	0 0 12000.0000 392416.0000
 *	[functions]
 *	/srv/shop/index.php		one per line, by their numbers from 0
 *	Shop\Cart::total
 *
 * Later versions also put the line of the call at the end of starts, write /file:line:function, and have shorter events:
 *
 *	1f|0|a0|a392416			line of the call, function, values: aN is N, N is the increase since the previous event
 *	2a|1|1250|584
 *	-r1|8550|7536			an end; rN is the function of the Nth previous event, at most the 20th
 *
 * The time from one event to the next belongs to the running function. enabled_metrics in the .json file gives the
 * columns: wt wall_ns, ct cpu_ns, zm memory_bytes and so on; without it the defaults of SPX are assumed, wt and zm.
 * Calls are counted. Reading KEY.json reads the report next to it. Limits: FUNCTIONS_MAX, VALUES_MAX, META_MAX.
 */
#include "format.h"
#include "stacks.h"
#include "mem.h"
#include "saturate.h"
#include <jansson.h>
#include <stdio.h>

#define FUNCTIONS_MAX	((int64_t)1 << 24)
#define VALUES_MAX	(PROFILE_COLUMNS - 1)	/* values per event; the calls are a column, too */
#define META_MAX	((size_t)1 << 20)	/* bytes of KEY.json */
#define RECENT		20			/* previous events that later ones may refer to */
#define REPORT_MAX	((uint64_t)64 << 30)	/* bytes of KEY.txt */

static const struct {
	const char *key, *column, *unit;
} metrics[] = {
	{ "wt", "wall_ns", "nanoseconds" }, { "ct", "cpu_ns", "nanoseconds" }, { "it", "off_cpu_ns", "nanoseconds" },
	{ "zm", "memory_bytes", "bytes" }, { "zmab", "allocated_bytes", "bytes" }, { "zmfb", "freed_bytes", "bytes" },
	{ "mor", "rss_bytes", "bytes" }, { "io", "io_bytes", "bytes" }, { "ior", "io_read_bytes", "bytes" },
	{ "iow", "io_write_bytes", "bytes" },
};

struct event {
	int64_t function;
	bool starts;
	int64_t values[VALUES_MAX];
};

/* The tree, by numbers of functions, whose names come last. */
struct node {
	uint32_t parent;
	uint32_t function;
	int64_t calls, self[VALUES_MAX];
};

struct spx {
	char keys[VALUES_MAX][32];	/* names of the values */
	size_t value_count;
	bool has_keys;

	struct node *nodes;		/* 0 is the root */
	size_t node_count, node_capacity;
	struct map children;
	uint32_t *stack;
	size_t depth, depth_capacity;

	struct event recent[RECENT];	/* ring buffer; the last one is at (event_count - 1) % RECENT */
	uint64_t event_count, skipped;

	uint32_t *names, *files, *lines;	/* by function number; indices into `strings` */
	size_t function_count, name_capacity, file_capacity, line_capacity;
	struct intern strings;
};

/* --- KEY.json --- */

static void json_decrefp_(json_t **j)
{
	json_decref(*j);
}

static void take_keys(struct spx *s, json_t *enabled)
{
	for (size_t i = 0; i < json_array_size(enabled) && i < VALUES_MAX; i++) {
		const char *key = json_string_value(json_array_get(enabled, i));

		snprintf(s->keys[s->value_count++], sizeof(s->keys[0]), "%s", key ? key : "");
	}
	s->has_keys = s->value_count > 0;
}

static void take_request(struct profile *p, json_t *meta)
{
	const char *url = json_string_value(json_object_get(meta, "http_request_uri"));
	const char *host = json_string_value(json_object_get(meta, "host_name"));
	int64_t seconds = json_integer_value(json_object_get(meta, "exec_ts"));

	if (url && strcmp(url, "n/a") && strlen(url) <= 1024)
		labels_set(&p->labels, "url", 3, url, strlen(url));
	if (host && strcmp(host, "n/a") && strlen(host) <= 255)
		labels_set(&p->labels, "host", 4, host, strlen(host));
	if (seconds > 0 && seconds < INT64_C(9000000000))
		p->start_ns = p->end_ns = seconds * 1000000000;
}

/* Puts the path of the report without .txt.gz or similar, or of KEY.json without .json, into `base`. */
static bool base_of(const char *path, struct buf *base)
{
	static const char *const ends[] = { ".txt.gz", ".txt.zst", ".txt", ".json" };
	size_t n = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t end = strlen(ends[i]);

		if (n > end && !strcmp(path + n - end, ends[i])) {
			buf_put(base, path, n - end);
			return true;
		}
	}
	return false;
}

static bool is_file(const struct input *in)
{
	return in->fd > 0;
}

/* Reads the names of the values from the file next to the report, if it exists. */
static void read_beside(struct spx *s, struct profile *one, const struct input *in)
{
	_cleanup_(json_decrefp_) json_t *meta = NULL;
	_cleanup_(buf_done) struct buf path = { 0 };
	struct input beside;
	struct str all;
	json_error_t why;
	struct err err;

	buf_init(&path);
	if (!is_file(in) || !base_of(in->name, &path))
		return;
	buf_puts(&path, ".json");
	if (input_open(&beside, path.data, META_MAX, &err) >= 0 && input_all(&beside, &all, &err) >= 0)
		meta = json_loadb(all.p, all.n, 0, &why);
	input_close(&beside);
	take_keys(s, json_object_get(meta, "enabled_metrics"));
	take_request(one, meta);
}

/* --- Events --- */

static const struct event *recent(const struct spx *s, int64_t back)
{
	if (back < 1 || back > RECENT || (uint64_t)back > s->event_count)
		return NULL;
	return &s->recent[(s->event_count - (uint64_t)back) % RECENT];
}

/* Parses "1 0 9800.0000 401120.0000", and the line of the call. */
static bool parse_long(struct spx *s, struct str line, struct event *e)
{
	int64_t starts;

	if (!line_take_number(&line, &e->function) || !line.n || *line.p != ' ')
		return false;
	line = line_trim_start(line);
	if (!line_take_number(&line, &starts) || starts > 1)
		return false;
	e->starts = starts;
	for (size_t i = 0; i < s->value_count; i++) {
		line = line_trim_start(line);
		if (!line_take_decimal(&line, 0, &e->values[i]))
			return false;
	}
	return line.n == 0 || *line.p == ' ';
}

/* Removes and returns the text before the next |. */
static struct str take_part(struct str *line)
{
	const char *bar = memchr(line->p, '|', line->n);
	struct str part = { line->p, bar ? (size_t)(bar - line->p) : line->n };

	line->p += part.n + (bar != NULL);
	line->n -= part.n + (bar != NULL);
	return part;
}

static bool parse_function(const struct spx *s, struct str part, int64_t *ret)
{
	bool back = part.n && *part.p == 'r';
	const struct event *e;

	part.p += back;
	part.n -= back;
	if (!line_take_number(&part, ret) || part.n)
		return false;
	if (!back)
		return true;
	e = recent(s, *ret);
	if (e)
		*ret = e->function;
	return e != NULL;
}

/* Parses "a392416", "584", "-12" or "". */
static bool parse_value(struct str part, const struct event *before, size_t i, int64_t *ret)
{
	bool absolute = part.n && *part.p == 'a';

	*ret = 0;
	part.p += absolute;
	part.n -= absolute;
	if (part.n && (!line_take_decimal(&part, 0, ret) || part.n))
		return false;
	return absolute || (before && !__builtin_add_overflow(*ret, before->values[i], ret));
}

/* Parses "2a|1|1250|584" or "-r1|8550|7536". */
static bool parse_short(struct spx *s, struct str line, struct event *e)
{
	const struct event *before = recent(s, 1);

	e->starts = !line.n || *line.p != '-';
	if (e->starts) {
		take_part(&line);
	} else {
		line.p++;
		line.n--;
	}
	if (!parse_function(s, take_part(&line), &e->function))
		return false;
	for (size_t i = 0; i < s->value_count; i++)
		if (!parse_value(take_part(&line), before, i, &e->values[i]))
			return false;
	return true;
}

static uint32_t child_of(struct spx *s, uint32_t parent, uint32_t function)
{
	uint32_t *slot = map_slot(&s->children, map_pair(parent, function));

	if (*slot == MAP_NONE) {
		*slot = (uint32_t)s->node_count;
		GROW(&s->nodes, &s->node_capacity, s->node_count + 1);
		s->nodes[s->node_count++] = (struct node){ .parent = parent, .function = function };
	}
	return *slot;
}

static void add_event(struct spx *s, const struct event *e)
{
	const struct event *before = recent(s, 1);
	uint32_t top = s->depth ? s->stack[s->depth - 1] : 0;

	for (size_t i = 0; before && top && i < s->value_count; i++) {
		int64_t passed;

		if (!__builtin_sub_overflow(e->values[i], before->values[i], &passed))
			saturating_add(&s->nodes[top].self[i], passed);
	}
	if (e->starts && s->depth < STACKS_DEPTH_MAX) {
		top = child_of(s, top, (uint32_t)e->function);
		s->nodes[top].calls++;
		GROW(&s->stack, &s->depth_capacity, s->depth + 1);
		s->stack[s->depth++] = top;
	} else if (!e->starts && s->depth) {
		s->depth--;
	}
	s->recent[s->event_count++ % RECENT] = *e;
}

static void read_event(struct spx *s, uint64_t number, struct str line, struct err *err)
{
	struct event e = { 0 };
	bool spaces = memchr(line.p, ' ', line.n) != NULL;

	if (!(spaces ? parse_long(s, line, &e) : parse_short(s, line, &e)) || e.function >= FUNCTIONS_MAX)
		line_skip(&s->skipped, number, line, "is not an event with the values of the report", err);
	else if (!e.starts && (!s->depth || s->nodes[s->stack[s->depth - 1]].function != e.function))
		line_skip(&s->skipped, number, line, "ends a function that is not running", err);
	else
		add_event(s, &e);
}

/* Returns the number of values of an event: that of an end, since a start may also have the line of the call. */
static size_t count_values(struct str start)
{
	struct str line;
	size_t spaces;

	while (line_next(&start, &line)) {
		line = line_without_return(line);
		spaces = 0;
		for (size_t i = 0; i < line.n; i++)
			spaces += line.p[i] == ' ' || line.p[i] == '|';
		if (line.n > 1 && *line.p == '-')
			return spaces;
		if (spaces > 1 && line_has(line, " 0 ") &&
		    memmem(line.p, line.n, " 0 ", 3) == memchr(line.p, ' ', line.n))
			return spaces - 1;
	}
	return 1;
}

/* --- Functions --- */

/* Adds "Shop\Cart::total" or "/srv/shop/src/Cart.php:12:Shop\Cart::total". */
static void add_function(struct spx *s, struct str line)
{
	const char *colon = memchr(line.p, ':', line.n);
	struct str file = { "", 0 }, name = line;
	int64_t number = 0;

	if (colon) {
		struct str rest = { colon + 1, line.n - (size_t)(colon + 1 - line.p) };

		if (line_take_number(&rest, &number) && rest.n && *rest.p == ':') {
			file = (struct str){ line.p, (size_t)(colon - line.p) };
			name = (struct str){ rest.p + 1, rest.n - 1 };
		}
	}
	GROW(&s->names, &s->name_capacity, s->function_count + 1);
	GROW(&s->files, &s->file_capacity, s->function_count + 1);
	GROW(&s->lines, &s->line_capacity, s->function_count + 1);
	s->names[s->function_count] = intern_add(&s->strings, name.p, name.n);
	s->files[s->function_count] = intern_add(&s->strings, file.p, file.n);
	s->lines[s->function_count++] = file.n && number < UINT32_MAX ? (uint32_t)number : 0;
}

static uint32_t frame_of(const struct spx *s, struct profile *p, uint32_t function)
{
	char text[32];
	int n;

	if (function < s->function_count)
		return profile_frame(p, intern_get(&s->strings, s->names[function]),
				     intern_get(&s->strings, s->files[function]), s->lines[function]);
	n = snprintf(text, sizeof(text), "#%u", function);
	return profile_frame(p, (struct str){ text, (size_t)n }, (struct str){ "", 0 }, 0);
}

/* --- Top level --- */

static uint32_t column_of(struct profile *p, const char *key)
{
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
		if (!strcmp(metrics[i].key, key))
			return profile_column(p, metrics[i].column, metrics[i].unit);
	snprintf(name, sizeof(name), "spx_%s", key);
	return profile_column(p, name, "count");
}

static void to_profile(const struct spx *s, struct profile *one)
{
	_cleanup_(freep) uint32_t *nodes = xcalloc(s->node_count, sizeof(*nodes));
	uint32_t columns[VALUES_MAX], calls = profile_column(one, "calls", "count");

	for (size_t i = 0; i < s->value_count; i++)
		columns[i] = column_of(one, s->keys[i]);
	for (size_t n = 1; n < s->node_count; n++) {
		const struct node *from = &s->nodes[n];

		nodes[n] = profile_child(one, nodes[from->parent], frame_of(s, one, from->function));
		profile_add(one, nodes[n], calls, from->calls);
		for (size_t i = 0; i < s->value_count; i++)
			profile_add(one, nodes[n], columns[i], from->self[i]);
	}
}

static void choose_keys(struct spx *s, struct str start)
{
	if (s->has_keys)
		return;
	s->value_count = count_values(start);
	if (s->value_count > VALUES_MAX)
		s->value_count = VALUES_MAX;
	for (size_t i = 0; i < s->value_count; i++)
		snprintf(s->keys[i], sizeof(s->keys[i]), i == 0 ? "wt" : i == 1 &&
			 s->value_count == 2 ? "zm" : "value%zu", i + 1);
}

static void read_lines(struct spx *s, struct input *in, struct err *err)
{
	enum { NOTHING, EVENTS, FUNCTIONS } part = NOTHING;
	struct str line;

	while (input_line(in, &line)) {
		line = line_without_return(line);
		if (line.n == 8 && !memcmp(line.p, "[events]", 8))
			part = EVENTS;
		else if (line.n == 11 && !memcmp(line.p, "[functions]", 11))
			part = FUNCTIONS;
		else if (part == EVENTS && line.n)
			read_event(s, in->line, line, err);
		else if (part == FUNCTIONS && s->function_count < (size_t)FUNCTIONS_MAX)
			add_function(s, line);
	}
	if (part == EVENTS)
		line_skip(&s->skipped, in->line, (struct str){ NULL, 0 }, "is the last one, and the names of "
			"functions are missing: the report is incomplete", err);
}

static void spx_done(struct spx *s)
{
	map_done(&s->children);
	intern_done(&s->strings);
	free(s->nodes);
	free(s->stack);
	free(s->names);
	free(s->files);
	free(s->lines);
}

static int read_report(struct profile *p, struct input *in, struct err *err)
{
	const struct labels none = { 0 };
	struct spx *s = xcalloc(1, sizeof(*s));
	struct profile *one = profile_new();
	int r = 0;

	map_init(&s->children);
	intern_init(&s->strings);
	profile_describe(one, 0, false, &none);
	GROW(&s->nodes, &s->node_capacity, 1);
	s->nodes[s->node_count++] = (struct node){ 0 };
	read_beside(s, one, in);
	choose_keys(s, input_peek(in, FORMAT_SNIFF_MAX));
	read_lines(s, in, err);
	if (!s->event_count)
		r = s->skipped ? -EINVAL : err_set(err, -ENODATA, "it has no events");
	if (r >= 0) {
		to_profile(s, one);
		profile_merge(p, one);
		r = s->skipped < INT32_MAX ? (int)s->skipped : INT32_MAX;
	}
	profile_free(one);
	spx_done(s);
	free(s);
	return r;
}

/* Reads by KEY.json: the report is next to it. */
static int read_by_meta(struct profile *p, struct input *in, struct err *err)
{
	static const char *const ends[] = { ".txt.gz", ".txt.zst", ".txt" };
	_cleanup_(buf_done) struct buf path = { 0 };
	struct input report;
	struct err why;

	buf_init(&path);
	for (size_t i = 0; is_file(in) && i < ARRAY_SIZE(ends); i++) {
		int r;

		buf_reset(&path);
		if (!base_of(in->name, &path))
			break;
		buf_puts(&path, ends[i]);
		r = input_open(&report, path.data, REPORT_MAX, &why);
		if (r >= 0)
			r = read_report(p, &report, err);
		input_close(&report);
		if (r != -ENOENT)
			return r;
	}
	return err_set(err, -ENOENT, "it only describes a report of SPX; give the .txt.gz file of the same name");
}

static int spx_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	struct str start = input_peek(in, 64);

	(void)o;
	return line_starts(line_trim_start(start), "{") ? read_by_meta(p, in, err) : read_report(p, in, err);
}

static int spx_sniff(const char *bytes, size_t n)
{
	struct str start = { bytes, n };

	if (line_starts(start, "[events]\n") || line_starts(start, "[events]\r\n"))
		return 99;
	return line_starts(start, "{") && line_has(start, "\"enabled_metrics\"") &&
	       line_has(start, "\"recorded_call_count\"") ? 97 : 0;
}

const struct format format_spx = {
	.name = "spx", .suffixes = "spx", .sniff = spx_sniff, .read = spx_read,
	.about = "full reports of SPX, .txt.gz or .json",
};
