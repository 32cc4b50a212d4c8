/* passed_socket.h: sockets that listen already: those that systemd has opened for us (LISTEN_FDS), so that senders can
 * connect while we restart. */
#ifndef COLLECT_PASSED_SOCKET_H
#define COLLECT_PASSED_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>

/* The one of this type that listens at this address, non-blocking and close-on-exec; -1: there is none. Each
 * call returns a new descriptor. */
int passed_socket(int type, const struct sockaddr *address, socklen_t size);

/* Whether this descriptor is a socket of this type that listens at this address. */
bool socket_listens_at(int fd, int type, const struct sockaddr *address, socklen_t size);

/* Logs each passed socket that no source reads: its clients connect, and wait for an answer that
 * never comes. */
void passed_sockets_warn(void);

#endif
