/* router.h: which handler answers which path, after the checks that hold for all of them. */
#ifndef SERVE_ROUTER_H
#define SERVE_ROUTER_H

#include "http.h"

/* Fills `r`, whatever the request is. */
void router_answer(struct site *s, struct request *q, struct response *r);

#endif
