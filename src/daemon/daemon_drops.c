/* daemon_drops.c: every counter of drops, for one log line a minute. */
#include "daemon_private.h"

#include "clock.h"
#include "log.h"

#include <string.h>

static void note_collector(struct drop_report *r, const struct collector_counters *n)
{
	drop_report_note(r, n->samples_dropped_queue, "samples (queue_full)");
	drop_report_note(r, n->samples_dropped_rejected, "samples (rejected)");
	drop_report_note(r, n->removed_sink_samples, "samples (removed_sink)");
	drop_report_note(r, n->removed_sink_runs, "runs (removed_sink)");
	drop_report_note(r, n->runs_dropped_queue, "runs (queue_full)");
	drop_report_note(r, n->runs_dropped_rejected, "runs (rejected)");
	drop_report_note(r, n->runs_dropped_conflict, "runs (conflict)");
	for (unsigned i = 0; i < STROBE_DROP_REASONS; i++) {
		drop_report_note(r, n->sender_drops[i], "samples in PHP processes (%s)", strobe_drop_name(i));
		drop_report_note(r, n->sender_run_drops[i], "runs in PHP processes (%s)", strobe_drop_name(i));
	}
}

static void note_source(struct drop_report *r, const struct source *s)
{
	const struct source_counters *n = &s->counters;

	for (unsigned e = STROBE_WIRE_OK + 1; e < STROBE_WIRE_ERRORS; e++)
		drop_report_note(r, n->rejected[e], "messages of %s (%s)", s->url,
				 strobe_wire_error_name((enum strobe_wire_error)e));
	drop_report_note(r, n->rejected_memfd, "messages of %s (memfd)", s->url);
	for (unsigned e = SOURCE_LINE_OK + 1; e < SOURCE_LINE_ERRORS; e++)
		if (e != SOURCE_LINE_BLANK)
			drop_report_note(r, n->rejected_lines[e], "lines of %s (%s)", s->url,
					 source_line_error_name((enum source_line_error)e));
	for (unsigned e = 0; e < SOURCE_FILE_ERRORS; e++)
		drop_report_note(r, n->rejected_files[e], "files of %s (%s)", s->url,
				 source_file_error_name((enum source_file_error)e));
	drop_report_note(r, n->rejected_entries, "entries of %s (malformed)", s->url);
	drop_report_note(r, n->lost_to_trimming, "entries of %s (trimmed or deleted)", s->url);
	drop_report_note(r, n->messages_missed, "messages of %s at most (missed)", s->url);
	drop_report_note(r, n->connections_refused, "connections to %s (refused)", s->url);
}

/* With several sinks, one may lack samples that another one has. */
static void note_sink(struct drop_report *r, const struct sink *s, const struct sink_counters *n, bool is_only_one)
{
	struct sink_metric figures[SINK_METRICS_MAX];
	size_t count = s->ops->figures ? s->ops->figures((void *)s, figures, SINK_METRICS_MAX) : 0;

	if (!is_only_one) {
		drop_report_note(r, n->samples_dropped_queue, "samples for %s (queue_full)", s->url);
		drop_report_note(r, n->samples_dropped_rejected, "samples for %s (rejected)", s->url);
	}
	for (size_t i = 0; i < count; i++)
		if (strstr(figures[i].name, "_dropped_"))
			drop_report_note(r, figures[i].number, "%s for %s (%s)",
					 strstr(figures[i].name, "_runs_") ? "runs" : "samples", s->url, figures[i].value);
}

void daemon_report_drops(struct daemon *d, bool is_end)
{
	_cleanup_(buf_done) struct buf line = { 0 };
	int64_t now = clock_monotonic_ns();
	size_t sinks = feeds_count(&d->feeds, FEED_SINK, FEED_IN_USE);
	struct feed *f;

	if (!d->collector || !(is_end || drop_report_is_due(&d->drops, now)))
		return;
	buf_init(&line);
	note_collector(&d->drops, collector_counters(d->collector));
	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_IN_USE)
		note_source(&d->drops, f->source);
	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_IN_USE)
		note_sink(&d->drops, f->sink, sink_worker_counters(f->worker), sinks == 1);
	if (drop_report_line(&d->drops, now, &line))
		log_warning("%s", line.data);
}
