/* daemon_socket.h: hands messages to the daemon, as the extension does (wire/strobe_wire.h). */
#ifndef CAPTURE_DAEMON_SOCKET_H
#define CAPTURE_DAEMON_SOCKET_H

#include "buf.h"
#include "err.h"

struct daemon_socket;

/* `address` is a path, or unix:PATH; -EINVAL if it can be none. Connects when there is something to send. */
int daemon_socket_new(struct daemon_socket **ret, const char *address, struct err *err);
struct daemon_socket *daemon_socket_free(struct daemon_socket *s);	/* NULL is fine; returns NULL */

/* Sends messages that stand one after another; waits up to some seconds for a daemon that is behind. After an error the
 * next call connects again; it begins with the first message, so `ret_sent` says how many bytes went out. */
int daemon_socket_send(struct daemon_socket *s, const struct buf *messages, size_t *ret_sent, struct err *err);

#endif
