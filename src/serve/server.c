/* server.c: connections, by libmicrohttpd; the router interprets requests.
 *
 * A small pool of threads, each with its own epoll, does nothing that takes long: queries of the store (queries.h), bodies
 * that are to be read and stored, and removals are handed to other threads (workers.h) while the connection is suspended, so
 * that /healthz never waits. A body is received only where one is wanted and from whom it is, up to HTTP_BODY_MAX and, of all
 * at the same time, HTTP_BODIES_MAX; every header fits in CONNECTION_MEMORY, and who is slow is cut off: after
 * CONNECTION_SECONDS, and at once where another one wants the place (connections.h). */

#include "server.h"

#include "address.h"
#include "answer_file.h"
#include "auth.h"
#include "clock.h"
#include "coalesce.h"
#include "http.h"
#include "listener.h"
#include "log.h"
#include "mem.h"
#include "queries.h"
#include "callgraph.h"
#include "render.h"
#include "router.h"
#include "strict_recv.h"
#include "web_assets.h"

#include <arpa/inet.h>
#include <assert.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#define THREADS			4u
#define CONNECTIONS		256u
#define CONNECTIONS_KEPT(most)	((most) * 3 / 4)	/* a thread that has its share takes no more, the others still do */
#define CONNECTION_SECONDS	30u
#define CONNECTION_MEMORY	(32u * 1024)
#define UPLOAD_THREADS		2u
#define UPLOADS_WAITING		8u
#define PUSH_THREADS		2u
#define PUSHES_WAITING		64u
#define PROBE_CONNECTIONS	64u
#define PROBE_SECONDS		10u

#define POLICY	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " \
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
/* A picture carries its own style and its own script, which is known by its hash. */
#define PICTURE_POLICY "default-src 'none'; style-src 'unsafe-inline'; script-src %s %s; base-uri 'none'; " \
		"form-action 'none'; frame-ancestors 'none'"

/* An address where the server listens. */
struct door {
	struct server *server;
	struct MHD_Daemon *daemon;
	struct auth_rules *auth;
	struct connections *connections;
	bool only_probes;
	int fd;				/* -1 once libmicrohttpd owns it */
	char url[ADDRESS_HOST + 32];
	unsigned most;			/* connections */
};

struct server {
	struct site site;
	struct coalesce waiting;		/* queries */
	struct auth_rules probe_auth;
	struct connections probe_connections;
	struct door front, probes;
	_Atomic bool ends;
	pthread_t stopper;
	bool is_stopping, is_stopped;
};

/* One request while it is read: libmicrohttpd calls twice. */
struct exchange {
	char *query;			/* NULL if the address has none */
	bool too_long, has_nul, begun;	/* has_nul: in the path, which ends there for us */
	bool takes_body, too_large, too_many;	/* the body was above a limit, all bodies together were */
	size_t body_max;			/* of the body that is taken */
	size_t received;			/* bytes of the body, also those that were not kept */
	struct buf body;

	/* For a request answered by another thread while its connection is suspended. */
	struct server *server;
	struct MHD_Connection *connection;
	bool is_answered, is_large;		/* the latter: a query that is tried for the second time */
	struct request request;
	struct response response;
	struct answer *answer;			/* its body; NULL: it is in the response */
	struct waiting_query waiting;
	char local_address[INET6_ADDRSTRLEN], peer[INET6_ADDRSTRLEN];
};

/* --- Answers --- */

static void add_header(struct MHD_Response *m, const char *name, const char *value)
{
	if (value)
		MHD_add_response_header(m, name, value);
}

