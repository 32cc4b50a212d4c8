/* sink_relay.c: batches and runs to a stream, for another collector. */

#include "sinks.h"

#include "mem.h"
#include "relay.h"

struct relay_sink {
	struct sink base;
	struct relay *relay;
};

static uint64_t relay_sink_stop(struct sink *base)
{
	return relay_stop(((struct relay_sink *)base)->relay);
}

static struct sink *relay_sink_close(struct sink *base)
{
	struct relay_sink *s = (struct relay_sink *)base;

	relay_close(s->relay);
	free(base->url);
	free(s);
	return NULL;
}

static int relay_sink_open(const char *url, const struct sink_options *o, struct sink **ret, struct err *err)
{
	struct relay_sink *s;
	struct relay *relay;
	int r;

	if (!o->state)
		return err_set(err, -ENOTSUP, "a relay can only be added by a restart, since there is no state "
					      "directory for its spool");
	r = relay_open(url, o->state, o->takes_old_spool, &relay, err);
	if (r < 0)
		return r;
	s = xcalloc(1, sizeof(*s));
	s->base.ops = &sink_relay_ops;
	s->base.url = xstrdup(relay_url(relay));
	s->base.port = relay_sink(relay);
	s->relay = relay;
	*ret = &s->base;
	return 0;
}

static size_t drop_figures(const struct spool_counters *n, struct sink_metric *ret)
{
	size_t count = 0;

	for (unsigned i = 0; i < SPOOL_DROPS; i++) {
		const char *reason = spool_drop_name((enum spool_drop)i);

		ret[count++] = (struct sink_metric){ "relay_dropped_samples_total",
						     "Samples lost after they were spooled.",
						     "reason", reason, n->samples_dropped[i] };
	}
	for (unsigned i = 0; i < SPOOL_DROPS; i++)
		ret[count++] = (struct sink_metric){ "relay_dropped_runs_total",
						     "Runs lost after they were spooled.",
						     "reason", spool_drop_name((enum spool_drop)i),
						     n->runs_dropped[i] };
	return count;
}

#define AT(member)	offsetof(struct relay_counters, member)

static const struct {
	const char *name, *help;
	size_t offset;			/* the member is an _Atomic uint64_t */
} counter_figures[] = {
	{ "spool_bytes", "Bytes of the spool's files.", AT(spool.bytes) },
	{ "spool_limit_bytes", "Size limit of the spool.", AT(spool_limit) },
	{ "relay_recovered_samples_total", "Samples that were in the spool at the start.", AT(spool.samples_recovered) },
	{ "relay_received_samples_total",
	  "Samples received since the start; recovered + received = forwarded + deduplicated + dropped + waiting.",
	  AT(spool.samples_received) },
	{ "relay_forwarded_samples_total", "Samples that were added to the stream.", AT(spool.samples_forwarded) },
	{ "relay_deduplicated_samples_total",
	  "Samples sent again and deduplicated: the stream had them.",
	  AT(spool.samples_deduplicated) },
	{ "relay_waiting_samples", "Samples in the spool and in the open window.", AT(spool.samples_waiting) },
	{ "relay_recovered_runs_total", "Runs that were in the spool at the start.", AT(spool.runs_recovered) },
	{ "relay_received_runs_total", "Runs received since the start.", AT(spool.runs_received) },
	{ "relay_forwarded_runs_total", "Runs that were added to the stream.", AT(spool.runs_forwarded) },
	{ "relay_deduplicated_runs_total",
	  "Runs sent again and deduplicated: the stream had them.",
	  AT(spool.runs_deduplicated) },
	{ "relay_waiting_runs", "Runs in the spool.", AT(spool.runs_waiting) },
	{ "relay_forwarded_entries_total", "Entries that were added to the stream.", AT(entries_forwarded) },
	{ "relay_deduplicated_entries_total",
	  "Entries sent again and deduplicated: the stream had them.",
	  AT(entries_deduplicated) },
	{ "relay_renumbered_entries_total",
	  "Entries renumbered because another one had their number: this process resumed from an earlier state.",
	  AT(entries_renumbered) },
	{ "relay_waiting_entries", "Entries in the spool.", AT(spool.records_waiting) },
	{ "relay_failures_total", "Failed attempts to forward.", AT(failures) },
	{ "relay_damaged_records_total", "Unreadable places of the spool.", AT(spool.records_damaged) },
	{ "relay_set_aside_files_total",
	  "Files of the spool written by a newer Strobe, kept under another name.",
	  AT(spool.files_set_aside) },
	{ "relay_set_aside_entries_total",
	  "Entries and batches in files of the spool that were set aside.",
	  AT(spool.records_set_aside) },
};

#undef AT

static size_t figures(void *sink, struct sink_metric *ret, size_t max)
{
	const struct relay_counters *c = relay_counters(((struct relay_sink *)sink)->relay);
	const struct sink_metric states[] = {
		{ "relay_up", "Whether the last attempt to forward succeeded; 1 before the first one.", NULL, NULL, c->is_up },
		{ "relay_oldest_entry_timestamp_seconds", "Creation time of the oldest queued entry; 0 if none is queued.",
		  NULL, NULL, (uint64_t)(c->spool.oldest_ns / 1000000000) },
		{ "relay_last_forward_timestamp_seconds", "Time when an entry was last forwarded.", NULL, NULL,
		  (uint64_t)(c->last_forward_ns / 1000000000) },
	};
	size_t count = 0;

	if (max < ARRAY_SIZE(states) + ARRAY_SIZE(counter_figures) + 2 * SPOOL_DROPS)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		ret[count++] = states[i];
	for (size_t i = 0; i < ARRAY_SIZE(counter_figures); i++)
		ret[count++] = (struct sink_metric){ counter_figures[i].name, counter_figures[i].help, NULL, NULL,
						     *(const _Atomic uint64_t *)((const char *)c + counter_figures[i].offset) };
	return count + drop_figures(&c->spool, ret + count);
}

static bool state(void *sink, char *text, size_t size)
{
	return relay_state(((struct relay_sink *)sink)->relay, text, size);
}

const struct sink_ops sink_relay_ops = {
	.scheme = "redis",
	.open = relay_sink_open,
	.figures = figures,
	.state = state,
	.stop = relay_sink_stop,
	.close = relay_sink_close,
};

const struct sink_ops sink_relay_tls_ops = {
	.scheme = "rediss",
	.open = relay_sink_open,
	.figures = figures,
	.state = state,
	.stop = relay_sink_stop,
	.close = relay_sink_close,
};
