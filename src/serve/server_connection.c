/* server_connection.c: the callbacks of libmicrohttpd per connection and request; the router handles requests. */
#include "server_parts.h"

#include "log.h"
#include "mem.h"
#include "router.h"
#include "strict_recv.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#define THREADS			4u
#define CONNECTION_SECONDS	30u
#define CONNECTION_MEMORY	(32u * 1024)
#define PROBE_SECONDS		10u

void endpoint_note(struct endpoint *ep, struct MHD_Connection *c, enum connection_state state)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	connections_set_state(ep->connections, info ? info->socket_context : NULL, state);
}

static enum MHD_Result send_answer(struct endpoint *ep, struct MHD_Connection *c, struct exchange *e)
{
	enum MHD_Result done = response_send(ep->server, c, &e->request, &e->response, TAKE_PTR(e->answer));

	endpoint_note(ep, c, CONNECTION_SENDS);
	return done;
}

/* The API has no specific statuses for invalid parameters. */
static void refuse_long_address(const struct request *q, struct response *r)
{
	bool is_api = !strncmp(q->path, "/api/", 5);

	response_error(r, q, is_api ? 400 : 414, "the address is longer than %u bytes%s", PARAMS_QUERY_MAX,
		       is_api || strcmp(q->headers.method, "GET") ? "" : "; it may hold a very long name of a function");
}

/* Called once the request is complete. */
static enum MHD_Result answer_request(struct endpoint *ep, struct MHD_Connection *c, struct exchange *e, const char *method,
				      const char *path)
{
	struct request *q = &e->request;
	struct response *r = &e->response;
	struct server_context *context = &ep->server->context;

	request_read(q, ep, c, method, path, e);
	if (e->takes_body && e->body_max > HTTP_BODY_SMALL && !e->too_large && !e->too_many)
		return exchange_begin_upload(ep->server, c, e);
	if (e->too_long)
		refuse_long_address(q, r);
	else if (e->has_nul)
		response_error(r, q, 400, "the address has a NUL byte in its path");
	else if (request_has_duplicate_headers(ep->server, c))
		response_error(r, q, 400, "a header that must be unique is a duplicate");
	else if (router_admits(context, q, r) && router_is_query(q))
		return exchange_begin_query(ep->server, c, e);
	else if (r->status == 200 && router_removes(q))
		return exchange_begin_upload(ep->server, c, e);
	else if (r->status == 200)
		router_handle(context, q, r);
	return send_answer(ep, c, e);
}

static enum MHD_Result handle_request(void *data, struct MHD_Connection *c, const char *path, const char *method,
			      const char *version, const char *upload, size_t *upload_size, void **con_cls)
{
	struct endpoint *ep = data;
	struct exchange *e = *con_cls;

	(void)version;
	if (!e)
		return MHD_NO;
	/* Responding in the first call closes the connection, which is right only if a body follows. */
	if (!e->begun && !request_has_body(c)) {
		e->begun = true;
		return MHD_YES;
	}
	if (!e->begun && request_wants_body(ep, c, method, path, e)) {
		e->begun = e->takes_body = true;
		return MHD_YES;
	}
	if (e->begun && *upload_size) {
		size_t n = *upload_size;

		*upload_size = 0;
		endpoint_note(ep, c, CONNECTION_READS);
		return e->takes_body ? request_receive_body(ep->server, e, upload, n) : MHD_YES;
	}
	endpoint_note(ep, c, CONNECTION_ANSWERS);
	return e->is_answered ? send_answer(ep, c, e) : answer_request(ep, c, e, method, path);
}

/* Keeps the raw query string: libmicrohttpd parses it too leniently. */
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
	struct endpoint *ep = data;

	(void)why;
	if (e) {
		ep->server->context.http.body_bytes -= e->body.size;
		buf_done(&e->body);
		response_done(&e->response);
		answer_free(e->answer);
		free(e->query);
	}
	free(e);
	*con_cls = NULL;
	endpoint_note(ep, c, CONNECTION_READS);
}

/* The notification comes before the descriptor is closed. */
static void connection_changed(void *data, struct MHD_Connection *c, void **context,
				    enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct endpoint *ep = data;

	if (what == MHD_CONNECTION_NOTIFY_STARTED && info) {
		*context = connections_add(ep->connections, info->connect_fd);
		if (!strict_recv_watch(info->connect_fd, &ep->refusals))
			shutdown(info->connect_fd, SHUT_RDWR);
	}
	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (info)
			strict_recv_forget(info->connect_fd);
		connections_remove(ep->connections, *context);
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

/* libmicrohttpd's threads inherit the signal mask: only the daemon's event loop handles signals. Probes have a thread of
 * their own. */
int endpoint_start(struct endpoint *ep, struct err *err)
{
	struct MHD_OptionItem pool[] = {
		{ ep->only_probes ? MHD_OPTION_END : MHD_OPTION_THREAD_POOL_SIZE, THREADS, NULL },
		{ MHD_OPTION_END, 0, NULL },
	};
	sigset_t all, before;

	buf_init(&ep->if_too_long);
	response_put_long_address(ep, &ep->if_too_long);
	ep->refusals = (struct strict_recv_answers){
		.refused = &ep->server->context.http.requests[http_code_index(400)],
		.too_long = &ep->server->context.http.requests[http_code_index(414)], .if_too_long = &ep->if_too_long,
	};
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ep->daemon = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME,
		0, NULL, NULL, handle_request, ep,
		MHD_OPTION_EXTERNAL_LOGGER, log_line, NULL,
		MHD_OPTION_LISTEN_SOCKET, (MHD_socket)ep->fd,
		MHD_OPTION_ARRAY, pool,
		MHD_OPTION_CONNECTION_LIMIT, ep->max_connections,
		MHD_OPTION_CONNECTION_TIMEOUT, ep->only_probes ? PROBE_SECONDS : CONNECTION_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_URI_LOG_CALLBACK, begin_exchange, NULL,
		MHD_OPTION_NOTIFY_COMPLETED, end_exchange, ep,
		MHD_OPTION_NOTIFY_CONNECTION, connection_changed, ep,
		MHD_OPTION_END);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!ep->daemon)
		return err_set(err, -EIO, "cannot start the HTTP server: %s", strerror(errno));
	ep->fd = -1;
	return 0;
}
