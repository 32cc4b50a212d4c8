/* sinks.h: destinations of batches, by URL: "sqlite:/var/lib/strobe", "logs:/srv/arclamp/logs",
 * "redis://host/?stream=strobe", "otlp://host:4318", "pyroscope://host:4040".
 *
 * A kind of sink is one file, sink_*.c, with a `struct sink_ops` that stands in the table of sinks.c. */
#ifndef DAEMON_SINKS_H
#define DAEMON_SINKS_H

#include "collector.h"
#include "logs.h"
#include "server.h"
#include "store.h"

struct sink;

struct sink_options {
	const char *state;			/* the directory for the state of sinks */
	bool takes_old_spool;			/* a relay may take over the spool of an earlier version */
	struct store_limits limits;		/* for stores */
	const struct logs_options *logs;	/* Arc Lamp's configuration, which applies to the tree that it
						 * names; NULL: none */
};

struct sink_ops {
	const char *scheme;			/* "sqlite" */
	int (*open)(const char *url, const struct sink_options *o, struct sink **ret, struct err *err);
	/* Sets options that may change at run time, limits and groups of logs; NULL: none. Any thread. */
	void (*set_options)(struct sink *s, const struct sink_options *o);
	/* Returns counters besides the collector's, and how many there are. Any thread. NULL: none. */
	size_t (*figures)(void *sink, struct sink_metric *ret, size_t max);
	/* Describes the state, beyond failing commits, and returns whether it is healthy; NULL: nothing to
	 * describe. Any thread; the text may be cut. */
	bool (*state)(void *sink, char *text, size_t size);
	/* Stops the sink's own thread before the sink is closed, and returns the number of entries left in its spool;
	 * NULL: it has no spool. */
	uint64_t (*stop)(struct sink *s);
	struct sink *(*close)(struct sink *s);
};

struct sink {
	const struct sink_ops *ops;
	char *url;				/* without passwords, to be shown */
	struct collector_sink port;		/* for the collector */
	struct store *store;			/* NULL: this sink cannot be queried */
};

/* -EINVAL with a sentence for an invalid URL. */
int sink_open(const char *url, const struct sink_options *o, struct sink **ret, struct err *err);
struct sink *sink_close(struct sink *s);		/* NULL is fine; returns NULL */

extern const struct sink_ops sink_store_ops, sink_clickhouse_ops, sink_relay_ops, sink_relay_tls_ops, sink_logs_ops, sink_otlp_ops,
	sink_pyroscope_ops;

#endif
