/* daemon_request.h: makes one request to a running daemon, and explains refusals with the remedy. */
#ifndef BASE_DAEMON_REQUEST_H
#define BASE_DAEMON_REQUEST_H

#include "buf.h"
#include "err.h"

#include <stdbool.h>

struct daemon_request {
	const char *address;		/* "http://127.0.0.1:8787" */
	const char *token;		/* NULL or empty: none */
	const char *token_file;		/* the file it was read from; NULL: the environment */
	int timeout_ms;
	size_t limit;			/* maximum size of the response, in bytes */
};

/* Gets `path` and appends the body, and the head if `head` is not NULL. Returns 200, or 302 if the head is requested;
 * or an error with a sentence:
 *
 *	-EINVAL		the address is invalid
 *	-ECONNREFUSED	no daemon is listening
 *	-ETIME		it accepts the connection but does not respond in time
 *	-EPROTO		another program responds
 *	-EACCES		a token is missing
 *	-EKEYREJECTED	the token is wrong
 *	-EAGAIN		too many wrong tokens from this address
 *	-ENOENT		status 404
 *	-EREMOTEIO	any other status
 *
 * or another negative errno if the address cannot be reached, or the connection is lost. */
int daemon_get(const struct daemon_request *q, const char *path, struct buf *head, struct buf *body, struct err *err);

#endif
