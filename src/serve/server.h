/* server.h: the daemon's HTTP side: pages for people, a JSON API and metrics for programs.
 *
 * It reads the store and the counters of the collector and the sources, and changes none of them. It runs in threads
 * of its own, so a slow query never keeps a sample waiting. Without roles (roles.h) only loopback has access, and the
 * Host of every request is checked (auth.h): a page of another origin can neither read nor control it.
 */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "buf.h"
#include "collector.h"
#include "err.h"
#include "roles.h"
#include "source.h"
#include "store.h"

#define SERVER_LISTEN "127.0.0.1:8787"

struct query_starter;
struct server;

/* A figure that a sink provides: "spool_bytes", or "relay_dropped_total" with the label reason="cap". */
struct sink_metric {
	const char *name;			/* name of the metric without "strobe_"; counters end in "_total" */
	const char *help;
	const char *key, *value;		/* one more label; NULL: none */
	uint64_t number;
};

#define SINK_METRICS_MAX	32u			/* figures of one sink */

struct server_sink {
	const char *url;
	const struct sink_counters *counters;
	bool is_draining;			/* removed from the configuration, and still storing its queue */
	/* Fills in up to `max` figures and returns their number; NULL: none. Any thread. */
	size_t (*figures)(void *data, struct sink_metric *ret, size_t max);
	bool (*state)(void *data, char *text, size_t size);	/* whether it is healthy, and its state; NULL: none */
	void *data;
};

/* Everything that it points to stays the caller's and must outlive the server. */
#define NAMED_FILTERS_FILE	"named-filters"	/* below the store's directory */
#define GRAFANA_SETTINGS_FILE	"grafana-settings.json"

struct server_options {
	const char *listen;			/* "127.0.0.1:8787", "[::1]:0", "localhost:8787"; NULL: SERVER_LISTEN */
	struct roles_options roles;		/* beyond loopback, a token or a proxy is required */
	const char *const *allow_hosts;		/* further names in Host, such as a reverse proxy's:
						 * "strobe.example.org" */
	size_t allow_host_count;
	unsigned connections;			/* maximum; 0: 256, the highest possible value */
	const char *probe_listen;		/* another address, for /healthz, /readyz and /metrics only; NULL: none */

	struct query_starter *query_starter;	/* see query_starter.h, for the store; NULL: queries run in this process */
	uint64_t query_memory;			/* for all queries and their answers; 0: QUERY_MEMORY */
	struct store *store;			/* NULL: only counters are served */
	const char *filters_path;		/* file of named filters; NULL: they are not available */
	const char *const *source_dirs;		/* source files below these may be served, see source_text.h */
	size_t source_dir_count;
	const char *const *service_labels;	/* labels used as Grafana's service_name, the first one that a series
						 * has; none: those of pyroscope_selection.h */
	size_t service_label_count;
	const char *grafana_settings_path;	/* file of its app's settings; NULL: they are not stored */
	bool only_counters;			/* no pages and no profiles, even with a store */
	const char *store_url;			/* for display only; may be NULL */
	struct store_limits limits;		/* for display only */
	const struct collector_counters *collector;	/* NULL if nothing is collected: then it is never ready */
	struct source *pushes;			/* see push_source.h; NULL: pushes are refused */
	struct source *const *sources;		/* includes `pushes` */
	size_t source_count;
	const struct server_sink *sinks;
	size_t sink_count;
	void (*more_metrics)(void *data, struct buf *out);	/* appends further families; NULL: none. Any thread */
	void *more_data;
	int64_t start_ns;			/* start of the daemon, clock_wall_ns(); 0: now */
};

/* Starts listening and serving. -EADDRINUSE, -EACCES (beyond loopback without a token) and -EINVAL come with a
 * sentence that names the remedy. */
int server_new(const struct server_options *o, struct server **ret, struct err *err);

/* Does the same checks without listening: -EACCES and -EINVAL. */
int server_check(const struct server_options *o, struct err *err);

/* Whether a restart could listen at this address (NULL: the default), which server_check() has accepted; `option` is "--listen". */
int server_check_listen(const char *text, const char *option, struct err *err);

/* Takes sources, sinks, limits, store and store_url from `o`, and ignores the rest. After the return, no thread uses
 * the previous ones. The store may change only with `only_counters`. */
void server_show(struct server *s, const struct server_options *o);

const char *server_url(const struct server *s);		/* "http://127.0.0.1:8787", for display */
const char *server_probe_url(const struct server *s);	/* "" without such an address */

/* Stops listening, cancels uploads, and waits at most `patience_ns` for responses in progress. False if one is not
 * complete by then: it still uses everything that the options point to, so nothing can be freed, and the program must
 * end with _exit, or call this again. NULL is fine. */
bool server_stop(struct server *s, int64_t patience_ns);

/* Stops without a timeout, and frees the server. NULL is fine; returns NULL. */
struct server *server_free(struct server *s);

#endif
