/* time_namespace.h: the offsets between this process' clocks and the kernel's own.
 *
 * In a time namespace CLOCK_MONOTONIC and the start times in /proc are shifted; the clock and the start times that BPF programs see
 * are not.
 */
#ifndef CAPTURE_TIME_NAMESPACE_H
#define CAPTURE_TIME_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct time_offsets {
	int64_t monotonic_ns, boottime_ns;	/* added to the kernel's; 0 in the first namespace */
};

struct time_offsets time_namespace_offsets(void);

/* Returns the offsets of another process. False if unknown: a process that has chosen a namespace for its children
 * shows theirs. */
bool time_namespace_offsets_of(pid_t pid, struct time_offsets *ret);

/* Converts a time of clock_monotonic_ns() to bpf_ktime_get_ns(). */
uint64_t time_namespace_kernel_ns(int64_t monotonic_ns);

/* Parses the text of /proc/PID/timens_offsets. */
struct time_offsets time_namespace_parse(const char *text);

#endif
