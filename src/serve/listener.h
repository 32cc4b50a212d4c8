/* listener.h: opens a listening socket for an address on the command line. */
#ifndef SERVE_LISTENER_H
#define SERVE_LISTENER_H

#include "address.h"
#include "err.h"

/* Listens at `a`, which was parsed from `text`, and sets its port to the actual one. `option` is the option that named
 * it, for errors. On success *ret_fd is the caller's. */
int listener_open(const char *text, const char *option, struct address *a, int *ret_fd, struct err *err);

/* Whether listener_open() could succeed once this process has ended: the address is free, or the port is our own. */
int listener_check(const char *text, const char *option, const struct address *a, struct err *err);

#endif