static void add_headers(struct MHD_Response *m, const struct response *r)
{
	char policy[512] = POLICY;

	if (strcmp(r->type, "image/svg+xml") == 0)
		snprintf(policy, sizeof(policy), PICTURE_POLICY, flamegraph_svg_script_hashes, callgraph_svg_script_hash);
	add_header(m, "Content-Type", r->type);
	add_header(m, "Content-Security-Policy", policy);
	add_header(m, "X-Content-Type-Options", "nosniff");
	/* With no-referrer a browser says "Origin: null" when it sends a form. */
	add_header(m, "Referrer-Policy", "same-origin");
	add_header(m, "Cross-Origin-Resource-Policy", "same-origin");
	add_header(m, "Cross-Origin-Opener-Policy", "same-origin");
	add_header(m, "Cache-Control", r->etag ? "private, max-age=31536000, immutable" : "no-store");
	add_header(m, "ETag", r->etag);
	add_header(m, "Vary", r->etag ? "Accept-Encoding" : NULL);
	add_header(m, "Content-Encoding", r->gzipped ? "gzip" : NULL);
	add_header(m, "Allow", r->allow);
	add_header(m, "Location", r->location);
	add_header(m, "Accept-Post", r->accept_post);
	add_header(m, "Set-Cookie", r->set_cookie);
	add_header(m, "Content-Disposition", r->disposition);
	add_header(m, "Strobe-Warning", r->warning);
	add_header(m, "Retry-After", r->retry_after ? r->retry_after : r->status == 503 ? "5" : NULL);
	add_header(m, "WWW-Authenticate", r->status == 401 ? "Bearer" : NULL);
}

/* Blocks are requested one after another, and none in parts. */
static ssize_t give_block(void *data, uint64_t at, char *to, size_t room)
{
	struct answer *a = data;
	char block[ANSWER_BLOCK];
	ssize_t n = answer_read(a->file, &a->at, block);

	(void)at;
	if (n <= 0 || (size_t)n > room)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	memcpy(to, block, (size_t)n);
	return n;
}

static void end_answer(void *data)
{
	answer_free(data);
}

static struct MHD_Response *response_of_answer(struct answer *a)
{
	struct MHD_Response *m = MHD_create_response_from_callback(a->size, ANSWER_BLOCK, give_block, a, end_answer);

	if (!m)
		answer_free(a);
	return m;
}

static struct MHD_Response *response_of_body(const struct request *q, struct response *r)
{
	struct MHD_Response *m;
	size_t size;
	char *body;

	if (r->body.overflow)
		response_error(r, q, 500, "the answer is above %zu bytes; ask for a shorter range or fewer labels",
			       r->body.limit);
	body = buf_take(&r->body, &size);
	m = MHD_create_response_from_buffer(size, body, MHD_RESPMEM_MUST_FREE);
	if (!m)
		free(body);
	return m;
}

/* Takes `a`, which is NULL if the body is in `r`. */
static enum MHD_Result send_response(struct server *s, struct MHD_Connection *c, const struct request *q,
				     struct response *r, struct answer *a)
{
	struct MHD_Response *m = a ? response_of_answer(a) : response_of_body(q, r);
	enum MHD_Result done;

	if (!m)
		return MHD_NO;
	add_headers(m, r);
	s->site.http.requests[http_code_index(r->status)]++;
	done = MHD_queue_response(c, (unsigned)r->status, m);
	MHD_destroy_response(m);
	return done;
}

/* --- Requests --- */

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static const char *address_text(const struct sockaddr *a, char text[INET6_ADDRSTRLEN])
{
	if (a->sa_family == AF_INET)
		return inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, text, INET6_ADDRSTRLEN);
	if (a->sa_family == AF_INET6)
		return inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)a)->sin6_addr, text, INET6_ADDRSTRLEN);
	return NULL;
}

/* The address that the other side reached us by, as text. */
static const char *local_address(struct MHD_Connection *c, char text[INET6_ADDRSTRLEN])
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct sockaddr_storage address = { 0 };
	socklen_t n = sizeof(address);

	if (!info || getsockname(info->connect_fd, (struct sockaddr *)&address, &n) < 0)
		return NULL;
	return address_text((struct sockaddr *)&address, text);
}

static const char *peer_address(struct MHD_Connection *c, char text[INET6_ADDRSTRLEN])
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return info ? address_text(info->client_addr, text) : NULL;
}

/* A header that came twice could be read in two ways, so such a request is not answered. Each proxy may add a line of
 * X-Forwarded-For, and the last is the one of the proxy that asks us. */
struct seen {
	const char *user_header, *forwarded_for;
	unsigned host, origin, authorization, user, forwarded_proto, tenant, profiles_version;
};

