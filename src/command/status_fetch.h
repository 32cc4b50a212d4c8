/* status_fetch.h: the running daemon's answer to /api/v1/status. */
#ifndef COMMAND_STATUS_FETCH_H
#define COMMAND_STATUS_FETCH_H

#include "buf.h"
#include "err.h"

/* The default addresses of `strobe serve` and `strobe collect`. */
#define DAEMON_SERVE	"http://127.0.0.1:8787"
#define DAEMON_COLLECT	"http://127.0.0.1:8788"

/* Appends the answer of the daemon at `url`; if that is NULL, at the first of these two where one listens. `token_file` may be
 * NULL. `*ret_address` is the address that answered, well or not, or the first one tried. Returns 0, or what
 * daemon_get() does; -EPROTO also if what answers has no such page. */
int status_fetch(const char *url, const char *token_file, const char **ret_address, struct buf *body, struct err *err);

/* Checks the command line alone: whether `url` is an address, and the file of the token can be read. */
int status_fetch_check(const char *url, const char *token_file, struct err *err);

#endif
