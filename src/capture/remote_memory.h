/* remote_memory.h: the memory of another process, for the walkers (bpf/user_memory.h) to run over in user space.
 *
 * It is read with process_vm_readv: the process is not stopped and does not notice. Callers must ensure that the
 * thread does not run during a walk (consistent_read.h), or check afterwards that it has not.
 *
 * A walker reads a few bytes at a time, and each system call costs more than what it copies. So the memory that a
 * walk will need is fetched in advance, many ranges at once, and the walker reads from this cache; anything missing
 * is read individually. Only one thread of the program may use this.
 */
#ifndef CAPTURE_REMOTE_MEMORY_H
#define CAPTURE_REMOTE_MEMORY_H

#include "bpf/user_memory.h"
#include <stddef.h>
#include <sys/types.h>

/* Selects the process that read_user and read_user_text read, and discards fetched memory. */
void remote_memory_select(pid_t pid);

/* Tells whether memory of that process may be read at all. */
bool remote_memory_is_open(void);

struct remote_range {
	u64 address;
	u32 size;
};

/* A range of at least this size is also found by addresses in its middle. */
#define LARGE_BYTES	1024u

/* Copies all ranges, in one system call if all can be read. Ranges that cannot be read, or do not fit, are left out. */
void remote_memory_fetch(const struct remote_range *ranges, size_t count);

/* Returns `size` bytes at `address` if they were fetched, otherwise NULL. Valid until the next select or forget. */
const void *remote_memory_find(u64 address, u32 size);

/* Forgets what was fetched. */
void remote_memory_forget(void);

/* Returns the number of system calls made so far. */
u64 remote_memory_calls(void);

#endif
