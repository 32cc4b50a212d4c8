/* guarded_read.h: reads memory of this process that may be unmapped, without a crash.
 *
 * PHP's stack belongs to the PHP thread. Another thread that follows a pointer into it may find the page unmapped or the
 * frame overwritten. process_vm_readv() on our own process turns the first into an error; callers check for the second.
 * Linux only: elsewhere, and if the call is not allowed, nothing can be read.
 */
#ifndef STROBE_GUARDED_READ_H
#define STROBE_GUARDED_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* Determines whether reading works. Call it in MINIT, before any thread reads. */
void guarded_read_startup(void);

/* Call it in a forked child. Async-signal-safe. */
void guarded_read_in_child(void);

/* Whether guarded_read can succeed. If not, `*ret_reason` is the reason. */
bool guarded_read_works(const char **ret_reason);

/* Copies `size` bytes. If not all of them could be read, returns false and leaves undefined content in `to`. */
bool guarded_read(void *to, const void *from, size_t size);

/* Copies a member of a struct to `to`. `p` need not point to such a struct, nor be aligned like one. */
#define GUARDED_READ_MEMBER(to, type, p, member) \
	guarded_read(to, (const char *)(p) + offsetof(type, member), sizeof(((type *)NULL)->member))

/* Copies `count` pieces of equal `size`, contiguously, in one system call. Returns how many precede the first
 * unreadable one. */
unsigned guarded_read_pieces(void *to, const struct iovec *from, unsigned count, size_t size);

#endif
