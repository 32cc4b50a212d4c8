/* upload_read.h: reads an uploaded profile in a child process (apart.h), and waits for it. */
#ifndef SERVE_UPLOAD_READ_H
#define SERVE_UPLOAD_READ_H

#include "apart.h"

#define UPLOAD_MEMORY	((size_t)1 << 30)	/* the most memory that reading may take, beyond the daemon's own */

/* Adds the profile of the body to `p`, which is empty, with so many bytes of `memory`. Returns 0 or, with a sentence that calls
 * the body by `name`, what apart_end does; -ECANCELED as soon as `stop_fd` is readable (-1: never). */
int upload_read(const char *name, const char *body, size_t n, size_t memory, int stop_fd, struct profile *p, struct err *err);

#endif
