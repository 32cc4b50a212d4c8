/* missing.h: reports servers of the store whose data is missing from an answer. */
#ifndef SERVE_MISSING_H
#define SERVE_MISSING_H

#include "http.h"
#include "json.h"
#include "store.h"

/* Adds the missing servers to the warning of the response, once even if called several times. Does nothing if all
 * servers have answered so far. */
void missing_warn(struct store *s, struct response *r);

/* Does the same, and adds the warning as a member of the open object. */
void missing_put_json(struct store *s, struct response *r, struct json *j);

#endif
