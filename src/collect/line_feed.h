/* line_feed.h: bytes that arrive in pieces, as lines. */
#ifndef COLLECT_LINE_FEED_H
#define COLLECT_LINE_FEED_H

#include "buf.h"

struct line_feed {
	struct buf partial;		/* a line that has not ended yet */
	bool skipping;			/* it is too long, and was said to be */
	uint64_t line_at, end;		/* start of the line, and offset of the next bytes, from the start of the stream */
	size_t max;			/* bytes of a line */

	/* The line without its newline; NULL, with what there was of it: too long. */
	void (*got)(void *data, uint64_t at, const char *line, size_t n);
	void *data;
};

void line_feed_init(struct line_feed *f, size_t max, void (*got)(void *, uint64_t, const char *, size_t), void *data);
void line_feed_done(struct line_feed *f);

void line_feed_put(struct line_feed *f, const char *bytes, size_t n);
void line_feed_end(struct line_feed *f);	/* the rest is a line, too */

#endif
