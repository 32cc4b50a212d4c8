/* metrics.c: one line of help and type per family, then its samples. Names are a contract with people's dashboards. */

#include "metrics.h"

#include "clock.h"
#include "health.h"
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

/* A time or a duration in seconds, with what nanoseconds are worth telling. */
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

static void labelled(struct buf *out, const char *name, const char *key, const char *value, uint64_t v)
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

static void put_sources(struct buf *out, struct source *const *sources, size_t n)
{
	family(out, "strobe_messages_received_total", "counter", "Valid messages of PHP processes.");
	for (size_t i = 0; i < n; i++)
		of_source(out, "strobe_messages_received_total", sources[i], NULL, sources[i]->counters.messages);

	family(out, "strobe_received_bytes_total", "counter", "Bytes of those messages.");
	for (size_t i = 0; i < n; i++)
		of_source(out, "strobe_received_bytes_total", sources[i], NULL, sources[i]->counters.bytes);

	family(out, "strobe_messages_rejected_total", "counter", "Messages that were not valid, by the rule they broke.");
	for (size_t i = 0; i < n; i++) {
		const struct source_counters *c = &sources[i]->counters;

		for (unsigned e = STROBE_WIRE_OK + 1; e < STROBE_WIRE_ERRORS; e++)
			of_source(out, "strobe_messages_rejected_total", sources[i],
				  strobe_wire_error_name((enum strobe_wire_error)e), c->rejected[e]);
		of_source(out, "strobe_messages_rejected_total", sources[i], "memfd", c->rejected_memfd);
	}

	family(out, "strobe_connections", "gauge", "PHP processes connected now.");
	for (size_t i = 0; i < n; i++)
		of_source(out, "strobe_connections", sources[i], NULL, sources[i]->counters.connections_now);

	family(out, "strobe_connections_total", "counter", "Connections accepted.");
	for (size_t i = 0; i < n; i++)
		of_source(out, "strobe_connections_total", sources[i], NULL, sources[i]->counters.connections);

	family(out, "strobe_connections_refused_total", "counter", "Connections refused, or closed for garbage.");
	for (size_t i = 0; i < n; i++) {
		const struct source_counters *c = &sources[i]->counters;

		of_source(out, "strobe_connections_refused_total", sources[i], "limit", c->connections_refused);
		of_source(out, "strobe_connections_refused_total", sources[i], "garbage",
			  c->connections_closed_for_garbage);
	}
}

static void put_collector(struct buf *out, const struct collector_counters *c)
{
	single(out, "strobe_samples_received_total", "counter", c->samples_received, "Samples that arrived.");
	single(out, "strobe_samples_stored_total", "counter", c->samples_stored, "Samples committed to the store.");

	family(out, "strobe_samples_dropped_total", "counter",
	       "Samples lost: queue_full and unfit here, all other reasons by the PHP processes before sending.");
	labelled(out, "strobe_samples_dropped_total", "reason", "queue_full", c->samples_dropped_queue);
	labelled(out, "strobe_samples_dropped_total", "reason", "unfit", c->samples_dropped_unfit);
	for (unsigned i = 0; i < STROBE_DROP_REASONS; i++)
		labelled(out, "strobe_samples_dropped_total", "reason", strobe_drop_name(i), c->sender_drops[i]);

	single(out, "strobe_samples_queued", "gauge", c->samples_queued, "Samples that wait for their commit.");
	single(out, "strobe_queue_bytes", "gauge", c->queue_bytes, "Memory of what waits for its commit.");
	single(out, "strobe_series_folded_total", "counter", c->series_folded,
	       "Messages counted as entry=other because there were too many label sets.");
	single(out, "strobe_times_corrected_total", "counter", c->times_corrected,
	       "Messages with a time far off, stored under the time of their arrival.");
	single(out, "strobe_store_commits_total", "counter", c->commits, "Batches committed.");
	single(out, "strobe_store_commit_failures_total", "counter", c->commit_failures,
	       "Commits that failed; the batch is tried again.");
	seconds(out, "strobe_last_sample_timestamp_seconds", "gauge", c->last_sample_ns,
		"When the last sample arrived, 0 if never.");
	seconds(out, "strobe_last_commit_timestamp_seconds", "gauge", c->last_commit_ns,
		"When a batch was last committed, 0 if never.");
}

