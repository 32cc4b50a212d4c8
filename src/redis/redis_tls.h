/* redis_tls.h: TLS 1.2 and 1.3 by GnuTLS, over a connected socket that does not block. Independent of the loop, since
 * the two kinds of connections wait in different ways.
 *
 * It uses GnuTLS because libmicrohttpd loads it anyway; hiredis' own TLS would take over the socket.
 *
 * No data is buffered while the socket is empty: GnuTLS reads one record at a time, and callers always have room for
 * a whole one. So it is enough to poll the socket. Not thread-safe. */
#ifndef REDIS_REDIS_TLS_H
#define REDIS_REDIS_TLS_H

#include "err.h"
#include "redis_tls_options.h"
#include <sys/types.h>

#define REDIS_TLS_RECORD (16u * 1024)	/* size of the largest record */

struct redis_tls;

/* Checks whether the files in the options are usable now; the system's files are not read. */
int redis_tls_check_files(const struct redis_tls_options *o, struct err *err);

/* Reads the files in the options. `o`, `host` (which the certificate must match) and `where` (for errors) must stay
 * valid. The socket stays the caller's. */
int redis_tls_new(const struct redis_tls_options *o, const char *host, const char *where, int fd, struct redis_tls **ret,
		  struct err *err);

/* Sends the closure alert if possible without waiting; call it before closing the socket. NULL is fine; returns NULL. */
struct redis_tls *redis_tls_free(struct redis_tls *t);

/* Returns 0 when done. -EAGAIN: call again when the socket is readable, or writable if redis_tls_wants_write() is
 * true. Other errors have a sentence that begins with "Redis at". */
int redis_tls_handshake(struct redis_tls *t, struct err *err);
bool redis_tls_wants_write(const struct redis_tls *t);

/* Like send(2) and recv(2), after the handshake: return -1 and errno; EAGAIN means to wait until the socket is
 * writable or readable. After EAGAIN, the next data to be sent must begin with the same bytes. There must be room for
 * REDIS_TLS_RECORD bytes. */
ssize_t redis_tls_send(struct redis_tls *t, const void *bytes, size_t n);
ssize_t redis_tls_recv(struct redis_tls *t, void *bytes, size_t n);

/* Returns a sentence about the last TLS error, such as an alert from the peer; NULL if there was none. */
const char *redis_tls_problem(const struct redis_tls *t);

#endif
