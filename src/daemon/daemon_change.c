/* daemon_change.c: SIGHUP: other sources, sinks and limits at run time. New ones are opened before any running one is
 * touched. */

#include "daemon_private.h"

#include "clock.h"
#include "log.h"
#include "mem.h"
#include "notify.h"
#include "sink_place.h"

#include <string.h>

#define LEAVE_LOOK_NS		(NS_PER_SECOND / 5)

static bool has(const char *const *urls, size_t n, const char *url)
{
	for (size_t i = 0; i < n; i++)
		if (daemon_same_url(urls[i], url))
			return true;
	return false;
}

static bool is_open(const struct feeds *f, const char *url)
{
	for (size_t i = 0; i < f->count; i++)
		if (daemon_same_url(f->items[i].given, url))
			return true;
	return false;
}

struct change {
	struct feeds sources, sinks;		/* new ones, open and not yet in use */
	struct feeds waiting;			/* URLs only */
};

static void undo(struct change *c)
{
	daemon_drop_urls(&c->waiting);
	for (size_t i = 0; i < c->sources.count; i++) {
		source_discard(c->sources.items[i].source);
		free(c->sources.items[i].given);
	}
	for (size_t i = 0; i < c->sinks.count; i++) {
		sink_close(c->sinks.items[i].sink);
		free(c->sinks.items[i].given);
	}
}

/* Returns the current reader of the same stream or file, whose entries in flight would be delivered twice; NULL: none. */
static const struct source *reader_of(const struct feeds *f, const struct source *s)
{
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(source_identity(f->items[i].source), source_identity(s)) == 0)
			return f->items[i].source;
	return NULL;
}

static bool waits(const struct feeds *waiting, const struct source *s)
{
	for (size_t i = 0; i < waiting->count; i++)
		if (strcmp(waiting->items[i].identity, source_identity(s)) == 0)
			return true;
	return false;
}

/* Has read nothing yet, and is opened again when the other one has gone. */
static void let_wait(struct change *c)
{
	struct feed *last = &c->sources.items[c->sources.count - 1];

	daemon_add_feed(&c->waiting, last->given, NULL, NULL);
	c->waiting.items[c->waiting.count - 1].identity = xstrdup(source_identity(last->source));
	source_discard(last->source);
	daemon_remove_feed(&c->sources, c->sources.count - 1);
}

/* Rejects an input that is open already, and standard input, which has one reader and is never read a second time. */
static int check_input(const struct daemon *d, const struct daemon_options *n, const char *url, struct err *err)
{
	for (size_t i = 0; i < d->sources.count; i++) {
		const struct feed *f = &d->sources.items[i];

		if (!source_same_input(f->given, url))
			continue;
		if (*url == '-')
			return err_set(err, -EEXIST, "standard input cannot get other parameters while it is read; "
				       "restart strobe for that, or leave them as they were");
		if (has(n->sources, n->source_count, f->given))
			return err_set(err, -EEXIST, "%s is a source already, with other parameters; name it once",
				       f->source->url);
	}
	return 0;
}

static int open_source(struct daemon *d, const struct daemon_options *n, const char *url, struct change *c,
		       struct err *err)
{
	const struct source *s, *reader;
	int r = check_input(d, n, url, err);

	if (r < 0)
		return r;
	if (c->sources.count + c->waiting.count >= DAEMON_SOURCES)
		return err_set(err, -E2BIG, "there are more than %u sources", DAEMON_SOURCES);
	if (!source_acknowledges(url))
		return daemon_add_source(d, &c->sources, url, err);
	if (!d->has_journal)
		return err_set(err, -ENOTSUP, "a source that remembers needs a restart, for there is no state "
			       "directory");
	r = daemon_add_source(d, &c->sources, url, err);
	if (r < 0)
		return r;
	s = c->sources.items[c->sources.count - 1].source;
	reader = reader_of(&d->sources, s);
	if ((reader && !reader->leaves) || waits(&c->waiting, s))
		return err_set(err, -EEXIST, "%s is read already, perhaps with other parameters; name it once", s->url);
	if (reader || reader_of(&d->leaving, s))
		let_wait(c);
	return 0;
}

