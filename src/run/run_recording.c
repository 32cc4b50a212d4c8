/* run_recording.c: a minimal collector: no buckets, no thread, one profile. */

#include "run_recording.h"

#include "chart.h"
#include "wire_profile.h"

#include <stdlib.h>
#include <string.h>

void recording_init(struct recording *r)
{
	*r = (struct recording){ .profile = profile_new() };
	profile_keep_lines(r->profile, true);
}

void recording_done(struct recording *r)
{
	r->profile = profile_free(r->profile);
	unfinished_done(&r->unfinished);
}

/* A trace requested by `strobe run --trace` is not random, though the extension samples it with a rate of 1. */
static void correct_source(struct labels *labels)
{
	const char *source = labels_get(labels, "source");

	if (source && !strcmp(source, "sampled"))
		labels_set(labels, "source", 6, "run", 3);
}

static void note_labels(struct profile *p, const struct strobe_wire_message *m, bool first)
{
	struct labels labels;

	labels_init(&labels);
	wire_profile_labels(m, &labels);
	correct_source(&labels);
	if (m->info.clock == STROBE_CLOCK_CPU)
		labels_set(&labels, "clock", 5, "cpu", 3);
	else if (m->info.clock == STROBE_CLOCK_WALL)
		labels_set(&labels, "clock", 5, "wall", 4);
	if (first)
		labels_copy(&p->labels, &labels);
	else
		labels_keep_common(&p->labels, &labels);
	labels_done(&labels);
}

static void note_time(struct profile *p, const struct strobe_wire_message *m, bool first)
{
	int64_t start = (int64_t)m->info.start_ns, end = (int64_t)m->info.end_ns;
	int64_t period = (int64_t)m->info.period_ns;

	if (first) {
		p->start_ns = start;
		p->end_ns = end;
		p->period_ns = period;
		return;
	}
	if (start < p->start_ns)
		p->start_ns = start;
	if (end > p->end_ns)
		p->end_ns = end;
	if (period != p->period_ns) {
		p->period_ns = 0;
		p->mixed_periods = true;
	}
}

static void on_open(void *data, const struct message_metadata *about, const struct strobe_wire_message *m)
{
	unfinished_put(&((struct recording *)data)->unfinished, m);
}

static uint64_t calls_of(const struct profile *p)
{
	uint32_t calls = profile_find_column(p, "calls");

	return calls == UINT32_MAX ? 0 : (uint64_t)profile_sum(p, calls);
}

static uint64_t uncharted_of(const struct strobe_wire_message *m)
{
	struct labels labels = { 0 };
	const char *text;
	uint64_t n;

	labels_init(&labels);
	wire_profile_labels(m, &labels);
	text = labels_get(&labels, CHART_UNCHARTED);
	n = text ? strtoull(text, NULL, 10) : 0;
	labels_done(&labels);
	return n;
}

/* Adds a message, whose chart replaces one that began later. */
static int add_trace(struct recording *r, const struct strobe_wire_message *m)
{
	const struct chart *chart = r->profile->chart;
	bool is_first = m->calls && (!chart || chart->start_ns > (int64_t)m->info.start_ns);
	uint64_t before = calls_of(r->profile);

	if ((is_first ? wire_profile_add_charted : wire_profile_add)(r->profile, m) < 0)
		return -1;
	if (is_first) {
		r->charted = calls_of(r->profile) - before;
		r->charted_less = uncharted_of(m);
	}
	r->uncharted = calls_of(r->profile) - r->charted + r->charted_less;
	return 0;
}

static void add(struct recording *r, const struct strobe_wire_message *m)
{
	const uint8_t *drops = m->at_drops;
	bool first = r->messages == 0;

	for (uint32_t i = 0; i < m->drops; i++) {
		uint64_t reason = strobe_wire_next(&drops);

		r->lost[reason < STROBE_DROP_REASONS ? reason : 0] += strobe_wire_next(&drops);
	}
	if ((m->calls || r->profile->chart ? add_trace(r, m) : wire_profile_add(r->profile, m)) < 0) {
		r->unfit++;
		return;
	}
	note_labels(r->profile, m, first);
	note_time(r->profile, m, first);
	r->messages++;
	r->runs += (uint64_t)strobe_wire_is_run(m->info.kind);
	r->samples += m->samples;
}

static void got(void *data, const struct message_metadata *about, const struct strobe_wire_message *m)
{
	struct recording *r = data;

	unfinished_end(&r->unfinished, m);
	add(r, m);
}

static void add_part(void *data, const struct strobe_wire_message *m)
{
	struct recording *r = data;

	if (!m->nodes) {
		r->lost[STROBE_DROP_KILLED]++;
		return;
	}
	add(r, m);
	r->cut += m->info.kind == STROBE_WIRE_OPEN_RUN;
}

void recording_end(struct recording *r)
{
	char text[24];

	unfinished_take(&r->unfinished, add_part, r);
	if (!r->profile->chart || !r->uncharted)
		return;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)r->uncharted);
	labels_set(&r->profile->labels, CHART_UNCHARTED, strlen(CHART_UNCHARTED), text, strlen(text));
}

struct source_receiver recording_receiver(struct recording *r)
{
	return (struct source_receiver){ .message = got, .open = on_open, .data = r };
}
