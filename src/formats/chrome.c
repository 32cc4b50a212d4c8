/* chrome.c: trace events as used by Chrome's about:tracing, Perfetto and many other programs.
 *
 *	{ "traceEvents": [ event, … ], "displayTimeUnit": …, "otherData": { … } }	or only	[ event, …
 *	event = { "ph": "X", "name", "ts", "dur", "pid", "tid", "cat", "args" }	a span, in microseconds
 *	      | { "ph": "B", "name", "ts", "pid", "tid", … }			the start of a span
 *	      | { "ph": "E", "ts", "pid", "tid", … }				the end of the innermost open span
 *	      | others, which are ignored (M, C, i, b, e, s, f, …)
 *
 * Nested spans of a thread are calls. So a stack consists of the names of the open spans, its wall_ns is the time of
 * the innermost one without spans inside it, and "calls" is the number of spans. All threads become one profile. A
 * span that begins within another one and ends after it is truncated. A span that does not end lasts until the thread's
 * last event; an end without a start is skipped and counted. The end of an array may be missing.
 *
 * Our own traces have a made-up timeline: see chrome_write.c. They are recognized by "otherData", and each event has
 * its value as an integer, so that it is read back unchanged.
 *
 * Caps: JSON_TEXT_MAX bytes, DEPTH_MAX nested spans.
 */
#include "chrome.h"
#include "format.h"
#include "json_read.h"
#include "mem.h"
#include "text.h"
#include <limits.h>
#include <math.h>
#include <string.h>
#include <xxhash.h>

#define DEPTH_MAX	65536u

struct event {
	uint32_t thread, frame;
	int64_t start, end;		/* nanoseconds; INT64_MAX while the end is unknown */
	size_t number;			/* index in the file */
};

/* The open spans of one thread: the innermost one, and those around it. */
struct thread {
	size_t open;			/* index of an event + 1; 0: none */
	int64_t last;			/* time of its last event */
};

struct reader {
	struct profile *profile;
	struct event *events;
	size_t count, capacity;
	size_t *below;			/* by event opened by B: the enclosing one + 1 */
	size_t below_capacity;
	struct thread *threads;
	size_t thread_count, thread_capacity;
	struct map thread_ids;
	bool is_ours;
	size_t skipped;
	struct err *err;
};

static uint64_t hash_of(json_t *id)
{
	struct str text = json_text(id);

	if (json_is_integer(id))
		return (uint64_t)json_integer_value(id) * 0x9e3779b97f4a7c15ull;
	return text.n ? XXH3_64bits(text.p, text.n) : 0;
}

/* Finds the thread by process and thread id, which are numbers or words. */
static uint32_t thread_of(struct reader *r, json_t *event)
{
	uint64_t key = hash_of(json_object_get(event, "pid")) * 31 + hash_of(json_object_get(event, "tid"));
	uint32_t *slot = map_slot(&r->thread_ids, key);

	if (*slot == MAP_NONE) {
		*slot = (uint32_t)r->thread_count;
		GROW(&r->threads, &r->thread_capacity, r->thread_count + 1);
		r->threads[r->thread_count++] = (struct thread){ 0, INT64_MIN };
	}
	return *slot;
}

/* Converts microseconds, mostly with a fraction, to nanoseconds. */
static int64_t time_of(json_t *number)
{
	return json_scaled(number, 1000, NULL);
}

static uint32_t frame_of(struct reader *r, json_t *event)
{
	json_t *args = json_object_get(event, "args");
	struct str name = json_text(json_object_get(event, "name")), file = { "", 0 };

	if (!name.n && !r->is_ours)
		name = (struct str){ "[unnamed]", 9 };
	if (r->is_ours)
		file = json_text(json_object_get(args, "file"));
	return profile_frame(r->profile, name, file, r->is_ours ? json_line(json_object_get(args, "line")) : 0);
}

