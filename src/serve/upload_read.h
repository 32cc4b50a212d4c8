/* upload_read.h: reads a profile that somebody sent, in a process of its own.
 *
 * Readers are linear in their input, but a few KB can stand for gigabytes and for minutes of work: compressed, by stacks
 * that share long locations, by hashes that collide. None of that is the daemon's concern: the child has its limits of
 * time and memory, and is the first that the kernel kills. What it read comes back as messages of wire/strobe_wire.h.
 */
#ifndef SERVE_UPLOAD_READ_H
#define SERVE_UPLOAD_READ_H

#include "profile.h"
#include "err.h"

#define UPLOAD_SECONDS	15			/* of reading one body, on any clock */
#define UPLOAD_MEMORY	((size_t)1 << 30)	/* the most that reading may take, beside what the daemon has */

/* Adds the profile of the body to `p`, which is empty, with so many bytes of `memory`. Returns 0 or, with a sentence, what format_load_limited does,
 * where lines that cannot be read are -EINVAL; -EINVAL if it holds no values; -ETIMEDOUT; -ENOMEM; -EIO without a process; -ECANCELED
 * as soon as there is something to read from `stop_fd` (-1: never). */
int upload_read(const char *body, size_t n, size_t memory, int stop_fd, struct profile *p, struct err *err);

#endif