static enum MHD_Result note_header(void *data, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct seen *seen = data;

	(void)kind;
	if (strcasecmp(name, "X-Forwarded-For") == 0)
		seen->forwarded_for = value;
	seen->user += strcasecmp(name, seen->user_header) == 0;
	seen->forwarded_proto += strcasecmp(name, "X-Forwarded-Proto") == 0;
	seen->host += strcasecmp(name, "Host") == 0;
	seen->origin += strcasecmp(name, "Origin") == 0;
	seen->authorization += strcasecmp(name, "Authorization") == 0;
	seen->tenant += strcasecmp(name, "X-Scope-OrgID") == 0;
	seen->profiles_version += strcasecmp(name, "OTLP-Profiles-Development-Version") == 0;
	return MHD_YES;
}

static struct seen headers_seen(const struct server *s, struct MHD_Connection *c)
{
	struct seen seen = { .user_header = s->site.auth.roles.options.user_header };

	MHD_get_connection_values(c, MHD_HEADER_KIND, note_header, &seen);
	return seen;
}

static bool has_doubled_headers(const struct server *s, struct MHD_Connection *c)
{
	struct seen seen = headers_seen(s, c);

	return seen.host > 1 || seen.origin > 1 || seen.authorization > 1 || seen.user > 1 || seen.forwarded_proto > 1 ||
	       seen.tenant > 1 || seen.profiles_version > 1;
}

static bool announces_body(struct MHD_Connection *c)
{
	const char *length = header(c, "Content-Length");

	return header(c, "Transfer-Encoding") || (length && strcmp(length, "0") != 0);
}

/* At most ten digits; all else says nothing. */
static uint32_t milliseconds_of(const char *text)
{
	size_t n = text ? strspn(text, "0123456789") : 0;
	unsigned long long ms = n && n <= 10 && !text[n] ? strtoull(text, NULL, 10) : 0;

	return ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms;
}

static void fill_request(struct request *q, const struct door *d, struct MHD_Connection *c, const char *method,
			 const char *path, struct exchange *e)
{
	const char *encoding = header(c, "Accept-Encoding");
	const struct server *s = d->server;

	*q = (struct request){
		.auth = d->auth, .only_probes = d->only_probes,
		.path = path, .query = e->query, .accept = header(c, "Accept"),
		.if_none_match = header(c, "If-None-Match"), .has_body = announces_body(c),
		.content_type = header(c, "Content-Type"), .content_encoding = header(c, "Content-Encoding"),
		.tenant = header(c, "X-Scope-OrgID"), .profiles_version = header(c, "OTLP-Profiles-Development-Version"),
		.timeout_ms = milliseconds_of(header(c, "Connect-Timeout-Ms")),
		.now_ns = clock_wall_ns(), .body_too_large = e->too_large,
		.headers = {
			.method = method, .host = header(c, "Host"), .origin = header(c, "Origin"),
			.fetch_site = header(c, "Sec-Fetch-Site"), .fetch_mode = header(c, "Sec-Fetch-Mode"),
			.fetch_dest = header(c, "Sec-Fetch-Dest"), .user_agent = header(c, "User-Agent"),
			.local_address = local_address(c, e->local_address),
			.roles = {
				.authorization = header(c, "Authorization"), .cookie = header(c, "Cookie"),
				.user = header(c, s->site.auth.roles.options.user_header),
				.forwarded_for = headers_seen(s, c).forwarded_for,
				.forwarded_proto = header(c, "X-Forwarded-Proto"), .origin = header(c, "Origin"),
				.peer = peer_address(c, e->peer),
			},
		},
	};
	if (e->takes_body && !e->too_large && !e->too_many) {
		q->body = e->body.data;
		q->body_size = e->body.size;
		q->has_body = true;
	}
	q->accepts_gzip = encoding && strstr(encoding, "gzip") && !strstr(encoding, "gzip;q=0");
	q->accepts_html = q->accept && strstr(q->accept, "text/html");
}

/* Returns the announced size of the body; 0 if there is none. */
static uint64_t announced_size(struct MHD_Connection *c)
{
	const char *length = header(c, "Content-Length");

	return length ? strtoull(length, NULL, 10) : 0;
}

static void note(struct door *d, struct MHD_Connection *c, enum connection_state state)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	connections_note(d->connections, info ? info->socket_context : NULL, state);
}

/* Decides before the body arrives, so that no client sends 64 MB for nothing. */
static bool wants_body(struct door *d, struct MHD_Connection *c, const char *method, const char *path,
		       struct exchange *e)
{
	struct server *s = d->server;
	struct request q;

