/* listener.h: a socket that listens, from an address as people write it. */
#ifndef SERVE_LISTENER_H
#define SERVE_LISTENER_H

#include "address.h"
#include "err.h"

/* Listens at `a`, which was parsed from `text`, and puts the port into it that it has then. `option` is the one that named
 * it, for the sentence of an error. On success *ret_fd is the caller's. */
int listener_open(const char *text, const char *option, struct address *a, int *ret_fd, struct err *err);

#endif
