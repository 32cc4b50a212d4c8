/* http.h: requests and responses of handlers, independent of connections. */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "auth.h"
#include "buf.h"
#include "connections.h"
#include "form_token.h"
#include "json.h"
#include "large_query_cache.h"
#include "memory_cap.h"
#include "params.h"
#include "server.h"
#include "workers.h"
#include <pthread.h>
#include <stdatomic.h>

/* Requests are counted per status in http_codes; the last entry counts all others. */
#define HTTP_CODES 24u
extern const int http_codes[HTTP_CODES];

#define PYROSCOPE_CALLS 12u

struct http_counters {
	_Atomic uint64_t requests[HTTP_CODES];
	_Atomic uint64_t runs_posted;
	_Atomic uint64_t logins, logins_wrong, logins_limited;	/* accepted logins, wrong tokens, and tokens rejected
								 * unchecked */
	_Atomic uint64_t uploads_late, uploads_large, uploads_busy;	/* over the deadline, over the memory limit,
									 * too many at once */
	_Atomic uint64_t body_bytes;		/* size of all request bodies that are being received */
	_Atomic uint64_t calls[PYROSCOPE_CALLS];	/* Grafana's, by pyroscope_call_index */
	_Atomic uint64_t queries;		/* completed, with any status */
	_Atomic uint64_t queries_pruned;	/* completed queries whose result was pruned */
	_Atomic uint64_t queries_shared;	/* further queries that shared a response (coalesce.h) */
	_Atomic uint64_t queries_busy, queries_large, queries_late, queries_crashed;	/* failed: too many or no
											 * memory left, over their
											 * memory limit, over the
											 * deadline, crashed */
};

/* Bodies: of one run, and of all concurrent uploads. */
#define HTTP_BODY_MAX		((size_t)64 << 20)
#define HTTP_BODY_SMALL		((size_t)64 << 10)	/* small enough to be read and answered at once */
#define HTTP_BODIES_MAX		((uint64_t)256 << 20)

/* The data that handlers use; the same for every request. */
struct server_context {
	struct server_options options;
	pthread_rwlock_t lock;			/* guards its sources, sinks and limits */
	struct auth_rules auth;
	struct http_counters http;
	struct connections connections;
	struct workers *pushes;			/* for pushed profiles; otherwise like uploads */
	struct workers *uploads;		/* NULL: nothing can cancel slow work */
	struct workers *queries, *large_queries;
	struct memory_cap memory;		/* for queries and answers */
	struct large_query_cache large_query_cache;
	char form_token[FORM_TOKEN + 1];	/* valid since the daemon started */
	uint32_t max_nodes, refuse_above;	/* limits of a query's profile, as in store_query; 0 is no limit */
	int64_t start_ns;
	struct graphviz *graphviz;		/* for a query that draws a call graph, started before its limits; else NULL */
};

struct request {
	struct auth_request headers;
	struct identity identity;
	const char *form_token;			/* for forms that change something; NULL for read-only users */
	const struct auth_rules *auth;				/* rules of the address that received it; NULL: those of the server */
	bool only_probes;					/* that address serves probes only */
	const char *path, *query, *accept, *if_none_match;	/* query and the headers may be NULL */
	const char *content_type, *content_encoding;		/* headers of the body; NULL if missing */
	const char *tenant, *profiles_version;			/* X-Scope-OrgID, OTLP-Profiles-Development-Version */
	uint32_t timeout_ms;					/* the client's timeout for a query; 0: not given */
	int64_t arrived_ns;					/* monotonic */
	const char *body;					/* NULL unless the handler takes one */
	size_t body_size;
	bool has_body, body_too_large, accepts_gzip, accepts_html;
	bool shows_pages;					/* for a browser, from a server that has pages */
	int64_t now_ns;
};

struct response {
	int status;
	const char *type;			/* Content-Type */
	struct buf body;
	const char *allow, *location, *disposition;	/* headers; NULL if missing */
	const char *etag;			/* also makes it cacheable for ever */
	bool gzipped;
	const char *set_cookie, *warning;	/* warning: describes data missing in the response */
	const char *retry_after;		/* seconds */
	const char *accept_post;		/* types that a body may have */
	bool pruned;				/* the missing data was pruned */
	bool out_of_memory;			/* the response is an error for that reason */
	struct buf_drain *drain;		/* for response_streams; else NULL */
	struct arena bytes;			/* memory of the members above */
};

void response_init(struct response *r);
void response_done(struct response *r);

/* Fills `to`, which is fresh, with the same status, headers and body. */
void response_copy(struct response *to, const struct response *from);

/* From here on sends the body to the drain in pieces, if there is one: for handlers that only append. */
void response_streams(struct response *r);

/* Puts an error message as a page for browsers, as {"error": sentence} below /api, in Connect's format for calls of
 * connect.h, or as plain text. Replaces the previous body. */
void response_error(struct response *r, const struct request *q, int status, const char *format, ...) _printf_(4, 5);

/* Whether a Content-Type names this type. Parameters such as charset are ignored, since JSON is always UTF-8. */
bool http_is_type(const char *header, const char *type);

/* Returns the index at which `code` is counted. */
size_t http_code_index(int code);

#endif
