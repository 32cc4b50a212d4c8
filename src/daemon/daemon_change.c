/* daemon_change.c: SIGHUP: other sources, sinks and limits at run time. Wanted sources and sinks are compared with
 * running ones by URL; new ones are opened before any running one is touched. */

#include "daemon_private.h"

#include "log.h"
#include "notify.h"

#include <string.h>

/* A draining source is never wanted: its successor opens the input again. */
static void mark_wanted(struct daemon *d, const struct daemon_options *n)
{
	struct feed *f;

	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_IN_USE)
		f->wanted = feeds_has_url(n->sources, n->source_count, f->given);
	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_IN_USE | FEED_DRAINING)
		f->wanted = f->is_page || feeds_has_url(n->sinks, n->sink_count, f->given);
}

static void undo(struct daemon *d)
{
	feeds_remove_all(&d->feeds, FEED_SOURCE, FEED_OPENED);
	feeds_remove_all(&d->feeds, FEED_SINK, FEED_OPENED);
	mark_wanted(d, &d->options);
}

/* --- New sources and sinks --- */

static void use_sink(struct daemon *d, struct feed *f)
{
	struct err err;

	if (collector_add_sink(d->collector, &f->sink->port, &f->worker, &err) < 0) {
		log_error("%s was not added: %s", f->sink->url, err.text);
		feeds_remove(f);
		return;
	}
	log_info("added sink %s", f->sink->url);
	f->state = FEED_IN_USE;
}

/* Entries in flight from a reader of the same stream or file would be delivered again. */
static bool has_predecessor(const struct feed *f)
{
	struct feed *other;

	FEEDS_EACH(other, f->list, FEED_SOURCE, FEED_UNWANTED)
		if (strcmp(source_identity(other->source), source_identity(f->source)) == 0)
			return source_acknowledges(f->given);
	return false;
}

/* Warns of a typo that replaces a working source. In other cases the source itself logs that it waits. */
static void warn_if_awaited(const struct feed *f)
{
	struct feed *other;

	FEEDS_EACH(other, f->list, FEED_SOURCE, FEED_IN_USE)
		if (f->source->awaited && !other->wanted && other->source->ops == f->source->ops)
			log_warning("%s replaces %s, but '%s' cannot be read (%s); retrying. If the path is wrong, correct it and send SIGHUP "
				    "again",
				    f->source->url, other->source->url, f->source->awaited, strerror(f->source->awaited_errno));
}

/* A source with a predecessor is opened again once that one is closed. */
static void use_source(struct feed *f)
{
	if (has_predecessor(f)) {
		feeds_remove(f);
		return;
	}
	log_info("added source %s", f->source->url);
	warn_if_awaited(f);
	f->state = FEED_IN_USE;
}

static void use_wanted(struct daemon *d)
{
	struct feed *f;

	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_DRAINING)
		if (f->wanted)
			daemon_restore_sink(d, f);
	FEEDS_WHILE_ANY(f, &d->feeds, FEED_SINK, FEED_OPENED)
		use_sink(d, f);
	FEEDS_WHILE_ANY(f, &d->feeds, FEED_SOURCE, FEED_OPENED)
		use_source(f);
}

/* --- Removed sources and sinks --- */

/* Sources are stopped when the server no longer shows them. */
static void drain_unwanted(struct daemon *d)
{
	struct feed *f;

	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_IN_USE)
		if (!f->wanted)
			daemon_drain_sink(d, f);
	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_UNWANTED)
		f->state = FEED_DRAINING;
	daemon_update_shown(d);
	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_DRAINING)
		source_stop(f->source);
}

/* Opens sources whose predecessors are closed now. */
static void open_successors(struct daemon *d)
{
	struct err err;

	for (size_t i = 0; i < d->options.source_count; i++)
		if (daemon_open_source(d, d->options.sources[i], &err) < 0)
			log_error("a source of the new configuration was not added: %s", err.text);
	use_wanted(d);
	daemon_update_shown(d);
	daemon_stop_at_eof(d);
}

void daemon_close_drained_sources(struct daemon *d)
{
	size_t before = d->feeds.count;

	for (size_t i = before; i-- > 0;) {
		struct feed *f = d->feeds.items[i];

		if (f->kind != FEED_SOURCE || f->state != FEED_DRAINING || !collector_forget(d->collector, f->source))
			continue;
		log_info("%s is closed; everything received from it is stored", f->source->url);
		feeds_remove(f);
	}
	if (d->feeds.count < before)
		open_successors(d);
}

/* --- The reload --- */

/* Settings that cannot change keep their value, but not their string, which is freed with the old options. */
static int change(struct daemon *d, const struct daemon_options *n, struct err *err)
{
	struct collector_options caps = daemon_collector_options(n);
	struct sink_options limits = daemon_sink_options(n);
	struct feed *f;
	int r;

	mark_wanted(d, n);
	if ((r = daemon_check_conflicts(d, n, err)) < 0 || (r = daemon_open_sinks(d, n, err)) < 0 ||
	    (r = daemon_open_sources(d, n, err)) < 0 || (r = daemon_check_fixed(d, n, err)) < 0) {
		undo(d);
		return r;
	}
	daemon_log_fixed(&d->options, n);
	d->options.sources = n->sources;
	d->options.source_count = n->source_count;
	d->options.sinks = n->sinks;
	d->options.sink_count = n->sink_count;
	d->options.limits = n->limits;
	use_wanted(d);
	drain_unwanted(d);
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
	r = d->options.reload(&n, &err);
	if (r >= 0)
		r = change(d, &n, &err);
	if (r < 0)
		d->options.locate(&err);
	d->options.reloaded(r >= 0);
	if (r < 0) {
		log_error("the new configuration is invalid and was not applied: %s", err.text);
	} else {
		log_info("reloaded the configuration; sources: %zu, sinks: %zu", n.source_count,
			 feeds_count(&d->feeds, FEED_SINK, FEED_IN_USE));
		if (daemon_stop_at_eof(d))
			log_info("stdin reached EOF and no other source is configured; exiting");
	}
	notify_send("READY=1");
}
