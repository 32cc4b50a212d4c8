/* passed_socket.h: sockets that systemd has opened for us (LISTEN_FDS), so that senders find somebody while we restart. */
#ifndef COLLECT_PASSED_SOCKET_H
#define COLLECT_PASSED_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>

/* The one of this type that listens at this address, non-blocking and not inherited further; -1: there is none. */
int passed_socket(int type, const struct sockaddr *address, socklen_t size);

#endif