static void put_runs(struct buf *out, const struct collector_counters *c, const struct http_counters *h)
{
	single(out, "strobe_runs_received_total", "counter", c->runs_received, "Runs that arrived from PHP processes.");
	single(out, "strobe_runs_posted_total", "counter", h->runs_posted, "Runs that came over HTTP and were stored.");
	single(out, "strobe_runs_known_total", "counter", c->runs_known,
	       "Runs that came again from PHP processes and were in the store already.");
	family(out, "strobe_runs_dropped_total", "counter",
	       "Runs lost: queue_full, conflict and unfit here, all other reasons by the PHP processes before sending.");
	labelled(out, "strobe_runs_dropped_total", "reason", "queue_full", c->runs_dropped_queue);
	labelled(out, "strobe_runs_dropped_total", "reason", "conflict", c->runs_dropped_conflict);
	labelled(out, "strobe_runs_dropped_total", "reason", "unfit", c->runs_dropped_unfit);
	for (unsigned i = 0; i < STROBE_DROP_REASONS; i++)
		labelled(out, "strobe_runs_dropped_total", "reason", strobe_drop_name(i), c->sender_run_drops[i]);
	single(out, "strobe_runs_queued", "gauge", c->runs_queued, "Runs that wait for their commit.");
}

static void put_store(struct buf *out, struct store *store)
{
	struct store_stats stats;

	store_stats(store, &stats);
	single(out, "strobe_store_bytes", "gauge", stats.bytes, "Size of the store on disk.");
	single(out, "strobe_store_days", "gauge", stats.days, "Days that the store holds.");
	seconds(out, "strobe_store_oldest_timestamp_seconds", "gauge", stats.oldest_ns,
		"Oldest sample of the store, 0 if it is empty.");
	seconds(out, "strobe_store_commit_seconds_total", "counter", (int64_t)stats.commit_ns_total,
		"Time spent committing.");
	seconds(out, "strobe_store_commit_seconds_max", "gauge", (int64_t)stats.commit_ns_max, "Longest commit so far.");
	single(out, "strobe_store_replays_total", "counter", stats.replays,
	       "Batches that were in the store already and changed nothing.");
	single(out, "strobe_store_compactions_total", "counter", stats.compactions, "Hours compacted.");
	single(out, "strobe_store_days_expired_total", "counter", stats.days_expired, "Days removed by age or size.");
	single(out, "strobe_runs", "gauge", stats.runs, "Runs that the store holds.");
	single(out, "strobe_runs_bytes", "gauge", stats.runs_bytes, "Size of those runs.");
	single(out, "strobe_runs_stored_total", "counter", stats.runs_added, "Runs committed to the store by this daemon.");
	single(out, "strobe_runs_expired_total", "counter", stats.runs_expired, "Runs removed by age, number or size.");
	single(out, "strobe_runs_removed_total", "counter", stats.runs_removed, "Runs removed because somebody asked for it.");
	single(out, "strobe_store_errors_total", "counter", stats.errors, "Operations of the store that failed.");
}

static void put_http(struct buf *out, const struct http_counters *h)
{
	family(out, "strobe_http_requests_total", "counter", "Requests answered, by status.");
	for (size_t i = 0; i < HTTP_CODES; i++) {
		char code[16] = "other";

		if (http_codes[i])
			snprintf(code, sizeof(code), "%d", http_codes[i]);
		labelled(out, "strobe_http_requests_total", "code", code, h->requests[i]);
	}
}

void metrics_put(const struct site *s, int64_t now_ns, uint64_t resident_bytes, struct buf *out)
{
	char text[1200];

	family(out, "strobe_build_info", "gauge", "Always 1; the version is a label.");
	labelled(out, "strobe_build_info", "version", STROBE_VERSION, 1);
	single(out, "strobe_ready", "gauge", !health_reason(s, text, sizeof(text)),
	       "1 while an input is open and the store answers.");
	put_sources(out, s->options.sources, s->options.source_count);
	if (s->options.collector) {
		put_collector(out, s->options.collector);
		put_runs(out, s->options.collector, &s->http);
	}
	if (s->options.store)
		put_store(out, s->options.store);
	put_http(out, &s->http);
	seconds(out, "strobe_uptime_seconds", "gauge", now_ns > s->start_ns ? now_ns - s->start_ns : 0,
		"Since the daemon started.");
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

void metrics_answer(struct site *s, const struct request *q, struct response *r)
{
	r->type = "text/plain; version=0.0.4; charset=utf-8";
	metrics_put(s, q->now_ns, resident_bytes(), &r->body);
}
