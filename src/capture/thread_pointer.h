/* thread_pointer.h: finds the thread-local storage of a thread in another process.
 *
 * The register that points to it can only be read by stopping the thread. But the C library has a record of each
 * thread at that address, with the thread's number and pointers to the record itself, which can be found in memory.
 */
#ifndef CAPTURE_THREAD_POINTER_H
#define CAPTURE_THREAD_POINTER_H

#include "bpf/event.h"
#include <stdbool.h>
#include <sys/types.h>

/* Searches the memory of process `pid`. This may take milliseconds, so do it only once per thread. Returns false if
 * not found: a C library other than glibc and musl, another architecture, or no permission. */
bool thread_pointer_find(pid_t pid, pid_t tid, u64 *ret);

#endif
