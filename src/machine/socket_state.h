/* socket_state.h: checks whether a daemon listens on a unix socket, by connecting to it. */
#ifndef MACHINE_SOCKET_STATE_H
#define MACHINE_SOCKET_STATE_H

/* Connects as PHP does and hangs up. Never waits. 0: somebody listens; -ECONNREFUSED: nobody; -EAGAIN: somebody, but takes no
 * connections; -ENOENT, -EACCES, -EPROTOTYPE (a socket of another type), -ENOTSOCK, -ENAMETOOLONG. */
int socket_state(const char *path);

#endif
