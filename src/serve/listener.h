/* listener.h: a socket that listens, from an address as people write it. */
#ifndef SERVE_LISTENER_H
#define SERVE_LISTENER_H

#include "address.h"
#include "err.h"

/* Listens at `a`, which was parsed from `text`, and sets its port to the actual one. `option` is the option that named
 * it, for errors. On success *ret_fd is the caller's. */
int listener_open(const char *text, const char *option, struct address *a, int *ret_fd, struct err *err);

/* Whether listener_open() could do so once this process has ended: an address that is free, or at a port of its own. */
int listener_check(const char *text, const char *option, const struct address *a, struct err *err);

#endif
