/* top_plain.h: the table as text for files and pipes, and as JSON. */
#ifndef TOP_TOP_PLAIN_H
#define TOP_TOP_PLAIN_H

#include "top_header.h"

/* Appends lines: time and counts, headings, at most `limit` rows (0: all), an empty line. `now_ns` is since 1970. */
void top_put_plain(struct buf *out, const struct top_view *v, const struct top_status *f, size_t limit, int64_t now_ns);

/* Appends the same as an object on one line. */
void top_put_json(struct buf *out, const struct top_view *v, const struct top_status *f, size_t limit, int64_t now_ns);

#endif
