/* server.c: the HTTP server's endpoints and threads, from start to stop.
 *
 * A small pool of threads, each with its own epoll, accepts connections and reads requests (server_connection.c). It
 * never does slow work, so that /healthz never waits: queries (queries.h), uploads and removals go to other threads
 * (server_work.c) while the connection is suspended. A body is received only if the route takes one and the client
 * may send it, up to HTTP_BODY_MAX, and HTTP_BODIES_MAX for all concurrent requests. All headers fit in
 * CONNECTION_MEMORY. Slow clients are disconnected: after CONNECTION_SECONDS, or at once if another client needs the
 * connection (connections.h). */
#include "server_parts.h"

#include "clock.h"
#include "listener.h"
#include "mem.h"

#include <assert.h>
#include <string.h>

#define CONNECTIONS		256u
#define CONNECTIONS_KEPT(most)	((most) * 3 / 4)	/* a thread with that many accepts no more; others still do */
#define UPLOAD_THREADS		2u
#define UPLOADS_WAITING		8u
#define PUSH_THREADS		2u
#define PUSHES_WAITING		64u
#define PROBE_CONNECTIONS	64u

/* Sessions and attempts are shared by both addresses. */
static int init_auth(struct server *s, struct err *err)
{
	const struct server_options *o = &s->context.options;
	int r = roles_init(&s->context.auth.roles, &o->roles, err);

	if (r >= 0)
		r = form_token_make(s->context.form_token, err);
	for (size_t i = 0; r >= 0 && i < o->allow_host_count; i++)
		r = auth_check_allow_host(o->allow_hosts[i], err);
	s->probe_auth = s->context.auth;
	return r;
}

static int check_address(struct endpoint *ep, const char *text, struct err *err)
{
	int r = address_parse(text, &ep->auth->listen);

	if (r < 0 || ep->auth->listen.port < 0)
		return err_set(err, -EINVAL, "invalid %s '%s'%s; use an address and port such as 127.0.0.1:8787 or [::1]:8787",
			       ep->only_probes ? "--probe-listen" : "--listen", text, r == -ERANGE ? ": the port is above 65535" : "");
	if (address_is_loopback(&ep->auth->listen) || roles_are_set(&ep->auth->roles, ep->only_probes))
		return 0;
	if (ep->only_probes)
		return err_set(err, -EACCES, "%s can be reached from other machines; give a token for probes with "
			       "--probe-token-file, or listen on 127.0.0.1", text);
	return err_set(err, -EACCES, "%s can be reached from other machines, and profiles reveal a lot about a "
				     "site; give a token with --token-file, or listen on %s", text, SERVER_LISTEN);
}

/* Port 0 selects any free port, so it never conflicts. */
static bool is_same_port(const struct address *a, const struct address *b)
{
	bool is_any = !a->bracketed && !b->bracketed && (address_is_wildcard(a) || address_is_wildcard(b));

	return a->port && a->port == b->port && (is_any || !strcmp(a->host, b->host));
}

static int check_addresses(struct server *s, struct err *err)
{
	const struct server_options *o = &s->context.options;

	if (check_address(&s->front, o->listen ? o->listen : SERVER_LISTEN, err) < 0)
		return err_about(err, "listen", NULL);
	if (!o->probe_listen)
		return 0;
	if (check_address(&s->probes, o->probe_listen, err) < 0)
		return err_about(err, "probe-listen", NULL);
	if (!is_same_port(&s->front.auth->listen, &s->probes.auth->listen))
		return 0;
	err_set(err, -EINVAL, "--probe-listen %s is the address of --listen; give it another port", o->probe_listen);
	return err_about(err, "probe-listen", NULL);
}

static int listen_at(struct endpoint *ep, const char *text, struct err *err)
{
	const char *option = ep->only_probes ? "--probe-listen" : "--listen";
	struct address *a = &ep->auth->listen;

	if (listener_open(text, option, a, &ep->fd, err) < 0)
		return err_about(err, option + strlen("--"), NULL);
	snprintf(ep->url, sizeof(ep->url), a->bracketed ? "http://[%s]:%d" : "http://%s:%d", a->host, a->port);
	return 0;
}

/* Binds every address before the first thread starts, so that an address in use leaves nothing to undo. */
static int open_endpoints(struct server *s, struct err *err)
{
	const struct server_options *o = &s->context.options;
	int r = check_addresses(s, err);

	if (r >= 0)
		r = listen_at(&s->front, o->listen ? o->listen : SERVER_LISTEN, err);
	if (r >= 0 && o->probe_listen)
		r = listen_at(&s->probes, o->probe_listen, err);
	return r;
}

