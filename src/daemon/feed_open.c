/* feed_open.c: opens the configured sources and sinks that are not open yet: at the start, on SIGHUP, and once a
 * source is closed. */

#include "daemon_private.h"

#include "buf.h"
#include "mem.h"
#include "sink_place.h"

#include <string.h>

/* --- Sources --- */

/* Compares with the sources that remain, whose lines and ack tokens would arrive twice, and with those being removed. */
static int check_input(const struct feeds *l, const char *url, struct err *err)
{
	struct feed *f;

	FEEDS_EACH(f, l, FEED_SOURCE, FEED_ANY) {
		bool is_same = source_same_input(f->given, url);

		if (f->wanted && is_same)
			return err_set(err, -EEXIST, "%s is already a source, perhaps with other parameters; "
						     "remove one of them", f->source->url);
		if (f->wanted)
			continue;
		if (f->state == FEED_IN_USE && is_same && *url == '-')
			return err_set(err, -EEXIST, "the parameters of standard input cannot change at run "
						     "time; restart to apply, or restore them");
		/* Without a reader the old group would keep the stream from being trimmed. */
		if (sources_share_stream(f->given, url))
			return err_set(err, -EBUSY, "the group= of the running source %s cannot change at run time, since a new "
						    "group reads the stream from its first entry; restore it, or create the "
						    "new group where the old one is (XGROUP CREATE) and restart",
				       f->source->url);
	}
	return 0;
}

static int check_identity(const struct feeds *l, const struct source *s, struct err *err)
{
	struct feed *f;

	FEEDS_EACH(f, l, FEED_SOURCE, FEED_WANTED)
		if (strcmp(source_identity(f->source), source_identity(s)) == 0)
			return err_set(err, -EEXIST, "%s is already read, perhaps with other parameters; remove "
						     "one of them",
				       s->url);
	return 0;
}

static int open_source(struct daemon *d, const char *url, struct err *err)
{
	struct source *kept[DAEMON_SOURCES], *removed[DAEMON_SOURCES], *s;
	struct source_receiver receiver = daemon_receiver(d);
	int r;

	if (feeds_find(&d->feeds, FEED_SOURCE, FEED_WANTED, url))
		return 0;
	if (source_acknowledges(url) && !d->has_journal)
		return err_set(err, -ENOTSUP, "a source with saved offsets can only be added by a restart, since "
					      "there is no state directory");
	if (feeds_count(&d->feeds, FEED_SOURCE, FEED_ANY) >= DAEMON_SOURCES)
		return err_set(err, -E2BIG, "there are more than %u sources%s; remove some", DAEMON_SOURCES,
			       feeds_count(&d->feeds, FEED_SOURCE, FEED_UNWANTED) ? ", including those being closed" : "");
	receiver.kept = (struct source_list){ kept, feeds_sources(&d->feeds, FEED_WANTED, kept) };
	receiver.removed = (struct source_list){ removed, feeds_sources(&d->feeds, FEED_UNWANTED, removed) };
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

	return r < 0 ? daemon_locate(d, "from", url, err) : r;
}

int daemon_open_sources(struct daemon *d, const struct daemon_options *n, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < n->source_count && r >= 0; i++)
		r = daemon_open_source(d, n->sources[i], err);
	return r;
}

/* --- Sinks --- */

/* Returns the sink that has this place open; NULL: none. */
static struct feed *find_at(const struct feeds *l, const char *place, const char *state)
{
	struct feed *f;

	FEEDS_EACH(f, l, FEED_SINK, FEED_ANY) {
		_cleanup_(freep) char *other = sink_place(f->given, state);

		if (place && other && strcmp(place, other) == 0)
			return f;
	}
	return NULL;
}

static int page_is_sink(struct err *err)
{
	return err_set(err, -EEXIST, "the store of the page is also a sink; remove one of them");
}

