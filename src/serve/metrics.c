/* metrics.c: one line of help and type per family, then its samples. Names must stay stable, since dashboards use
 * them. */

#include "metrics.h"

#include "clock.h"
#include "counter_snapshot.h"
#include "health.h"
#include "mem.h"
#include "pyroscope.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

static void family(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_u64(struct buf *out, const char *name, uint64_t v)
{
	buf_puts(out, name);
	buf_putc(out, ' ');
	buf_put_u64(out, v);
	buf_putc(out, '\n');
}

static void single(struct buf *out, const char *name, const char *type, uint64_t v, const char *help)
{
	family(out, name, type, help);
	put_u64(out, name, v);
}

/* Writes a time or duration in seconds, with the significant decimals. */
static void seconds(struct buf *out, const char *name, const char *type, int64_t ns, const char *help)
{
	family(out, name, type, help);
	buf_printf(out, "%s %lld.%06lld\n", name, (long long)(ns / NS_PER_SECOND),
		   (long long)(ns % NS_PER_SECOND / 1000));
}

/* Label values escape backslash, quote and newline; other control bytes are made harmless. */
static void put_label_value(struct buf *out, const char *value)
{
	_cleanup_(buf_done) struct buf plain = { 0 };

	buf_init(&plain);
	text_put_plain(&plain, (struct str){ value, strlen(value) });
	for (size_t i = 0; i < plain.size; i++) {
		if (plain.data[i] == '\\' || plain.data[i] == '"')
			buf_putc(out, '\\');
		buf_putc(out, plain.data[i]);
	}
}

static void labeled(struct buf *out, const char *name, const char *key, const char *value, uint64_t v)
{
	buf_printf(out, "%s{%s=\"", name, key);
	put_label_value(out, value);
	buf_puts(out, "\"} ");
	buf_put_u64(out, v);
	buf_putc(out, '\n');
}

static void of_source(struct buf *out, const char *name, const struct source *s, const char *reason, uint64_t v)
{
	buf_printf(out, "%s{source=\"", name);
	put_label_value(out, s->url);
	if (reason)
		buf_printf(out, "\",reason=\"%s", reason);
	buf_puts(out, "\"} ");
	buf_put_u64(out, v);
	buf_putc(out, '\n');
}

/* A family with one number per source. */
struct source_family {
	const char *name, *type, *help;
	uint64_t (*number)(const struct source *s);
};

static void put_each_source(struct buf *out, const struct server_context *s, const struct source_family *f)
{
	family(out, f->name, f->type, f->help);
	for (size_t i = 0; i < s->options.source_count; i++)
		of_source(out, f->name, s->options.sources[i], NULL, f->number(s->options.sources[i]));
}

/* Does the same, but only for sources whose entries are acknowledged. */
static void put_each_stream(struct buf *out, const struct server_context *s, const struct source_family *f)
{
	family(out, f->name, f->type, f->help);
	for (size_t i = 0; i < s->options.source_count; i++) {
		const struct source *source = s->options.sources[i];

		if (source->ops && source->ops->ack)
			of_source(out, f->name, source, NULL, f->number(source));
	}
}

static uint64_t is_up(const struct source *s)
{
	return s->is_up;
}

static uint64_t lines(const struct source *s)
{
	return s->counters.lines;
}

static uint64_t files(const struct source *s)
{
	return s->counters.files;
}

static uint64_t bad_entries(const struct source *s)
{
	return s->counters.rejected_entries;
}

static uint64_t logins_refused(const struct source *s)
{
	return s->counters.logins_refused;
}

static uint64_t other_channels(const struct source *s)
{
	return s->counters.rejected_channel;
}

static uint64_t lag(const struct source *s)
{
	return s->counters.lag;
}

static uint64_t pending(const struct source *s)
{
	return s->counters.pending;
}

static uint64_t acked(const struct source *s)
{
	return s->counters.acked;
}

static uint64_t claimed(const struct source *s)
{
	return s->counters.claimed;
}

static uint64_t trimmed(const struct source *s)
{
	return s->counters.lost_to_trimming;
}

static uint64_t lost(const struct source *s)
{
	return s->counters.connections_lost;
}

static uint64_t cut_off(const struct source *s)
{
	return s->counters.connections_closed_by_server;
}

static uint64_t missed(const struct source *s)
{
	return s->counters.messages_missed;
}

/* Only for the source of profiles pushed over HTTP. */
static void put_pushes(struct buf *out, struct source *const *sources, size_t n)
{
	family(out, "strobe_pushes_total", "counter", "Pushes of other profilers' clients accepted over HTTP, "
						      "by protocol.");
	for (size_t i = 0; i < n; i++)
		for (unsigned p = 0; p < SOURCE_PUSH_PROTOCOLS && source_takes_pushes(sources[i]); p++)
			labeled(out, "strobe_pushes_total", "protocol", source_push_protocol_name((enum source_push_protocol)p),
				sources[i]->counters.pushes[p]);
	family(out, "strobe_push_bytes_total", "counter", "Bytes of the bodies of accepted pushes, before "
							  "decompression.");
	for (size_t i = 0; i < n; i++)
		if (source_takes_pushes(sources[i]))
			put_u64(out, "strobe_push_bytes_total", sources[i]->counters.push_bytes);
	family(out, "strobe_pushes_rejected_total", "counter", "Rejected pushes, and profiles left out of accepted ones, by reason.");
	for (size_t i = 0; i < n; i++)
		for (unsigned e = 0; e < SOURCE_PUSH_ERRORS && source_takes_pushes(sources[i]); e++)
			labeled(out, "strobe_pushes_rejected_total", "reason", source_push_error_name((enum source_push_error)e),
				sources[i]->counters.rejected_pushes[e]);
}

static const struct source_family up_family = { "strobe_source_up", "gauge", "1 while the source listens or is connected.",
						is_up };
static const struct source_family lines_family = { "strobe_lines_received_total", "counter", "Valid folded lines.", lines };
static const struct source_family files_family = { "strobe_run_files_total", "counter",
						   "Files imported from directories of runs.", files };

static const struct source_family connection_families[] = {
	{ "strobe_entries_rejected_total", "counter", "Stream entries without a message or lines.", bad_entries },
	{ "strobe_logins_refused_total", "counter", "Wrong passwords.", logins_refused },
	{ "strobe_other_channel_messages_total", "counter", "Messages on channels that are not collected.", other_channels },
};

static const struct source_family server_families[] = {
	{ "strobe_source_connections_lost_total", "counter", "Connections to a server that were lost.", lost },
	{ "strobe_source_connections_closed_by_server_total", "counter",
	  "Connections that a running server closed, mostly because its output buffer for this subscriber was full.", cut_off },
	{ "strobe_source_messages_missed_total", "counter",
	  "Upper limit of the messages published while the connection was lost, as far as the server counts.", missed },
};

/* Only for sources whose entries are acknowledged. */
static const struct source_family stream_families[] = {
	{ "strobe_stream_lag_entries", "gauge", "Entries of the stream not yet delivered to the consumer group.", lag },
	{ "strobe_stream_pending_entries", "gauge", "Entries delivered and not yet acknowledged.", pending },
	{ "strobe_stream_acked_total", "counter", "Entries acknowledged after they were stored.", acked },
	{ "strobe_stream_claimed_total", "counter", "Entries claimed from dead consumers.", claimed },
	{ "strobe_stream_trimmed_unread_total", "counter",
	  "Entries trimmed or deleted before they were read, or while pending for a dead consumer.", trimmed },
};

static void put_line_rejections(struct buf *out, struct source *const *sources, size_t n)
{
	family(out, "strobe_lines_rejected_total", "counter", "Invalid lines by reason.");
	for (size_t i = 0; i < n; i++)
		for (unsigned e = SOURCE_LINE_OK + 1; e < SOURCE_LINE_ERRORS; e++)
			of_source(out, "strobe_lines_rejected_total", sources[i],
				  source_line_error_name((enum source_line_error)e),
				  sources[i]->counters.rejected_lines[e]);
}

static void put_file_rejections(struct buf *out, struct source *const *sources, size_t n)
{
	family(out, "strobe_run_files_rejected_total", "counter",
	       "Files of directories of runs that were rejected, by reason.");
	for (size_t i = 0; i < n; i++)
		for (unsigned e = 0; e < SOURCE_FILE_ERRORS; e++)
			of_source(out, "strobe_run_files_rejected_total", sources[i],
				  source_file_error_name((enum source_file_error)e),
				  sources[i]->counters.rejected_files[e]);
}

static void put_closed_connections(struct buf *out, struct source *const *sources, size_t n)
{
	family(out, "strobe_connections_closed_total", "counter",
	       "Connections closed because they did not read replies or held too much memory (slow), or were idle, or in the "
	       "middle of a command, for too long (idle).");
	for (size_t i = 0; i < n; i++) {
		of_source(out, "strobe_connections_closed_total", sources[i], "slow", sources[i]->counters.connections_closed_slow);
		of_source(out, "strobe_connections_closed_total", sources[i], "idle", sources[i]->counters.connections_closed_idle);
	}
}

static void put_last_messages(struct buf *out, struct source *const *sources, size_t n)
{
	family(out, "strobe_source_last_message_timestamp_seconds", "gauge",
	       "Time of the last message of the source, 0 if never.");
	for (size_t i = 0; i < n; i++)
		of_source(out, "strobe_source_last_message_timestamp_seconds", sources[i], NULL,
			  (uint64_t)(sources[i]->counters.last_message_ns / NS_PER_SECOND));
}

static void put_pipeline_sources(struct buf *out, const struct server_context *s)
{
	struct source *const *sources = s->options.sources;
	size_t n = s->options.source_count;

	put_each_source(out, s, &up_family);
	put_each_source(out, s, &lines_family);
	put_line_rejections(out, sources, n);
	put_each_source(out, s, &files_family);
	put_file_rejections(out, sources, n);
	put_pushes(out, sources, n);
	for (size_t i = 0; i < ARRAY_SIZE(connection_families); i++)
		put_each_source(out, s, &connection_families[i]);
	put_closed_connections(out, sources, n);
	put_last_messages(out, sources, n);
	for (size_t i = 0; i < ARRAY_SIZE(server_families); i++)
		put_each_source(out, s, &server_families[i]);
	for (size_t i = 0; i < ARRAY_SIZE(stream_families); i++)
		put_each_stream(out, s, &stream_families[i]);
}

/* received = stored + dropped + in_flight, exactly; a consistent snapshot. */
static void put_source_samples(struct buf *out, const struct server_context *s)
{
	static const struct { const char *name, *type, *help; } families[] = {
		{ "strobe_source_samples_received_total", "counter", "Samples received from the source." },
		{ "strobe_source_samples_stored_total", "counter",
		  "Samples of the source that a sink has stored and that no sink still queues." },
		{ "strobe_source_samples_dropped_total", "counter", "Samples of the source that no sink has stored." },
		{ "strobe_source_samples_in_flight", "gauge", "Samples of the source that are still "
							      "queued for a sink." },
	};
	size_t n = s->options.source_count;
	struct source_snapshot *snapshots = xcalloc(n + 1, sizeof(*snapshots));

	for (size_t i = 0; i < n; i++)
		snapshots[i] = snapshot_source(&s->options.sources[i]->counters);
	for (size_t f = 0; f < ARRAY_SIZE(families); f++) {
		family(out, families[f].name, families[f].type, families[f].help);
		for (size_t i = 0; i < n; i++) {
			const struct source_snapshot *t = &snapshots[i];
			const uint64_t numbers[] = { t->received, t->stored, t->dropped, t->in_flight };

			of_source(out, families[f].name, s->options.sources[i], NULL, numbers[f]);
		}
	}
	free(snapshots);
}

/* --- Sinks --- */

static void of_sink(struct buf *out, const char *name, const struct server_sink *s, const char *key, const char *value,
		    uint64_t v)
{
	buf_printf(out, "%s{sink=\"", name);
	put_label_value(out, s->url);
	if (key) {
		buf_printf(out, "\",%s=\"", key);
		put_label_value(out, value);
	}
	buf_puts(out, "\"} ");
	buf_put_u64(out, v);
	buf_putc(out, '\n');
}

/* handed = stored + queued + dropped for both reasons, exactly. */
static void put_sink_samples(struct buf *out, const struct server_sink *sinks, size_t n)
{
	struct sink_snapshot *t = xcalloc(n + 1, sizeof(*t));

	for (size_t i = 0; i < n; i++)
		t[i] = snapshot_sink(sinks[i].counters);
	family(out, "strobe_sink_samples_handed_total", "counter", "Samples handed to the sink.");
	for (size_t i = 0; i < n; i++)
		of_sink(out, "strobe_sink_samples_handed_total", &sinks[i], NULL, NULL, t[i].handed);
	family(out, "strobe_sink_samples_stored_total", "counter", "Samples stored by the sink.");
	for (size_t i = 0; i < n; i++)
		of_sink(out, "strobe_sink_samples_stored_total", &sinks[i], NULL, NULL, t[i].stored);
	family(out, "strobe_sink_samples_queued", "gauge", "Samples queued for the sink.");
	for (size_t i = 0; i < n; i++)
		of_sink(out, "strobe_sink_samples_queued", &sinks[i], NULL, NULL, t[i].queued);
	family(out, "strobe_sink_samples_dropped_total", "counter", "Samples that the sink lost, by reason.");
	for (size_t i = 0; i < n; i++) {
		of_sink(out, "strobe_sink_samples_dropped_total", &sinks[i], "reason", "queue_full",
			t[i].dropped_queue);
		of_sink(out, "strobe_sink_samples_dropped_total", &sinks[i], "reason", "rejected", t[i].dropped_rejected);
	}
	free(t);
}

static int64_t lag_ns(const struct sink_counters *c)
{
	int64_t since = c->waits_since_ns, now = clock_monotonic_ns();

	return since && now > since ? now - since : 0;
}

static void put_sink_state(struct buf *out, const struct server_sink *sinks, size_t n)
{
	family(out, "strobe_sink_queue_bytes", "gauge", "Memory of the sink's queue.");
	for (size_t i = 0; i < n; i++)
		of_sink(out, "strobe_sink_queue_bytes", &sinks[i], NULL, NULL, sinks[i].counters->queue_bytes);
	family(out, "strobe_sink_commits_total", "counter", "Batches that the sink committed.");
	for (size_t i = 0; i < n; i++)
		of_sink(out, "strobe_sink_commits_total", &sinks[i], NULL, NULL, sinks[i].counters->commits);
	family(out, "strobe_sink_commit_failures_total", "counter", "Failed commits of the sink; the "
								    "batch is retried.");
	for (size_t i = 0; i < n; i++)
		of_sink(out, "strobe_sink_commit_failures_total", &sinks[i], NULL, NULL,
			sinks[i].counters->commit_failures);
	family(out, "strobe_sink_failing", "gauge", "1 while the last attempt failed.");
	for (size_t i = 0; i < n; i++)
		of_sink(out, "strobe_sink_failing", &sinks[i], NULL, NULL,
			sinks[i].counters->failing || sinks[i].counters->runs_failing);
	family(out, "strobe_sink_draining", "gauge", "1 for a sink that was removed and stores the rest of its queue.");
	for (size_t i = 0; i < n; i++)
		of_sink(out, "strobe_sink_draining", &sinks[i], NULL, NULL, sinks[i].is_draining);
	family(out, "strobe_sink_lag_seconds", "gauge", "Age of the oldest batch queued for the sink.");
	for (size_t i = 0; i < n; i++)
		of_sink(out, "strobe_sink_lag_seconds", &sinks[i], NULL, NULL,
			(uint64_t)(lag_ns(sinks[i].counters) / NS_PER_SECOND));
	family(out, "strobe_sink_last_commit_timestamp_seconds", "gauge", "Time of the sink's last "
		"commit, 0 if never.");
	for (size_t i = 0; i < n; i++)
		of_sink(out, "strobe_sink_last_commit_timestamp_seconds", &sinks[i], NULL, NULL,
			(uint64_t)(sinks[i].counters->last_commit_ns / NS_PER_SECOND));
}

struct counted {
	const struct server_sink *sink;
	struct sink_metric figure;
	bool done;
};

static bool is_counter(const char *name)
{
	size_t n = strlen(name);

	return n > 6 && !strcmp(name + n - 6, "_total");
}

/* Puts the sinks' own figures, each name once with all sinks that have it. */
static void put_figures(struct buf *out, const struct server_sink *sinks, size_t n)
{
	struct counted *all = xcalloc(n * SINK_METRICS_MAX + 1, sizeof(*all));
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		struct sink_metric figures[SINK_METRICS_MAX];
		size_t m = sinks[i].figures ? sinks[i].figures(sinks[i].data, figures, SINK_METRICS_MAX) : 0;

		for (size_t j = 0; j < m; j++)
			all[count++] = (struct counted){ .sink = &sinks[i], .figure = figures[j] };
	}
	for (size_t i = 0; i < count; i++) {
		char name[128];

		if (all[i].done)
			continue;
		snprintf(name, sizeof(name), "strobe_%s", all[i].figure.name);
		family(out, name, is_counter(name) ? "counter" : "gauge", all[i].figure.help);
		for (size_t j = i; j < count; j++) {
			if (strcmp(all[i].figure.name, all[j].figure.name))
				continue;
			all[j].done = true;
			of_sink(out, name, all[j].sink, all[j].figure.key, all[j].figure.value, all[j].figure.number);
		}
	}
	free(all);
}

