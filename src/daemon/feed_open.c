/* feed_open.c: see feed_open.h. */

#include "feed_open.h"

#include "daemon.h"
#include "mem.h"
#include "sink_place.h"

#include <string.h>

/* Two that read the same hand each line over twice, and know each other's ack tokens. */
static int check_input(const struct feeds *l, const struct feed *self, const char *url, struct err *err)
{
	struct feed *f;

	FEEDS_EACH(f, l, FEED_SOURCE, FEED_OPENED | FEED_IN_USE) {
		if (f == self || !source_same_input(f->given, url))
			continue;
		if (f->wanted)
			return err_set(err, -EEXIST, "%s is already a source, perhaps with other parameters; "
						     "remove one of them", f->source->url);
		if (*url == '-')
			return err_set(err, -EEXIST, "the parameters of standard input cannot change at run "
						     "time; restart to apply, or restore them");
	}
	return 0;
}

static void list_beside(const struct feeds *l, struct source **staying, struct source **leaving,
			struct source_receiver *r)
{
	struct feed *f;

	r->staying = (struct source_list){ staying, 0 };
	r->leaving = (struct source_list){ leaving, 0 };
	FEEDS_EACH(f, l, FEED_SOURCE, FEED_ANY & ~(unsigned)FEED_WAITING) {
		if (f->wanted)
			staying[r->staying.count++] = f->source;
		else
			leaving[r->leaving.count++] = f->source;
	}
}

/* Whether another one reads the same stream or file and leaves; -EEXIST if it stays. */
static int has_predecessor(const struct feeds *l, const struct feed *self, const struct source *s, const char *url,
			   struct err *err)
{
	bool has = false;
	struct feed *f;

	FEEDS_EACH(f, l, FEED_SOURCE, FEED_ANY) {
		if (f == self || strcmp(feed_identity(f), source_identity(s)))
			continue;
		if (f->wanted)
			return err_set(err, -EEXIST, "%s is already read, perhaps with other parameters; remove "
						     "one of them",
				       s->url);
		has = true;
	}
	return has && source_acknowledges(url);
}

/* Sets f->source, or f->identity if it has to wait. */
static int open_source(struct feeds *l, const struct feed_opener *o, struct feed *f, struct err *err)
{
	struct source *staying[DAEMON_SOURCES], *leaving[DAEMON_SOURCES], *s;
	struct source_receiver receiver = o->receiver;
	int r = check_input(l, f, f->given, err);

	if (r < 0)
		return r;
	list_beside(l, staying, leaving, &receiver);
	r = source_open(f->given, o->loop, &receiver, &s, err);
	if (r < 0)
		return r;
	r = has_predecessor(l, f, s, f->given, err);
	free(f->identity);
	f->identity = r > 0 ? xstrdup(source_identity(s)) : NULL;
	f->state = r > 0 ? FEED_WAITING : FEED_OPENED;
	f->source = r ? source_close(s) : s;
	return r < 0 ? r : 0;
}

int feeds_open_source(struct feeds *l, const struct feed_opener *o, const char *url, struct err *err)
{
	struct feed *f;
	int r;

	if (feeds_count(l, FEED_SOURCE, FEED_ANY) >= DAEMON_SOURCES)
		return err_set(err, -E2BIG, "there are more than %u sources, including those being closed",
			       DAEMON_SOURCES);
	f = feeds_add(l, FEED_SOURCE, url);
	f->state = FEED_WAITING;	/* it is not open */
	f->identity = xstrdup("");
	r = open_source(l, o, f, err);
	if (r < 0)
		feeds_remove(l, f);
	return r;
}

int feeds_open_waiting(struct feeds *l, const struct feed_opener *o, struct feed *f, struct err *err)
{
	return open_source(l, o, f, err);
}

static int check_place(const struct feeds *l, const char *url, const char *place, const char *state, struct err *err)
{
	struct feed *f;

	FEEDS_EACH(f, l, FEED_SINK, FEED_ANY) {
		_cleanup_(freep) char *other = sink_place(f->given, state), *difference = NULL;

		if (!place || !other || strcmp(place, other))
			continue;
		if (f->wanted)
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

int feeds_open_sink(struct feeds *l, const char *url, const struct sink_options *o, const struct sink_ops *ops,
		    struct err *err)
{
	_cleanup_(freep) char *place = sink_place(url, o->state);
	struct sink *s;
	int r;

	if (feeds_count(l, FEED_SINK, FEED_ANY) >= COLLECTOR_SINKS)
		return err_set(err, -E2BIG, "there are more than %u sinks, including those being closed",
			       COLLECTOR_SINKS);
	if ((r = check_place(l, url, place, o->state, err)) < 0)
		return r;
	r = ops ? ops->open(url, o, &s, err) : sink_open(url, o, &s, err);
	if (r >= 0)
		feeds_add(l, FEED_SINK, url)->sink = s;
	return r;
}
