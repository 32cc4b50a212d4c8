/* callgrind.c: files of Valgrind's callgrind, as read by KCachegrind and callgrind_annotate.
 *
 *	file	= header… "events:" word… newline, body…	# begins a comment, empty lines mean nothing
 *	header	= "version: 1", "creator: …", "cmd: …", "desc: key: value", "positions: " ["instr"] ["line"] (line unless said),
 *		  "event: word : long name", "part:", "pid:", "thread:", "summary:", "totals:"
 *	body	= "fl=" name	the file of the next functions; "fi=", "fe=" the file of lines until then
 *		| "fn=" name	the function of what follows; "ob=" name its object
 *		| position… cost…		self cost, at a line; missing costs are 0
 *		| ["cob=" name] ["cfi=" or "cfl=" name] "cfn=" name
 *		  "calls=" count position… newline position… cost…	a call: its inclusive cost
 *		| "jump=", "jcnd=", "jfi=", "jfn="	ignored
 *	name	= text | "(" number ")" text which defines that number | "(" number ")"	the name of that number
 *	position = number, hexadecimal as 0x…, "+" or "-" number, "*"		lines are only used in our own files
 *
 * The format does not record which stack a call came from: see edge_list.h for the handling of pairs. Self values of
 * functions stay exact; so do totals, unless functions call each other in a cycle, where only a limit is known. foo'2
 * is foo within foo (valgrind's --separate-recs, 2 by default: then foo is never within foo). A function without a
 * file name belongs to its object. calls= makes the column "calls". Unexpected lines are counted, and the first one
 * is shown.
 *
 * Caps: EVENTS_MAX events, EDGE_LIST_MAX pairs, NAMES_MAX names, and the limits of lines in input.h.
 */
#include "callgrind.h"
#include "edge_list.h"
#include "format.h"
#include "mem.h"
#include "saturate.h"
#include "stacks.h"
#include "strobe_wire.h"
#include "text.h"
#include <assert.h>
#include <limits.h>
#include <string.h>

#define EVENTS_MAX	(EDGE_LIST_COLUMNS - 1)
#define NAMES_MAX	(8u << 20)
#define NONE		UINT32_MAX

/* Names with numbers: files, functions and objects are numbered separately. */
struct names {
	struct map by_number;		/* to a name */
};

struct function {
	bool has_caller;
	int64_t own[EDGE_LIST_COLUMNS], callees[EDGE_LIST_COLUMNS];
};

struct reader {
	struct intern names;
	struct names files, functions, objects;
	char event_names[EVENTS_MAX][64], event_units[EVENTS_MAX][64];
	struct edge_list_column columns[EDGE_LIST_COLUMNS];
	unsigned events, positions;
	struct edge_list *edges;		/* created at the line with the events */
	struct map strings;		/* edges' strings, by name */
	struct map function_ids;	/* edges' functions, by file and name */
	struct function *list;
	size_t list_count, list_capacity;
	uint32_t object, file, current_file, function;	/* names, and a function of edges */
	uint32_t called_file, called_object, called;
	uint64_t calls;			/* number of calls on the previous line; 0 if it was not a call */
	uint32_t called_line;		/* behind it */
	bool is_ours, no_calls, no_levels, calls_are_event, lines_ran;
	struct labels labels;
	struct intern units;		/* "name\0unit" from event: lines */
	uint64_t skipped;
	struct err *err;
};

static struct str after(struct str s, size_t n)
{
	s.p += n;
	s.n -= n;
	return s;
}

static struct str trimmed(struct str s)
{
	while (s.n && (*s.p == ' ' || *s.p == '\t'))
		s = after(s, 1);
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r'))
		s.n--;
	return s;
}

/* Removes and returns the next word. */
static struct str take_word(struct str *s)
{
	struct str word;

	while (s->n && (*s->p == ' ' || *s->p == '\t'))
		*s = after(*s, 1);
	word = (struct str){ s->p, 0 };
	while (word.n < s->n && word.p[word.n] != ' ' && word.p[word.n] != '\t')
		word.n++;
	*s = after(*s, word.n);
	return word;
}