/* A series may appear only once, and the URLs of a draining sink and of its successor may differ only in a hidden password. */
static bool is_shown_before(const struct server_sink *sinks, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(sinks[k].url, sinks[i].url))
			return true;
	return false;
}

static void put_sinks(struct buf *out, const struct server_sink *all, size_t count)
{
	_cleanup_(freep) struct server_sink *sinks = xcalloc(count + 1, sizeof(*sinks));
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (!all[i].is_draining || !is_shown_before(all, i))
			sinks[n++] = all[i];
	put_sink_samples(out, sinks, n);
	put_sink_state(out, sinks, n);
	put_figures(out, sinks, n);
}

static void put_sources(struct buf *out, struct source *const *sources, size_t n)
{
	family(out, "strobe_messages_received_total", "counter", "Valid messages of PHP processes.");
	for (size_t i = 0; i < n; i++)
		of_source(out, "strobe_messages_received_total", sources[i], NULL, sources[i]->counters.messages);

	family(out, "strobe_received_bytes_total", "counter", "Bytes of valid messages of PHP processes.");
	for (size_t i = 0; i < n; i++)
		of_source(out, "strobe_received_bytes_total", sources[i], NULL, sources[i]->counters.bytes);

	family(out, "strobe_messages_rejected_total", "counter", "Invalid messages, by the rule "
	       "they broke.");
	for (size_t i = 0; i < n; i++) {
		const struct source_counters *c = &sources[i]->counters;

		for (unsigned e = STROBE_WIRE_OK + 1; e < STROBE_WIRE_ERRORS; e++)
			of_source(out, "strobe_messages_rejected_total", sources[i],
				  strobe_wire_error_name((enum strobe_wire_error)e), c->rejected[e]);
		of_source(out, "strobe_messages_rejected_total", sources[i], "memfd", c->rejected_memfd);
	}

	family(out, "strobe_connections", "gauge", "Open connections, of clients or to a server.");
	for (size_t i = 0; i < n; i++)
		of_source(out, "strobe_connections", sources[i], NULL, sources[i]->counters.connections_now);

	family(out, "strobe_connections_total", "counter", "Connections accepted, or made to a server.");
	for (size_t i = 0; i < n; i++)
		of_source(out, "strobe_connections_total", sources[i], NULL, sources[i]->counters.connections);

	family(out, "strobe_connections_refused_total", "counter", "Connections refused, or closed for "
								   "malformed messages.");
	for (size_t i = 0; i < n; i++) {
		const struct source_counters *c = &sources[i]->counters;

		of_source(out, "strobe_connections_refused_total", sources[i], "limit", c->connections_refused);
		of_source(out, "strobe_connections_refused_total", sources[i], "garbage",
			  c->connections_closed_for_garbage);
	}

	family(out, "strobe_peers_unlabeled_total", "counter", "Processes whose /proc could not be read for --label-from.");
	for (size_t i = 0; i < n; i++)
		of_source(out, "strobe_peers_unlabeled_total", sources[i], NULL, sources[i]->counters.peers_unlabeled);
}

