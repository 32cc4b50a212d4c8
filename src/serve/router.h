/* router.h: maps paths to handlers, after the checks common to all of them. */
#ifndef SERVE_ROUTER_H
#define SERVE_ROUTER_H

#include "http.h"

/* Fills in `r` for any request. The body was received unless router_body_max refused it. */
void router_answer(struct server_context *s, struct request *q, struct response *r);

/* For requests that query the store (pages, pictures, profiles), the same in two steps: if router_is_query, the
 * second one is slow and needs only the store, the sources and max_nodes of the context. The first returns false if
 * `r` was filled in. */
bool router_is_query(const struct request *q);
bool router_is_push(const struct request *q);		/* whether it uploads profiles */
bool router_draws(const struct request *q);		/* whether Graphviz has work to do */
bool router_removes(const struct request *q);		/* whether it may wait for another writer of the store */
bool router_admits(struct server_context *s, struct request *q, struct response *r);
void router_handle(struct server_context *s, const struct request *q, struct response *r);

/* Returns how many bytes of the announced body to receive: 0 if the route takes no body, or not from this sender.
 * Above HTTP_BODY_SMALL it is an upload (uploads.h). */
size_t router_body_max(struct server_context *s, struct request *q);

#endif