static int start(struct server *s, struct err *err)
{
	struct server_context *context = &s->context;
	int r;

	if ((r = workers_new(UPLOAD_THREADS, UPLOADS_WAITING, &context->uploads, err)) < 0 ||
	    (r = workers_new(PUSH_THREADS, PUSHES_WAITING, &context->pushes, err)) < 0 ||
	    (r = workers_new(QUERY_THREADS, QUERIES_WAITING, &context->queries, err)) < 0 ||
	    (r = workers_new(1, LARGE_QUERIES_WAITING, &context->large_queries, err)) < 0 ||
	    (r = endpoint_start(&s->front, err)) < 0)
		return r;
	return s->probes.fd >= 0 ? endpoint_start(&s->probes, err) : 0;
}

static struct server *new_server(const struct server_options *o)
{
	struct server *s = xcalloc(1, sizeof(*s));
	struct auth_rules *auth = &s->context.auth;

	s->front = (struct endpoint){ .server = s, .auth = auth, .connections = &s->context.connections, .fd = -1 };
	s->probes = (struct endpoint){ .server = s, .auth = &s->probe_auth, .connections = &s->probe_connections, .fd = -1,
				   .only_probes = true };
	pthread_rwlock_init(&s->context.lock, NULL);
	coalesce_init(&s->waiting);
	large_query_cache_init(&s->context.large_query_cache);
	s->front.max_connections = o->connections && o->connections < CONNECTIONS ? o->connections : CONNECTIONS;
	s->probes.max_connections = PROBE_CONNECTIONS;
	if (s->front.max_connections / 4 < PROBE_CONNECTIONS)
		s->probes.max_connections = s->front.max_connections / 4 + 1;
	if (o->probe_listen)
		s->front.max_connections -= s->probes.max_connections;
	connections_init(&s->context.connections, CONNECTIONS_KEPT(s->front.max_connections));
	connections_init(&s->probe_connections, CONNECTIONS_KEPT(s->probes.max_connections));
	s->context.options = *o;
	s->context.start_ns = o->start_ns ? o->start_ns : clock_wall_ns();
	s->context.memory.most = o->query_memory ? o->query_memory : QUERY_MEMORY;
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
	if ((r = init_auth(s, err)) < 0 || (r = open_endpoints(s, err)) < 0 || (r = start(s, err)) < 0) {
		server_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

int server_check(const struct server_options *o, struct err *err)
{
	struct server *s = new_server(o);
	int r = init_auth(s, err);

	if (r >= 0)
		r = check_addresses(s, err);
	server_free(s);
	return r;
}

int server_check_listen(const char *text, const char *option, struct err *err)
{
	struct address a;
	int r = address_parse(text ? text : SERVER_LISTEN, &a);

	if (r >= 0)
		r = listener_check(text ? text : SERVER_LISTEN, option, &a, err);
	return r < 0 ? err_about(err, option + strlen("--"), NULL) : r;
}

void server_show(struct server *s, const struct server_options *new)
{
	struct server_options *o = &s->context.options;

	assert(o->only_counters || o->store == new->store);
	pthread_rwlock_wrlock(&s->context.lock);
	o->sources = new->sources;
	o->source_count = new->source_count;
	o->sinks = new->sinks;
	o->sink_count = new->sink_count;
	o->limits = new->limits;
	o->store = new->store;
	o->store_url = new->store_url;
	pthread_rwlock_unlock(&s->context.lock);
}

const char *server_url(const struct server *s)
{
	return s->front.url;
}

const char *server_probe_url(const struct server *s)
{
	return s->probes.url;
}

/* libmicrohttpd waits for its threads without a timeout, and must not be stopped while connections are suspended. */
static void *stop(void *data)
{
	struct server *s = data;

	struct workers *all[] = { s->context.queries, s->context.large_queries, s->context.uploads, s->context.pushes };

	s->is_ending = true;
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
	/* Without a thread for it, the only choice is to wait. */
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
	workers_free(s->context.uploads);
	workers_free(s->context.pushes);
	workers_free(s->context.queries);
	workers_free(s->context.large_queries);
	fd_closep(&s->front.fd);
	fd_closep(&s->probes.fd);
	roles_done(&s->context.auth.roles);
	connections_done(&s->context.connections);
	connections_done(&s->probe_connections);
	pthread_rwlock_destroy(&s->context.lock);
	coalesce_done(&s->waiting);
	large_query_cache_done(&s->context.large_query_cache);
	buf_done(&s->front.if_too_long);
	buf_done(&s->probes.if_too_long);
	free(s);
	return NULL;
}