/* received = stored + queued + dropped as queue_full and rejected, exactly. */
static void put_collector(struct buf *out, const struct collector_counters *c, const struct source *pushes)
{
	struct collector_snapshot t = snapshot_collector(c);

	single(out, "strobe_samples_received_total", "counter", t.received, "Samples received.");
	single(out, "strobe_samples_stored_total", "counter", t.stored,
	       "Samples that a sink has stored and that no sink still queues; strobe_sink_samples_stored_total has each sink's.");

	family(out, "strobe_samples_dropped_total", "counter",
	       "Samples lost: queue_full and rejected here, all other reasons by the PHP processes before sending.");
	labeled(out, "strobe_samples_dropped_total", "reason", "queue_full", t.dropped_queue);
	labeled(out, "strobe_samples_dropped_total", "reason", "rejected", t.dropped_rejected);
	for (unsigned i = 0; i < STROBE_DROP_REASONS; i++)
		labeled(out, "strobe_samples_dropped_total", "reason", strobe_drop_name(i), c->sender_drops[i]);

	single(out, "strobe_removed_sink_samples_dropped_total", "counter", c->removed_sink_samples,
	       "Samples given up in the queues of removed sinks; other sinks have or had them.");
	single(out, "strobe_removed_sink_runs_dropped_total", "counter", c->removed_sink_runs,
	       "Runs given up in the queues of removed sinks; other sinks have or had them.");
	single(out, "strobe_samples_queued", "gauge", t.queued, "Samples queued for at least one sink.");
	single(out, "strobe_queue_bytes", "gauge", c->queue_bytes, "Memory of samples and runs queued "
								   "for their commit.");
	single(out, "strobe_series_folded_total", "counter", c->series_folded,
	       "Messages counted as entry=other because there were too many label sets.");
	single(out, "strobe_label_values_folded_total", "counter", c->label_values_folded,
	       "Labels whose value became other, because the day had too many values.");
	single(out, "strobe_labels_dropped_total", "counter", counters_labels_dropped(c, pushes),
	       "Labels span_id, trace_id and profile_id dropped from series, because only runs keep them.");
	single(out, "strobe_messages_deduplicated_total", "counter", c->messages_deduplicated,
	       "Messages of relays' batches that were delivered again and deduplicated.");
	single(out, "strobe_times_corrected_total", "counter", c->times_corrected,
	       "Messages with an implausible timestamp, stored under the time of their arrival.");
	single(out, "strobe_store_commits_total", "counter", c->commits, "Batches committed.");
	single(out, "strobe_store_commit_failures_total", "counter", c->commit_failures,
	       "Commits that failed; the batch is retried.");
	seconds(out, "strobe_last_sample_timestamp_seconds", "gauge", c->last_sample_ns,
		"Time of the last sample received, 0 if never.");
	seconds(out, "strobe_last_commit_timestamp_seconds", "gauge", c->last_commit_ns,
		"Time of the last commit, 0 if never.");
}

