/* perf_name.h: names a frame of perf: its symbol without the parts that differ between calls of one function.
 *
 * Offsets, parameters, quotes and ; are removed; parameters stay in Go methods whose receiver is in parentheses. A
 * frame without a symbol is named after its module, [libc.so.6]. `a->b`, written by Java's agents, is b inlined into
 * a: two functions.
 */
#ifndef FORMATS_PERF_NAME_H
#define FORMATS_PERF_NAME_H

#include "buf.h"
#include "format.h"
#include "perf_line.h"

struct perf_names {
	struct buf text;		/* names, back to back */
	struct perf_name {
		size_t end;		/* in `text` */
		bool nowhere;		/* neither the symbol nor the module is known */
	} *names;
	size_t count, capacity;
};

void perf_names_init(struct perf_names *n);
void perf_names_done(struct perf_names *n);

static inline struct str perf_names_get(const struct perf_names *n, size_t i)
{
	size_t start = i ? n->names[i - 1].end : 0;

	return (struct str){ n->text.data + start, n->names[i].end - start };
}

/* Replaces `n` with the names of this frame, callers first; none if it is not a function. `o` selects additions to
 * the names; `java`: the process is Java, whose names begin with L. */
void perf_names_of(struct perf_names *n, const struct perf_frame *f, const struct format_options *o, bool java);

#endif
