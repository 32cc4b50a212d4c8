/* router.h: which handler answers which path, after the checks that hold for all of them. */
#ifndef SERVE_ROUTER_H
#define SERVE_ROUTER_H

#include "http.h"

/* Fills `r`, whatever the request is. Its body is there, unless it has one that router_body_max refused. */
void router_answer(struct server_context *s, struct request *q, struct response *r);

/* The same in two steps, for what asks the store (pages, pictures, profiles): with `router_is_query` the second one takes
 * long and needs nothing of the context but the store, the sources and max_nodes. The first returns false when `r` is filled. */
bool router_is_query(const struct request *q);
bool router_is_push(const struct request *q);		/* whether it brings profiles that are to be read */
bool router_draws(const struct request *q);		/* whether Graphviz has work to do */
bool router_removes(const struct request *q);		/* whether it may wait for another writer of the store */
bool router_admits(struct server_context *s, struct request *q, struct response *r);
void router_handle(struct server_context *s, const struct request *q, struct response *r);

/* The part of the announced body that is worth receiving: 0 where nobody takes it, or not from this sender.
 * Above HTTP_BODY_SMALL it is an upload (uploads.h). */
size_t router_body_max(struct server_context *s, struct request *q);

#endif