/* Parses decimal or 0x…; numbers above 63 bits become INT64_MAX. */
static bool parse_number(struct str s, int64_t *ret)
{
	unsigned base = text_starts(s, "0x") ? 16 : 10;
	int64_t v = 0;

	s = after(s, base == 16 ? 2 : 0);
	if (!s.n)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i] | 0x20;
		unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' &&
			c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;

		if (digit >= base)
			return false;
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit, &v))
			v = INT64_MAX;
	}
	*ret = v;
	return true;
}

/* --- Names --- */

static int too_many_names(struct reader *r)
{
	return err_set(r->err, -E2BIG, "it exceeds the limit of %u names", NAMES_MAX);
}

/* Reads "text", "(12) text" or "(12)". */
static int read_name(struct reader *r, struct names *of, struct str s, uint32_t *ret)
{
	const char *end = s.n && *s.p == '(' ? memchr(s.p, ')', s.n) : NULL;
	int64_t number;

	if (r->names.count >= NAMES_MAX)
		return too_many_names(r);
	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	if (!end || !parse_number((struct str){ s.p + 1, (size_t)(end - s.p) - 1 }, &number)) {
		*ret = intern_add(&r->names, s.p, s.n);
		return 0;
	}
	s = after(s, (size_t)(end - s.p) + 1);
	if (s.n) {
		s = after(s, 1);
		*ret = intern_add(&r->names, s.p, s.n);
		map_set(&of->by_number, (uint64_t)number, *ret);
		return 0;
	}
	*ret = map_get(&of->by_number, (uint64_t)number);
	if (*ret == MAP_NONE)
		return err_set(r->err, -EINVAL, "the name (%lld) is undefined", (long long)number);
	return 0;
}

static bool is_known(const struct reader *r, uint32_t name)
{
	struct str s = name == NONE ? (struct str){ "", 0 } : intern_get(&r->names, name);

	return s.n && (s.n != 3 || memcmp(s.p, "???", 3));
}

static uint32_t string_of(struct reader *r, uint32_t name)
{
	uint32_t *slot = map_slot(&r->strings, name);

	if (*slot == MAP_NONE)
		*slot = edge_list_string(r->edges, name == NONE ? (struct str){ "", 0 } : intern_get(&r->names, name));
	return *slot;
}

/* Returns the function with this name in a file, or in an object if there is no file. */
static uint32_t function_of(struct reader *r, uint32_t file, uint32_t object, uint32_t name)
{
	uint32_t place = is_known(r, file) ? file : is_known(r, object) ? object : NONE, *slot;

	slot = map_slot(&r->function_ids, map_pair(place, name));
	if (*slot == MAP_NONE)
		*slot = edge_list_function(r->edges, string_of(r, name), string_of(r, place));
	GROW(&r->list, &r->list_capacity, (size_t)*slot + 1);
	while (r->list_count <= *slot)
		r->list[r->list_count++] = (struct function){ 0 };
	return *slot;
}

/* --- Costs --- */

static void add_to(struct reader *r, int64_t *sum, const int64_t *value)
{
	for (unsigned v = 0; v <= r->events; v++)
		saturating_add(&sum[v], value[v]);
}

static unsigned set_of(const struct reader *r)
{
	unsigned all = (1u << (r->events + 1)) - 1;

	return r->no_calls || r->calls_are_event ? all & ~1u : all;
}

static bool is_position(struct str word)
{
	int64_t number;

	if (word.n == 1 && *word.p == '*')
		return true;
	if (word.n && (*word.p == '+' || *word.p == '-'))
		word = after(word, 1);
	return parse_number(word, &number);
}