static void put_runs(struct buf *out, const struct collector_counters *c, const struct http_counters *h)
{
	single(out, "strobe_runs_received_total", "counter", c->runs_received, "Runs received from PHP processes.");
	single(out, "strobe_runs_posted_total", "counter", h->runs_posted, "Runs received over HTTP and stored.");
	family(out, "strobe_http_logins_total", "counter", "Tokens accepted at /login, wrong ones there or in a header, and those not checked "
	       "because too many had been wrong.");
	labeled(out, "strobe_http_logins_total", "result", "accepted", h->logins);
	labeled(out, "strobe_http_logins_total", "result", "wrong", h->logins_wrong);
	labeled(out, "strobe_http_logins_total", "result", "limited", h->logins_limited);
	family(out, "strobe_uploads_rejected_total", "counter",
	       "Profiles received over HTTP and rejected: reading took too long (deadline) or too much memory "
	       "(memory), or too many arrived at once (busy).");
	labeled(out, "strobe_uploads_rejected_total", "reason", "deadline", h->uploads_late);
	labeled(out, "strobe_uploads_rejected_total", "reason", "memory", h->uploads_large);
	labeled(out, "strobe_uploads_rejected_total", "reason", "busy", h->uploads_busy);
	single(out, "strobe_runs_deduplicated_total", "counter", c->runs_deduplicated,
	       "Runs that PHP processes sent again and that were already in the store.");
	family(out, "strobe_runs_dropped_total", "counter",
	       "Runs lost: queue_full, conflict and rejected here, killed with their PHP process, all other reasons by "
	       "the PHP processes before sending.");
	labeled(out, "strobe_runs_dropped_total", "reason", "queue_full", c->runs_dropped_queue);
	labeled(out, "strobe_runs_dropped_total", "reason", "conflict", c->runs_dropped_conflict);
	labeled(out, "strobe_runs_dropped_total", "reason", "rejected", c->runs_dropped_rejected);
	for (unsigned i = 0; i < STROBE_DROP_REASONS; i++)
		labeled(out, "strobe_runs_dropped_total", "reason", strobe_drop_name(i), c->sender_run_drops[i]);
	single(out, "strobe_runs_queued", "gauge", c->runs_queued, "Runs queued for their commit.");
}