	fill_request(&q, d, c, method, path, e);
	e->body_max = e->too_long || e->has_nul || d->only_probes || has_doubled_headers(s, c) ? 0 :
		router_body_max(&s->site, &q);
	if (!e->body_max)
		return false;
	e->too_large = announced_size(c) > e->body_max;
	e->too_many = atomic_load(&s->site.http.body_bytes) + announced_size(c) > HTTP_BODIES_MAX;
	return !e->too_large && !e->too_many;
}

/* Keeps a piece of the body, or notes why not; the rest is then read and discarded, so that the sender gets an answer.
 * A client that goes on for ever is cut off. */
static enum MHD_Result receive_body(struct server *s, struct exchange *e, const char *bytes, size_t n)
{
	e->received += n;
	if (!e->too_large && !e->too_many) {
		e->too_large = e->received > e->body_max;
		e->too_many = atomic_fetch_add(&s->site.http.body_bytes, n) + n > HTTP_BODIES_MAX;
		buf_put(&e->body, bytes, n);
	}
	if (e->too_large || e->too_many) {
		s->site.http.body_bytes -= e->body.size;
		buf_done(&e->body);
		buf_init(&e->body);
	}
	return e->received > 2 * e->body_max ? MHD_NO : MHD_YES;
}

/* By a thread of the uploads: what writes to the store may wait for another writer. */
static void answer_upload(void *data)
{
	struct exchange *e = data;

	router_answer(&e->server->site, &e->request, &e->response);
	e->is_answered = true;
	MHD_resume_connection(e->connection);
}

static struct exchange *exchange_of(struct waiting_query *w)
{
	return (struct exchange *)((char *)w - offsetof(struct exchange, waiting));
}

/* The same answer as that of the query which it followed. */
static void answer_follower(struct exchange *e, const struct exchange *leader)
{
	response_copy(&e->response, &leader->response);
	if (leader->answer && !(e->answer = answer_share(leader->answer)))
		queries_refuse(&e->server->site, &e->request, &e->response);
	e->is_answered = true;
	MHD_resume_connection(e->connection);
}

static void end_query(struct exchange *e)
{
	for (struct waiting_query *w = e->waiting.followers, *next; w; w = next) {
		next = w->next;		/* it is gone when its connection goes on */
		answer_follower(exchange_of(w), e);
	}
	e->is_answered = true;
	MHD_resume_connection(e->connection);
}

/* By a thread of the queries. */
static void answer_query(void *data)
{
	struct exchange *e = data;
	struct site *site = &e->server->site;

	if (!e->is_large) {
		coalesce_begin(&e->server->waiting, &e->waiting);
		e->request.now_ns = clock_wall_ns();
	}
	if (e->server->ends) {
		response_error(&e->response, &e->request, 503, "the daemon ends");
	} else if (!queries_answer(site, &e->request, e->is_large, &e->response, &e->answer)) {
		e->is_large = true;
		if (workers_add(site->large_queries, answer_query, e))
			return;
		queries_refuse(site, &e->request, &e->response);
	}
	end_query(e);
}

static void suspend(struct server *s, struct MHD_Connection *c, struct exchange *e)
{
	e->server = s;
	e->connection = c;
	MHD_suspend_connection(c);
}

static enum MHD_Result begin_upload(struct server *s, struct MHD_Connection *c, struct exchange *e)
{
	struct workers *to = router_is_push(&e->request) ? s->site.pushes : s->site.uploads;

	suspend(s, c, e);
	if (!workers_add(to, answer_upload, e)) {
		e->is_answered = true;
		s->site.http.uploads_refused += !router_removes(&e->request);
		response_error(&e->response, &e->request, 503, "too many profiles are being read or removed at "
			       "this moment; try again");
		MHD_resume_connection(c);
	}
	return MHD_YES;
}

static enum MHD_Result begin_query(struct server *s, struct MHD_Connection *c, struct exchange *e)
{
	suspend(s, c, e);
	e->waiting.request = &e->request;
	if (coalesce_join(&s->waiting, &e->waiting)) {
		s->site.http.queries_shared++;
		return MHD_YES;
	}
	if (!workers_add(s->site.queries, answer_query, e)) {
		coalesce_begin(&s->waiting, &e->waiting);
		queries_refuse(&s->site, &e->request, &e->response);
		end_query(e);
	}
	return MHD_YES;
}

