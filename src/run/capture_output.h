/* capture_output.h: runs a program to its end, without a shell, and takes what it prints. */
#ifndef RUN_CAPTURE_OUTPUT_H
#define RUN_CAPTURE_OUTPUT_H

#include "buf.h"
#include "clock.h"
#include "err.h"

/* Runs argv[0] (a path) with standard input empty and appends standard output and error to `out`, of which it keeps
 * at most 1 MB. Returns its exit code; -ETIMEDOUT after `timeout_ns`, when it is killed. */
int capture_output(const char *const *argv, int64_t timeout_ns, struct buf *out, struct err *err);

#endif
