/* api_status.c: every counter of the daemon as JSON, for `strobe status`. */

#include "api.h"

#include "clock.h"
#include "counter_snapshot.h"
#include "health.h"

static void put_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

/* Seconds since 1970, or null if it never happened. */
static void put_time(struct json *j, const char *key, int64_t ns)
{
	json_key(j, key);
	if (ns)
		json_double(j, (double)ns / 1e9);
	else
		json_str(j, NULL);
}

static void put_dropped(struct json *j, uint64_t queue_full, uint64_t rejected)
{
	json_key(j, "dropped");
	json_open_object(j);
	put_u64(j, "queue_full", queue_full);
	put_u64(j, "rejected", rejected);
	json_end(j);
}

static void put_samples(struct json *j, const struct collector_counters *c, const struct source *pushes)
{
	struct collector_snapshot t = snapshot_collector(c);

	json_key(j, "samples");
	json_open_object(j);
	put_u64(j, "received", t.received);
	put_u64(j, "stored", t.stored);
	put_u64(j, "queued", t.queued);
	put_dropped(j, t.dropped_queue, t.dropped_rejected);
	json_key(j, "dropped_by_senders");
	json_open_object(j);
	for (unsigned i = 0; i < STROBE_DROP_REASONS; i++)
		put_u64(j, strobe_drop_name(i), c->sender_drops[i]);
	json_end(j);
	put_u64(j, "series_folded", c->series_folded);
	put_u64(j, "label_values_folded", c->label_values_folded);
	put_u64(j, "labels_dropped", counters_labels_dropped(c, pushes));
	put_u64(j, "messages_deduplicated", c->messages_deduplicated);
	put_u64(j, "times_corrected", c->times_corrected);
	put_u64(j, "dropped_for_removed_sinks", c->removed_sink_samples);
	put_time(j, "last", c->last_sample_ns);
	json_end(j);

	json_key(j, "commits");
	json_open_object(j);
	put_u64(j, "done", c->commits);
	put_u64(j, "failed", c->commit_failures);
	put_u64(j, "queue_bytes", c->queue_bytes);
	json_key(j, "failing");
	json_bool(j, c->failing);
	put_time(j, "last", c->last_commit_ns);
	json_end(j);
}

static void put_runs(struct json *j, const struct collector_counters *c, uint64_t posted)
{
	json_key(j, "runs");
	json_open_object(j);
	put_u64(j, "received", c->runs_received);
	put_u64(j, "stored", c->runs_stored);
	put_u64(j, "deduplicated", c->runs_deduplicated);
	put_u64(j, "queued", c->runs_queued);
	put_u64(j, "posted", posted);
	json_key(j, "dropped");
	json_open_object(j);
	put_u64(j, "queue_full", c->runs_dropped_queue);
	put_u64(j, "conflict", c->runs_dropped_conflict);
	put_u64(j, "rejected", c->runs_dropped_rejected);
	json_end(j);
	json_key(j, "dropped_by_senders");
	json_open_object(j);
	for (unsigned i = 0; i < STROBE_DROP_REASONS; i++)
		put_u64(j, strobe_drop_name(i), c->sender_run_drops[i]);
	json_end(j);
	put_u64(j, "dropped_for_removed_sinks", c->removed_sink_runs);
	put_time(j, "last", c->last_run_ns);
	json_end(j);
}

static void put_source_samples(struct json *j, const struct source_counters *c)
{
	struct source_snapshot t = snapshot_source(c);

	json_key(j, "samples");
	json_open_object(j);
	put_u64(j, "received", t.received);
	put_u64(j, "stored", t.stored);
	put_u64(j, "dropped", t.dropped);
	put_u64(j, "in_flight", t.in_flight);
	json_end(j);
}

/* For stream sources; all zero for others. */
static void put_stream(struct json *j, const struct source_counters *c)
{
	json_key(j, "stream");
	json_open_object(j);
	put_u64(j, "lag", c->lag);
	put_u64(j, "pending", c->pending);
	put_u64(j, "acked", c->acked);
	put_u64(j, "claimed", c->claimed);
	put_u64(j, "trimmed_unread", c->lost_to_trimming);
	json_end(j);
}

static void put_rejected_lines(struct json *j, const struct source_counters *c)
{
	json_key(j, "rejected_lines");
	json_open_object(j);
	for (unsigned i = SOURCE_LINE_OK + 1; i < SOURCE_LINE_ERRORS; i++)
		put_u64(j, source_line_error_name((enum source_line_error)i), c->rejected_lines[i]);
	put_u64(j, "entry", c->rejected_entries);
	json_end(j);
}

static void put_rejected_files(struct json *j, const struct source_counters *c)
{
	json_key(j, "rejected_files");
	json_open_object(j);
	for (unsigned i = 0; i < SOURCE_FILE_ERRORS; i++)
		put_u64(j, source_file_error_name((enum source_file_error)i), c->rejected_files[i]);
	json_end(j);
}

