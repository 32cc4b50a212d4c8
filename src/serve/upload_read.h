/* upload_read.h: reads an uploaded profile in a process of its own (apart.h), and waits for it. */
#ifndef SERVE_UPLOAD_READ_H
#define SERVE_UPLOAD_READ_H

#include "apart.h"

#define UPLOAD_MEMORY	((size_t)1 << 30)	/* the most that reading may take, beside what the daemon has */

/* Adds the profile of the body to `p`, which is empty, with so many bytes of `memory`. Returns 0 or, with a sentence, what apart_end
 * does; -ECANCELED as soon as there is something to read from `stop_fd` (-1: never). */
int upload_read(const char *body, size_t n, size_t memory, int stop_fd, struct profile *p, struct err *err);

#endif
