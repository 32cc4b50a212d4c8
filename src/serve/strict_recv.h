/* strict_recv.h: refuses requests that framing.h refuses, before libmicrohttpd reads them.
 *
 * libmicrohttpd 0.9 keeps headers as C strings, so the text after a NUL is lost before our callback, and it uses the
 * first of two lengths. It has no hook for the bytes of a request, but it is linked dynamically: a recv(2) defined by
 * the program takes precedence, and this is it. Other sockets are unaffected. */
#ifndef SERVE_STRICT_RECV_H
#define SERVE_STRICT_RECV_H

#include "buf.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The response to refused requests, and their counters; must outlive the connections. */
struct strict_recv_answers {
	_Atomic uint64_t *refused, *too_long;	/* with status 400, with status 414 */
	const struct buf *if_too_long;		/* a complete response: headers and a page */
};

/* From here on, checks everything read from the connection. If a request is refused, the client gets a 400 with the
 * reason, or that response if the address is too long; the refusal is counted, and the connection is closed once the
 * client has closed it or sent 4 MB more. False if the descriptor's number is too high to be watched. */
bool strict_recv_watch(int fd, const struct strict_recv_answers *answers);

void strict_recv_forget(int fd);	/* call it before closing; does nothing if not watched */

#endif
