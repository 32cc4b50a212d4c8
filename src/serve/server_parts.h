/* server_parts.h: the structs that the files of the HTTP server share: endpoints and exchanges.
 *
 *	server.c		options, endpoints and threads; start and stop
 *	server_connection.c	the callbacks of libmicrohttpd: connections and requests
 *	server_request.c	headers and bodies of requests
 *	server_work.c		queries and uploads, in other threads
 *	server_response.c	headers and bodies of responses
 */
#ifndef SERVE_SERVER_PARTS_H
#define SERVE_SERVER_PARTS_H

#include "address.h"
#include "auth.h"
#include "coalesce.h"
#include "connections.h"
#include "http.h"
#include "queries.h"
#include "strict_recv.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>

/* An address at which the server listens. */
struct endpoint {
	struct server *server;
	struct MHD_Daemon *daemon;
	struct auth_rules *auth;
	struct connections *connections;
	bool only_probes;
	struct strict_recv_answers refusals;
	struct buf if_too_long;		/* answer to those */
	int fd;				/* -1 once libmicrohttpd owns it */
	char url[ADDRESS_HOST + 32];
	unsigned max_connections;
};

struct server {
	struct server_context context;
	struct coalesce waiting;		/* queries */
	struct auth_rules probe_auth;
	struct connections probe_connections;
	struct endpoint front, probes;
	_Atomic bool is_ending;
	pthread_t stopper;
	bool is_stopping, is_stopped;
};

/* A request and its response. libmicrohttpd calls at least twice for each: for the headers, then for pieces of the body. */
struct exchange {
	char *query;			/* NULL if the URL has none */
	bool too_long, has_nul, begun;	/* has_nul: in the path, where C strings would end */
	bool takes_body, too_large, too_many;	/* the body, or all current bodies together, exceed the limit */
	size_t body_max;			/* limit of the body */
	size_t received;			/* bytes of the body, including discarded ones */
	struct buf body;

	/* For a request answered by another thread while its connection is suspended. */
	struct server *server;
	struct MHD_Connection *connection;
	bool is_answered, is_large;		/* is_large: the second attempt of a query */
	struct request request;
	struct response response;
	struct answer *answer;			/* the body; NULL: it is in the response */
	struct waiting_query waiting;
	char local_address[INET6_ADDRSTRLEN], peer[INET6_ADDRSTRLEN];
};

/* --- server_connection.c --- */

/* Starts the threads of libmicrohttpd, which then owns the endpoint's descriptor. */
int endpoint_start(struct endpoint *ep, struct err *err);

/* Records the state of the connection, for connections.h. */
void endpoint_note(struct endpoint *ep, struct MHD_Connection *c, enum connection_state state);

/* --- server_request.c --- */

/* Fills `q` with pointers into the connection and `e`. */
void request_read(struct request *q, const struct endpoint *ep, struct MHD_Connection *c, const char *method,
		  const char *path, struct exchange *e);
bool request_has_duplicate_headers(const struct server *s, struct MHD_Connection *c);
bool request_has_body(struct MHD_Connection *c);

/* Called before the body arrives, so that no client sends 64 MB in vain. */
bool request_wants_body(struct endpoint *ep, struct MHD_Connection *c, const char *method, const char *path,
			struct exchange *e);

/* Keeps a piece of the body, or the reason for refusing it; the rest is then read and discarded, so that the client
 * gets a response. A client that never stops sending is disconnected. */
enum MHD_Result request_receive_body(struct server *s, struct exchange *e, const char *bytes, size_t n);

/* --- server_work.c --- */

/* Both suspend the connection until `e` is answered. */
enum MHD_Result exchange_begin_upload(struct server *s, struct MHD_Connection *c, struct exchange *e);
enum MHD_Result exchange_begin_query(struct server *s, struct MHD_Connection *c, struct exchange *e);

/* --- server_response.c --- */

/* Builds the complete response for a URL that is too long to be read. */
void response_put_long_address(const struct endpoint *ep, struct buf *out);

/* Takes ownership of `a`, which is NULL if the body is in `r`. */
enum MHD_Result response_send(struct server *s, struct MHD_Connection *c, const struct request *q, struct response *r,
			      struct answer *a);

#endif
