/* feeds.h: the sources and sinks of a daemon in one list: those in use, those that a change of the configuration has just
 * opened, and those on their way out. */
#ifndef DAEMON_FEEDS_H
#define DAEMON_FEEDS_H

#include "sinks.h"
#include "source.h"

enum feed_kind { FEED_SOURCE, FEED_SINK };

/* Sinks in use have the order of the collector's. */
enum feed_state {
	FEED_OPENED = 1,	/* not in use before all of the change has succeeded */
	FEED_IN_USE = 2,
	FEED_WAITING = 4,	/* a source, not open: opened once the reader of the same stream or file is closed, whose
				 * entries in flight would be delivered twice */
	FEED_LEAVING = 8,	/* no longer configured; closed once all that came from it or is for it is stored */
};
#define FEED_STAYS	(FEED_OPENED | FEED_IN_USE | FEED_WAITING)
#define FEED_ANY	(FEED_STAYS | FEED_LEAVING)

struct feed {
	enum feed_kind kind;
	enum feed_state state;
	char *given;			/* as configured, with passwords, which the URLs of source and sink lack */
	bool wanted;			/* by the configuration that is in use or being applied; never if it leaves */
	bool is_page;			/* the store of the page, which cannot change */
	bool ended;			/* a source that has come to its end */
	struct source *source;
	struct sink *sink;
	char *identity;			/* of a source that waits; NULL: ask the source */
	void *owner;			/* for callbacks that get the feed */
};

struct feeds {
	struct feed **items;
	size_t count, capacity;
};

/* Wanted, and opened unless it waits. */
struct feed *feeds_add(struct feeds *l, enum feed_kind kind, const char *given);

/* Closes what is open. */
void feeds_remove(struct feeds *l, struct feed *f);
void feeds_done(struct feeds *l);		/* the list is empty */

/* The next of that kind and of those states from *at on, which moves behind it; NULL: none. */
struct feed *feeds_next(const struct feeds *l, size_t *at, enum feed_kind kind, unsigned states);
#define FEEDS_EACH(f, l, kind, states) \
	for (size_t at_##f = 0; ((f) = feeds_next(l, &at_##f, kind, states));)

size_t feeds_count(const struct feeds *l, enum feed_kind kind, unsigned states);
size_t feeds_index(const struct feeds *l, const struct feed *f);	/* among those of its kind and state */

/* One that stays and has this URL; /run/s is unix:/run/s, and a sink /var/lib/s is sqlite:/var/lib/s. NULL: none. */
struct feed *feeds_find(const struct feeds *l, enum feed_kind kind, const char *url);
bool feeds_same_url(const char *a, const char *b);

const char *feed_identity(const struct feed *f);	/* of a source */

#endif
