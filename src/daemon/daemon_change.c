/* daemon_change.c: SIGHUP: other sources, sinks and limits at run time. Wanted sources and sinks are compared with
 * open ones by URL; new ones are opened before any running one is touched. */

#include "daemon_private.h"

#include "buf.h"
#include "clock.h"
#include "log.h"
#include "notify.h"

#include <string.h>

static void mark_removed(struct daemon *d, const struct daemon_options *n)
{
	struct feed *f;

	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_IN_USE)
		if (!feeds_has_url(n->sources, n->source_count, f->given))
			f->state = FEED_REMOVED;
	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_IN_USE)
		if (!f->is_page && !feeds_has_url(n->sinks, n->sink_count, f->given))
			f->state = FEED_REMOVED;
}

static void undo(struct daemon *d)
{
	for (size_t i = d->feeds.count; i-- > 0;) {
		struct feed *f = d->feeds.items[i];

		if (f->state == FEED_OPENED)
			feeds_remove(f);
		else if (f->state == FEED_RETURNING)
			f->state = FEED_LEAVING;
		else if (f->state == FEED_REMOVED)
			f->state = FEED_IN_USE;
	}
}

static unsigned long long queued(const struct sink_counters *n)
{
	return n->samples_queued + n->runs_queued;
}

static const char *samples_or_runs(uint64_t n)
{
	return n == 1 ? "sample or run" : "samples or runs";
}

static void restore_sink(struct daemon *d, struct feed *f)
{
	log_info("took up sink %s again with its queue of %llu %s", f->sink->url,
		 queued(collector_removed_counters(d->collector, f)), samples_or_runs(queued(collector_removed_counters(d->collector, f))));
	collector_restore_sink(d->collector, f);
	f->state = FEED_IN_USE;
}

static void use_sinks(struct daemon *d)
{
	struct feed *f;
	struct err err;

	FEEDS_WHILE_ANY(f, &d->feeds, FEED_SINK, FEED_OPENED | FEED_RETURNING)
	{
		if (f->state == FEED_RETURNING) {
			restore_sink(d, f);
			continue;
		}
		if (collector_add_sink(d->collector, &f->sink->port, &err) < 0) {
			log_error("%s was not added: %s", f->sink->url, err.text);
			feeds_remove(f);
			continue;
		}
		log_info("added sink %s", f->sink->url);
		f->state = FEED_IN_USE;
	}
}

/* Entries in flight from a reader of the same stream or file would be delivered again. */
static bool has_predecessor(const struct feed *f)
{
	struct feed *other;

	FEEDS_EACH(other, f->list, FEED_SOURCE, FEED_GOES)
		if (strcmp(source_identity(other->source), source_identity(f->source)) == 0)
			return source_acknowledges(f->given);
	return false;
}

/* Warns of a typo that takes a working source away: for others the source itself tells that it waits. */
static void warn_if_awaited(const struct feed *f)
{
	_cleanup_(buf_done) struct buf replaced = { 0 };
	struct feed *other;

	buf_init(&replaced);
	FEEDS_EACH(other, f->list, FEED_SOURCE, FEED_REMOVED)
	{
		if (other->source->ops == f->source->ops)
			buf_printf(&replaced, "%s%s", replaced.size ? ", " : "", other->source->url);
	}
	if (f->source->awaited && replaced.size)
		log_warning("%s replaces %s, but '%s' cannot be read (%s); retrying. If the path is wrong, correct it and send SIGHUP "
			    "again",
			    f->source->url, replaced.data, f->source->awaited, strerror(f->source->awaited_errno));
}

/* A source with a predecessor is opened again once that one is closed. */
static void use_sources(struct daemon *d)
{
	struct feed *f;

	FEEDS_WHILE_ANY(f, &d->feeds, FEED_SOURCE, FEED_OPENED) {
		if (has_predecessor(f)) {
			feeds_remove(f);
			continue;
		}
		log_info("added source %s", f->source->url);
		warn_if_awaited(f);
		f->state = FEED_IN_USE;
	}
}

static void show(struct daemon *d)
{
	struct shown *before = d->shown;
	struct server_options s = { 0 };

	if (!d->server)
		return;
	daemon_show(d, &s);
	server_show(d->server, &s);
	free(before);
}

static void put_leftover(const struct sink_leftover *left, struct buf *out)
{
	uint64_t passed_on = left->samples_passed_on + left->runs_passed_on;

	buf_printf(out, "%llu %s in its queue could not be stored", (unsigned long long)(left->samples + left->runs),
		   samples_or_runs(left->samples + left->runs));
	if (*left->why)
		buf_printf(out, " (%s)", left->why);
	if (passed_on)
		buf_printf(out, "; %llu of them were in no other sink and go to the remaining ones", (unsigned long long)passed_on);
}