static int check_place(const struct feeds *l, const char *url, const char *place, const char *state, struct err *err)
{
	_cleanup_(freep) char *difference = NULL;
	struct feed *f = find_at(l, place, state);

	if (!f)
		return 0;
	if (f->is_page)
		return page_is_sink(err);
	if (f->wanted)
		return err_set(err, -EEXIST, "two sinks write to '%s', one of them %s; remove one of them", place, f->sink->url);
	if (f->state == FEED_DRAINING)
		return err_set(err, -EBUSY, "the sink %s is still flushing its queue and has '%s' open; "
					    "send SIGHUP again once the log reports it closed",
			       f->sink->url, place);
	difference = sink_place_difference(f->given, url);
	return err_set(err, -EBUSY, "the sink %s cannot change to %s at run time, since it has '%s' "
				    "open; restart to apply, or restore it",
		       f->sink->url, difference, place);
}

/* Whether no relay of the database 0 uses the old spool, or will use it. */
static bool is_old_spool_free(const struct daemon *d, const char *url, const struct daemon_options *n)
{
	_cleanup_(freep) char *old = sink_old_place(url, d->options.state);

	for (size_t i = 0; old && i < n->sink_count; i++) {
		_cleanup_(freep) char *place = sink_place(n->sinks[i], d->options.state);

		if (place && strcmp(place, old) == 0)
			return false;
	}
	return old && !find_at(&d->feeds, old, d->options.state);
}

static int too_many_with_removed(const struct feeds *l, struct err *err)
{
	_cleanup_(buf_done) struct buf removed = { 0 };
	struct feed *f;

	buf_init(&removed);
	FEEDS_EACH(f, l, FEED_SINK, FEED_UNWANTED)
		buf_printf(&removed, "%s%s", removed.size ? ", " : "", f->sink->url);
	return err_set(err, -E2BIG, "there are more than %u sinks, including removed ones whose queues are not stored yet (%.600s); send "
				    "SIGHUP again once the log reports one of them closed",
		       COLLECTOR_SINKS, removed.data ? removed.data : "");
}

/* Opens a sink by `ops`; NULL: by the scheme of its URL. */
static int open_sink(struct daemon *d, const char *url, const struct sink_options *o, const struct sink_ops *ops,
		     struct err *err)
{
	_cleanup_(freep) char *place = sink_place(url, o->state);
	struct feed *f = feeds_find(&d->feeds, FEED_SINK, FEED_WANTED, url);
	struct sink *s;
	int r;

	if (f)
		return f->is_page ? page_is_sink(err) : 0;
	if (feeds_count(&d->feeds, FEED_SINK, FEED_ANY) >= COLLECTOR_SINKS)
		return too_many_with_removed(&d->feeds, err);
	if ((r = check_place(&d->feeds, url, place, o->state, err)) < 0)
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

	return r < 0 ? daemon_locate(d, "store", d->options.store_url, err) : r;
}

/* A store that this daemon has open is valid, and cannot be opened again to check it. One that is also a sink is
 * refused. */
int daemon_check_page(struct daemon *d, const struct daemon_options *n, struct err *err)
{
	struct sink_options o = daemon_sink_options(n);
	bool is_directory = strncmp(n->store_url, "sqlite:", 7) == 0;
	_cleanup_(freep) char *place = is_directory ? sink_place(n->store_url, n->state) : NULL;
	struct feed *open = find_at(&d->feeds, place, n->state);
	struct sink *s;
	int r;

	if (strcmp(n->store_url, d->options.store_url) == 0 || (open && (open->is_page || !open->wanted)))
		return 0;
	if ((r = check_place(&d->feeds, n->store_url, place, n->state, err)) < 0 || (r = store_load(n->store_url, err)) < 0 ||
	    (r = sink_store_ops.open(n->store_url, &o, &s, err)) < 0)
		return daemon_locate(d, "store", n->store_url, err);
	sink_close(s);
	return 0;
}

int daemon_open_sinks(struct daemon *d, const struct daemon_options *n, struct err *err)
{
	struct sink_options options = daemon_sink_options(n);
	int r = 0;

	options.state = d->options.state;	/* needs a restart */
	for (size_t i = 0; i < n->sink_count && r >= 0; i++) {
		options.takes_old_spool = is_old_spool_free(d, n->sinks[i], n);
		if ((r = open_sink(d, n->sinks[i], &options, NULL, err)) < 0)
			daemon_locate(d, "to", n->sinks[i], err);
	}
	return r;
}
