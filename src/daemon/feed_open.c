/* feed_open.c: opens what a configuration names and is not open yet: at the start, by SIGHUP, and once a source is closed. */

#include "daemon_private.h"

#include "buf.h"
#include "mem.h"
#include "secrets.h"
#include "sink_place.h"

#include <string.h>

/* --- Errors --- */

/* Whether a sentence has the URL, or the path in it. */
static bool names(const char *sentence, const char *url)
{
	size_t scheme = strcspn(url, ":");

	if (strstr(sentence, url))
		return true;
	return url[scheme] && url[scheme + 1] == '/' && url[scheme + 2] && url[scheme + 2] != '/' && !strchr(url, '?') &&
	       strstr(sentence, url + scheme + 1);
}

/* Puts before an error which item of `from` or `to` it is about, and where that stands. */
static int locate(const struct daemon *d, const char *option, const char *url, struct err *err)
{
	_cleanup_(freep) char *shown = secrets_shown(url);
	const char *place = d->options.place ? d->options.place(option, url) : NULL;

	if (*url != '-' && !names(err->text, shown))
		err_prefix(err, "%.300s", shown);
	return place ? err_prefix(err, "%s", place) : err->code;
}

/* "redis://h/?stream=s (strobe.yaml:3)" */
static char *describe(const struct daemon *d, const char *option, const char *url)
{
	_cleanup_(freep) char *shown = secrets_shown(url);
	const char *place = d->options.place ? d->options.place(option, url) : NULL;

	return place ? xasprintf("%.250s (%s)", shown, place) : xasprintf("%.250s", shown);
}

static int listed_twice(const struct daemon *d, const char *option, const char *first, const char *second, struct err *err)
{
	_cleanup_(freep) char *shown = secrets_shown(second), *other = describe(d, option, first);

	if (strcmp(first, second))
		err_set(err, -EEXIST, "%.250s and %s are the same %s; remove one of them", shown, other,
			strcmp(option, "from") ? "sink" : "source");
	else
		err_set(err, -EEXIST, "%.250s is listed twice; remove one of them", shown);
	return locate(d, option, second, err);
}

/* URLs that differ only in spelling are found later, by what they open. */
static int check_once(const struct daemon *d, const char *option, const char *const *urls, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (feeds_has_url(urls + i, 1, urls[k]))
				return listed_twice(d, option, urls[i], urls[k], err);
	return 0;
}

/* --- Sources --- */

/* Two that read the same hand each line over twice, and know each other's ack tokens. */
static int check_input(const struct feeds *l, const char *url, struct err *err)
{
	struct feed *f;

	FEEDS_EACH(f, l, FEED_SOURCE, FEED_STAYS)
		if (source_same_input(f->given, url))
			return err_set(err, -EEXIST, "%s is already a source, perhaps with other parameters; "
						     "remove one of them", f->source->url);
	FEEDS_EACH(f, l, FEED_SOURCE, FEED_REMOVED)
		if (*url == '-' && source_same_input(f->given, url))
			return err_set(err, -EEXIST, "the parameters of standard input cannot change at run "
						     "time; restart to apply, or restore them");
	return 0;
}

static int check_identity(const struct feeds *l, const struct source *s, struct err *err)
{
	struct feed *f;

	FEEDS_EACH(f, l, FEED_SOURCE, FEED_STAYS)
		if (strcmp(source_identity(f->source), source_identity(s)) == 0)
			return err_set(err, -EEXIST, "%s is already read, perhaps with other parameters; remove "
						     "one of them", s->url);
	return 0;
}

