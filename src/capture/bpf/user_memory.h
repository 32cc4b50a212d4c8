/* user_memory.h: the walkers' access to the memory of their thread.
 *
 * In BPF, these are the kernel's helpers. In plain C, the file that includes a walker defines both functions: for
 * another process, or for recorded memory.
 */
#ifndef CAPTURE_BPF_USER_MEMORY_H
#define CAPTURE_BPF_USER_MEMORY_H

#include "event.h"

#ifdef __bpf__
#include <bpf/bpf_helpers.h>

static __always_inline bool read_user(void *to, u32 size, u64 address)
{
	return bpf_probe_read_user(to, size, (const void *)address) == 0;
}

static __always_inline long read_user_text(char *to, u32 size, u64 address)
{
	return bpf_probe_read_user_str(to, size, (const void *)address);
}

#else
#include <stdbool.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* Reads all of it or fails. */
bool read_user(void *to, u32 size, u64 address);

/* Copies up to a NUL, or as much as fits; always adds a NUL. Returns the number of bytes including it, or a negative
 * error. */
long read_user_text(char *to, u32 size, u64 address);
#endif

#endif
