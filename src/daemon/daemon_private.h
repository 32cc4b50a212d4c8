/* daemon_private.h: shared by the daemon (daemon.c) and the changes by SIGHUP (daemon_change.c). */
#ifndef DAEMON_DAEMON_PRIVATE_H
#define DAEMON_DAEMON_PRIVATE_H

#include "collector.h"
#include "daemon.h"
#include "drop_report.h"
#include "server.h"
#include "sinks.h"
#include "source.h"

/* A source or a sink with its URL as configured: the URLs shown have no passwords. */
struct feed {
	char *given;
	struct source *source;
	struct sink *sink;
	bool ended;			/* a source that has come to its end */
	char *identity;			/* of one that is to be opened later; NULL: ask the source */
};

struct feeds {
	struct feed items[DAEMON_SOURCES];
	size_t count;
};

/* The data that the server's threads read: replaced as a whole. */
struct shown {
	struct source *sources[DAEMON_SOURCES];
	struct server_sink sinks[COLLECTOR_SINKS];
};

struct daemon {
	struct daemon_options options;
	struct loop *loop;
	int lock;			/* of the state directory; -1: none */
	bool has_journal;
	struct feeds sinks;		/* in the collector's order */
	struct collector *collector;
	struct feeds sources;
	struct feeds leaving;		/* sources that were removed and have something under way */
	struct feeds leaving_sinks;	/* that were removed, and for which something waits */
	struct feeds waiting;		/* URLs of sources that take the place of one of these, and are opened after
					 * it */
	struct shown *shown;
	struct query_starter *query_starter;	/* NULL: there are no queries */
	struct server *server;
	char *filters_path;		/* of the server; NULL without a store */
	struct watch watchdog, leave_timer, drop_timer;
	struct drop_report drops;
	_Atomic bool metrics_failed;	/* of Arc Lamp; the server's threads */
};

/* --- daemon.c --- */

void daemon_add_feed(struct feeds *f, const char *given, struct source *source, struct sink *sink);
void daemon_remove_feed(struct feeds *f, size_t i);
void daemon_drop_urls(struct feeds *f);			/* of what is not open */

bool daemon_same_url(const char *a, const char *b);	/* /run/s is unix:/run/s, and a sink /var/lib/s is
							 * sqlite:/var/lib/s */
/* a sink; NULL: none */
const struct feed *daemon_at_place(const struct feeds *f, const char *state, const char *place);

/* Opens it and appends it to the list; -EEXIST if one in the list reads the same input. */
int daemon_add_source(struct daemon *d, struct feeds *f, const char *url, struct err *err);

/* The same of a sink. `ops` NULL: by the URL's scheme. */
int daemon_add_sink(struct feeds *f, const struct daemon_options *o, const char *url, const struct sink_ops *ops,
		    struct err *err);

/* Ends the loop if all sources have ended, and returns whether they have. */
bool daemon_end_if_over(struct daemon *d);

struct collector_options daemon_collector_options(const struct daemon_options *o);
struct sink_options daemon_sink_options(const struct daemon_options *o);

/* The state that the server shows now. The arrays of the options are those of d->shown. */
struct shown *daemon_show(const struct daemon *d);
struct server_options daemon_feeds_shown(const struct daemon *d, const struct store_limits *limits);

/* --- daemon_drops.c --- */

/* Once a minute at most, and at the end. */
void daemon_report_drops(struct daemon *d, bool is_end);
void daemon_drops_ready(struct watch *drop_timer, uint32_t events);

/* --- daemon_change.c --- */

void daemon_reload(struct daemon *d);
void daemon_look_at_leaving(struct watch *leave_timer, uint32_t events);

#endif
