/* status_text.c: writes the daemon's status as text: samples received, samples lost and why, data stored. */

#include "status_text.h"

#include "clock.h"
#include "mem.h"
#include "php_processes.h"
#include "text.h"

#include <jansson.h>
#include <string.h>

/* Returns the number `key` of the object, or 0 if it is missing. */
static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static int64_t integer_of(const json_t *object, const char *key)
{
	return (int64_t)number(object, key);
}

static const char *text(const json_t *object, const char *key)
{
	const char *v = json_string_value(json_object_get(object, key));

	return v ? v : "";
}

static void put_plain(struct buf *b, const char *text)
{
	text_put_plain(b, (struct str){ text, strlen(text) });
}

static void put_label(struct buf *b, const char *label)
{
	buf_printf(b, "%-12s", label);
}

static void put_seconds(struct buf *b, double s)
{
	uint64_t n = s > 0 ? (uint64_t)s : 0;

	if (n >= 86400)
		buf_printf(b, "%llu d %llu h", (unsigned long long)(n / 86400), (unsigned long long)(n / 3600 % 24));
	else if (n >= 3600)
		buf_printf(b, "%llu h %llu min", (unsigned long long)(n / 3600), (unsigned long long)(n / 60 % 60));
	else if (n >= 60)
		buf_printf(b, "%llu min %llu s", (unsigned long long)(n / 60), (unsigned long long)(n % 60));
	else
		buf_printf(b, "%llu s", (unsigned long long)n);
}

static void put_bytes(struct buf *b, uint64_t n)
{
	static const char *const units[] = { "bytes", "KB", "MB", "GB", "TB" };
	double v = (double)n;
	size_t i = 0;

	for (; v >= 1024 && i + 1 < ARRAY_SIZE(units); i++)
		v /= 1024;
	buf_put_fixed(b, v, i ? 1 : 0);
	buf_printf(b, " %s", units[i]);
}

/* "12 s ago", or "never". */
static void put_ago(struct buf *b, double at, double now)
{
	if (at > 0) {
		put_seconds(b, now - at);
		buf_puts(b, " ago");
	} else {
		buf_puts(b, "never");
	}
}

/* Lists nonzero counters: "socket_full 12, no_daemon 3", or `nothing` if there are none. */
static void put_reasons(struct buf *b, json_t *reasons, const char *nothing)
{
	const char *reason;
	bool any = false;
	json_t *count;

	json_object_foreach(reasons, reason, count) {
		if (!json_integer_value(count))
			continue;
		buf_puts(b, any ? ", " : "");
		put_plain(b, reason);
		buf_putc(b, ' ');
		buf_put_grouped(b, json_integer_value(count));
		any = true;
	}
	if (!any)
		buf_puts(b, nothing);
}

static void put_count(struct buf *b, const json_t *object, const char *key, const char *what)
{
	buf_put_grouped(b, integer_of(object, key));
	buf_puts(b, what);
}

static void put_head(struct buf *b, const json_t *status, const char *url)
{
	buf_puts(b, "strobe ");
	put_plain(b, text(status, "version"));
	buf_printf(b, " at %s, up ", url);
	put_seconds(b, number(status, "uptime_seconds"));
	if (json_is_true(json_object_get(status, "ready"))) {
		buf_puts(b, ", ready\n");
		return;
	}
	buf_puts(b, ", NOT READY: ");
	put_plain(b, text(status, "not_ready"));
	buf_putc(b, '\n');
}

/* Explains losses that no daemon can prevent; `jit` is reported by processes that cannot be sampled. */
static void put_advice(struct buf *b, const json_t *senders)
{
	if (!integer_of(senders, "jit"))
		return;
	put_label(b, "");
	buf_puts(b, "jit: PHP processes take no samples, because interrupting code of PHP's JIT compiler is unsafe; "
		    "phpinfo() there says which setting to change\n");
}

static bool has_several_sinks(const json_t *status)
{
	return json_array_size(json_object_get(status, "sinks")) > 1;
}