/* Two that write to one place would be in each other's way, even for a moment. */
static int open_sink(struct daemon *d, const struct daemon_options *n, const char *url, struct change *c,
		     struct err *err)
{
	struct daemon_options options = *n;
	_cleanup_(freep) char *place = sink_place(url, d->options.state), *wish = NULL;
	const struct feed *open = daemon_at_place(&d->sinks, d->options.state, place);
	const struct feed *leaving = daemon_at_place(&d->leaving_sinks, d->options.state, place);

	if (open && has(n->sinks, n->sink_count, open->given))
		return err_set(err, -EEXIST, "two sinks are to write to '%s', one of them %s; name it once", place,
			       open->sink->url);
	if (open) {
		wish = sink_place_wish(open->given, url);
		return err_set(err, -EBUSY, "the sink %s cannot get %s while it runs, for it has '%s' open; restart "
			       "strobe for that, or leave it as it was", open->sink->url, wish, place);
	}
	if (leaving)
		return err_set(err, -EBUSY, "the sink %s is still being closed, with what waits for it, and has '%s' "
			       "open; send SIGHUP again when the log says that it is closed", leaving->sink->url,
			       place);
	options.state = d->options.state;	/* another one holds after a restart only */
	return daemon_add_sink(&c->sinks, &options, url, NULL, err);
}

/* Rejects duplicates, as a start does: URLs that are open already are not opened again, which would find them. */
static int check_once(const char *const *urls, size_t n, struct err *err)
{
	for (size_t i = 1; i < n; i++)
		if (has(urls, i, urls[i]))
			return err_set(err, -EEXIST, "number %zu of %zu stands there twice; name it once", i + 1, n);
	return 0;
}

static int check_all_once(const struct daemon *d, const struct daemon_options *n, struct err *err)
{
	const char *store = d->options.store_url;
	struct err why = { 0 };

	if (store && has(n->sinks, n->sink_count, store))
		return err_set(err, -EEXIST, "the store of the page is named as a sink, too; name it once");
	if (check_once(n->sinks, n->sink_count, &why) < 0)
		return err_set(err, -EEXIST, "two sinks are to write to one place: %s", why.text);
	if (check_once(n->sources, n->source_count, &why) < 0)
		return err_set(err, -EEXIST, "two sources are one: %s", why.text);
	return 0;
}

/* `n` NULL: all stay. */
static void mark_leaving(const struct daemon *d, const struct daemon_options *n)
{
	for (size_t i = 0; i < d->sources.count; i++)
		d->sources.items[i].source->leaves = n && !has(n->sources, n->source_count, d->sources.items[i].given);
}

/* Opens new sources and sinks before any running one is touched. */
static int open_new(struct daemon *d, const struct daemon_options *n, struct change *c, struct err *err)
{
	int r = check_all_once(d, n, err);

	mark_leaving(d, n);
	for (size_t i = 0; i < n->sink_count && r >= 0; i++)
		if (!is_open(&d->sinks, n->sinks[i]))
			r = open_sink(d, n, n->sinks[i], c, err);
	for (size_t i = 0; i < n->source_count && r >= 0; i++)
		if (!is_open(&d->sources, n->sources[i]))
			r = open_source(d, n, n->sources[i], c, err);
	if (r >= 0 && (d->sinks.count + c->sinks.count > COLLECTOR_SINKS ||
		       d->leaving.count + d->sources.count + c->sources.count + c->waiting.count > DAEMON_SOURCES))
		return err_set(err, -E2BIG, "those of before and the new ones together are too many at once; remove "
			       "some first");
	return r;
}

