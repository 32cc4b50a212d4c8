/* upload_read.h: reads an uploaded profile in a child process (sandbox.h), and waits for it. */
#ifndef SERVE_UPLOAD_READ_H
#define SERVE_UPLOAD_READ_H

#include "sandbox.h"

#define UPLOAD_MEMORY	((size_t)1 << 30)	/* maximum memory for reading, beyond the daemon's own */

/* Adds the profile in the body to `p`, which is empty, using at most `memory` bytes. Returns 0 or the error of
 * sandbox_end, with a sentence that calls the body `name`; -ECANCELED as soon as `stop_fd` is readable (-1: never). */
int upload_read(const char *name, const char *body, size_t n, size_t memory, int stop_fd, struct profile *p, struct err *err);

#endif
