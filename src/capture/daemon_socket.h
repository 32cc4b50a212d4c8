/* daemon_socket.h: sends messages to the daemon, like the extension (wire/strobe_wire.h). */
#ifndef CAPTURE_DAEMON_SOCKET_H
#define CAPTURE_DAEMON_SOCKET_H

#include "buf.h"
#include "err.h"

struct daemon_socket;

/* `address` is a path, or unix:PATH; returns -EINVAL if it is invalid. Connects when there is something to send. */
int daemon_socket_new(struct daemon_socket **ret, const char *address, struct err *err);
struct daemon_socket *daemon_socket_free(struct daemon_socket *s);	/* NULL is fine; returns NULL */

/* Sends consecutive messages; waits a few seconds for a slow daemon. After an error the next call reconnects and
 * starts from the first message; `ret_sent` is the number of bytes sent. */
int daemon_socket_send(struct daemon_socket *s, const struct buf *messages, size_t *ret_sent, struct err *err);

#endif