/* The daemon's sums count data as stored once no sink queues it any more, so a single failing sink keeps them at 0. */
static const char *stored_word(const json_t *status)
{
	return has_several_sinks(status) ? "in all sinks" : "stored";
}

static void put_stored_and_queued(struct buf *b, const json_t *status, const json_t *sums)
{
	put_count(b, sums, "stored", " ");
	buf_printf(b, "%s, ", stored_word(status));
	put_count(b, sums, "queued", has_several_sinks(status) ? " queued for at least one" : " queued");
}

static void put_samples(struct buf *b, const json_t *status)
{
	const json_t *samples = json_object_get(status, "samples"), *commits = json_object_get(status, "commits");
	double now = number(status, "now");

	put_label(b, "samples");
	put_count(b, samples, "received", " received, ");
	put_stored_and_queued(b, status, samples);
	buf_puts(b, has_several_sinks(status) ? " (each sink is below); last: " : "; last: ");
	put_ago(b, number(samples, "last"), now);
	buf_putc(b, '\n');
	put_label(b, "dropped");
	put_reasons(b, json_object_get(samples, "dropped"), "none");
	if (integer_of(samples, "dropped_for_removed_sinks")) {
		buf_puts(b, "; in queues of removed sinks: ");
		buf_put_grouped(b, integer_of(samples, "dropped_for_removed_sinks"));
	}
	buf_putc(b, '\n');
	put_label(b, "lost by PHP");
	put_reasons(b, json_object_get(samples, "dropped_by_senders"), "none");
	buf_putc(b, '\n');
	put_advice(b, json_object_get(samples, "dropped_by_senders"));
	put_label(b, "commits");
	put_count(b, commits, "done", " done, ");
	put_count(b, commits, "failed", " failed; last: ");
	put_ago(b, number(commits, "last"), now);
	buf_puts(b, json_is_true(json_object_get(commits, "failing")) ? "; FAILING now\n" : "\n");
}

static void put_runs(struct buf *b, const json_t *status)
{
	const json_t *runs = json_object_get(status, "runs"), *store = json_object_get(status, "store");

	if (!runs)
		return;
	put_label(b, "runs");
	put_count(b, runs, "received", " received from PHP, ");
	put_stored_and_queued(b, status, runs);
	buf_puts(b, ", ");
	put_count(b, runs, "posted", " posted; dropped: ");
	put_reasons(b, json_object_get(runs, "dropped"), "none");
	buf_puts(b, "; lost by PHP: ");
	put_reasons(b, json_object_get(runs, "dropped_by_senders"), "none");
	buf_puts(b, "; last: ");
	put_ago(b, number(runs, "last"), number(status, "now"));
	buf_putc(b, '\n');
	if (!store)
		return;
	put_label(b, "");
	put_count(b, store, "runs", " stored (");
	put_bytes(b, (uint64_t)integer_of(store, "runs_bytes"));
	buf_puts(b, "); removed: ");
	put_reasons(b, json_object_get(store, "runs_removed"), "none");
	buf_putc(b, '\n');
}

static void put_source_samples(struct buf *b, const json_t *status, const json_t *source, const json_t *samples)
{
	put_label(b, "");
	put_count(b, samples, "received", " samples received = ");
	put_count(b, samples, "stored", " ");
	buf_printf(b, "%s + ", stored_word(status));
	put_count(b, samples, "dropped", " dropped + ");
	put_count(b, samples, "in_flight", " in flight; last: ");
	put_ago(b, number(source, "last_message"), number(status, "now"));
	buf_putc(b, '\n');
}

static void put_stream(struct buf *b, const json_t *stream)
{
	if (!integer_of(stream, "acked") && !integer_of(stream, "lag") && !integer_of(stream, "pending") &&
	    !integer_of(stream, "trimmed_unread"))
		return;
	put_label(b, "");
	put_count(b, stream, "lag", " entries not read yet, ");
	put_count(b, stream, "pending", " not acknowledged, ");
	put_count(b, stream, "acked", " acknowledged, ");
	put_count(b, stream, "claimed", " claimed from others, ");
	put_count(b, stream, "trimmed_unread", " trimmed unread\n");
}