static void take_new(struct daemon *d, struct change *c)
{
	struct err err;

	for (size_t i = 0; i < c->sinks.count; i++) {
		struct feed *f = &c->sinks.items[i];

		if (collector_add_sink(d->collector, &f->sink->port, &err) < 0) {
			log_error("%s is not used: %s", f->sink->url, err.text);
			sink_close(f->sink);
		} else {
			log_info("samples go to %s now", f->sink->url);
			daemon_add_feed(&d->sinks, f->given, NULL, f->sink);
		}
		free(f->given);
	}
	for (size_t i = 0; i < c->sources.count; i++) {
		log_info("samples come from %s now", c->sources.items[i].source->url);
		daemon_add_feed(&d->sources, c->sources.items[i].given, c->sources.items[i].source, NULL);
		free(c->sources.items[i].given);
	}
	daemon_drop_urls(&d->waiting);
	d->waiting = c->waiting;
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

/* Those whose place is free now. */
static void open_waiting(struct daemon *d)
{
	size_t before = d->sources.count;
	struct err err;

	for (size_t i = d->waiting.count; i-- > 0;) {
		const char *url = d->waiting.items[i].given;
		const struct source *s;

		if (daemon_add_source(d, &d->sources, url, &err) < 0) {
			log_error("a source of the new configuration is not used: %s", err.text);
			daemon_remove_feed(&d->waiting, i);
			continue;
		}
		s = d->sources.items[d->sources.count - 1].source;
		if (reader_of(&d->leaving, s)) {
			source_discard(d->sources.items[d->sources.count - 1].source);
			daemon_remove_feed(&d->sources, d->sources.count - 1);
			continue;
		}
		log_info("samples come from %s now", s->url);
		daemon_remove_feed(&d->waiting, i);
	}
	if (d->sources.count != before)
		show_changed(d, &d->options.limits);
	daemon_end_if_over(d);
}

struct leaving_sink {
	struct daemon *daemon;
	struct sink *sink;
};

static void sink_has_left(void *data, uint64_t left)
{
	struct leaving_sink *l = data;
	struct feeds *f = &l->daemon->leaving_sinks;

	for (size_t i = f->count; i-- > 0;)
		if (f->items[i].sink == l->sink)
			daemon_remove_feed(f, i);
	if (left)
		log_warning("%s is closed, and %llu samples or runs that were for it could not be stored there",
			    l->sink->url, (unsigned long long)left);
	else
		log_info("%s is closed, with all that was for it", l->sink->url);
	sink_close(l->sink);
	free(l);
}

static void let_leave(struct daemon *d, size_t i)
{
	struct feed *f = &d->sinks.items[i];
	struct leaving_sink *l = xmalloc(sizeof(*l));

	*l = (struct leaving_sink){ d, f->sink };
	daemon_add_feed(&d->leaving_sinks, f->given, NULL, f->sink);
	collector_remove_sink(d->collector, i, sink_has_left, l);
}

void daemon_look_at_leaving(struct watch *w, uint32_t events)
{
	struct daemon *d = (struct daemon *)((char *)w - offsetof(struct daemon, leave_timer));

	loop_timer_read(w);
	for (size_t i = d->leaving.count; i-- > 0;) {
		struct source *s = d->leaving.items[i].source;

		if (!collector_forget(d->collector, s))
			continue;
		log_info("%s is closed, with all that came from it stored", s->url);
		source_close(s);
		daemon_remove_feed(&d->leaving, i);
		open_waiting(d);
	}
	if (!d->leaving.count)
		loop_remove_timer(d->loop, &d->leave_timer);
}

/* After the server has been shown what stays. */
static void drop_old(struct daemon *d, struct feeds *gone_sources, struct feeds *gone_sinks)
{
	struct err err;

	for (size_t i = 0; i < gone_sources->count; i++) {
		struct feed *f = &gone_sources->items[i];

		source_stop(f->source);
		/* open_new has seen that there is room */
		daemon_add_feed(&d->leaving, f->given, f->source, NULL);
		free(f->given);
	}
	if (d->leaving.count && d->leave_timer.fd < 0 &&
	    loop_add_timer(d->loop, &d->leave_timer, LEAVE_LOOK_NS, &err) < 0)
		log_warning("%s", err.text);
	for (size_t i = 0; i < gone_sinks->count; i++)
		free(gone_sinks->items[i].given);
}

static void take_out(struct feeds *from, const char *const *urls, size_t n, size_t first, struct feeds *to)
{
	for (size_t i = first; i < from->count;) {
		if (has(urls, n, from->items[i].given)) {
			i++;
			continue;
		}
		daemon_add_feed(to, from->items[i].given, from->items[i].source, from->items[i].sink);
		daemon_remove_feed(from, i);
	}
}

/* The store of the page stays: it is the first sink. */
static void leave_old(struct daemon *d, const struct daemon_options *n)
{
	struct feeds sources = { 0 }, sinks = { 0 };

	for (size_t i = d->sinks.count; i-- > (d->options.store_url ? 1u : 0u);)
		if (!has(n->sinks, n->sink_count, d->sinks.items[i].given))
			let_leave(d, i);
	take_out(&d->sources, n->sources, n->source_count, 0, &sources);
	take_out(&d->sinks, n->sinks, n->sink_count, d->options.store_url ? 1 : 0, &sinks);
	show_changed(d, &n->limits);
	drop_old(d, &sources, &sinks);
}

static bool differs(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) != 0 : a != b;
}

