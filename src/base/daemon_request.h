/* daemon_request.h: one request to a running daemon, and its refusals in words that name the remedy. */
#ifndef BASE_DAEMON_REQUEST_H
#define BASE_DAEMON_REQUEST_H

#include "buf.h"
#include "err.h"

#include <stdbool.h>

struct daemon_request {
	const char *address;		/* "http://127.0.0.1:8787" */
	const char *token;		/* NULL or empty: none */
	const char *token_file;		/* where it comes from; NULL: the environment */
	int timeout_ms;
	size_t limit;			/* the largest answer, in bytes */
};

/* Gets `path` and appends the body, and the head if `head` is not NULL. Returns 200, or 302 if the head is wanted; or with a sentence
 *
 *	-EINVAL		the address is not one
 *	-ECONNREFUSED	no daemon listens
 *	-ETIME		it accepts the connection and does not answer in time
 *	-EPROTO		another program answers
 *	-EACCES		a token is missing
 *	-EKEYREJECTED	the token is wrong
 *	-EAGAIN		too many wrong tokens from this address
 *	-ENOENT		status 404
 *	-EREMOTEIO	any other status
 *
 * or another -errno if the address cannot be reached, or the connection is lost. */
int daemon_get(const struct daemon_request *q, const char *path, struct buf *head, struct buf *body, struct err *err);

#endif
