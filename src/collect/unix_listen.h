/* unix_listen.h: makes, or takes over, the listening socket of a path. It knows nothing of messages. */
#ifndef COLLECT_UNIX_LISTEN_H
#define COLLECT_UNIX_LISTEN_H

#include "err.h"
#include <stdbool.h>

/* Listens on `path` (SEQPACKET, non-blocking). A file that a dead daemon left there is replaced; when something
 * answers on it that is -EADDRINUSE with a sentence. `*ret_activated` says that systemd made the socket and keeps
 * it, so that it must not be removed. */
int unix_listen(const char *path, int *ret_fd, bool *ret_activated, struct err *err);

#endif
