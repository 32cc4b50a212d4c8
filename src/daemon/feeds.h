/* feeds.h: the sources and sinks of a daemon in one list: those in use, those that a change of the configuration has just
 * opened, and those being closed. */
#ifndef DAEMON_FEEDS_H
#define DAEMON_FEEDS_H

#include "sinks.h"
#include "source.h"

enum feed_kind { FEED_SOURCE, FEED_SINK };

/* Sinks in use have the order of the collector's. */
enum feed_state {
	FEED_OPENED = 1,	/* not in use before all of the change has succeeded */
	FEED_IN_USE = 2,
	FEED_REMOVED = 4,	/* in use, but missing from the configuration that is being applied */
	FEED_LEAVING = 8,	/* closed once all that came from it or is for it is stored */
	FEED_RETURNING = 16,	/* a draining sink that the configuration being applied has again */
	FEED_CLOSED = 32,	/* a sink that is about to be freed */
};
#define FEED_STAYS	(FEED_OPENED | FEED_IN_USE | FEED_RETURNING)
#define FEED_GOES	(FEED_REMOVED | FEED_LEAVING)
#define FEED_ANY	(FEED_STAYS | FEED_GOES)

struct feed {
	struct feeds *list;
	enum feed_kind kind;
	enum feed_state state;
	char *given;			/* as configured, with passwords, which the URLs of source and sink lack */
	bool is_page;			/* the store of the page, which cannot change */
	bool ended;			/* a source that reached EOF */
	bool warned;			/* a draining sink: the log says that it fails */
	struct source *source;
	struct sink *sink;
};

struct feeds {
	struct feed **items;
	size_t count, capacity;
};

/* Opened; the caller sets the source or the sink. */
struct feed *feeds_add(struct feeds *l, enum feed_kind kind, const char *given);

void feeds_move_last(struct feed *f);

/* Closes what is open. */
void feeds_remove(struct feed *f);
void feeds_done(struct feeds *l);		/* the list is empty */

/* The next of that kind and of those states from *at on, which moves behind it; NULL: none. */
struct feed *feeds_next(const struct feeds *l, size_t *at, enum feed_kind kind, unsigned states);
#define FEEDS_EACH(f, l, kind, states) \
	for (size_t at_##f = 0; ((f) = feeds_next(l, &at_##f, kind, states));)

/* Each time the first of those states, until the body has removed all or changed their state. */
#define FEEDS_WHILE_ANY(f, l, kind, states) \
	for (size_t at_##f = 0; ((f) = feeds_next(l, &at_##f, kind, states)); at_##f = 0)

size_t feeds_count(const struct feeds *l, enum feed_kind kind, unsigned states);
size_t feeds_sources(const struct feeds *l, unsigned states, struct source **ret);
size_t feeds_index(const struct feed *f, unsigned states);	/* among those of its kind in these states */

/* /run/s is unix:/run/s, as is /var/run/s where that is a link, and a sink /var/lib/s is sqlite:/var/lib/s. */
bool feeds_has_url(const char *const *urls, size_t n, const char *url);
struct feed *feeds_find(const struct feeds *l, enum feed_kind kind, unsigned states, const char *url);	/* NULL: none */

#endif
