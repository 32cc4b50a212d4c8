/* daemon_change.c: SIGHUP: other sources, sinks and limits at run time. What is wanted is compared with what is open, by
 * URL; new ones are opened before any running one is touched. */

#include "daemon_private.h"

#include "clock.h"
#include "log.h"
#include "mem.h"
#include "notify.h"

#define LEAVE_CHECK_NS		(NS_PER_SECOND / 5)

static bool has(const char *const *urls, size_t n, const char *url)
{
	for (size_t i = 0; i < n; i++)
		if (feeds_same_url(urls[i], url))
			return true;
	return false;
}

/* `n` NULL: everything stays. */
static void mark_wanted(struct daemon *d, const struct daemon_options *n)
{
	for (size_t i = 0; i < d->feeds.count; i++) {
		struct feed *f = d->feeds.items[i];

		if (f->state == FEED_LEAVING)
			continue;
		f->wanted = !n || f->is_page || (f->kind == FEED_SINK ? has(n->sinks, n->sink_count, f->given) :
						 has(n->sources, n->source_count, f->given));
	}
}

/* Rejects duplicates, as a start does: URLs that are open already are not opened again, which would find them. */
static int check_once(const char *const *urls, size_t n, const char *reason, struct err *err)
{
	for (size_t i = 1; i < n; i++)
		if (has(urls, i, urls[i]))
			return err_set(err, -EEXIST, "%s: number %zu of %zu is a duplicate; remove it", reason,
				       i + 1, n);
	return 0;
}

static int check_all_once(const struct daemon *d, const struct daemon_options *n, struct err *err)
{
	const char *store = d->options.store_url;
	int r;

	if (store && has(n->sinks, n->sink_count, store))
		return err_set(err, -EEXIST, "the store of the page is also a sink; remove one of them");
	r = check_once(n->sinks, n->sink_count, "two sinks write to one place", err);
	return r < 0 ? r : check_once(n->sources, n->source_count, "two sources are the same", err);
}

static int open_new(struct daemon *d, const struct daemon_options *n, struct err *err)
{
	struct sink_options options = daemon_sink_options(n);
	struct feed_opener opener = daemon_opener(d);
	int r = check_all_once(d, n, err);

	options.state = d->options.state;	/* needs a restart */
	for (size_t i = 0; i < n->sink_count && r >= 0; i++)
		if (!feeds_find(&d->feeds, FEED_SINK, n->sinks[i]))
			r = feeds_open_sink(&d->feeds, n->sinks[i], &options, NULL, err);
	for (size_t i = 0; i < n->source_count && r >= 0; i++) {
		if (feeds_find(&d->feeds, FEED_SOURCE, n->sources[i]))
			continue;
		if (source_acknowledges(n->sources[i]) && !d->has_journal)
			return err_set(err, -ENOTSUP, "a source with saved offsets can only be added by a "
						      "restart, since there is no state directory");
		r = feeds_open_source(&d->feeds, &opener, n->sources[i], err);
	}
	return r;
}

/* --- What a change does, once everything new is open --- */

/* Returns whether it is in use; else it is gone. */
static bool use_sink(struct daemon *d, struct feed *f)
{
	struct err err;

	if (collector_add_sink(d->collector, &f->sink->port, &err) < 0) {
		log_error("%s was not added: %s", f->sink->url, err.text);
		feeds_remove(&d->feeds, f);
		return false;
	}
	log_info("added sink %s", f->sink->url);
	f->state = FEED_IN_USE;
	return true;
}

static void use_source(struct feed *f)
{
	log_info("added source %s", f->source->url);
	f->state = FEED_IN_USE;
}

static void sink_has_left(void *data, uint64_t left)
{
	struct feed *f = data;
	struct daemon *d = f->owner;

	if (left)
		log_warning("%s is closed; %llu samples or runs in its queue could not be stored",
			    f->sink->url, (unsigned long long)left);
	else
		log_info("%s is closed; its queue was stored", f->sink->url);
	feeds_remove(&d->feeds, f);
}

static void let_go(struct daemon *d, struct feed *f)
{
	if (f->state == FEED_WAITING) {
		feeds_remove(&d->feeds, f);
		return;
	}
	f->owner = d;
	if (f->kind == FEED_SINK)
		collector_remove_sink(d->collector, feeds_index(&d->feeds, f), sink_has_left, f);
	f->state = FEED_LEAVING;
}

static void show_changed(struct daemon *d, const struct store_limits *limits)
{
	struct shown *before = d->shown;
	struct server_options s;

	if (!d->server)
		return;
	d->shown = daemon_show(d);
	s = daemon_feeds_shown(d, limits);
	server_show(d->server, &s);
	free(before);
}