static bool parse_costs(struct reader *r, struct str line, int64_t *values, uint32_t *ret_line)
{
	int64_t at = 0;

	*ret_line = 0;
	memset(values, 0, EDGE_LIST_COLUMNS * sizeof(*values));
	for (unsigned i = 0; i < r->positions; i++) {
		struct str word = take_word(&line);

		if (!is_position(word))
			return false;
		if (r->is_ours && parse_number(word, &at) && at < UINT32_MAX)
			*ret_line = (uint32_t)at;
	}
	for (unsigned i = 0; i <= r->events; i++) {
		struct str word = take_word(&line);

		if (!word.n || (word.n == 1 && *word.p == '\r'))
			return true;
		if (i == r->events || !parse_number(word, &values[i + 1]))
			return false;
	}
	return true;
}

static int add_call(struct reader *r, int64_t *values, uint32_t line)
{
	uint32_t callee = r->called;

	values[EDGE_CALLS] = r->calls < INT64_MAX ? (int64_t)r->calls : INT64_MAX;
	r->calls = 0;
	if (callee == NONE || r->function == NONE)
		return err_set(r->err, -EINVAL, "a call precedes its function");
	saturating_add(&r->list[callee].own[EDGE_CALLS], values[EDGE_CALLS]);
	if (r->lines_ran)
		edge_list_set_line(r->edges, callee, r->called_line);
	else
		edge_list_set_line(r->edges, r->function, line);
	if (edge_list_add_pair(r->edges, r->function, callee, values, set_of(r)) < 0)
		return err_set(r->err, -E2BIG, "it has more than %u pairs of caller and callee", EDGE_LIST_MAX);
	/* A function's calls of itself are part of its own total. */
	if (callee == r->function)
		return 0;
	r->list[callee].has_caller = true;
	values[EDGE_CALLS] = 0;
	add_to(r, r->list[r->function].callees, values);
	return 0;
}

/* Returns 1 for other lines. */
static int read_costs(struct reader *r, struct str line)
{
	int64_t values[EDGE_LIST_COLUMNS];
	uint32_t at;

	if (!r->edges)
		return err_set(r->err, -EINVAL, "costs precede the line with events:");
	if (!parse_costs(r, line, values, &at))
		return 1;
	if (r->calls)
		return add_call(r, values, at);
	if (r->function == NONE)
		return err_set(r->err, -EINVAL, "costs precede their function");
	if (!r->lines_ran)
		edge_list_set_line(r->edges, r->function, at);
	add_to(r, r->list[r->function].own, values);
	return 0;
}

/* --- Lines --- */

/* Reads "event: wall_ns : wall_ns (nanoseconds)". */
static void read_long_name(struct reader *r, struct str s)
{
	struct str name = take_word(&s);
	_cleanup_(buf_done) struct buf key = { 0 };
	const char *open = s.n ? memrchr(s.p, '(', s.n) : NULL;

	s = trimmed(s);
	if (!open || s.p[s.n - 1] != ')' || r->units.count > 2 * EVENTS_MAX)
		return;
	buf_init(&key);
	buf_put(&key, name.p, name.n);
	buf_putc(&key, 0);
	buf_put(&key, open + 1, (size_t)(s.p + s.n - open) - 2);
	intern_add(&r->units, key.data, key.size);
}

static const char *unit_of(const struct reader *r, const char *name)
{
	const struct str s = { name, strlen(name) };

	for (size_t i = 0; i < r->units.count; i++) {
		const char *known = intern_get(&r->units, (uint32_t)i).p;

		if (!strcmp(known, name) && known[strlen(known) + 1])
			return known + strlen(known) + 1;
	}
	return text_ends(s, "_ns") ? "nanoseconds" : text_ends(s, "_bytes") ? "bytes" : "count";
}

/* Events whose names include a unit: Xdebug's. */
static const struct {
	const char *event;
	struct edge_list_column column;
} known_events[] = {
	{ "Time_(10ns)", { "wall_ns", "nanoseconds", 10, true, "" } },
	{ "Memory_(bytes)", { "memory_bytes", "bytes", 1, true, "" } },
};

