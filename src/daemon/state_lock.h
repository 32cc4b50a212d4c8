/* state_lock.h: one daemon per state directory. */
#ifndef DAEMON_STATE_LOCK_H
#define DAEMON_STATE_LOCK_H

#include "err.h"

/* Makes the directory if need be and locks it until the descriptor is closed; the caller's. -EBUSY names who has it. */
int state_lock(const char *directory, int *ret_fd, struct err *err);

#endif