/* Sources are stopped when the server no longer shows them. */
static void stop_leaving(struct daemon *d)
{
	struct err err;
	struct feed *f;

	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_LEAVING)
		source_stop(f->source);
	if (feeds_count(&d->feeds, FEED_SOURCE, FEED_LEAVING) && d->leave_timer.fd < 0 &&
	    loop_add_timer(d->loop, &d->leave_timer, LEAVE_CHECK_NS, &err) < 0)
		log_warning("%s", err.text);
}

static void use_opened(struct daemon *d, size_t before)
{
	for (size_t i = before; i < d->feeds.count;) {
		struct feed *f = d->feeds.items[i];

		if (f->kind == FEED_SINK && !use_sink(d, f))
			continue;
		if (f->state == FEED_OPENED)
			use_source(f);
		i++;
	}
}

/* New sinks are in use before others go. */
static void apply(struct daemon *d, const struct daemon_options *n, size_t before)
{
	use_opened(d, before);
	for (size_t i = d->feeds.count; i-- > 0;) {
		struct feed *f = d->feeds.items[i];

		if (!f->wanted && f->state != FEED_LEAVING)
			let_go(d, f);
	}
	show_changed(d, &n->limits);
	stop_leaving(d);
}

/* --- Sources that have left, and those that waited for that --- */

static void open_waiting(struct daemon *d)
{
	size_t before = feeds_count(&d->feeds, FEED_SOURCE, FEED_IN_USE);
	struct feed_opener opener = daemon_opener(d);
	struct err err;

	for (size_t i = d->feeds.count; i-- > 0;) {
		struct feed *f = d->feeds.items[i];

		if (f->state != FEED_WAITING)
			continue;
		if (feeds_open_waiting(&d->feeds, &opener, f, &err) < 0) {
			log_error("a source of the new configuration was not added: %s", err.text);
			feeds_remove(&d->feeds, f);
		} else if (f->state == FEED_OPENED) {
			use_source(f);
		}
	}
	if (feeds_count(&d->feeds, FEED_SOURCE, FEED_IN_USE) != before)
		show_changed(d, &d->options.limits);
	daemon_end_if_over(d);
}

void daemon_drain_removed(struct watch *w, uint32_t events)
{
	struct daemon *d = (struct daemon *)((char *)w - offsetof(struct daemon, leave_timer));
	bool any = false;

	loop_timer_read(w);
	for (size_t i = d->feeds.count; i-- > 0;) {
		struct feed *f = d->feeds.items[i];

		if (f->kind != FEED_SOURCE || f->state != FEED_LEAVING || !collector_forget(d->collector, f->source))
			continue;
		log_info("%s is closed; everything received from it is stored", f->source->url);
		feeds_remove(&d->feeds, f);
		any = true;
	}
	if (any)
		open_waiting(d);
	if (!feeds_count(&d->feeds, FEED_SOURCE, FEED_LEAVING))
		loop_remove_timer(d->loop, &d->leave_timer);
}

/* --- All of it --- */

static void undo(struct daemon *d, size_t before)
{
	while (d->feeds.count > before)
		feeds_remove(&d->feeds, d->feeds.items[d->feeds.count - 1]);
	mark_wanted(d, NULL);
}

/* Settings that cannot change keep their value, but not their string, which goes with the old options. */
static int change(struct daemon *d, struct daemon_options *n, struct err *err)
{
	struct collector_options caps = daemon_collector_options(n);
	struct sink_options limits = daemon_sink_options(n);
	size_t before = d->feeds.count;
	struct feed *f;
	int r;

	mark_wanted(d, n);
	r = open_new(d, n, err);
	if (r < 0) {
		undo(d, before);
		return r;
	}
	daemon_log_fixed(&d->options, n);
	apply(d, n, before);
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
	if (r < 0) {
		log_error("the new configuration is invalid and was not applied: %s", err.text);
		d->options.reloaded(false);
	} else {
		d->options.sources = n.sources;
		d->options.source_count = n.source_count;
		d->options.sinks = n.sinks;
		d->options.sink_count = n.sink_count;
		d->options.limits = n.limits;
		log_info("reloaded the configuration: %zu sources, %zu sinks",
			 feeds_count(&d->feeds, FEED_SOURCE, FEED_STAYS), feeds_count(&d->feeds, FEED_SINK, FEED_STAYS));
		d->options.reloaded(true);
		if (daemon_end_if_over(d))
			log_info("stdin reached EOF and no other source is configured; exiting");
	}
	notify_send("READY=1");
}