static int open_source(struct daemon *d, const char *url, struct err *err)
{
	struct source *staying[DAEMON_SOURCES], *leaving[DAEMON_SOURCES], *s;
	struct source_receiver receiver = daemon_receiver(d);
	int r;

	if (feeds_find(&d->feeds, FEED_SOURCE, FEED_STAYS, url))
		return 0;
	if (source_acknowledges(url) && !d->has_journal)
		return err_set(err, -ENOTSUP, "a source with saved offsets can only be added by a restart, since "
					      "there is no state directory");
	if (feeds_count(&d->feeds, FEED_SOURCE, FEED_ANY) >= DAEMON_SOURCES)
		return err_set(err, -E2BIG, "there are more than %u sources%s; remove some", DAEMON_SOURCES,
			       feeds_count(&d->feeds, FEED_SOURCE, FEED_GOES) ? ", including those being closed" : "");
	receiver.staying = (struct source_list){ staying, feeds_sources(&d->feeds, FEED_STAYS, staying) };
	receiver.leaving = (struct source_list){ leaving, feeds_sources(&d->feeds, FEED_GOES, leaving) };
	if ((r = check_input(&d->feeds, url, err)) < 0 || (r = source_open(url, d->loop, &receiver, &s, err)) < 0)
		return r;
	if ((r = check_identity(&d->feeds, s, err)) < 0)
		source_close(s);
	else
		feeds_add(&d->feeds, FEED_SOURCE, url)->source = s;
	return r;
}

int daemon_open_source(struct daemon *d, const char *url, struct err *err)
{
	int r = open_source(d, url, err);

	return r < 0 ? locate(d, "from", url, err) : r;
}

static int check_loops(const struct daemon *d, const struct daemon_options *n, struct err *err)
{
	for (size_t i = 0; i < n->sink_count; i++)
		for (size_t k = 0; k < n->source_count; k++)
			if (sink_feeds_source(n->sinks[i], n->sources[k])) {
				_cleanup_(freep) char *sink = secrets_shown(n->sinks[i]), *source = describe(d, "from", n->sources[k]);

				err_set(err, -EINVAL, "the sink %.250s writes to the stream that the source %s reads, so each sample would be "
						      "received again without end; remove one of them",
					sink, source);
				return locate(d, "to", n->sinks[i], err);
			}
	return 0;
}

/* As with two daemons of two groups, but into the same sinks. */
static int check_groups(const struct daemon *d, const struct daemon_options *n, struct err *err)
{
	for (size_t i = 0; i < n->source_count; i++)
		for (size_t k = i + 1; k < n->source_count; k++)
			if (sources_share_stream(n->sources[i], n->sources[k])) {
				_cleanup_(freep) char *shown = secrets_shown(n->sources[k]), *other = describe(d, "from", n->sources[i]);

				err_set(err, -EEXIST, "%.250s and %s are two groups of one stream, so each entry would count twice; remove one "
						      "of them",
					shown, other);
				return locate(d, "from", n->sources[k], err);
			}
	return 0;
}

/* The new group would read the stream again from its first entry, and the old one, which has no reader any more, would keep
 * the stream from being trimmed. */
static int check_group_stays(const struct daemon *d, const struct daemon_options *n, struct err *err)
{
	struct feed *f;

	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_GOES)
	{
		for (size_t i = 0; i < n->source_count; i++) {
			if (!sources_share_stream(f->given, n->sources[i]))
				continue;
			err_set(err, -EBUSY, "the group= of the running source %s cannot change at run time, since a new "
					     "group reads the stream from its first entry; restore it, or create the "
					     "new group where the old one is (XGROUP CREATE) and restart",
				f->source->url);
			return locate(d, "from", n->sources[i], err);
		}
	}
	return 0;
}

int daemon_open_sources(struct daemon *d, const struct daemon_options *n, struct err *err)
{
	int r = check_once(d, "from", n->sources, n->source_count, err);

	if (r >= 0)
		r = check_loops(d, n, err);
	if (r >= 0)
		r = check_groups(d, n, err);
	if (r >= 0)
		r = check_group_stays(d, n, err);
	for (size_t i = 0; i < n->source_count && r >= 0; i++)
		r = daemon_open_source(d, n->sources[i], err);
	return r;
}

