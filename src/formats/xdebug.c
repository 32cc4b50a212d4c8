/* xdebug.c: traces of Xdebug in its machine-readable format (xdebug.trace_format=1), files *.xt.
 *
 *	Version: 3.2.0
 *	File format: 4
 *	TRACE START [2024-05-06 18:29:01.123456]
 *	1  0  0  0.010870  114112  {main}     1    ../trace.php  0  0
 *	2  1  0  0.032009  114272  str_split  0    ../trace.php  8  2 …
 *	2  1  1  0.032073  116632
 *	2  1  R                    array
 *	               0.038424  114112
 *	TRACE END   [2024-05-06 18:29:01.161547]
 *
 * Fields are separated by tabs: level, number of the call, 0 at the start of a function, 1 at its end (R and A are
 * values, which are ignored), seconds since the start, bytes in use, and the name. The difference between one line
 * and the next belongs to the running function. A call whose end is missing ends where a function at its level or
 * below begins. In a trace started by xdebug_start_trace(), exit() also ends functions that had begun before: their
 * numbers are lower than that of the first call. There may be several traces in one file.
 *
 * Columns: calls, wall_ns, memory_bytes (negative if a function frees memory). With `script_values`, like
 * stackcollapse-xdebug.php: microseconds in a column wall_us; and with `calls`, how often each leaf function was called.
 */
#include "format.h"
#include "stacks.h"
#include "mem.h"

#define FIELDS 6	/* fields that are read */

struct call {
	uint32_t node;
	int64_t level;
};

struct xdebug {
	struct profile *profile;
	uint32_t calls, wall, memory;		/* columns */
	uint32_t leaf_calls, micro;		/* UINT32_MAX unless requested */

	struct call *stack;
	size_t depth, capacity;
	struct intern names;
	uint32_t *frames;			/* by name */
	size_t frame_capacity;

	bool started, was_start;
	int64_t first_call;			/* number of the first call of this trace; INT64_MAX before it */
	int64_t time, bytes;			/* values on the previous line */
	uint64_t events, skipped;
};

static size_t split(struct str line, struct str *fields)
{
	size_t n = 0;

	for (;;) {
		const char *tab = memchr(line.p, '\t', line.n);
		size_t size = tab ? (size_t)(tab - line.p) : line.n;

		fields[n++] = (struct str){ line.p, size };
		if (!tab || n == FIELDS)
			return n;
		line.p += size + 1;
		line.n -= size + 1;
	}
}

static bool is_word(struct str field, char c)
{
	return field.n == 1 && *field.p == c;
}

/* Time and memory since the previous line belong to the function on top. */
static void account(struct xdebug *x, int64_t time, int64_t bytes)
{
	if (x->depth) {
		uint32_t node = x->stack[x->depth - 1].node;
		int64_t passed = time > x->time ? time - x->time : 0;

		profile_add(x->profile, node, x->wall, passed);
		profile_add(x->profile, node, x->memory, bytes - x->bytes);
		if (x->micro != UINT32_MAX)
			profile_add(x->profile, node, x->micro,
				    time / 1000 > x->time / 1000 ? time / 1000 - x->time / 1000 : 0);
	}
	x->time = time;
	x->bytes = bytes;
}

static uint32_t frame_of(struct xdebug *x, struct str name)
{
	size_t known = x->names.count;
	uint32_t id = intern_add(&x->names, name.p, name.n);

	if (x->names.count > known) {
		GROW(&x->frames, &x->frame_capacity, x->names.count);
		x->frames[id] = profile_frame(x->profile, name, (struct str){ "", 0 }, 0);
	}
	return x->frames[id];
}

static void begin_call(struct xdebug *x, int64_t level, struct str name)
{
	uint32_t parent;

	while (x->depth && x->stack[x->depth - 1].level >= level)
		x->depth--;
	if (x->depth == STACKS_DEPTH_MAX)
		return;
	parent = x->depth ? x->stack[x->depth - 1].node : PROFILE_ROOT;
	GROW(&x->stack, &x->capacity, x->depth + 1);
	x->stack[x->depth] = (struct call){ profile_child(x->profile, parent, frame_of(x, name)), level };
	profile_add(x->profile, x->stack[x->depth++].node, x->calls, 1);
	x->was_start = true;
}

/* Returns false if no such call has begun. */
static bool end_call(struct xdebug *x, int64_t level)
{
	while (x->depth && x->stack[x->depth - 1].level > level)
		x->depth--;
	if (!x->depth || x->stack[x->depth - 1].level < level)
		return false;
	x->depth--;
	if (x->was_start && x->leaf_calls != UINT32_MAX)
		profile_add(x->profile, x->stack[x->depth].node, x->leaf_calls, 1);
	x->was_start = false;
	return true;
}