static enum MHD_Result send_answer(struct door *d, struct MHD_Connection *c, struct exchange *e)
{
	enum MHD_Result done = send_response(d->server, c, &e->request, &e->response, TAKE_PTR(e->answer));

	note(d, c, CONNECTION_SENDS);
	return done;
}

/* The request is complete. */
static enum MHD_Result answer_request(struct door *d, struct MHD_Connection *c, struct exchange *e, const char *method,
				      const char *path)
{
	struct request *q = &e->request;
	struct response *r = &e->response;
	struct site *site = &d->server->site;

	fill_request(q, d, c, method, path, e);
	if (e->takes_body && e->body_max > HTTP_BODY_SMALL && !e->too_large && !e->too_many)
		return begin_upload(d->server, c, e);
	if (e->too_long)
		response_error(r, q, 400, "the address is longer than %u bytes", PARAMS_QUERY_MAX);
	else if (e->has_nul)
		response_error(r, q, 400, "the address has a NUL byte in its path");
	else if (has_doubled_headers(d->server, c))
		response_error(r, q, 400, "a header came twice that may come once");
	else if (router_admits(site, q, r) && router_is_query(q))
		return begin_query(d->server, c, e);
	else if (r->status == 200 && router_removes(q))
		return begin_upload(d->server, c, e);
	else if (r->status == 200)
		router_handle(site, q, r);
	return send_answer(d, c, e);
}

static enum MHD_Result answer(void *data, struct MHD_Connection *c, const char *path, const char *method,
			      const char *version, const char *upload, size_t *upload_size, void **con_cls)
{
	struct door *d = data;
	struct exchange *e = *con_cls;

	(void)version;
	if (!e)
		return MHD_NO;
	/* Answering at the first call closes the connection, which is right only where a body follows. */
	if (!e->begun && !announces_body(c)) {
		e->begun = true;
		return MHD_YES;
	}
	if (!e->begun && wants_body(d, c, method, path, e)) {
		e->begun = e->takes_body = true;
		return MHD_YES;
	}
	if (e->begun && *upload_size) {
		size_t n = *upload_size;

		*upload_size = 0;
		note(d, c, CONNECTION_READS);
		return e->takes_body ? receive_body(d->server, e, upload, n) : MHD_YES;
	}
	note(d, c, CONNECTION_ANSWERS);
	return e->is_answered ? send_answer(d, c, e) : answer_request(d, c, e, method, path);
}

/* The query string is kept as it came: libmicrohttpd's own reading of it forgives too much. */
static void *begin_exchange(void *data, const char *uri, struct MHD_Connection *c)
{
	struct exchange *e = xcalloc(1, sizeof(*e));
	const char *query = strchr(uri, '?');

	(void)data;
	(void)c;
	buf_init(&e->body);
	response_init(&e->response);
	e->too_long = strlen(uri) > PARAMS_QUERY_MAX;
	e->has_nul = memmem(uri, query ? (size_t)(query - uri) : strlen(uri), "%00", 3) != NULL;
	if (query && !e->too_long)
		e->query = xstrdup(query + 1);
	return e;
}

static void end_exchange(void *data, struct MHD_Connection *c, void **con_cls, enum MHD_RequestTerminationCode why)
{
	struct exchange *e = *con_cls;
	struct door *d = data;

	(void)why;
	if (e) {
		d->server->site.http.body_bytes -= e->body.size;
		buf_done(&e->body);
		response_done(&e->response);
		answer_free(e->answer);
		free(e->query);
	}
	free(e);
	*con_cls = NULL;
	note(d, c, CONNECTION_READS);
}

/* It ends before its descriptor is closed. */
static void begin_or_end_connection(void *data, struct MHD_Connection *c, void **context,
				    enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct door *d = data;

	if (what == MHD_CONNECTION_NOTIFY_STARTED && info) {
		*context = connections_add(d->connections, info->connect_fd);
		if (!strict_recv_watch(info->connect_fd, &d->server->site.http.requests[http_code_index(400)]))
			shutdown(info->connect_fd, SHUT_RDWR);
	}
	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (info)
			strict_recv_forget(info->connect_fd);
		connections_remove(d->connections, *context);
		*context = NULL;
	}
}

static void log_line(void *data, const char *format, va_list args)
{
	char text[512];

	(void)data;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	log_debug("http: %s", text);
}

/* --- Listening --- */

