/* daemon_private.h: shared by the files of the daemon: its start and end (daemon.c), and SIGHUP (daemon_change.c). */
#ifndef DAEMON_DAEMON_PRIVATE_H
#define DAEMON_DAEMON_PRIVATE_H

#include "collector.h"
#include "daemon.h"
#include "drop_report.h"
#include "feeds.h"
#include "server.h"

/* The sources and sinks that the server's threads read; replaced as a whole. */
struct shown {
	struct source *sources[DAEMON_SOURCES + 1];
	struct server_sink sinks[COLLECTOR_SINKS];
	size_t source_count, sink_count;
};

struct daemon {
	struct daemon_options options;
	struct loop *loop;
	int lock;			/* state directory; -1: none */
	bool has_journal;
	struct collector *collector;
	struct peer_labels *peer_labels;	/* for processes that connect; NULL: none */
	struct feeds feeds;
	struct shown *shown;
	struct query_starter *query_starter;	/* NULL: there are no queries */
	struct server *server;
	char *filters_path, *grafana_settings_path;	/* for the server; NULL without a store */
	struct source *pushes;		/* profiles pushed to the server, which have no feed; NULL: no server */
	struct watch watchdog, tick;	/* the latter each second */
	struct drop_report drops;
	_Atomic bool metrics_failed;	/* Arc Lamp's; set by the server's threads */
};

/* --- daemon.c --- */

struct source_receiver daemon_receiver(struct daemon *d);	/* without the lists of other sources */

/* Stops the loop if all sources have reached EOF, and returns whether they have. */
bool daemon_stop_at_eof(struct daemon *d);

int64_t daemon_drain_ns(void);	/* how long a removed sink may fail before it is given up */
struct collector_options daemon_collector_options(const struct daemon_options *o);
struct sink_options daemon_sink_options(const struct daemon_options *o);

struct server_options daemon_server_options(const struct daemon_options *o);	/* the options that need a restart */

/* Shows the server's clients the sources and sinks that are in use or draining now. */
void daemon_update_shown(struct daemon *d);

/* --- feed_conflicts.c --- */

/* Prefixes an error with the item of `from` or `to` that it is about, and with the item's place in the file. */
int daemon_locate(const struct daemon *d, const char *option, const char *url, struct err *err);

/* Checks the sources and sinks of `n` against each other, by their URLs: -EEXIST, or -E2BIG for too many sinks. */
int daemon_check_conflicts(const struct daemon *d, const struct daemon_options *n, struct err *err);

/* --- feed_open.c --- */

/* Open what is not open yet, until the first error. -EEXIST if two sources read the same input or two sinks write to
 * the same place, -EBUSY for a sink whose place is in use by one being closed, -E2BIG above the limits. */
int daemon_open_page(struct daemon *d, struct err *err);		/* the store of the page, first */
int daemon_check_page(struct daemon *d, const struct daemon_options *n, struct err *err);	/* for the next start */
int daemon_open_sinks(struct daemon *d, const struct daemon_options *n, struct err *err);
int daemon_open_sources(struct daemon *d, const struct daemon_options *n, struct err *err);
int daemon_open_source(struct daemon *d, const char *url, struct err *err);

/* --- daemon_drops.c --- */

/* Logs drops, at most once a minute and at the end. */
void daemon_report_drops(struct daemon *d, bool is_end);

/* --- daemon_fixed.c --- */

/* Checks settings that apply after a restart as the start does, so that it does not fail then. */
int daemon_check_fixed(struct daemon *d, const struct daemon_options *n, struct err *err);
int daemon_check_metrics(const struct daemon_options *o, struct err *err);

/* Logs each setting that differs in `n` and cannot change while the daemon runs. */
void daemon_log_fixed(const struct daemon_options *o, const struct daemon_options *n);

/* --- daemon_change.c --- */

void daemon_reload(struct daemon *d);
void daemon_close_drained_sources(struct daemon *d);

/* --- sink_drain.c --- */

void daemon_drain_sink(struct daemon *d, struct feed *f);	/* closes it when the collector is done with it */
void daemon_restore_sink(struct daemon *d, struct feed *f);	/* a draining one */
void daemon_warn_of_failing_removed(struct daemon *d);	/* once for each draining sink */

#endif