static bool lists_differ(const char *const *a, size_t a_count, const char *const *b, size_t b_count)
{
	bool differ = a_count != b_count;

	for (size_t i = 0; i < a_count && !differ; i++)
		differ = strcmp(a[i], b[i]) != 0;
	return differ;
}

static bool roles_differ(const struct roles_options *a, const struct roles_options *b)
{
	return differs(a->token, b->token) || differs(a->read_token, b->read_token) ||
	       differs(a->probe_token, b->probe_token) || differs(a->user_header, b->user_header) ||
	       lists_differ(a->proxies, a->proxy_count, b->proxies, b->proxy_count) ||
	       lists_differ(a->writers, a->writer_count, b->writers, b->writer_count);
}

static void say_what_stays(const struct daemon_options *o, const struct daemon_options *n)
{
	static const char later[] = "holds after a restart only; what was there at the start goes on";
	bool other_store = differs(o->store_url, n->store_url);

	if (differs(o->listen, n->listen) || o->no_server != n->no_server)
		log_warning("the other address to listen on (listen) %s", later);
	if (roles_differ(&o->roles, &n->roles))
		log_warning("who else may ask (token-file, read-token-file, probe-token-file, trusted-proxy, user-header, writer) %s", later);
	if (differs(o->probe_listen, n->probe_listen))
		log_warning("the other address for probes (probe-listen) %s", later);
	if (o->query_memory != n->query_memory)
		log_warning("the other limit of memory for queries (query-memory) %s", later);
	if (other_store)
		log_warning("the other store (store) %s", later);
	else if (differs(o->state, n->state))		/* which is the store's where nothing is said */
		log_warning("the other state directory (state) %s", later);
	if (lists_differ(o->allow_hosts, o->allow_host_count, n->allow_hosts, n->allow_host_count))
		log_warning("the other list of names to answer under (allow-host) %s", later);
	if (differs(o->arclamp_metrics, n->arclamp_metrics))
		log_warning("the other tree for Arc Lamp's series (arclamp-metrics) %s", later);
}

/* Settings that cannot change keep their value, but not their string, which goes with the old options. */
static int change(struct daemon *d, struct daemon_options *n, struct err *err)
{
	struct change c = { 0 };
	struct collector_options caps = daemon_collector_options(n);
	struct sink_options limits = daemon_sink_options(n);
	int r = open_new(d, n, &c, err);

	if (r < 0) {
		undo(&c);
		mark_leaving(d, NULL);
		return r;
	}
	say_what_stays(&d->options, n);
	take_new(d, &c);
	leave_old(d, n);
	collector_set_caps(d->collector, &caps);
	for (size_t i = 0; i < d->sinks.count; i++)
		if (d->sinks.items[i].sink->ops->set_options)
			d->sinks.items[i].sink->ops->set_options(d->sinks.items[i].sink, &limits);
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
		log_error("the configuration was read again and is not used, nothing has changed: %s", err.text);
		d->options.reloaded(false);
	} else {
		d->options.sources = n.sources;
		d->options.source_count = n.source_count;
		d->options.sinks = n.sinks;
		d->options.sink_count = n.sink_count;
		d->options.limits = n.limits;
		log_info("the configuration was read again: %zu sources, %zu sinks",
			 d->sources.count + d->waiting.count, d->sinks.count);
		d->options.reloaded(true);
		if (daemon_end_if_over(d))
			log_info("standard input has ended already, and no other source is left: this is the end");
	}
	notify_send("READY=1");
}
