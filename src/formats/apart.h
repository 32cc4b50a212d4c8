/* apart.h: reads an untrusted profile in a child process.
 *
 * Readers are linear in their input, but a few KB can expand to gigabytes and minutes of work: by compression, by
 * stacks that share long locations, by colliding hashes. The daemon is protected: the child has limits of time and memory,
 * and is the first that the kernel kills. Its result is returned as messages of wire/strobe_wire.h.
 */
#ifndef FORMATS_APART_H
#define FORMATS_APART_H

#include "profile.h"
#include "err.h"

#define APART_SECONDS	15			/* limit for reading one profile, on any clock */
#define APART_FILE_MAX	((size_t)64 << 20)	/* bytes of a file */
#define APART_MESSAGES_MAX ((size_t)512 << 20)	/* bytes of the result */

struct apart_input {
	const char *name;			/* for sentences: "the body", "'x.shop.xhprof'" */
	const char *bytes;			/* the input … */
	size_t n;
	int fd;					/* … or -1: what the child reads from this file, to its end */
	size_t memory;				/* the most that reading may take, beside what the daemon has */

	/* Makes messages of the profile, in the child; NULL: wire_profile_write. */
	int (*write)(void *data, struct profile *p, struct buf *out, struct err *err);
	void *data;
};

/* A running child. Embedded. */
struct apart {
	int done;				/* readable, with a hang-up, when it has ended; never -1 before */
	int result, pid;
	size_t memory;
	int64_t end_ns;				/* when it has taken too long, on the monotonic clock */
};

/* -EIO without a process, and then there is nothing to end. */
int apart_start(struct apart *a, const struct apart_input *in, struct err *err);

/* Ends it, by force if it still runs, and maps what it wrote: messages one after another, which munmap frees (`*ret` is NULL
 * for none). Returns 0 or, with a sentence, what format_load_limited does, where lines that cannot be read are -EINVAL; -EINVAL
 * if it holds no values; -ETIMEDOUT; -ENOMEM; -EIO. */
int apart_end(struct apart *a, const char **ret, size_t *ret_size, struct err *err);
void apart_free_messages(const char *messages, size_t size);

#endif
