/* status_fetch.h: requests /api/v1/status from the running daemon. */
#ifndef COMMAND_STATUS_FETCH_H
#define COMMAND_STATUS_FETCH_H

#include "buf.h"
#include "err.h"

/* The default addresses of `strobe serve` and `strobe collect`. */
#define DAEMON_SERVE	"http://127.0.0.1:8787"
#define DAEMON_COLLECT	"http://127.0.0.1:8788"

/* Appends the answer of the daemon at `url`; if that is NULL, tries these two URLs in turn. `token_file` may be NULL.
 * `*ret_address` is the URL that answered, also with an error, or the first one tried. Returns 0 or the error of
 * daemon_get(); -EPROTO also if the server has no such page. */
int status_fetch(const char *url, const char *token_file, const char **ret_address, struct buf *body, struct err *err);

/* Validates the options only: `url` must be a URL, and the token file readable. */
int status_fetch_check(const char *url, const char *token_file, struct err *err);

#endif
