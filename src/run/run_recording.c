/* run_recording.c: the small sibling of the collector: no buckets, no thread, one profile. */

#include "run_recording.h"

#include "mem.h"
#include "open_runs.h"
#include "wire_profile.h"

#include <string.h>

struct pending_run {
	struct pending_run *next;
	char id[STROBE_WIRE_RUN_KEY + 1];
	struct strobe_wire_message message;	/* the last that came, in bytes of its own */
	void *bytes;
};

void recording_init(struct recording *r)
{
	*r = (struct recording){ .profile = profile_new() };
}

static void forget(struct pending_run **at)
{
	struct pending_run *o = *at;

	*at = o->next;
	free(o->bytes);
	free(o);
}

void recording_done(struct recording *r)
{
	r->profile = profile_free(r->profile);
	while (r->pending)
		forget(&r->pending);
}

static void note_labels(struct profile *p, const struct strobe_wire_message *m, bool first)
{
	struct labels labels;

	labels_init(&labels);
	wire_profile_labels(m, &labels);
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

/* The place of the run that a message is about, at the end of the list if it is new; NULL if the run has no id. */
static struct pending_run **find_pending(struct recording *r, const struct strobe_wire_message *m, char *ret_id)
{
	struct pending_run **at = &r->pending;
	size_t n;
	const char *id = open_runs_label(m, "id", &n);

	if (!id)
		return NULL;
	memcpy(ret_id, id, n);
	ret_id[n] = '\0';
	while (*at && strcmp((*at)->id, ret_id) != 0)
		at = &(*at)->next;
	return at;
}

static void got_open_run(void *data, const struct source_about *about, const struct strobe_wire_message *m)
{
	char id[STROBE_WIRE_RUN_KEY + 1];
	struct pending_run **at = find_pending(data, m, id);
	struct pending_run *o;
	size_t n;

	if (!at)
		return;
	if (open_runs_label(m, "discarded", &n)) {
		if (*at)
			forget(at);
		return;
	}
	if (!*at) {
		*at = xcalloc(1, sizeof(**at));
		memcpy((*at)->id, id, sizeof(id));
	}
	o = *at;
	free(o->bytes);
	o->bytes = xmalloc(m->size);
	memcpy(o->bytes, wire_message_bytes(m), m->size);
	o->message = wire_message_at(m, o->bytes);
}

static void add(struct recording *r, const struct strobe_wire_message *m)
{
	const uint8_t *drops = m->at_drops;
	bool first = r->messages == 0;

	for (uint32_t i = 0; i < m->drops; i++) {
		uint64_t reason = strobe_wire_next(&drops);

		r->lost[reason < STROBE_DROP_REASONS ? reason : 0] += strobe_wire_next(&drops);
	}
	if (wire_profile_add(r->profile, m) < 0) {
		r->unfit++;
		return;
	}
	note_labels(r->profile, m, first);
	note_time(r->profile, m, first);
	r->messages++;
	r->runs += m->info.kind != STROBE_WIRE_SAMPLES;
	r->samples += m->samples;
}

static void got(void *data, const struct source_about *about, const struct strobe_wire_message *m)
{
	char id[STROBE_WIRE_RUN_KEY + 1];
	struct recording *r = data;
	struct pending_run **at = m->info.kind == STROBE_WIRE_RUN ? find_pending(r, m, id) : NULL;

	if (at && *at)
		forget(at);
	add(r, m);
}

void recording_end(struct recording *r)
{
	for (; r->pending; forget(&r->pending)) {
		if (r->pending->message.nodes) {
			add(r, &r->pending->message);
			r->cut++;
		} else {
			r->lost[STROBE_DROP_KILLED]++;
		}
	}
}

struct source_receiver recording_receiver(struct recording *r)
{
	return (struct source_receiver){ .message = got, .open_run = got_open_run, .data = r };
}