static struct edge_list_column column_of(const struct reader *r, unsigned event)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_events); i++)
		if (!strcmp(r->event_names[event], known_events[i].event))
			return known_events[i].column;
	return (struct edge_list_column){ r->event_names[event], r->event_units[event], 1, true, "" };
}

static int read_events(struct reader *r, struct str s)
{
	unsigned n = 0;
	struct str word;

	while ((word = take_word(&s)).n && !(word.n == 1 && *word.p == '\r')) {
		char name[64];

		if (word.p[word.n - 1] == '\r')
			word.n--;
		if (n == EVENTS_MAX)
			return err_set(r->err, -E2BIG, "it exceeds the limit of %u events", EVENTS_MAX);
		snprintf(name, sizeof(name), "%.*s", !*word.p ? 7 : word.n < 63 ? (int)word.n : 63,
			 *word.p ? word.p : "unnamed");
		if (r->edges && (n >= r->events || strcmp(name, r->event_names[n])))
			return err_set(r->err, -EINVAL, "its parts have different events");
		snprintf(r->event_names[n], sizeof(name), "%s", name);
		snprintf(r->event_units[n], sizeof(name), "%s", unit_of(r, name));
		r->columns[n + 1] = column_of(r, n);
		r->calls_are_event |= !strcmp(name, "calls");
		n++;
	}
	if (!n)
		return err_set(r->err, -EINVAL, "it has no events");
	r->events = n;
	if (!r->edges) {
		r->columns[EDGE_CALLS] = (struct edge_list_column){ "calls", "count", 1, true, "" };
		r->edges = edge_list_new(r->columns, n + 1);
	}
	return 0;
}

static void read_positions(struct reader *r, struct str s)
{
	unsigned n = 0;

	while (take_word(&s).n)
		n++;
	r->positions = n ? n : 1;
}

/* Our own files have labels as "desc: key: value". */
static void read_label(struct reader *r, const char *key, size_t n, struct str value)
{
	value = trimmed(value);
	if (r->is_ours && n <= STROBE_WIRE_LABEL_KEY && strobe_wire_is_label_key((const uint8_t *)key, n) && value.n &&
	    value.n <= STROBE_WIRE_LABEL_VALUE && r->labels.count < STROBE_WIRE_LABELS)
		labels_set(&r->labels, key, n, value.p, value.n);
}

static void read_desc(struct reader *r, struct str s)
{
	const char *colon;

	s = trimmed(s);
	colon = s.n ? memchr(s.p, ':', s.n) : NULL;
	if (s.n == strlen(CALLGRIND_NO_CALLS) && text_starts(s, CALLGRIND_NO_CALLS))
		r->no_calls = true;
	else if (s.n == strlen(CALLGRIND_NO_LEVELS) && text_starts(s, CALLGRIND_NO_LEVELS))
		r->no_levels = true;
	else if (s.n == strlen(CALLGRIND_LINES_RAN) && text_starts(s, CALLGRIND_LINES_RAN))
		r->lines_ran = true;
	else if (colon)
		read_label(r, s.p, (size_t)(colon - s.p), after(s, (size_t)(colon - s.p) + 1));
}

/* Returns 1 for other lines. */
static int read_header(struct reader *r, struct str s)
{
	static const char *const passed_over[] = { "version:", "part:", "pid:", "thread:", "summary:", "totals:",
						   "rcalls=" };

	if (text_starts(s, "events:"))
		return read_events(r, after(s, 7));
	if (text_starts(s, "positions:"))
		read_positions(r, after(s, 10));
	else if (text_starts(s, "creator:"))
		r->is_ours = text_starts(trimmed(after(s, 8)), "strobe");
	else if (text_starts(s, "cmd:"))
		read_label(r, "entry", 5, after(s, 4));
	else if (text_starts(s, "desc:"))
		read_desc(r, after(s, 5));
	else if (text_starts(s, "event:"))
		read_long_name(r, after(s, 6));
	else
		for (size_t i = 0; i < ARRAY_SIZE(passed_over) + 1; i++)
			if (i == ARRAY_SIZE(passed_over))
				return 1;
			else if (text_starts(s, passed_over[i]))
				break;
	return 0;
}

