/* strict_recv.h: refuses requests that framing.h refuses, before libmicrohttpd reads them.
 *
 * libmicrohttpd 0.9 keeps headers as C strings, so what follows a NUL is gone when we are asked, and takes the first of
 * two lengths. It has no hook for the bytes of a request, but it is linked dynamically: the recv(2) that it calls is the
 * program's own where the program has one, and this is one. Other sockets are read as ever. */
#ifndef SERVE_STRICT_RECV_H
#define SERVE_STRICT_RECV_H

#include "buf.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The answer to refused requests, and their counters; must stay. */
struct strict_recv_answers {
	_Atomic uint64_t *refused, *too_long;	/* by 400, by 414 */
	const struct buf *if_too_long;		/* a whole response: headers and a page */
};

/* From here on what is read from the connection is looked at. One whose request is refused is sent a 400 with the
 * reason, or that answer if its address is too long, is counted, and reads as reset. False if the descriptor's number is too high to be
 * watched. */
bool strict_recv_watch(int fd, const struct strict_recv_answers *answers);

void strict_recv_forget(int fd);	/* before it is closed; fine for one that is not watched */

#endif
