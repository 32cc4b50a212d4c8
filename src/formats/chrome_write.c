/* chrome_write.c: writes the flame chart of a run, if it has one and time is requested. Most profiles have no
 * timeline, so one is made up: each node is one span whose length is its total; its children are adjacent from its
 * start on, and its self value is the rest. Samples are as long as their period, and units that are not time are a
 * microsecond each.
 *
 * Times are microseconds with three decimals. "args" has what is needed to read it back: the node's self value, the
 * number of its parent's event, file and line. With "chart" in "otherData" the events are calls, whose "args" only
 * have file and line, and are read like those of any other program.
 */
#include "chrome.h"
#include "chart.h"
#include "json_read.h"
#include "mem.h"
#include "notes.h"
#include "preorder.h"
#include "saturate.h"
#include <string.h>

struct writer {
	const struct profile *profile;
	struct buf *out;
	struct notes notes;
	uint32_t column;
	int64_t scale;			/* nanoseconds per unit */
	bool charted;
	int64_t *totals, *starts;	/* by node, counting only values above zero */
	uint32_t *numbers;		/* by node: number of its event, from 1 */
};

static int64_t scaled(int64_t v, int64_t by)
{
	int64_t product;

	return __builtin_mul_overflow(v, by, &product) ? INT64_MAX : product;
}

static int64_t self_of(const struct writer *w, uint32_t node)
{
	int64_t v = w->profile->columns[w->column].self[node];

	return v > 0 ? v : 0;
}

static void find_places(struct writer *w)
{
	const struct profile *p = w->profile;
	_cleanup_(freep) int64_t *next = xcalloc(p->node_count, sizeof(*next));

	w->totals = xmalloc(p->node_count * sizeof(*w->totals));
	w->starts = xcalloc(p->node_count, sizeof(*w->starts));
	for (uint32_t n = 0; n < p->node_count; n++)
		w->totals[n] = self_of(w, n);
	for (uint32_t n = p->node_count - 1; n > 0; n--)
		saturating_add(&w->totals[p->parents[n]], w->totals[n]);
	for (uint32_t n = 1; n < p->node_count; n++) {
		w->starts[n] = next[n] = next[p->parents[n]];
		saturating_add(&next[p->parents[n]], w->totals[n]);
	}
}

/* Puts nanoseconds as microseconds. */
static void put_ns(struct writer *w, const char *key, int64_t ns)
{
	buf_printf(w->out, ",\"%s\":%lld.%03lld", key, (long long)(ns / 1000), (long long)(ns % 1000));
}

static void put_time(struct writer *w, const char *key, int64_t value)
{
	put_ns(w, key, scaled(value, w->scale));
}

/* Puts items of "args", the first of which follows `separator`. */
static void put_place(struct writer *w, uint32_t frame, const char *separator)
{
	struct str file = profile_file(w->profile, frame);

	if (file.n) {
		buf_printf(w->out, "%s\"file\":", separator);
		notes_put_json(&w->notes, w->out, file);
		separator = ",";
	}
	if (w->profile->frames[frame].line)
		buf_printf(w->out, "%s\"line\":%u", separator, w->profile->frames[frame].line);
}

static void put_event(struct writer *w, uint32_t node)
{
	const struct profile *p = w->profile;
	uint32_t frame = p->node_frames[node], parent = p->parents[node];

	buf_puts(w->out, "{\"ph\":\"X\",\"name\":");
	notes_put_json(&w->notes, w->out, profile_name(p, frame));
	put_time(w, "ts", w->starts[node]);
	put_time(w, "dur", w->totals[node]);
	buf_printf(w->out, ",\"pid\":1,\"tid\":1,\"args\":{\"self\":%lld", (long long)self_of(w, node));
	if (parent != PROFILE_ROOT)
		buf_printf(w->out, ",\"parent\":%u", w->numbers[parent]);
	put_place(w, frame, ",");
	buf_puts(w->out, "}}");
}

static void put_call(struct writer *w, const struct chart_call *call)
{
	uint32_t frame = w->profile->node_frames[call->node];

	buf_puts(w->out, "{\"ph\":\"X\",\"name\":");
	notes_put_json(&w->notes, w->out, profile_name(w->profile, frame));
	put_ns(w, "ts", call->start_ns);
	put_ns(w, "dur", call->end_ns - call->start_ns);
	buf_puts(w->out, ",\"pid\":1,\"tid\":1,\"args\":{");
	put_place(w, frame, "");
	buf_puts(w->out, "}}");
}

static void put_facts(struct writer *w)
{
	const struct profile_column *c = &w->profile->columns[w->column];

	buf_puts(w->out, "],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"column\":");
	notes_put_json(&w->notes, w->out, (struct str){ c->name, strlen(c->name) });
	buf_puts(w->out, ",\"unit\":");
	notes_put_json(&w->notes, w->out, (struct str){ c->unit, strlen(c->unit) });
	if (w->charted)
		buf_puts(w->out, ",\"chart\":true");
	else
		buf_printf(w->out, ",\"self\":%lld", (long long)self_of(w, PROFILE_ROOT));
	buf_puts(w->out, ",\"strobe\":");
	json_put_metadata(&w->notes, w->out, w->profile);
	buf_puts(w->out, "}}\n");
}

static void put_chart(struct writer *w)
{
	const struct chart *c = w->profile->chart;

	buf_puts(w->out, "{\"traceEvents\":[");
	for (uint32_t i = 0; i < c->count && !w->out->overflow; i++) {
		buf_puts(w->out, i ? ",\n" : "\n");
		put_call(w, &c->calls[i]);
	}
	put_facts(w);
}

static void put_all(struct writer *w)
{
	const struct profile *p = w->profile;
	_cleanup_(freep) uint32_t *order = preorder_new(p);
	uint32_t number = 0;

	w->numbers = xcalloc(p->node_count, sizeof(*w->numbers));
	buf_puts(w->out, "{\"traceEvents\":[");
	for (uint32_t i = 1; i < p->node_count && !w->out->overflow; i++) {
		if (!w->totals[order[i]])
			continue;
		buf_puts(w->out, number ? ",\n" : "\n");
		w->numbers[order[i]] = ++number;
		put_event(w, order[i]);
	}
	put_facts(w);
}

static int64_t choose_scale(const struct profile *p, uint32_t column)
{
	if (!strcmp(p->columns[column].unit, "nanoseconds"))
		return 1;
	return !strcmp(p->columns[column].name, "samples") && p->period_ns > 0 ? p->period_ns : 1000;
}

int chrome_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err)
{
	struct writer w = { .profile = p, .out = out };
	int r;

	w.column = column == UINT32_MAX ? profile_pick_column(p, NULL) : column;
	if (w.column >= p->column_count)
		return err_set(err, -ENODATA, "nothing to write: the profile has no values");
	w.scale = choose_scale(p, w.column);
	w.charted = chart_shows(p, column);
	notes_init(&w.notes);
	if (w.charted) {
		put_chart(&w);
	} else {
		notes_below_zero(&w.notes, p, w.column);
		find_places(&w);
		put_all(&w);
	}
	r = notes_result(&w.notes, out, "trace", err);
	free(w.totals);
	free(w.starts);
	free(w.numbers);
	notes_done(&w.notes);
	return r;
}