/* Every daemon with an address accepts pushed profiles, but most never receive any. */
static bool is_idle_push(const json_t *source)
{
	const char *names[] = { "pushes", "rejected_pushes" };
	const char *key;
	json_t *value;

	for (size_t i = 0; i < 2; i++)
		json_object_foreach(json_object_get(source, names[i]), key, value)
			if (json_integer_value(value))
				return false;
	return json_object_get(source, "pushes") != NULL;
}

/* Appends "unix:/run/s: 14 processes connected, 7,000 messages, rejected: …" for a socket; other sources also have
 * lines and servers. */
static void put_source(struct buf *b, const json_t *status, const json_t *source)
{
	const json_t *samples = json_object_get(source, "samples");
	const char *url = text(source, "url");

	if (is_idle_push(source))
		return;
	put_label(b, "source");
	put_plain(b, url);
	if (samples) {
		buf_puts(b, json_is_true(json_object_get(source, "up")) ? ": up, " : ": DOWN, ");
		put_plain(b, text(source, "state"));
		buf_puts(b, "\n");
		put_label(b, "");
	} else {
		buf_puts(b, ": ");
	}
	if (strncmp(url, "unix:", 5))
		put_count(b, source, "connections", integer_of(source, "connections") == 1 ? " connection, " : " connections, ");
	else
		put_count(b, source, "connections", integer_of(source, "connections") == 1 ? " process connected, " : " processes connected, ");
	put_count(b, source, "messages", " messages, ");
	if (integer_of(source, "lines")) {
		put_count(b, source, "lines", " lines (rejected: ");
		put_reasons(b, json_object_get(source, "rejected_lines"), "none");
		buf_puts(b, "), ");
	}
	if (!strncmp(url, "runs:", 5)) {
		put_count(b, source, "files", integer_of(source, "files") == 1 ? " file imported (rejected: " : " files imported (rejected: ");
		put_reasons(b, json_object_get(source, "rejected_files"), "none");
		buf_puts(b, "), ");
	}
	if (json_object_get(source, "pushes")) {
		buf_puts(b, "pushes: ");
		put_reasons(b, json_object_get(source, "pushes"), "none");
		buf_puts(b, ", ");
	}
	buf_puts(b, "rejected: ");
	put_reasons(b, json_object_get(source, json_object_get(source, "pushes") ? "rejected_pushes" : "rejected"), "none");
	if (integer_of(source, "connections_lost")) {
		buf_puts(b, "; connection lost ");
		put_count(b, source, "connections_lost", " times, ");
		put_count(b, source, "messages_missed", " messages missed at most");
	}
	buf_putc(b, '\n');
	if (samples) {
		put_source_samples(b, status, source, samples);
		put_stream(b, json_object_get(source, "stream"));
	}
}

static void put_sink_runs(struct buf *b, const json_t *runs)
{
	_cleanup_(buf_done) struct buf dropped = { 0 };

	buf_init(&dropped);
	put_reasons(&dropped, json_object_get(runs, "dropped"), "none");
	if (!integer_of(runs, "stored") && !integer_of(runs, "deduplicated") && !integer_of(runs, "queued") && !strcmp(dropped.data, "none"))
		return;
	put_label(b, "");
	put_count(b, runs, "stored", " runs stored, ");
	put_count(b, runs, "deduplicated", " deduplicated, ");
	put_count(b, runs, "queued", " queued; dropped: ");
	buf_printf(b, "%s\n", dropped.data);
}

