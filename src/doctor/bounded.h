/* bounded.h: runs checks in a child process with a timeout.
 *
 * Accessing a dead network mount hangs, and a system call filter may kill a process that makes the wrong call. Findings are
 * sent through a pipe as they are made, so that earlier ones survive.
 */
#ifndef DOCTOR_BOUNDED_H
#define DOCTOR_BOUNDED_H

#include "findings.h"

#include <stdint.h>

/* Runs `check` in a child and adds its findings. If it does not finish within `timeout_ns`, or is killed, a finding
 * of `area` names its last subject. */
void bounded_check(struct findings *f, const char *area, int64_t timeout_ns, void (*check)(struct findings *f, const void *data),
		  const void *data);

#endif
