/* source_text.h: the source file that a profile names, if the user can read it and it is still the same. */
#ifndef COMMAND_SOURCE_TEXT_H
#define COMMAND_SOURCE_TEXT_H

#include "annotate.h"
#include "buf.h"
#include "err.h"

struct source_text {
	struct annotate_source source;
	struct buf text, why;		/* private */
};

#define SOURCE_TEXT_MAX	((size_t)16 << 20)

/* Reads `path`, below the directory `root` unless that is NULL: then no link leads out of it. The profile was recorded from
 * `start_ns` on, 0 if that is not known; a file modified since may have other lines. What cannot be read is a sentence in
 * `source`, not an error: -ENOENT is only returned for a `root` that is not there. */
int source_text_read(struct source_text *t, struct str path, const char *root, int64_t start_ns, struct err *err);
void source_text_done(struct source_text *t);

#endif
