/* thread_pointer.h: finds the thread-local storage of a thread in another process.
 *
 * The register that points to it can only be read by stopping the thread. But the C library keeps a record of each thread
 * just there, with the thread's number and pointers to the record itself, and that can be found in memory.
 */
#ifndef CAPTURE_THREAD_POINTER_H
#define CAPTURE_THREAD_POINTER_H

#include "bpf/event.h"
#include <stdbool.h>
#include <sys/types.h>

/* Searches the memory of process `pid`, which takes milliseconds at worst, so it is done once per thread. False if it is not
 * found: a C library other than glibc and musl, another machine, or no permission. */
bool thread_pointer_find(pid_t pid, pid_t tid, u64 *ret);

#endif
