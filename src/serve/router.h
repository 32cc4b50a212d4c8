/* router.h: which handler answers which path, after the checks that hold for all of them. */
#ifndef SERVE_ROUTER_H
#define SERVE_ROUTER_H

#include "http.h"

/* Fills `r`, whatever the request is. Its body is there, unless it has one that router_wants_body refused. */
void router_answer(struct site *s, struct request *q, struct response *r);

/* Whether the body that a request announces is worth receiving: somebody takes it, from one who may send it. */
bool router_wants_body(struct site *s, struct request *q);

#endif
