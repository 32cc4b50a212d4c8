/* passed_socket.h: sockets that listen already: those that systemd has opened for us (LISTEN_FDS), so that senders find
 * somebody while we restart. */
#ifndef COLLECT_PASSED_SOCKET_H
#define COLLECT_PASSED_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>

/* The one of this type that listens at this address, non-blocking and not inherited further; -1: there is none. Each
 * call gives a descriptor of its own. */
int passed_socket(int type, const struct sockaddr *address, socklen_t size);

/* Whether this descriptor is a socket of this type that listens at this address. */
bool socket_listens_at(int fd, int type, const struct sockaddr *address, socklen_t size);

/* Logs each passed socket that no source reads: its clients connect, and wait for an answer that
 * never comes. */
void passed_sockets_warn(void);

#endif
