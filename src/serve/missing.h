/* missing.h: reports the servers of the store that an answer is missing. */
#ifndef SERVE_MISSING_H
#define SERVE_MISSING_H

#include "http.h"
#include "json.h"
#include "store.h"

/* Adds them to the warning of the response, once, however often it is called. Nothing if the store was whole so far. */
void missing_warn(struct store *s, struct response *r);

/* The same, and the warning as a member of the object that is open. */
void missing_put_json(struct store *s, struct response *r, struct json *j);

#endif