/* libmicrohttpd's threads inherit the mask: signals are the business of the daemon's own loop. Probes have one thread, which
 * nothing else uses. */
static int start_daemon(struct door *d, struct err *err)
{
	struct MHD_OptionItem pool[] = {
		{ d->only_probes ? MHD_OPTION_END : MHD_OPTION_THREAD_POOL_SIZE, THREADS, NULL },
		{ MHD_OPTION_END, 0, NULL },
	};
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	d->daemon = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, answer, d,
		MHD_OPTION_EXTERNAL_LOGGER, log_line, NULL,
		MHD_OPTION_LISTEN_SOCKET, (MHD_socket)d->fd,
		MHD_OPTION_ARRAY, pool,
		MHD_OPTION_CONNECTION_LIMIT, d->most,
		MHD_OPTION_CONNECTION_TIMEOUT, d->only_probes ? PROBE_SECONDS : CONNECTION_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_URI_LOG_CALLBACK, begin_exchange, NULL,
		MHD_OPTION_NOTIFY_COMPLETED, end_exchange, d,
		MHD_OPTION_NOTIFY_CONNECTION, begin_or_end_connection, d,
		MHD_OPTION_END);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!d->daemon)
		return err_set(err, -EIO, "cannot start the HTTP server: %s", strerror(errno));
	d->fd = -1;
	return 0;
}

/* --- Life --- */

/* Sessions and attempts are those of both addresses. */
static int init_auth(struct server *s, struct err *err)
{
	const struct server_options *o = &s->site.options;
	int r = roles_init(&s->site.auth.roles, &o->roles, err);

	if (r >= 0)
		r = form_token_make(s->site.form_token, err);
	for (size_t i = 0; r >= 0 && i < o->allow_host_count; i++)
		r = auth_check_allow_host(o->allow_hosts[i], err);
	s->probe_auth = s->site.auth;
	return r;
}

static int check_address(struct door *d, const char *text, struct err *err)
{
	if (address_parse(text, &d->auth->listen) < 0 || d->auth->listen.port < 0)
		return err_set(err, -EINVAL, "cannot listen on '%s': give an address and port as 127.0.0.1:8787 or "
			       "[::1]:8787", text);
	if (address_is_loopback(&d->auth->listen) || roles_are_set(&d->auth->roles, d->only_probes))
		return 0;
	if (d->only_probes)
		return err_set(err, -EACCES, "%s can be reached from other machines; give a token for probes with "
			       "--probe-token-file, or listen on 127.0.0.1", text);
	return err_set(err, -EACCES, "%s can be reached from other machines, and profiles tell much about "
		       "a site; give a token with --token-file, or listen on %s", text, SERVER_LISTEN);
}

static int listen_at(struct door *d, const char *text, struct err *err)
{
	const char *option = d->only_probes ? "--probe-listen" : "--listen";
	struct address *a = &d->auth->listen;
	int r;

	if ((r = check_address(d, text, err)) < 0 || (r = listener_open(text, option, a, &d->fd, err)) < 0)
		return r;
	snprintf(d->url, sizeof(d->url), a->bracketed ? "http://[%s]:%d" : "http://%s:%d", a->host, a->port);
	return 0;
}

/* Every address before the first thread, so that one in use leaves nothing behind. */
static int open_doors(struct server *s, struct err *err)
{
	const struct server_options *o = &s->site.options;
	int r = listen_at(&s->front, o->listen ? o->listen : SERVER_LISTEN, err);

	if (r >= 0 && o->probe_listen)
		r = listen_at(&s->probes, o->probe_listen, err);
	return r;
}

static int start(struct server *s, struct err *err)
{
	struct site *site = &s->site;
	int r;

	if ((r = workers_new(UPLOAD_THREADS, UPLOADS_WAITING, &site->uploads, err)) < 0 ||
	    (r = workers_new(PUSH_THREADS, PUSHES_WAITING, &site->pushes, err)) < 0 ||
	    (r = workers_new(QUERY_THREADS, QUERIES_WAITING, &site->queries, err)) < 0 ||
	    (r = workers_new(1, LARGE_QUERIES_WAITING, &site->large_queries, err)) < 0 ||
	    (r = start_daemon(&s->front, err)) < 0)
		return r;
	return s->probes.fd >= 0 ? start_daemon(&s->probes, err) : 0;
}