static void add_event(struct reader *r, json_t *from, uint32_t thread, int64_t start, int64_t end)
{
	struct event *e;

	GROW(&r->events, &r->capacity, r->count + 1);
	GROW(&r->below, &r->below_capacity, r->count + 1);
	e = &r->events[r->count];
	*e = (struct event){ thread, frame_of(r, from), start, end < start ? start : end, r->count };
	r->below[r->count++] = 0;
}

static void begin(struct reader *r, json_t *event, uint32_t thread, int64_t at)
{
	add_event(r, event, thread, at, INT64_MAX);
	r->below[r->count - 1] = r->threads[thread].open;
	r->threads[thread].open = r->count;
}

static void end(struct reader *r, uint32_t thread, int64_t at)
{
	struct thread *t = &r->threads[thread];
	struct event *e;

	if (!t->open) {
		r->skipped++;
		return;
	}
	e = &r->events[t->open - 1];
	e->end = at < e->start ? e->start : at;
	t->open = r->below[t->open - 1];
}

static void read_event(struct reader *r, json_t *event)
{
	const char *phase = json_string_value(json_object_get(event, "ph"));
	int64_t at = time_of(json_object_get(event, "ts")), until = at;
	uint32_t thread;

	if (!phase || !*phase || phase[1] || !strchr("XBE", *phase))
		return;
	thread = thread_of(r, event);
	if (*phase == 'B')
		begin(r, event, thread, at);
	else if (*phase == 'E')
		end(r, thread, at);
	else if (__builtin_add_overflow(at, time_of(json_object_get(event, "dur")), &until))
		until = at;
	if (*phase == 'X')
		add_event(r, event, thread, at, until);
	if (until > r->threads[thread].last)
		r->threads[thread].last = until;
}

static void close_open(struct reader *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->events[i].end == INT64_MAX)
			r->events[i].end = r->threads[r->events[i].thread].last;
}

/* Sorts by thread, then by time, enclosing spans first. */
static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* --- The tree --- */

struct span {
	uint32_t node;
	int64_t end;
};

struct stack {
	struct span *spans;
	size_t depth, capacity;
};

static int64_t difference(int64_t a, int64_t b)
{
	int64_t d;

	return __builtin_sub_overflow(a, b, &d) ? INT64_MAX : d;
}

/* Adds a span below the innermost open one, whose own time it reduces. */
static int push(struct reader *r, struct stack *s, struct event *e, uint32_t calls, uint32_t wall)
{
	const struct span *top;
	uint32_t above = PROFILE_ROOT, node;

	while (s->depth && s->spans[s->depth - 1].end <= e->start)
		s->depth--;
	top = s->depth ? &s->spans[s->depth - 1] : NULL;
	if (top && e->end > top->end)
		e->end = top->end;
	if (s->depth == DEPTH_MAX)
		return err_set(r->err, -E2BIG, "spans are nested deeper than the limit of %u",
			       DEPTH_MAX);
	if (top) {
		above = top->node;
		profile_add(r->profile, above, wall, -difference(e->end, e->start));
	}
	node = profile_child(r->profile, above, e->frame);
	profile_add(r->profile, node, wall, difference(e->end, e->start));
	profile_add(r->profile, node, calls, 1);
	GROW(&s->spans, &s->capacity, s->depth + 1);
	s->spans[s->depth++] = (struct span){ node, e->end };
	return 0;
}

static int make_tree(struct reader *r)
{
	uint32_t calls = profile_column(r->profile, "calls", "count");
	uint32_t wall = profile_column(r->profile, "wall_ns", "nanoseconds");
	struct stack s = { 0 };
	int code = 0;

	/* Our own are in order, even calls without any duration. */
	if (!r->is_ours)
		qsort(r->events, r->count, sizeof(*r->events), compare_events);
	for (size_t i = 0; i < r->count && !code; i++) {
		if (i && r->events[i].thread != r->events[i - 1].thread)
			s.depth = 0;
		code = push(r, &s, &r->events[i], calls, wall);
	}
	free(s.spans);
	return code;
}

