/* perf_inline.h: finds the functions inlined at an address, with addr2line of binutils.
 *
 * Each address requires a process, so this is only done on request; results are cached. Modules are read from the
 * paths in the text, so this must run on the machine of the recording.
 */
#ifndef FORMATS_PERF_INLINE_H
#define FORMATS_PERF_INLINE_H

#include "err.h"
#include "perf_line.h"

struct perf_inline;

/* With `context`, the source line is appended to each name: "read:file.c:12". */
struct perf_inline *perf_inline_new(bool context);
struct perf_inline *perf_inline_free(struct perf_inline *x);

/* Returns the names at this frame, callers first, separated by newlines; they stay valid. False if nothing is known:
 * in the kernel, in code compiled at run time, without debug information. */
bool perf_inline_find(struct perf_inline *x, const struct perf_frame *f, struct str *ret);

/* Returns 0, or the error that addr2line is missing; `x` may be NULL. */
int perf_inline_error(const struct perf_inline *x, struct err *err);

#endif