static bool take_times(struct str time, struct str bytes, int64_t *ret_time, int64_t *ret_bytes)
{
	return line_take_decimal(&time, 9, ret_time) && time.n == 0 && line_take_number(&bytes, ret_bytes) &&
	       bytes.n == 0;
}

static void read_event(struct xdebug *x, uint64_t number, struct str line, struct err *err)
{
	struct str fields[FIELDS];
	size_t n = split(line, fields);
	int64_t level, call, time, bytes;

	/* The last line of a trace. */
	if (n >= 5 && fields[0].n == 0 && fields[1].n == 0) {
		if (take_times(fields[3], fields[4], &time, &bytes))
			account(x, time, bytes);
		return;
	}
	if (n >= 3 && (is_word(fields[2], 'R') || is_word(fields[2], 'A')))
		return;
	if (n < 5 || !line_take_number(&fields[0], &level) || fields[0].n || !line_take_number(&fields[1], &call) ||
	    !take_times(fields[3], fields[4], &time, &bytes) ||
	    !(is_word(fields[2], '1') || (is_word(fields[2], '0') && n == FIELDS))) {
		line_skip(&x->skipped, number, line, "is neither a call nor a return", err);
		return;
	}
	account(x, time, bytes);
	x->events++;
	if (is_word(fields[2], '0')) {
		const char *tab = memchr(fields[5].p, '\t', (size_t)(line.p + line.n - fields[5].p));

		fields[5].n = tab ? (size_t)(tab - fields[5].p) : fields[5].n;
		x->first_call = call < x->first_call ? call : x->first_call;
		begin_call(x, level, fields[5]);
	} else if (!end_call(x, level) && call >= x->first_call) {
		line_skip(&x->skipped, number, line, "ends a call that did not begin", err);
	}
}

static void read_line(struct xdebug *x, uint64_t number, struct str line, struct err *err)
{
	if (line_starts(line, "TRACE START")) {
		x->started = true;
		x->depth = 0;
		x->first_call = INT64_MAX;
		x->time = x->bytes = 0;
	} else if (line_starts(line, "TRACE END")) {
		x->started = false;
	} else if (x->started && line.n) {
		read_event(x, number, line, err);
	}
}

static bool add_columns(struct xdebug *x, const struct format_options *o)
{
	struct profile *p = x->profile;

	x->leaf_calls = x->micro = UINT32_MAX;
	if (o->calls && (x->leaf_calls = profile_column(p, "leaf_calls", "count")) == UINT32_MAX)
		return false;
	if (o->script_values && (x->micro = profile_column(p, "wall_us", "microseconds")) == UINT32_MAX)
		return false;
	x->calls = profile_column(p, "calls", "count");
	x->wall = profile_column(p, "wall_ns", "nanoseconds");
	x->memory = profile_column(p, "memory_bytes", "bytes");
	return x->calls != UINT32_MAX && x->wall != UINT32_MAX && x->memory != UINT32_MAX;
}

static int xdebug_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	const struct labels none = { 0 };
	struct xdebug x = { .profile = p };
	struct str line;

	profile_describe(p, 0, false, &none);
	if (!add_columns(&x, o))
		return err_set(err, -E2BIG, "it would make more than %u value columns in all", PROFILE_COLUMNS);
	intern_init(&x.names);
	while (input_line(in, &line))
		read_line(&x, in->line, line_without_return(line), err);
	intern_done(&x.names);
	free(x.frames);
	free(x.stack);
	if (!x.events && !x.skipped)
		return err_set(err, -ENODATA, "it has no call after a line 'TRACE START'");
	if (!x.events)
		return -EINVAL;
	return x.skipped < INT32_MAX ? (int)x.skipped : INT32_MAX;
}

/* In the human-readable format, a trace has "->" where this one has tabs. */
static int xdebug_sniff(const char *bytes, size_t n)
{
	struct str rest = { bytes, n }, line, fields[FIELDS];
	bool started = false;

	for (int i = 0; i < 20 && line_next(&rest, &line); i++) {
		if (started)
			return split(line, fields) >= 5 ? 96 : 0;
		started = line_starts(line, "TRACE START");
	}
	return 0;
}

const struct format format_xdebug = {
	.name = "xdebug", .suffixes = "xt", .sniff = xdebug_sniff, .read = xdebug_read,
	.about = "traces of Xdebug, trace_format=1",
};
