/* feeds.h: the sources and sinks of a daemon in one list. A reload marks those in the new configuration as wanted,
 * opens the missing ones, and then drains all others. */
#ifndef DAEMON_FEEDS_H
#define DAEMON_FEEDS_H

#include "sinks.h"
#include "source.h"

enum feed_kind { FEED_SOURCE, FEED_SINK };

enum feed_state {
	FEED_OPENED = 1,	/* by a change of the configuration that has not succeeded yet */
	FEED_IN_USE = 2,
	FEED_DRAINING = 4,	/* removed; closed once everything received from it, or queued for it, is stored */
};

/* The functions below take a set of states, or one of these instead. */
#define FEED_WANTED	8u
#define FEED_UNWANTED	16u
#define FEED_ANY	(FEED_WANTED | FEED_UNWANTED)

struct feed {
	struct feeds *list;
	enum feed_kind kind;
	enum feed_state state;
	bool wanted;			/* by the configuration in use or, during a reload, by the new one */
	char *given;			/* as configured, with passwords, which the URLs of source and sink lack */
	bool is_page;			/* the store of the page, which cannot change */
	bool ended;			/* a source that reached EOF */
	bool warned;			/* a draining sink: its failure has been logged */
	struct source *source;
	struct sink *sink;
	struct sink_worker *worker;	/* the collector's handle of a sink that is in use or draining */
};

struct feeds {
	struct feed **items;
	size_t count, capacity;
};

/* Opened and wanted; the caller sets the source or the sink. */
struct feed *feeds_add(struct feeds *l, enum feed_kind kind, const char *given);

void feeds_take_out(struct feed *f);
struct feed *feed_close(struct feed *f);	/* `f` is in no list; returns NULL */
void feeds_remove(struct feed *f);		/* takes out and closes */
void feeds_remove_all(struct feeds *l, enum feed_kind kind, unsigned states);
void feeds_done(struct feeds *l);		/* the list is empty */

/* Returns the next feed from *at on of that kind and of one of those states, and moves *at behind it; NULL at the end. */
struct feed *feeds_next(const struct feeds *l, size_t *at, enum feed_kind kind, unsigned states);
#define FEEDS_EACH(f, l, kind, states) \
	for (size_t at_##f = 0; ((f) = feeds_next(l, &at_##f, kind, states));)

/* Repeats with the first feed of those states until the body has removed each or changed its state. */
#define FEEDS_WHILE_ANY(f, l, kind, states) \
	for (size_t at_##f = 0; ((f) = feeds_next(l, &at_##f, kind, states)); at_##f = 0)

size_t feeds_count(const struct feeds *l, enum feed_kind kind, unsigned states);
size_t feeds_sources(const struct feeds *l, unsigned states, struct source **ret);

/* /run/s is unix:/run/s, as is /var/run/s where that is a link, and a sink /var/lib/s is sqlite:/var/lib/s. */
bool feeds_same_url(const char *a, const char *b);
bool feeds_has_url(const char *const *urls, size_t n, const char *url);
struct feed *feeds_find(const struct feeds *l, enum feed_kind kind, unsigned states, const char *url);	/* NULL: none */

#endif
