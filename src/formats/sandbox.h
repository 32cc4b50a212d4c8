/* sandbox.h: reads an untrusted profile in a child process.
 *
 * Readers are linear in their input, but a few KB can expand to gigabytes and minutes of work: by compression, by
 * stacks that share long locations, by colliding hashes. To protect the daemon, the child has limits of time and
 * memory, and is the first process that the kernel kills when memory runs out. Its result is returned as messages of
 * wire/strobe_wire.h.
 */
#ifndef FORMATS_SANDBOX_H
#define FORMATS_SANDBOX_H

#include "profile.h"
#include "err.h"

#define SANDBOX_SECONDS	15			/* limit for reading one profile, by CPU time and by the clock */
#define SANDBOX_FILE_MAX	((size_t)64 << 20)	/* bytes of a file */
#define SANDBOX_MESSAGES_MAX ((size_t)512 << 20)	/* bytes of the result */

struct sandbox_input {
	const char *name;			/* for errors: "the body", "'x.shop.xhprof'" */
	const char *bytes;			/* the input … */
	size_t n;
	int fd;					/* … or, unless -1, a file that the child reads to its end */
	size_t memory;				/* memory for reading, in addition to the daemon's */

	/* Converts the profile to messages, in the child; NULL: wire_profile_write. */
	int (*write)(void *data, struct profile *p, struct buf *out, struct err *err);
	void *data;
};

/* A running child. Embedded. */
struct sandbox {
	int done;				/* readable, with a hang-up, once the child has ended; never -1 before */
	int result, pid;
	size_t memory;
	int64_t end_ns;				/* deadline, on the monotonic clock */
};

/* Starts the child. Returns -EIO if that fails; then do not call sandbox_end. */
int sandbox_start(struct sandbox *a, const struct sandbox_input *in, struct err *err);

/* Ends the child, by force if it is still running, and maps its output: consecutive messages, to be freed with munmap
 * (`*ret` is NULL if there are none). Returns 0, or an error with a sentence: the same as format_load_limited, except
 * that unreadable lines are -EINVAL; -EINVAL if there are no values; -ETIMEDOUT; -ENOMEM; -EIO. */
int sandbox_end(struct sandbox *a, const char **ret, size_t *ret_size, struct err *err);
void sandbox_free_messages(const char *messages, size_t size);

#endif
