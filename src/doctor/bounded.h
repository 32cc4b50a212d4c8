/* bounded.h: runs checks in a child process with a timeout.
 *
 * A file of a dead network mount never answers, and a system call filter may kill a process that makes the wrong call. Findings come
 * through a pipe as they are made, so that those before the last one count.
 */
#ifndef DOCTOR_BOUNDED_H
#define DOCTOR_BOUNDED_H

#include "findings.h"

#include <stdint.h>

/* Runs `check` and takes its findings; one that is not done after `timeout_ns`, or was killed, becomes a finding of `area` that
 * names its last subject. */
void bounded_check(struct findings *f, const char *area, int64_t timeout_ns, void (*check)(struct findings *f, const void *data),
		  const void *data);

#endif
