/* capture_output.h: runs a program to its end, without a shell, and captures its output. */
#ifndef RUN_CAPTURE_OUTPUT_H
#define RUN_CAPTURE_OUTPUT_H

#include "buf.h"
#include "clock.h"
#include "err.h"

/* Runs argv[0] (a path) with empty standard input, and appends standard output and error to `out`, at most 1 MB.
 * Returns its exit code; after `timeout_ns` kills it and returns -ETIMEDOUT. */
int capture_output(const char *const *argv, int64_t timeout_ns, struct buf *out, struct err *err);

#endif