static int read_calls(struct reader *r, struct str s)
{
	int64_t calls, line;

	if (!parse_number(take_word(&s), &calls))
		return 1;
	r->calls = (uint64_t)calls;
	r->called_line = r->is_ours && parse_number(take_word(&s), &line) && line < UINT32_MAX ? (uint32_t)line : 0;
	return 0;
}

static int set_function(struct reader *r, struct str s, uint32_t file, uint32_t object, uint32_t *function)
{
	uint32_t name;
	int code;

	if (!r->edges)
		return err_set(r->err, -EINVAL, "a function precedes the line with events:");
	code = read_name(r, &r->functions, s, &name);
	if (!code)
		*function = function_of(r, file, object, name);
	return code;
}

/* Returns 1 for other lines. */
static int read_body(struct reader *r, struct str s)
{
	uint32_t unused;
	int code;

	if (text_starts(s, "fn=")) {
		r->current_file = r->file;
		return set_function(r, after(s, 3), r->file, r->object, &r->function);
	}
	if (text_starts(s, "fl=")) {
		code = read_name(r, &r->files, after(s, 3), &r->file);
		r->current_file = r->file;
		return code;
	}
	if (text_starts(s, "fi=") || text_starts(s, "fe="))
		return read_name(r, &r->files, after(s, 3), &r->current_file);
	if (text_starts(s, "cfn=")) {
		code = set_function(r, after(s, 4), r->called_file == NONE ? r->current_file : r->called_file,
				    r->called_object == NONE ? r->object : r->called_object, &r->called);
		r->called_file = r->called_object = NONE;
		return code;
	}
	if (text_starts(s, "cfi=") || text_starts(s, "cfl="))
		return read_name(r, &r->files, after(s, 4), &r->called_file);
	if (text_starts(s, "calls="))
		return read_calls(r, after(s, 6));
	if (text_starts(s, "ob="))
		return read_name(r, &r->objects, after(s, 3), &r->object);
	if (text_starts(s, "cob="))
		return read_name(r, &r->objects, after(s, 4), &r->called_object);
	if (text_starts(s, "jfi="))
		return read_name(r, &r->files, after(s, 4), &unused);
	if (text_starts(s, "jfn="))
		return read_name(r, &r->functions, after(s, 4), &unused);
	return text_starts(s, "jump=") || text_starts(s, "jcnd=") ? 0 : 1;
}

static int read_line(struct reader *r, struct str s)
{
	if (!trimmed(s).n || *s.p == '#')
		return 0;
	if ((*s.p >= '0' && *s.p <= '9') || *s.p == '+' || *s.p == '-' || *s.p == '*')
		return read_costs(r, s);
	if (memchr(s.p, '=', s.n < 6 ? s.n : 6) && *s.p != 'r')
		return read_body(r, s);
	return read_header(r, s);
}

static int read_lines(struct reader *r, struct input *in)
{
	struct str line;
	int code;

	while (input_line(in, &line)) {
		code = read_line(r, line);
		if (code < 0)
			return err_prefix(r->err, "line %llu", (unsigned long long)in->line);
		if (code > 0)
			line_skip(&r->skipped, in->line, line, "is not of callgrind's format", r->err);
	}
	return 0;
}

/* --- The profile --- */

/* Functions without a caller begin a stack; all keep their self values. */
static int finish_pairs(struct reader *r)
{
	for (uint32_t f = 0; f < r->list_count; f++) {
		struct function *l = &r->list[f];

		if (!l->has_caller) {
			int64_t all[EDGE_LIST_COLUMNS];

			memcpy(all, l->own, sizeof(all));
			add_to(r, all, l->callees);
			all[EDGE_CALLS] = 1;
			saturating_add(&l->own[EDGE_CALLS], 1);
			if (edge_list_add_pair(r->edges, UINT32_MAX, f, all, set_of(r)) < 0)
				return err_set(r->err, -E2BIG, "it has more than %u pairs of caller and callee",
					       EDGE_LIST_MAX);
		}
		edge_list_add_own(r->edges, f, l->own);
	}
	return 0;
}

