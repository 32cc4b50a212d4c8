/* line_feed.h: bytes that arrive in pieces, as lines. */
#ifndef COLLECT_LINE_FEED_H
#define COLLECT_LINE_FEED_H

#include "buf.h"

struct line_feed {
	struct buf partial;		/* a line that has not ended yet */
	bool skipping;			/* the current line is too long, which has been reported */
	uint64_t line_at, end;		/* start of the line, and offset of the next bytes, from the start of the stream */
	size_t max;			/* bytes of a line */

	/* Called with a line without its newline, or NULL and the bytes so far if it is too long. */
	void (*got)(void *data, uint64_t at, const char *line, size_t n);
	void *data;
};

void line_feed_init(struct line_feed *f, size_t max, void (*got)(void *, uint64_t, const char *, size_t), void *data);
void line_feed_done(struct line_feed *f);

void line_feed_put(struct line_feed *f, const char *bytes, size_t n);
void line_feed_end(struct line_feed *f);	/* hands over the rest as a line */

#endif
