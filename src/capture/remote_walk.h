/* remote_walk.h: walks PHP's stack in another process with the walker that BPF runs (bpf/php_walk.h), so that ids are
 * the same.
 *
 * It does not check whether the thread runs: see consistent_read.h.
 */
#ifndef CAPTURE_REMOTE_WALK_H
#define CAPTURE_REMOTE_WALK_H

#include "bpf/php_walk.h"
#include <sys/types.h>

/* The location of a thread's PHP. */
struct remote_php {
	pid_t pid;
	const struct binary *binary;
	u64 bias;			/* added to the file's addresses */
	u64 thread;			/* the thread pointer, for thread-safe builds */
};

/* Walks the stack into `w`, which needs no preparation. The memory is fetched in a handful of system calls, one per
 * level: frames, functions, names, classes. Returns false if PHP's globals cannot be read; having no frames is not an
 * error. The fetched memory stays valid for further reads (remote_memory.h). */
bool remote_walk(const struct remote_php *php, struct php_walk *w);

/* Returns a hash of everything that the walk found; equal walks have equal hashes. */
u64 remote_walk_fingerprint(const struct php_walk *w);

#endif
