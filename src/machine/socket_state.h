/* socket_state.h: checks whether a daemon listens on a unix socket, by connecting to it. */
#ifndef MACHINE_SOCKET_STATE_H
#define MACHINE_SOCKET_STATE_H

/* Connects as PHP does and disconnects. Never waits. 0: a process listens; -ECONNREFUSED: none does; -EAGAIN: its backlog
 * is full; -ENOENT, -EACCES, -EPROTOTYPE (a socket of another type), -ENOTSOCK, -ENAMETOOLONG. */
int socket_state(const char *path);

#endif