static void sink_drained(void *data, const struct sink_leftover *left)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	struct feed *f = data;
	struct daemon *d = (struct daemon *)((char *)f->list - offsetof(struct daemon, feeds));
	uint64_t waiting = f->sink->ops->stop ? f->sink->ops->stop(f->sink) : 0;

	if (waiting)
		log_warning("%s is closed; its spool still has %llu %s until a sink of this URL is added again", f->sink->url,
			    (unsigned long long)waiting, waiting == 1 ? "entry, which waits" : "entries, which wait");
	buf_init(&text);
	put_leftover(left, &text);
	if (left->samples + left->runs)
		log_warning("%s is closed; %s", f->sink->url, text.data);
	else if (!waiting)
		log_info("%s is closed; its queue was stored", f->sink->url);
	f->state = FEED_CLOSED;
	show(d);
	feeds_remove(f);
}

/* At SIGHUP, or when the sink begins to fail. */
static void log_draining(struct daemon *d, struct feed *f)
{
	const struct sink_counters *n = collector_removed_counters(d->collector, f);
	char why[256];

	if (!queued(n))
		return;
	if (!n->failing && !n->runs_failing) {
		log_info("removed sink %s; %llu %s in its queue will be stored before it is closed", f->sink->url, queued(n), samples_or_runs(queued(n)));
		return;
	}
	sink_why(n, why, sizeof(why));
	log_warning("removed sink %s is failing%s%s; its queue of %llu %s is given up once it has stored nothing "
		    "for %lld seconds. To keep it, add the sink again; to drop it now, restart",
		    f->sink->url, *why ? ": " : "", why, queued(n), samples_or_runs(queued(n)), (long long)(daemon_drain_ns() / NS_PER_SECOND));
	f->warned = true;
}

void daemon_warn_of_failing_removed(struct daemon *d)
{
	struct feed *f;

	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_LEAVING)
	{
		const struct sink_counters *n = collector_removed_counters(d->collector, f);

		if (!f->warned && (n->failing || n->runs_failing))
			log_draining(d, f);
	}
}

/* Sources are stopped when the server no longer shows them. */
static void drain_removed(struct daemon *d)
{
	struct feed *f;

	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_REMOVED) {
		collector_remove_sink(d->collector, feeds_index(f, FEED_IN_USE | FEED_REMOVED), sink_drained, f);
		f->state = FEED_LEAVING;
		f->warned = false;
		log_draining(d, f);
	}
	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_REMOVED)
		f->state = FEED_LEAVING;
	show(d);
	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_LEAVING)
		source_stop(f->source);
}

static void open_waiting(struct daemon *d)
{
	struct err err;

	for (size_t i = 0; i < d->options.source_count; i++)
		if (daemon_open_source(d, d->options.sources[i], &err) < 0)
			log_error("a source of the new configuration was not added: %s", err.text);
	use_sources(d);
	show(d);
	daemon_stop_at_eof(d);
}

void daemon_close_removed(struct daemon *d)
{
	size_t before = d->feeds.count;

	for (size_t i = before; i-- > 0;) {
		struct feed *f = d->feeds.items[i];

		if (f->kind != FEED_SOURCE || f->state != FEED_LEAVING || !collector_forget(d->collector, f->source))
			continue;
		log_info("%s is closed; everything received from it is stored", f->source->url);
		feeds_remove(f);
	}
	if (d->feeds.count < before)
		open_waiting(d);
}

/* Settings that cannot change keep their value, but not their string, which goes with the old options. */
static int change(struct daemon *d, const struct daemon_options *n, struct err *err)
{
	struct collector_options caps = daemon_collector_options(n);
	struct sink_options limits = daemon_sink_options(n);
	struct feed *f;
	int r;

	mark_removed(d, n);
	if ((r = daemon_open_sinks(d, n, err)) < 0 || (r = daemon_open_sources(d, n, err)) < 0 ||
	    (r = daemon_check_fixed(d, n, err)) < 0) {
		undo(d);
		return r;
	}
	daemon_log_fixed(&d->options, n);
	d->options.sources = n->sources;
	d->options.source_count = n->source_count;
	d->options.sinks = n->sinks;
	d->options.sink_count = n->sink_count;
	d->options.limits = n->limits;
	use_sinks(d);		/* before others go */
	use_sources(d);
	drain_removed(d);
	collector_set_caps(d->collector, &caps);
	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_IN_USE)
		if (f->sink->ops->set_options)
			f->sink->ops->set_options(f->sink, &limits);
	return 0;
}

void daemon_reload(struct daemon *d)
{
	struct daemon_options n;
	struct err err = { 0 };
	int r;

	notify_send("RELOADING=1");
	collector_hold_removed(d->collector, true);
	r = d->options.reload(&n, &err);
	if (r >= 0)
		r = change(d, &n, &err);
	collector_hold_removed(d->collector, false);
	if (r < 0)
		d->options.locate(&err);
	d->options.reloaded(r >= 0);
	if (r < 0) {
		log_error("the new configuration is invalid and was not applied: %s", err.text);
	} else {
		log_info("reloaded the configuration; sources: %zu, sinks: %zu", n.source_count,
			 feeds_count(&d->feeds, FEED_SINK, FEED_STAYS));
		if (daemon_stop_at_eof(d))
			log_info("stdin reached EOF and no other source is configured; exiting");
	}
	notify_send("READY=1");
}