static void put_queries(struct buf *out, const struct server_context *s)
{
	const struct http_counters *h = &s->http;

	family(out, "strobe_grafana_calls_total", "counter", "Calls of Grafana's data source and app, by name, answered or refused.");
	for (size_t i = 0; i < PYROSCOPE_CALLS; i++)
		labeled(out, "strobe_grafana_calls_total", "call", pyroscope_call_name(i), h->calls[i]);

	single(out, "strobe_queries_total", "counter", h->queries, "Queries of the store that finished.");
	single(out, "strobe_queries_pruned_total", "counter", h->queries_pruned,
	       "Queries answered without their smallest stacks, because memory was short.");
	single(out, "strobe_queries_shared_total", "counter", h->queries_shared,
	       "Requests that shared the answer of an identical query that had not begun when they arrived.");
	family(out, "strobe_queries_failed_total", "counter",
	       "Queries without an answer: too many at a time or no memory left (busy), more memory than one may take "
	       "(memory), too long (deadline), or a bug (crash).");
	labeled(out, "strobe_queries_failed_total", "reason", "busy", h->queries_busy);
	labeled(out, "strobe_queries_failed_total", "reason", "memory", h->queries_large);
	labeled(out, "strobe_queries_failed_total", "reason", "deadline", h->queries_late);
	labeled(out, "strobe_queries_failed_total", "reason", "crash", h->queries_crashed);
	single(out, "strobe_query_memory_bytes", "gauge", s->memory.used,
	       "Memory reserved by running queries and used by answers being sent.");
	single(out, "strobe_query_memory_max_bytes", "gauge", s->memory.most, "Limit of strobe_query_memory_bytes, set by --query-memory.");
}

