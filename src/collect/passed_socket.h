/* passed_socket.h: listening sockets that systemd opened and passed (LISTEN_FDS), so that senders can connect while
 * the daemon restarts. */
#ifndef COLLECT_PASSED_SOCKET_H
#define COLLECT_PASSED_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>

/* Returns a new descriptor of the passed socket that has this type and listens at this address, non-blocking and
 * close-on-exec; -1: none. */
int passed_socket(int type, const struct sockaddr *address, socklen_t size);

/* Whether this descriptor is a socket of this type that listens at this address. */
bool socket_listens_at(int fd, int type, const struct sockaddr *address, socklen_t size);

/* Logs each passed socket that no source reads: its clients connect, and wait for an answer that
 * never comes. */
void passed_sockets_warn(void);

#endif