static int add_profile(struct reader *r, struct profile *p)
{
	const struct edge_list_meaning meaning = {
		.level_mark = '\'', .level_base = 1, .levels = r->no_levels ? EDGE_LEVELS_NONE : r->is_ours ? EDGE_LEVELS_ALL : EDGE_LEVELS_OUTERMOST,
		.root = r->is_ours ? CALLGRIND_ROOT : NULL, .calls_of_root = r->calls_are_event,
		.calls_last = true,	/* so that the first event is the default column */
	};
	_cleanup_(profile_freep) struct profile *whole = profile_new();

	if (!r->edges || !r->list_count)
		return err_set(r->err, -EINVAL, "it has no functions");
	if (finish_pairs(r) < 0)
		return -E2BIG;
	if (edge_list_to_profile(r->edges, &meaning, whole) < 0)
		return err_set(r->err, -E2BIG, "it exceeds the limit of %u columns", PROFILE_COLUMNS);
	labels_copy(&whole->labels, &r->labels);
	if (!profile_columns_fit(p, whole))
		return err_set(r->err, -E2BIG, "it would make more than %u value columns in all", PROFILE_COLUMNS);
	profile_merge(p, whole);
	return 0;
}

static void reader_init(struct reader *r, struct err *err)
{
	*r = (struct reader){ .positions = 1, .object = NONE, .file = NONE, .current_file = NONE, .function = NONE,
			      .called_file = NONE, .called_object = NONE, .called = NONE, .err = err };
	intern_init(&r->names);
	intern_init(&r->units);
	map_init(&r->files.by_number);
	map_init(&r->functions.by_number);
	map_init(&r->objects.by_number);
	map_init(&r->strings);
	map_init(&r->function_ids);
	labels_init(&r->labels);
}

static void reader_done(struct reader *r)
{
	intern_done(&r->names);
	intern_done(&r->units);
	map_done(&r->files.by_number);
	map_done(&r->functions.by_number);
	map_done(&r->objects.by_number);
	map_done(&r->strings);
	map_done(&r->function_ids);
	labels_done(&r->labels);
	edge_list_free(r->edges);
	free(r->list);
}

static int callgrind_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	struct err first = { 0 };
	struct reader r;
	int code;

	(void)o;
	reader_init(&r, &first);
	code = read_lines(&r, in);
	if (!code) {
		r.err = err;
		code = add_profile(&r, p);
	} else {
		err_set(err, code, "%s", first.text);
	}
	if (!code && r.skipped) {
		err_set(err, first.code, "%s", first.text);
		code = r.skipped < INT_MAX ? (int)r.skipped : INT_MAX;
	}
	reader_done(&r);
	return code;
}

static bool begins_as_callgrind(struct str s)
{
	static const char *const starts[] = {
		"version:", "creator:", "positions:", "events:", "cmd:", "pid:", "part:", "desc:", "\nversion:",
	};

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (text_starts(s, starts[i]))
			return true;
	return false;
}

/* Other text may begin with such a word. Costs may come after the sniffed bytes. */
static bool has_costs(struct str s)
{
	return text_has(s, "events:") &&
	       (s.n >= FORMAT_SNIFF_MAX || text_has(s, "\nfn=") || text_has(s, "\nfl="));
}

static int callgrind_sniff(const char *bytes, size_t n)
{
	struct str s = { bytes, n };

	if (text_starts(s, "# callgrind format"))
		return 99;
	return begins_as_callgrind(s) && has_costs(s) ? 93 : 0;
}

const struct format format_callgrind = {
	"callgrind",
	"callgrind",
	callgrind_sniff,
	callgrind_read,
	callgrind_write,
	.about = "functions, calls for KCachegrind; no negative values",
	.has_lines = true,
	.has_edges = true,
	.has_any_columns = true,
};
