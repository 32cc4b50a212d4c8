/* daemon.h: the daemon behind `strobe serve` and `strobe collect`: sources → collector → sinks, and the server that
 * shows them. */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include "logs.h"
#include "roles.h"
#include "store.h"

#define DAEMON_SOURCES	64u

struct daemon_options {
	const char *store_url;			/* the first sink, which the page shows; NULL: no page, counters only */
	const char *const *sources;		/* URLs; none: only pushes by HTTP are collected */
	size_t source_count;
	const char *const *sinks;		/* URLs; at least one, or a store */
	size_t sink_count;
	const char *state;			/* the directory for journal and spools; NULL: none is needed */
	struct store_limits limits;
	const struct logs_options *logs;	/* the tree in a configuration of Arc Lamp; NULL: none */
	uint64_t queue_bytes;			/* see collector.h */
	unsigned label_values, series;
	const char *listen, *probe_listen;	/* see server.h; NULL: the default, or none */
	struct roles_options roles;		/* see server.h */
	uint64_t query_memory;
	bool no_server, listen_may_fail;	/* a failure to listen is only a warning */
	const char *const *allow_hosts;
	size_t allow_host_count;
	const char *const *source_dirs;		/* see server.h */
	size_t source_dir_count;
	const char *const *service_labels;	/* see server.h */
	size_t service_label_count;
	const char *const *label_rules;		/* see peer_labels.h */
	size_t label_rule_count;
	const char *arclamp_metrics;		/* a tree of trace logs whose series /metrics includes; NULL: none */

	/* The place of an item of `from` or `to`, or of `store`: "strobe.yaml:7"; NULL: none, such as on the command line. */
	const char *(*place)(const char *option, const char *url);
	/* Prepends to an error the origin of the option that it is about (err_about). Called before `reloaded`, after
	 * `reload` has failed or its result could not be applied. */
	void (*locate)(struct err *err);

	/* Called on SIGHUP; NULL: SIGHUP terminates, as SIGTERM does. `reload` returns the current settings, or fails
	 * with a sentence. `reloaded` reports whether the daemon uses them now, so that the strings of the other
	 * options can be freed. */
	int (*reload)(struct daemon_options *ret, struct err *err);
	void (*reloaded)(bool taken);
};

/* Strings stay the caller's. Opens everything, logs what it collects, and runs until SIGTERM or
 * SIGINT, or until all sources reach EOF (standard input does). Then it reads pending input, commits it,
 * and returns 0; -EIO if some of it could not be committed in a few seconds, -ENODATA if the sources ended and had
 * nothing. */
int daemon_run(const struct daemon_options *o, struct err *err);

#endif