static void put_sink(struct buf *b, const json_t *sink, double now)
{
	const json_t *samples = json_object_get(sink, "samples");
	double lag = number(sink, "lag_seconds");

	put_label(b, "sink");
	put_plain(b, text(sink, "url"));
	if (json_is_true(json_object_get(sink, "draining")))
		buf_puts(b, " (removed, draining)");
	if (json_is_true(json_object_get(sink, "failing"))) {
		buf_puts(b, ": FAILING, ");
		put_plain(b, text(sink, "why"));
	} else if (*text(sink, "state")) {
		buf_puts(b, json_is_true(json_object_get(sink, "up")) ? ": " : ": DOWN, ");
		put_plain(b, text(sink, "state"));
	}
	buf_putc(b, '\n');
	put_label(b, "");
	put_count(b, samples, "handed", " samples handed = ");
	put_count(b, samples, "stored", " stored + ");
	put_count(b, samples, "queued", " queued + dropped: ");
	put_reasons(b, json_object_get(samples, "dropped"), "none");
	buf_puts(b, "; last commit: ");
	put_ago(b, number(sink, "last_commit"), now);
	if (lag >= 2) {
		buf_puts(b, ", oldest batch queued for ");
		put_seconds(b, lag);
	}
	buf_putc(b, '\n');
	put_sink_runs(b, json_object_get(sink, "runs"));
	if (json_object_size(json_object_get(sink, "counts"))) {
		put_label(b, "");
		put_reasons(b, json_object_get(sink, "counts"), "all its own counters are 0");
		buf_putc(b, '\n');
	}
}

static void put_store(struct buf *b, const json_t *store)
{
	double oldest = number(store, "oldest");
	char at[32];

	if (!store)
		return;
	put_label(b, "store");
	put_plain(b, text(store, "url"));
	buf_puts(b, ": ");
	put_bytes(b, (uint64_t)integer_of(store, "bytes"));
	if (oldest > 0) {
		clock_format((int64_t)(oldest * 1e9), at, sizeof(at));
		buf_puts(b, ", ");
		put_count(b, store, "days", integer_of(store, "days") == 1 ? " day" : " days");
		buf_printf(b, " since %s", at);
	} else {
		buf_puts(b, ", empty");
	}
	if (integer_of(store, "days_damaged")) {
		buf_puts(b, "; ");
		put_count(b, store, "days_damaged", integer_of(store, "days_damaged") == 1 ? " day is" : " days are");
		buf_puts(b, " damaged and missing in results: see the log, or *.corrupt-* there");
	}
	buf_putc(b, '\n');
}

char *status_text_socket(const struct buf *json)
{
	_cleanup_(json_decrefp) json_t *status = json_loadb(json->data, json->size, 0, NULL);
	json_t *source;
	size_t i;

	json_array_foreach(json_object_get(status, "sources"), i, source) {
		const char *source_url = text(source, "url");

		if (source_url && strncmp(source_url, "unix:/", 6) == 0)
			return xstrdup(source_url + 5);
	}
	return NULL;
}

bool status_text_is_waiting(const struct buf *json)
{
	_cleanup_(json_decrefp) json_t *status = json_loadb(json->data, json->size, 0, NULL);
	json_t *samples = json_object_get(status, "samples");

	return samples && integer_of(samples, "received") == 0;
}

void status_text_put_unreached(const struct php_group *groups, size_t count, const char *socket_path, struct buf *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct php_group *g = &groups[i];

		if (g->may_send)
			continue;
		put_label(out, "not reached");
		buf_printf(out, "%s (%s, ", g->user, g->name);
		if (g->processes)
			buf_printf(out, "%u process%s)", g->processes, g->processes == 1 ? "" : "es");
		else
			buf_puts(out, "no process now)");
		php_group_put_barrier(g, socket_path, out);
		buf_putc(out, '\n');
	}
}

int status_text_put(const char *url, const struct buf *json, struct buf *out, struct err *err)
{
	_cleanup_(json_decrefp) json_t *status = json_loadb(json->data, json->size, 0, NULL);
	json_t *source;
	size_t i;

	if (!json_object_get(status, "version"))
		return err_set(err, -EBADMSG, "%s answers, but is not a strobe daemon", url);
	put_head(out, status, url);
	put_samples(out, status);
	put_runs(out, status);
	json_array_foreach(json_object_get(status, "sources"), i, source)
		put_source(out, status, source);
	json_array_foreach(json_object_get(status, "sinks"), i, source)
		put_sink(out, source, number(status, "now"));
	put_store(out, json_object_get(status, "store"));
	return 0;
}