/* --- Sinks --- */

static int page_is_sink(struct err *err)
{
	return err_set(err, -EEXIST, "the store of the page is also a sink; remove one of them");
}

static int check_place(const struct feeds *l, const char *url, const char *place, const char *state, struct err *err)
{
	struct feed *f;

	FEEDS_EACH(f, l, FEED_SINK, FEED_ANY) {
		_cleanup_(freep) char *other = sink_place(f->given, state), *difference = NULL;

		if (!place || !other || strcmp(place, other))
			continue;
		if (f->is_page)
			return page_is_sink(err);
		if (f->state & FEED_STAYS)
			return err_set(err, -EEXIST, "two sinks write to '%s', one of them %s; remove one of them",
				       place, f->sink->url);
		if (f->state == FEED_LEAVING)
			return err_set(err, -EBUSY, "the sink %s is still flushing its queue and has '%s' open; "
						    "send SIGHUP again once the log reports it closed", f->sink->url,
				       place);
		difference = sink_place_difference(f->given, url);
		return err_set(err, -EBUSY, "the sink %s cannot change to %s at run time, since it has '%s' "
					    "open; restart to apply, or restore it", f->sink->url, difference, place);
	}
	return 0;
}

static int shares_page(const char *server, struct err *err)
{
	return err_set(err, -EEXIST, "the store of the page and a sink write to one database of the ClickHouse server %s, which would count each "
				     "sample twice; remove the sink",
		       server);
}

/* One that goes takes no new samples, so it may share servers with the one that replaces it. */
static int check_servers(const struct feeds *l, const char *url, struct err *err)
{
	struct feed *f;

	FEEDS_EACH(f, l, FEED_SINK, FEED_STAYS)
	{
		_cleanup_(freep) char *server = sinks_shared_server(f->given, url);

		if (server && f->is_page)
			return shares_page(server, err);
		if (server)
			return err_set(err, -EEXIST, "two sinks write to one database of the ClickHouse server %s, which would count each sample "
						     "twice; remove one of them",
				       server);
	}
	return 0;
}

/* No relay of the database 0 has it, nor is to have it. */
static bool is_old_spool_free(const struct daemon *d, const char *url, const struct daemon_options *n)
{
	_cleanup_(freep) char *old = sink_old_place(url, d->options.state);
	struct feed *f;

	for (size_t i = 0; old && i < n->sink_count; i++) {
		_cleanup_(freep) char *place = sink_place(n->sinks[i], d->options.state);

		if (place && !strcmp(place, old))
			return false;
	}
	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_ANY)
	{
		_cleanup_(freep) char *place = sink_place(f->given, d->options.state);

		if (old && place && !strcmp(place, old))
			return false;
	}
	return old != NULL;
}

/* A draining sink is open and has its queue. */
static int take_back(struct feed *f, const char *url, struct err *err)
{
	int r = check_servers(f->list, url, err);

	if (r < 0)
		return r;
	f->state = FEED_RETURNING;
	feeds_move_last(f);
	return 0;
}

static int too_many_with_removed(const struct feeds *l, struct err *err)
{
	_cleanup_(buf_done) struct buf removed = { 0 };
	struct feed *f;

	buf_init(&removed);
	FEEDS_EACH(f, l, FEED_SINK, FEED_GOES)
	{
		buf_printf(&removed, "%s%s", removed.size ? ", " : "", f->sink->url);
	}
	return err_set(err, -E2BIG, "there are more than %u sinks, including removed ones whose queues are not stored yet (%.600s); send "
				    "SIGHUP again once the log reports one of them closed",
		       COLLECTOR_SINKS, removed.data ? removed.data : "");
}

static int open_sink(struct daemon *d, const char *url, const struct sink_options *o, const struct sink_ops *ops,
		     struct err *err)
{
	_cleanup_(freep) char *place = sink_place(url, o->state);
	struct feed *f = feeds_find(&d->feeds, FEED_SINK, FEED_STAYS, url), *draining;
	struct sink *s;
	int r;