static void put_store(struct buf *out, struct store *store, const struct store_limits *l)
{
	struct store_stats stats;

	store_stats(store, &stats);
	single(out, "strobe_store_bytes", "gauge", stats.bytes, "Size of the store on disk.");
	single(out, "strobe_store_days", "gauge", stats.days, "Days in the store.");
	seconds(out, "strobe_store_oldest_timestamp_seconds", "gauge", stats.oldest_ns,
		"Time of the oldest sample in the store, 0 if it is empty.");
	seconds(out, "strobe_store_commit_seconds_total", "counter", (int64_t)stats.commit_ns_total,
		"Time spent committing.");
	seconds(out, "strobe_store_commit_seconds_max", "gauge", (int64_t)stats.commit_ns_max,
		"Longest commit so far.");
	single(out, "strobe_store_deduplicated_batches_total", "counter", stats.deduplicated_batches,
	       "Batches that were already in the store, and were ignored.");
	single(out, "strobe_store_compactions_total", "counter", stats.compactions, "Hours compacted.");
	family(out, "strobe_store_days_removed_total", "counter", "Days that expired (age) or were evicted to make room (size).");
	labeled(out, "strobe_store_days_removed_total", "reason", "age", stats.days_removed[STORE_REMOVED_AGE]);
	labeled(out, "strobe_store_days_removed_total", "reason", "size", stats.days_removed[STORE_REMOVED_SIZE]);
	single(out, "strobe_runs", "gauge", stats.runs, "Runs in the store.");
	single(out, "strobe_runs_bytes", "gauge", stats.runs_bytes, "Size of the runs in the store.");
	single(out, "strobe_runs_stored_total", "counter", stats.runs_added,
	       "Runs committed to the store by this daemon.");
	family(out, "strobe_runs_removed_total", "counter",
	       "Runs that expired (age), were evicted to make room (count, size), or were removed by a user (request).");
	labeled(out, "strobe_runs_removed_total", "reason", "age", stats.runs_removed[STORE_REMOVED_AGE]);
	labeled(out, "strobe_runs_removed_total", "reason", "count", stats.runs_removed[STORE_REMOVED_COUNT]);
	labeled(out, "strobe_runs_removed_total", "reason", "size", stats.runs_removed[STORE_REMOVED_SIZE]);
	labeled(out, "strobe_runs_removed_total", "reason", "request", stats.runs_removed[STORE_REMOVED_REQUEST]);
	single(out, "strobe_store_hours_evicted_total", "counter", stats.hours_evicted,
	       "Hours of the day being written that were evicted to make room.");
	single(out, "strobe_store_partial_hour_evicted_seconds_total", "counter", stats.partial_hour_evicted_seconds,
	       "Seconds of the hour being written that were evicted to make room.");
	single(out, "strobe_store_stacks_truncated_total", "counter", stats.stacks_truncated,
	       "Stacks counted for their callers, because the day has too many stacks.");
	single(out, "strobe_store_max_bytes", "gauge", l->max_bytes, "Size limit; 0 if there is none.");
	single(out, "strobe_store_min_free_bytes", "gauge", l->min_free_bytes,
	       "Free disk space to keep; 0 if there is no limit.");
	if (stats.free_bytes != UINT64_MAX)
		single(out, "strobe_store_free_bytes", "gauge", stats.free_bytes, "Free space on the disk of "
			"the store.");
	single(out, "strobe_store_days_damaged", "gauge", stats.days_damaged,
	       "Days with damaged data that was set aside and is missing in answers.");
	single(out, "strobe_store_errors_total", "counter", stats.errors, "Operations of the store that failed.");
}

