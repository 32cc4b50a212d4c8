/* state_lock.h: one daemon per state directory. */
#ifndef DAEMON_STATE_LOCK_H
#define DAEMON_STATE_LOCK_H

#include "err.h"

/* Creates the directory if it is missing, and locks it until the descriptor, which is the caller's, is closed. -EBUSY
 * with a sentence that names the owner. */
int state_lock(const char *directory, int *ret_fd, struct err *err);

#endif
