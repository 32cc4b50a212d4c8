/* perf.c: output of `perf script`: samples with their call chains, as text (format: perf_line.h).
 *
 * A profile has thousands of different call chains and tens of thousands of different frames, while the text has
 * millions of lines. So a chain is first looked up as a whole, then compared with the last one from its root on, and
 * then looked up line by line, before anything in it is parsed.
 *
 * Each event counts its period: the number of cycles, or nanoseconds of a clock, that it represents; 1 if perf did
 * not write it.
 */
#include "format.h"
#include "mem.h"
#include "perf_chain.h"
#include "perf_line.h"
#include <limits.h>
#include <math.h>
#include <string.h>

#define EVENTS_NAMED	((size_t)8)		/* other events reported by name */

struct perf_reader {
	struct profile *profile;
	const struct format_options *options;
	struct input *in;
	uint32_t value, samples;	/* columns; UINT32_MAX before the first sample */

	struct seen chains;		/* nodes */
	struct perf_chains lines;	/* the lines of chains */

	struct buf line, process;	/* scratch */
	struct buf event;		/* the event being counted */
	bool event_by_default;
	struct other {
		char name[64];
		uint64_t samples;
	} others[EVENTS_NAMED];		/* events that are not counted */
	size_t other_names;
	uint64_t other_samples, out_of_time, untimed;

	double start;			/* start of the time range; NAN before the first event */
	uint64_t taken;
};

/* --- Events --- */

/* Returns the node of "comm", "comm-PID" or "comm-PID/TID". */
static uint32_t process_of(struct perf_reader *r, const struct perf_event *e)
{
	bool two = e->tid.n && !(e->tid.n == 1 && *e->tid.p == '0');
	struct str pid = two ? e->pid : (struct str){ "?", 1 }, tid = two ? e->tid : e->pid;

	buf_reset(&r->process);
	buf_put(&r->process, e->comm.p, e->comm.n);
	if (r->options->pid || r->options->tid) {
		buf_putc(&r->process, '-');
		buf_put(&r->process, pid.p, pid.n);
	}
	if (r->options->tid) {
		buf_putc(&r->process, '/');
		buf_put(&r->process, tid.p, tid.n);
	}
	for (size_t i = 0; i < r->process.size; i++)
		if (r->process.data[i] == ' ')
			r->process.data[i] = '_';
	return profile_child(r->profile, PROFILE_ROOT,
			     profile_frame(r->profile, (struct str){ r->process.data, r->process.size },
					   (struct str){ "", 0 }, 0));
}

static void count_other(struct perf_reader *r, struct str name)
{
	int shown = name.n < sizeof(r->others[0].name) - 1 ? (int)name.n : (int)sizeof(r->others[0].name) - 1;
	char text[sizeof(r->others[0].name)];
	size_t i;

	r->other_samples++;
	snprintf(text, sizeof(text), "%.*s", shown, name.p);
	for (i = 0; i < r->other_names && strcmp(r->others[i].name, text); i++)
		;
	if (i == EVENTS_NAMED)
		return;
	if (i == r->other_names)
		memcpy(r->others[r->other_names++].name, text, sizeof(text));
	r->others[i].samples++;
}

/* Cycles and instructions cannot be added up, so only one event is used. */
static bool is_event_wanted(struct perf_reader *r, struct str name)
{
	if (!name.n)
		return true;
	if (!r->event.size) {
		buf_put(&r->event, name.p, name.n);
		r->event_by_default = true;
	}
	if (name.n == r->event.size && !memcmp(name.p, r->event.data, name.n))
		return true;
	count_other(r, name);
	return false;
}

static bool is_time_wanted(struct perf_reader *r, struct str time)
{
	const struct format_options *o = r->options;
	double t;

	if (!o->time_range)
		return true;
	if (!time.n) {
		r->untimed++;
		return false;
	}
	t = strtod(time.p, NULL);	/* it ends at the colon */
	if (isnan(r->start))
		r->start = t;
	if (o->time_zero == TIME_FROM_FIRST)
		t -= r->start;
	else if (o->time_zero == TIME_FROM_SECOND)
		t -= floor(r->start);
	if (t >= o->time_min && t <= o->time_max)
		return true;
	r->out_of_time++;
	return false;
}

