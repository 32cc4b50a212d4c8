/* unix_listen.h: makes, or takes over, the listening socket of a path. It knows nothing of messages. */
#ifndef COLLECT_UNIX_LISTEN_H
#define COLLECT_UNIX_LISTEN_H

#include "err.h"
#include <stdbool.h>

/* Listens on `path` (SEQPACKET, non-blocking). A stale socket file is replaced; if a process is listening on
 * it, the result is -EADDRINUSE with a sentence. `*ret_activated` says that systemd made the socket and keeps
 * it, so that it must not be removed. */
int unix_listen(const char *path, int *ret_fd, bool *ret_activated, struct err *err);

#endif
