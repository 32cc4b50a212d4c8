/* http_get.h: fetches one page of our own daemon. No TLS, no redirects: it is on this machine, or behind a tunnel. */
#ifndef BASE_HTTP_GET_H
#define BASE_HTTP_GET_H

#include "buf.h"
#include "err.h"
#include <stdbool.h>

/* Gets `path` ("/api/v1/status") from `base` ("http://127.0.0.1:8787", "http://[::1]:8787") within `timeout_ms` and
 * appends the body, and the status line and the headers to `head` (may be NULL); `limit` bytes are the most. `token` (may be NULL)
 * is sent as a bearer token. Returns the HTTP status; -ETIME if there is a connection and no answer in time, -EPROTO if the answer is
 * not HTTP, -ECONNREFUSED and the like. */
int http_get(const char *base, const char *path, const char *token, int timeout_ms, size_t limit, struct buf *head,
	     struct buf *body, struct err *err);

/* -EINVAL with a sentence if `base` is not an address that http_get() takes. */
int http_check_address(const char *base, struct err *err);

/* Appends the value of the first header called `name` ("Location"). Returns whether there is one. */
bool http_header(const struct buf *head, const char *name, struct buf *ret);

#endif