/* Clocks count nanoseconds, all other events are plain counts. The first sample shows whether there are periods. */
static int add_columns(struct perf_reader *r, const struct perf_event *e, struct err *err)
{
	bool clock = e->name.n >= 9 && (!memcmp(e->name.p, "cpu-clock", 9) ||
					(e->name.n >= 10 && !memcmp(e->name.p, "task-clock", 10)));
	char name[64];

	snprintf(name, sizeof(name), "%.*s", e->name.n < sizeof(name) ? (int)e->name.n : (int)sizeof(name) - 1,
		 e->name.p);
	if (e->period && *name)
		r->value = profile_column(r->profile, name, clock ? "nanoseconds" : "count");
	r->samples = profile_column(r->profile, "samples", "count");
	if (!e->period || !*name)
		r->value = r->samples;
	if (r->value == UINT32_MAX || r->samples == UINT32_MAX)
		return err_set(err, -E2BIG, "there is no room for its columns beside the existing %u",
			       PROFILE_COLUMNS);
	return 0;
}

static int add_sample(struct perf_reader *r, const struct perf_event *e, struct str chain, uint64_t number,
		      struct err *err)
{
	bool java = e->comm.n >= 4 && !memcmp(e->comm.p, "java", 4);
	uint32_t process = process_of(r, e), *node;
	uint64_t value = e->period ? e->period : 1;

	if (r->samples == UINT32_MAX && add_columns(r, e, err) < 0)
		return err->code;
	node = seen_slot(&r->chains, XXH3_128bits_withSeed(chain.p, chain.n, process));
	if (!*node)
		*node = perf_chains_add(&r->lines, process, java, chain, number);
	profile_add(r->profile, *node, r->value, value < INT64_MAX ? (int64_t)value : INT64_MAX);
	if (r->samples != r->value)
		profile_add(r->profile, *node, r->samples, 1);
	r->taken++;
	return 0;
}

/* --- Lines --- */

/* Tells whether an event is a sample: it is followed by a chain, or an empty line. Other events have neither:
 * "PERF_RECORD_COMM: …". At the end of the text, where that line may be missing, samples are identified by their
 * event's name. */
static bool is_sample(const struct perf_event *e, struct str chain, struct str rest)
{
	const char *newline = memchr(rest.p, '\n', rest.n);

	if (chain.n)
		return true;
	return rest.n ? perf_line_is_empty(rest.p, newline ? newline : rest.p + rest.n) : e->name.n > 0;
}

/* Reads an event, and the chain below its line. */
static int read_event(struct perf_reader *r, const struct perf_event *e, struct err *err)
{
	bool wanted = is_time_wanted(r, e->time) && is_event_wanted(r, e->name);
	uint64_t number = r->in->line;
	struct str chain;

	if (!perf_chain_take(r->in, &chain))
		return err_set(err, -E2BIG, "the call chain below line %llu exceeds the limit of %zu bytes",
			       (unsigned long long)number, PERF_CHAIN_BYTES);
	if (!wanted || !is_sample(e, chain, input_buffered(r->in)))
		return 0;
	return add_sample(r, e, chain, number, err);
}

/* Reads an event whose only frame follows on the same line. */
static int read_flat(struct perf_reader *r, const struct perf_event *e, const struct perf_frame *f, struct err *err)
{
	const char *end = f->module.p + f->module.n + 1;	/* after its closing bracket */

	if (!is_time_wanted(r, e->time) || !is_event_wanted(r, e->name))
		return 0;
	return add_sample(r, e, (struct str){ f->address.p, (size_t)(end - f->address.p) }, r->in->line, err);
}

static int read_line(struct perf_reader *r, struct str line, struct err *err)
{
	struct perf_event e, flat;
	struct perf_frame f;
	bool event;

	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	if (!line.n || line.p[0] == '#')
		return 0;
	/* The line would not stay valid while the chain is read. */
	buf_reset(&r->line);
	buf_put(&r->line, line.p, line.n);
	line.p = r->line.data;
	event = perf_event_parse(line, &e);
	if (!(event && e.name.n) && perf_flat_parse(line, &flat, &f))
		return read_flat(r, &flat, &f, err);
	if (event)
		return read_event(r, &e, err);
	/* The start of a truncated text may have frames without an event. */
	if (!perf_frame_parse(line, &f))
		perf_chains_skip(&r->lines, line, r->in->line);
	return 0;
}

/* --- Top level --- */

