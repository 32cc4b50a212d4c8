/* sinks.h: what batches go to, by URL: "sqlite:/var/lib/strobe", "logs:/srv/arclamp/logs",
 * "redis://host/?stream=strobe".
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
	const char *state;			/* the directory for what a sink has to remember */
	struct store_limits limits;		/* of stores */
	const struct logs_options *logs;	/* of the tree that it names, from Arc Lamp's configuration; NULL:
						 * none */
};

struct sink_ops {
	const char *scheme;			/* "sqlite" */
	int (*open)(const char *url, const struct sink_options *o, struct sink **ret, struct err *err);
	/* What may change while it runs, limits and groups of logs; NULL: nothing. Any thread. */
	void (*set_options)(struct sink *s, const struct sink_options *o);
	/* What it counts beside the collector; NULL: nothing. Any thread; returns how many. */
	size_t (*figures)(void *sink, struct server_figure *ret, size_t max);
	/* What it is doing and whether that is well, where there is more to say than that commits fail; NULL: nothing.
	 * Any thread; the text may be cut. */
	bool (*state)(void *sink, char *text, size_t size);
	struct sink *(*close)(struct sink *s);
};

struct sink {
	const struct sink_ops *ops;
	char *url;				/* as it may be shown: without passwords */
	struct collector_sink port;		/* for the collector */
	struct store *store;			/* NULL: what goes there cannot be asked for */
};

/* -EINVAL with a sentence for what is no URL of a sink. */
int sink_open(const char *url, const struct sink_options *o, struct sink **ret, struct err *err);
struct sink *sink_close(struct sink *s);		/* NULL is fine; returns NULL */

extern const struct sink_ops sink_store_ops, sink_relay_ops, sink_logs_ops;

#endif