/* The source of profiles pushed over HTTP. */
static void put_pushes(struct json *j, const struct source_counters *c)
{
	json_key(j, "pushes");
	json_open_object(j);
	for (unsigned i = 0; i < SOURCE_PUSH_PROTOCOLS; i++)
		put_u64(j, source_push_protocol_name((enum source_push_protocol)i), c->pushes[i]);
	json_end(j);
	put_u64(j, "push_bytes", c->push_bytes);
	json_key(j, "rejected_pushes");
	json_open_object(j);
	for (unsigned i = 0; i < SOURCE_PUSH_ERRORS; i++)
		put_u64(j, source_push_error_name((enum source_push_error)i), c->rejected_pushes[i]);
	json_end(j);
}

/* This source always exists, but is listed only after the first push. */
static bool is_unused(const struct source *s)
{
	const struct source_counters *c = &s->counters;
	uint64_t n = 0;

	if (!source_takes_pushes(s))
		return false;
	for (unsigned i = 0; i < SOURCE_PUSH_PROTOCOLS; i++)
		n += c->pushes[i];
	for (unsigned i = 0; i < SOURCE_PUSH_ERRORS; i++)
		n += c->rejected_pushes[i];
	return !n;
}

static void put_source(struct json *j, const struct source *s)
{
	const struct source_counters *c = &s->counters;
	char state[512];
	bool is_up = source_state((struct source *)s, state, sizeof(state));

	json_open_object(j);
	json_key(j, "url");
	json_str(j, s->url);
	json_key(j, "up");
	json_bool(j, is_up);
	json_key(j, "state");
	json_str(j, state);
	put_source_samples(j, c);
	put_stream(j, c);
	put_u64(j, "lines", c->lines);
	put_rejected_lines(j, c);
	put_u64(j, "files", c->files);
	put_rejected_files(j, c);
	put_u64(j, "connections", c->connections_now);
	put_u64(j, "connections_total", c->connections);
	put_u64(j, "connections_lost", c->connections_lost);
	put_u64(j, "connections_closed_by_server", c->connections_closed_by_server);
	put_u64(j, "messages_missed", c->messages_missed);
	put_u64(j, "connections_refused", c->connections_refused);
	put_u64(j, "connections_closed_for_garbage", c->connections_closed_for_garbage);
	put_u64(j, "peers_unlabeled", c->peers_unlabeled);
	put_u64(j, "connections_closed_slow", c->connections_closed_slow);
	put_u64(j, "connections_closed_idle", c->connections_closed_idle);
	put_u64(j, "logins_refused", c->logins_refused);
	put_u64(j, "rejected_channel", c->rejected_channel);
	put_u64(j, "messages", c->messages);
	put_u64(j, "bytes", c->bytes);
	json_key(j, "rejected");
	json_open_object(j);
	for (unsigned i = STROBE_WIRE_OK + 1; i < STROBE_WIRE_ERRORS; i++)
		put_u64(j, strobe_wire_error_name((enum strobe_wire_error)i), c->rejected[i]);
	put_u64(j, "memfd", c->rejected_memfd);
	json_end(j);
	if (source_takes_pushes(s))
		put_pushes(j, c);
	put_time(j, "last_message", c->last_message_ns);
	json_end(j);
}

static void put_figures(struct json *j, const struct server_sink *s)
{
	struct sink_metric figures[SINK_METRICS_MAX];
	size_t n = s->figures ? s->figures(s->data, figures, SINK_METRICS_MAX) : 0;

	json_key(j, "counts");
	json_open_object(j);
	for (size_t i = 0; i < n; i++) {
		char name[160];

		snprintf(name, sizeof(name), figures[i].key ? "%s %s" : "%s", figures[i].name, figures[i].value);
		put_u64(j, name, figures[i].number);
	}
	json_end(j);
}

static void put_sink_runs(struct json *j, const struct sink_counters *c)
{
	json_key(j, "runs");
	json_open_object(j);
	put_u64(j, "stored", c->runs_stored);
	put_u64(j, "deduplicated", c->runs_deduplicated);
	put_u64(j, "queued", c->runs_queued);
	json_key(j, "dropped");
	json_open_object(j);
	put_u64(j, "queue_full", c->runs_dropped_queue);
	put_u64(j, "conflict", c->runs_dropped_conflict);
	put_u64(j, "rejected", c->runs_dropped_rejected);
	json_end(j);
	json_end(j);
}

static void put_sink(struct json *j, const struct server_sink *s)
{
	const struct sink_counters *c = s->counters;
	struct sink_snapshot t = snapshot_sink(c);
	int64_t since = c->waits_since_ns;
	char why[256], state[512] = "";
	bool is_up = s->state ? s->state(s->data, state, sizeof(state)) : true;

	sink_why(c, why, sizeof(why));
	json_open_object(j);
	json_key(j, "url");
	json_str(j, s->url);
	json_key(j, "draining");
	json_bool(j, s->is_draining);
	json_key(j, "up");
	json_bool(j, is_up && !c->failing && !c->runs_failing);
	json_key(j, "state");
	json_str(j, *state ? state : NULL);
	json_key(j, "samples");
	json_open_object(j);
	put_u64(j, "handed", t.handed);
	put_u64(j, "stored", t.stored);
	put_u64(j, "queued", t.queued);
	put_dropped(j, t.dropped_queue, t.dropped_rejected);
	json_end(j);
	put_sink_runs(j, c);
	put_u64(j, "queue_bytes", c->queue_bytes);
	put_u64(j, "commits", c->commits);
	put_u64(j, "commit_failures", c->commit_failures);
	json_key(j, "lag_seconds");
	json_double(j, since ? (double)(clock_monotonic_ns() - since) / 1e9 : 0);
	put_time(j, "last_commit", c->last_commit_ns);
	json_key(j, "failing");
	json_bool(j, c->failing || c->runs_failing);
	json_key(j, "why");
	json_str(j, *why ? why : NULL);
	put_figures(j, s);
	json_end(j);
}

