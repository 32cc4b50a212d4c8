/* redis_tls.h: TLS 1.2 and 1.3 by GnuTLS, over a connected socket that does not block. Knows nothing of the loop; both
 * kinds of connections wait in their own way.
 *
 * GnuTLS because libmicrohttpd has loaded it already; hiredis' own TLS wants to own the socket.
 *
 * No data is buffered here while the socket is empty: GnuTLS reads one record at a time, and there
 * is always room for a whole one. So it is enough to poll the socket. Not thread-safe. */
#ifndef REDIS_REDIS_TLS_H
#define REDIS_REDIS_TLS_H

#include "err.h"
#include "redis_tls_options.h"
#include <sys/types.h>

#define REDIS_TLS_RECORD (16u * 1024)	/* bytes of the largest record */

struct redis_tls;

/* Whether the files of the options can be used now; those of the system are not read. */
int redis_tls_check_files(const struct redis_tls_options *o, struct err *err);

/* Reads the files of the options. `o`, `host` (which the certificate has to be for) and `where` (for sentences) are used
 * until the end. The socket stays the caller's. */
int redis_tls_new(const struct redis_tls_options *o, const char *host, const char *where, int fd, struct redis_tls **ret,
		  struct err *err);

/* Sends the closure alert, if that is possible at once; before the socket is closed. NULL is fine; returns
 * NULL. */
struct redis_tls *redis_tls_free(struct redis_tls *t);

/* 0: done. -EAGAIN: call again when the socket can be read, or written to if redis_tls_wants_write() says so. Otherwise a
 * sentence that begins with "Redis at". */
int redis_tls_handshake(struct redis_tls *t, struct err *err);
bool redis_tls_wants_write(const struct redis_tls *t);

/* As send(2) and recv(2) do, after the handshake: -1 and errno; EAGAIN waits for room in the socket or for bytes in it. After
 * EAGAIN the next bytes to be sent have to begin with the same ones. There must be room for REDIS_TLS_RECORD bytes. */
ssize_t redis_tls_send(struct redis_tls *t, const void *bytes, size_t n);
ssize_t redis_tls_recv(struct redis_tls *t, void *bytes, size_t n);

/* A sentence about the last error that was one of TLS, such as an alert of the peer; NULL if none was. */
const char *redis_tls_problem(const struct redis_tls *t);

#endif