static void report_others(const struct perf_reader *r, struct buf *out)
{
	for (size_t i = 0; i < r->other_names; i++)
		buf_printf(out, "%s%s %llu", i ? ", " : "", r->others[i].name,
			   (unsigned long long)r->others[i].samples);
	if (r->other_names == EVENTS_NAMED)
		buf_puts(out, ", …");
}

/* Reports omissions that were not requested. */
static void describe_skipped(const struct perf_reader *r, struct buf *out)
{
	struct err missing;

	if (!r->taken && r->other_samples) {
		buf_printf(out, "no sample is of event %s; there are ", r->event.data);
		report_others(r, out);
	} else if (r->event_by_default && r->other_samples) {
		buf_printf(out, "only samples of %s are counted, the first event; --event-filter selects "
				"another one: ", r->event.data);
		report_others(r, out);
	}
	if (r->untimed)
		buf_printf(out, "%s%llu sample%s no time", out->size ? "; " : "", (unsigned long long)r->untimed,
			   r->untimed == 1 ? " has" : "s have");
	if (!r->taken && r->out_of_time)
		buf_printf(out, "%sno sample of %llu is in the range of time", out->size ? "; " : "",
			   (unsigned long long)r->out_of_time);
	if (perf_inline_error(r->lines.inlined, &missing) < 0)
		buf_printf(out, "%s%s", out->size ? "; " : "", missing.text);
	if (r->lines.unreadable)
		buf_printf(out, "%s%s", out->size ? "; " : "", r->lines.first_unreadable.text);
}

static int finish(const struct perf_reader *r, struct err *err)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	uint64_t left_out = r->lines.unreadable + r->untimed + (r->event_by_default ||
								!r->taken ? r->other_samples : 0) +
			    (r->taken ? 0 : r->out_of_time) + (perf_inline_error(r->lines.inlined, NULL) < 0);

	if (r->in->err.code)
		return r->in->err.code;
	if (!left_out && r->taken)
		return 0;
	if (!left_out || (!r->taken && left_out == r->lines.unreadable))
		return err_set(err, -EINVAL, "it has no samples of perf script%s%s",
			       r->lines.unreadable ? "; " : "",
			       r->lines.unreadable ? r->lines.first_unreadable.text : "");
	buf_init(&text);
	describe_skipped(r, &text);
	err_set(err, -EINVAL, "%s", text.data);
	return left_out < INT_MAX ? (int)left_out : INT_MAX;
}

static int perf_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	const struct labels none = { 0 };
	struct perf_reader r = {
		.profile = p, .options = o, .in = in, .value = UINT32_MAX, .samples = UINT32_MAX, .start = NAN
	};
	struct str line;
	int code = 0;

	profile_describe(p, 0, false, &none);
	perf_chains_init(&r.lines, p, o);
	buf_init(&r.line);
	buf_init(&r.process);
	buf_init(&r.event);
	if (o->event)
		buf_puts(&r.event, o->event);
	while (!code && input_line(in, &line))
		code = read_line(&r, line, err);
	if (!code)
		code = finish(&r, err);
	perf_chains_done(&r.lines);
	buf_done(&r.line);
	buf_done(&r.process);
	buf_done(&r.event);
	seen_done(&r.chains);
	return code;
}

static bool ends_with_colon(struct str line)
{
	while (line.n && perf_is_space(line.p[line.n - 1]))
		line.n--;
	return line.n && line.p[line.n - 1] == ':';
}

/* The first significant lines must be an event and a frame or an empty line. */
static int perf_sniff(const char *bytes, size_t n)
{
	const char *p = bytes, *end = bytes + n;
	unsigned events = 0, lines = 0;

	for (; p < end && lines < 100; lines++) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		struct str line = { p, (size_t)((newline ? newline : end) - p) };
		struct perf_event e;
		struct perf_frame f;

		p = newline ? newline + 1 : end;
		if (line.n && line.p[line.n - 1] == '\r')
			line.n--;
		if (!line.n || line.p[0] == '#')
			continue;
		if (events && perf_frame_parse(line, &f))
			return 85;
		if (perf_flat_parse(line, &e, &f))
			return 85;
		if (!perf_event_parse(line, &e) || (!e.name.n && !e.time.n && !ends_with_colon(line)))
			return 0;
		events++;
	}
	return events ? 60 : 0;
}

const struct format format_perf = {
	"perf", "perf", perf_sniff, perf_read, NULL, .about = "text of perf script, samples with their call chains",
	.has_times = true
};