static struct server *new_server(const struct server_options *o)
{
	struct server *s = xcalloc(1, sizeof(*s));
	struct auth_rules *auth = &s->site.auth;

	s->front = (struct door){ .server = s, .auth = auth, .connections = &s->site.connections, .fd = -1 };
	s->probes = (struct door){ .server = s, .auth = &s->probe_auth, .connections = &s->probe_connections, .fd = -1,
				   .only_probes = true };
	pthread_rwlock_init(&s->site.lock, NULL);
	coalesce_init(&s->waiting);
	s->front.most = o->connections && o->connections < CONNECTIONS ? o->connections : CONNECTIONS;
	s->probes.most = s->front.most / 4 < PROBE_CONNECTIONS ? s->front.most / 4 + 1 : PROBE_CONNECTIONS;
	if (o->probe_listen)
		s->front.most -= s->probes.most;
	connections_init(&s->site.connections, CONNECTIONS_KEPT(s->front.most));
	connections_init(&s->probe_connections, CONNECTIONS_KEPT(s->probes.most));
	s->site.options = *o;
	s->site.start_ns = o->start_ns ? o->start_ns : clock_wall_ns();
	s->site.memory.most = o->query_memory ? o->query_memory : QUERY_MEMORY;
	auth->allow_hosts = o->allow_hosts;
	auth->allow_host_count = o->allow_host_count;
	return s;
}

int server_new(const struct server_options *o, struct server **ret, struct err *err)
{
	struct server *s;
	int r;

	assert(o->store || o->only_counters);
	s = new_server(o);
	if ((r = init_auth(s, err)) < 0 || (r = open_doors(s, err)) < 0 || (r = start(s, err)) < 0) {
		server_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void server_show(struct server *s, const struct server_options *new)
{
	struct server_options *o = &s->site.options;

	assert(o->only_counters || o->store == new->store);
	pthread_rwlock_wrlock(&s->site.lock);
	o->sources = new->sources;
	o->source_count = new->source_count;
	o->sinks = new->sinks;
	o->sink_count = new->sink_count;
	o->limits = new->limits;
	o->store = new->store;
	o->store_url = new->store_url;
	pthread_rwlock_unlock(&s->site.lock);
}

const char *server_url(const struct server *s)
{
	return s->front.url;
}

const char *server_probe_url(const struct server *s)
{
	return s->probes.url;
}

/* libmicrohttpd waits for its threads, however long they take; and it must not be stopped while connections are
 * suspended. */
static void *stop(void *data)
{
	struct server *s = data;

	struct workers *all[] = { s->site.queries, s->site.large_queries, s->site.uploads, s->site.pushes };

	s->ends = true;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i])
			workers_stop(all[i]);
	if (s->front.daemon)
		MHD_stop_daemon(s->front.daemon);
	if (s->probes.daemon)
		MHD_stop_daemon(s->probes.daemon);
	s->front.daemon = s->probes.daemon = NULL;
	return NULL;
}

bool server_stop(struct server *s, int64_t patience_ns)
{
	struct timespec until;
	int64_t end_ns = clock_wall_ns() + patience_ns;

	if (!s || s->is_stopped)
		return true;
	/* Without a thread for it there is nothing but to wait. */
	if (!s->is_stopping && pthread_create(&s->stopper, NULL, stop, s) != 0) {
		stop(s);
		s->is_stopped = true;
		return true;
	}
	s->is_stopping = true;
	until = (struct timespec){ end_ns / NS_PER_SECOND, end_ns % NS_PER_SECOND };
	s->is_stopped = pthread_timedjoin_np(s->stopper, NULL, &until) == 0;
	return s->is_stopped;
}

struct server *server_free(struct server *s)
{
	if (!s)
		return NULL;
	while (!server_stop(s, 3600 * NS_PER_SECOND))
		;
	workers_free(s->site.uploads);
	workers_free(s->site.pushes);
	workers_free(s->site.queries);
	workers_free(s->site.large_queries);
	fd_closep(&s->front.fd);
	fd_closep(&s->probes.fd);
	roles_done(&s->site.auth.roles);
	connections_done(&s->site.connections);
	connections_done(&s->probe_connections);
	pthread_rwlock_destroy(&s->site.lock);
	coalesce_done(&s->waiting);
	free(s);
	return NULL;
}
