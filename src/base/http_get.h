/* http_get.h: fetches one page of our own daemon. No TLS, no redirects: it is on this machine, or behind a tunnel. */
#ifndef BASE_HTTP_GET_H
#define BASE_HTTP_GET_H

#include "buf.h"
#include "err.h"
#include <stdbool.h>

/* Gets `path` ("/api/v1/status") from `base` ("http://127.0.0.1:8787", "http://[::1]:8787") within `timeout_ms`, and
 * appends the body, and the status line and headers to `head` (may be NULL), at most `limit` bytes. `token` (may be
 * NULL) is sent as a bearer token. Returns the HTTP status; -ETIME if the connection succeeded but there was no
 * response in time, -EPROTO if the response is not HTTP, or connection errors such as -ECONNREFUSED. */
int http_get(const char *base, const char *path, const char *token, int timeout_ms, size_t limit, struct buf *head,
	     struct buf *body, struct err *err);

/* Returns -EINVAL with a sentence if `base` is not an address that http_get() accepts. */
int http_check_address(const char *base, struct err *err);

/* Appends the value of the first header named `name` ("Location"). Returns whether there is one. */
bool http_header(const struct buf *head, const char *name, struct buf *ret);

#endif