static void put_http(struct buf *out, const struct http_counters *h)
{
	family(out, "strobe_http_requests_total", "counter", "Requests answered, by status.");
	for (size_t i = 0; i < HTTP_CODES; i++) {
		char code[16] = "other";

		if (http_codes[i])
			snprintf(code, sizeof(code), "%d", http_codes[i]);
		labeled(out, "strobe_http_requests_total", "code", code, h->requests[i]);
	}
}

void metrics_put(const struct server_context *s, int64_t now_ns, uint64_t resident_bytes, struct buf *out)
{
	char text[1200];

	family(out, "strobe_build_info", "gauge", "Always 1; the version is a label.");
	labeled(out, "strobe_build_info", "version", STROBE_VERSION, 1);
	single(out, "strobe_ready", "gauge", !health_reason(s, text, sizeof(text)),
	       "1 while a source is up, no sink fails and the store answers.");
	put_sources(out, s->options.sources, s->options.source_count);
	put_pipeline_sources(out, s);
	put_source_samples(out, s);
	put_sinks(out, s->options.sinks, s->options.sink_count);
	if (s->options.collector) {
		put_collector(out, s->options.collector, s->options.pushes);
		put_runs(out, s->options.collector, &s->http);
	}
	if (s->options.store)
		put_store(out, s->options.store, &s->options.limits);
	if (!s->options.only_counters)
		put_queries(out, s);
	put_http(out, &s->http);
	single(out, "strobe_http_connections_evicted_total", "counter", s->connections.evicted,
	       "Idle connections closed to make room for new ones.");
	if (s->options.more_metrics)
		s->options.more_metrics(s->options.more_data, out);
	seconds(out, "strobe_uptime_seconds", "gauge", now_ns > s->start_ns ? now_ns - s->start_ns : 0,
		"Time since the daemon started.");
	if (resident_bytes)
		single(out, "process_resident_memory_bytes", "gauge", resident_bytes, "Resident memory of the daemon.");
}

static uint64_t resident_bytes(void)
{
	_cleanup_(file_closep) FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0, size;

	if (!f || fscanf(f, "%lu %lu", &size, &pages) != 2)
		return 0;
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void metrics_answer(struct server_context *s, const struct request *q, struct response *r)
{
	r->type = "text/plain; version=0.0.4; charset=utf-8";
	metrics_put(s, q->now_ns, resident_bytes(), &r->body);
}