	if (f && f->is_page)
		return page_is_sink(err);
	if (f)
		return 0;
	if ((draining = feeds_find(&d->feeds, FEED_SINK, FEED_LEAVING, url)))
		return take_back(draining, url, err);
	if (feeds_count(&d->feeds, FEED_SINK, FEED_ANY) >= COLLECTOR_SINKS)
		return too_many_with_removed(&d->feeds, err);
	if ((r = check_place(&d->feeds, url, place, o->state, err)) < 0 || (r = check_servers(&d->feeds, url, err)) < 0)
		return r;
	r = ops ? ops->open(url, o, &s, err) : sink_open(url, o, &s, err);
	if (r < 0)
		return r;
	f = feeds_add(&d->feeds, FEED_SINK, url);
	f->sink = s;
	f->is_page = ops != NULL;
	return 0;
}

int daemon_open_page(struct daemon *d, struct err *err)
{
	struct sink_options o = daemon_sink_options(&d->options);
	int r = open_sink(d, d->options.store_url, &o, &sink_store_ops, err);

	return r < 0 ? locate(d, "store", d->options.store_url, err) : r;
}

/* One that is open here is valid, and locked. */
static bool is_open(const struct feeds *l, const char *place, const char *state)
{
	struct feed *f;

	FEEDS_EACH(f, l, FEED_SINK, FEED_ANY)
	{
		_cleanup_(freep) char *other = sink_place(f->given, state);

		if ((f->is_page || f->state & FEED_GOES) && place && other && strcmp(place, other) == 0)
			return true;
	}
	return false;
}

int daemon_check_page(struct daemon *d, const struct daemon_options *n, struct err *err)
{
	struct sink_options o = daemon_sink_options(n);
	bool is_directory = strncmp(n->store_url, "sqlite:", 7) == 0;
	_cleanup_(freep) char *place = is_directory ? sink_place(n->store_url, n->state) : NULL;
	struct sink *s;
	int r;

	if (strcmp(n->store_url, d->options.store_url) == 0 || is_open(&d->feeds, place, n->state))
		return 0;
	if ((r = check_place(&d->feeds, n->store_url, place, n->state, err)) < 0 || (r = store_load(n->store_url, err)) < 0 ||
	    (r = sink_store_ops.open(n->store_url, &o, &s, err)) < 0)
		return locate(d, "store", n->store_url, err);
	sink_close(s);
	for (size_t i = 0; i < n->sink_count; i++) {
		_cleanup_(freep) char *server = sinks_shared_server(n->sinks[i], n->store_url);

		if (server) {
			shares_page(server, err);
			return locate(d, "store", n->store_url, err);
		}
	}
	return 0;
}

static int check_sink_count(const struct daemon *d, const struct daemon_options *n, struct err *err)
{
	size_t most = COLLECTOR_SINKS - (d->options.store_url != NULL);

	if (n->sink_count <= most)
		return 0;
	err_set(err, -E2BIG, "there are more than %u sinks; remove some", COLLECTOR_SINKS);
	return locate(d, "to", n->sinks[most], err);
}

int daemon_open_sinks(struct daemon *d, const struct daemon_options *n, struct err *err)
{
	struct sink_options options = daemon_sink_options(n);
	int r = check_once(d, "to", n->sinks, n->sink_count, err);

	if (r >= 0)
		r = check_sink_count(d, n, err);
	options.state = d->options.state;	/* needs a restart */
	for (size_t i = 0; i < n->sink_count && r >= 0; i++) {
		options.takes_old_spool = is_old_spool_free(d, n->sinks[i], n);
		if ((r = open_sink(d, n->sinks[i], &options, NULL, err)) < 0)
			locate(d, "to", n->sinks[i], err);
	}
	return r;
}
