/* http_get.h: fetches one page of our own daemon. No TLS, no redirects: it is on this machine, or behind a tunnel. */
#ifndef BASE_HTTP_GET_H
#define BASE_HTTP_GET_H

#include "buf.h"
#include "err.h"
#include <stdbool.h>

/* Gets `path` ("/api/v1/status") from `base` ("http://127.0.0.1:8787", "http://[::1]:8787") within `timeout_ms` and
 * appends the body, of which 16 MB are the most. `token` (may be NULL) is sent as a bearer token. Returns the HTTP
 * status, or -ECONNREFUSED and the like. */
int http_get(const char *base, const char *path, const char *token, int timeout_ms, struct buf *body,
	     struct err *err);

/* The same with a cap of its own on the answer; `head` gets the status line and the headers. */
int http_get_with_headers(const char *base, const char *path, const char *token, int timeout_ms, size_t limit,
		       struct buf *head, struct buf *body, struct err *err);

/* Appends the value of the first header called `name` ("Location"). Returns whether there is one. */
bool http_header(const struct buf *head, const char *name, struct buf *ret);

#endif