/* Our events are nodes, parents first: "parent" is the number of one, from 1. */
static int make_own_tree(struct reader *r, json_t *list, json_t *facts)
{
	_cleanup_(freep) uint32_t *nodes = xmalloc((json_array_size(list) + 1) * sizeof(*nodes));
	struct str name = json_text(json_object_get(facts, "column")), unit = json_text(json_object_get(facts, "unit"));
	uint32_t column = profile_column(r->profile, name.n ? name.p : "samples", unit.n ? unit.p : "count");
	json_t *event;
	size_t i;

	nodes[0] = PROFILE_ROOT;
	json_array_foreach(list, i, event) {
		json_t *args = json_object_get(event, "args");
		json_int_t parent = json_integer_value(json_object_get(args, "parent"));

		if (parent < 0 || (uint64_t)parent > i)
			return err_set(r->err, -EINVAL, "event %zu is nested in one that does not precede it", i);
		nodes[i + 1] = profile_child(r->profile, nodes[parent], frame_of(r, event));
		profile_add(r->profile, nodes[i + 1], column, json_integer_value(json_object_get(args, "self")));
	}
	profile_add(r->profile, PROFILE_ROOT, column, json_integer_value(json_object_get(facts, "self")));
	json_read_metadata(json_object_get(facts, "strobe"), r->profile);
	return 0;
}

static int read_all(struct reader *r, json_t *all)
{
	json_t *list = json_is_array(all) ? all : json_object_get(all, "traceEvents"), *event;
	json_t *facts = json_object_get(all, "otherData");
	size_t i;

	if (!json_is_array(list))
		return err_set(r->err, -EINVAL, "it has no \"traceEvents\" array");
	r->is_ours = json_is_object(json_object_get(facts, "strobe"));
	if (r->is_ours && !json_is_true(json_object_get(facts, "chart")))
		return make_own_tree(r, list, facts);
	json_array_foreach(list, i, event)
		read_event(r, event);
	if (!r->count)
		return err_set(r->err, -EINVAL, "none of its %zu events is a span (X, or B and E)",
			       json_array_size(list));
	close_open(r);
	if (r->is_ours)
		json_read_metadata(json_object_get(facts, "strobe"), r->profile);
	return make_tree(r);
}

static int add_to(struct profile *p, const struct profile *one, struct err *err)
{
	if (!profile_columns_fit(p, one))
		return err_set(err, -E2BIG, "it would make more than %u value columns in all", PROFILE_COLUMNS);
	profile_merge(p, one);
	return 0;
}

static int chrome_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	_cleanup_(json_decrefp_) json_t *all = json_read(in, true, err);
	_cleanup_(profile_freep) struct profile *one = profile_new();
	struct reader r = { .profile = one, .err = err };
	int code;

	(void)o;
	map_init(&r.thread_ids);
	code = all ? read_all(&r, all) : -EINVAL;
	map_done(&r.thread_ids);
	free(r.events);
	free(r.below);
	free(r.threads);
	if (!code)
		code = add_to(p, one, err);
	if (code || !r.skipped)
		return code;
	err_set(err, -EINVAL, "%zu event%s a span that did not begin", r.skipped, r.skipped == 1 ? " ends" : "s end");
	return r.skipped < INT_MAX ? (int)r.skipped : INT_MAX;
}

static int chrome_sniff(const char *bytes, size_t n)
{
	const struct str s = { bytes, n };
	size_t i = 0;

	while (i < n && strchr("\r\n\t \xef\xbb\xbf", bytes[i]) && bytes[i])
		i++;
	if (i == n || (bytes[i] != '{' && bytes[i] != '['))
		return 0;
	if (bytes[i] == '{' && text_has(s, "\"traceEvents\""))
		return 96;
	return bytes[i] == '[' && text_has(s, "\"ph\"") && text_has(s, "\"pid\"") ? 91 : 0;
}

const struct format format_chrome = {
	"chrome",
	"trace.json",
	chrome_sniff,
	chrome_read,
	chrome_write,
	.about = "trace events of Chrome and Perfetto, of one column",
};