static void put_store(struct json *j, const struct server_context *s)
{
	struct store_stats stats;

	if (!s->options.store)
		return;
	store_stats(s->options.store, &stats);
	json_key(j, "store");
	json_open_object(j);
	json_key(j, "url");
	json_str(j, s->options.store_url);
	put_u64(j, "bytes", stats.bytes);
	put_u64(j, "days", stats.days);
	put_time(j, "oldest", stats.oldest_ns);
	put_time(j, "newest", stats.newest_ns);
	put_u64(j, "samples_stored", stats.samples_stored);
	put_u64(j, "batches", stats.batches);
	put_u64(j, "deduplicated_batches", stats.deduplicated_batches);
	put_u64(j, "commits", stats.commits);
	json_key(j, "commit_seconds_total");
	json_double(j, (double)stats.commit_ns_total / 1e9);
	json_key(j, "commit_seconds_max");
	json_double(j, (double)stats.commit_ns_max / 1e9);
	put_u64(j, "compactions", stats.compactions);
	json_key(j, "days_removed");
	json_open_object(j);
	put_u64(j, "age", stats.days_removed[STORE_REMOVED_AGE]);
	put_u64(j, "size", stats.days_removed[STORE_REMOVED_SIZE]);
	json_end(j);
	put_u64(j, "hours_evicted", stats.hours_evicted);
	put_u64(j, "partial_hour_evicted_seconds", stats.partial_hour_evicted_seconds);
	put_u64(j, "stacks_truncated", stats.stacks_truncated);
	put_u64(j, "days_damaged", stats.days_damaged);
	put_u64(j, "errors", stats.errors);
	put_u64(j, "runs", stats.runs);
	put_u64(j, "runs_bytes", stats.runs_bytes);
	put_u64(j, "runs_stored", stats.runs_added);
	json_key(j, "runs_removed");
	json_open_object(j);
	put_u64(j, "age", stats.runs_removed[STORE_REMOVED_AGE]);
	put_u64(j, "count", stats.runs_removed[STORE_REMOVED_COUNT]);
	put_u64(j, "size", stats.runs_removed[STORE_REMOVED_SIZE]);
	put_u64(j, "request", stats.runs_removed[STORE_REMOVED_REQUEST]);
	json_end(j);
	put_u64(j, "max_bytes", s->options.limits.max_bytes);
	put_u64(j, "min_free_bytes", s->options.limits.min_free_bytes);
	put_u64(j, "free_bytes", stats.free_bytes);
	json_key(j, "max_age_seconds");
	json_i64(j, s->options.limits.max_age_ns / NS_PER_SECOND);
	put_u64(j, "runs_max_count", s->options.limits.runs_max_count);
	put_u64(j, "runs_max_bytes", s->options.limits.runs_max_bytes);
	json_key(j, "runs_max_age_seconds");
	json_i64(j, s->options.limits.runs_max_age_ns / NS_PER_SECOND);
	json_end(j);
}

void api_status(struct server_context *s, const struct request *q, struct response *r)
{
	char text[1200];
	const char *reason = health_reason(s, text, sizeof(text));
	struct json j;

	r->type = "application/json";
	json_init(&j, &r->body);
	json_open_object(&j);
	json_key(&j, "version");
	json_str(&j, STROBE_VERSION);
	put_time(&j, "now", q->now_ns);
	put_time(&j, "started", s->start_ns);
	json_key(&j, "uptime_seconds");
	json_i64(&j, (q->now_ns - s->start_ns) / NS_PER_SECOND);
	json_key(&j, "ready");
	json_bool(&j, !reason);
	json_key(&j, "not_ready");
	json_str(&j, reason);
	if (s->options.collector) {
		put_samples(&j, s->options.collector, s->options.pushes);
		put_runs(&j, s->options.collector, s->http.runs_posted);
	}
	json_key(&j, "sources");
	json_open_array(&j);
	for (size_t i = 0; i < s->options.source_count; i++)
		if (!is_unused(s->options.sources[i]))
			put_source(&j, s->options.sources[i]);
	json_end(&j);
	json_key(&j, "sinks");
	json_open_array(&j);
	for (size_t i = 0; i < s->options.sink_count; i++)
		put_sink(&j, &s->options.sinks[i]);
	json_end(&j);
	put_store(&j, s);
	json_end(&j);
	buf_putc(&r->body, '\n');
}
