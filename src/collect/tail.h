/* tail.h: a growing file that is read to its end, and its lines that are not acknowledged yet. */
#ifndef COLLECT_TAIL_H
#define COLLECT_TAIL_H

#include "err.h"
#include "line_feed.h"
#include <sys/types.h>

#define TAIL_MARK	256u		/* bytes at the start of a file whose hash identifies it, besides its inode */

struct tail {
	int fd;				/* -1: the file is closed, and only acknowledgements are awaited */
	uint64_t device, inode;
	uint32_t epoch;
	struct line_feed feed;
	int64_t quiet_since_ns;		/* monotonic: since when the end has been reached without growth; 0: it is
					 * growing */

	/* Lines that were handed over and not acknowledged, in their order. */
	struct tail_line { uint64_t at; bool acknowledged; } *lines;
	size_t first, end, capacity;
	size_t ahead;			/* number of acknowledged lines behind one that is not */

	struct tail *next;
};

/* Takes over `fd`. Reading begins at `offset`, which is the start of a line. */
struct tail *tail_new(int fd, uint64_t device, uint64_t inode, uint32_t epoch, uint64_t offset);
struct tail *tail_free(struct tail *t);		/* NULL is fine; returns NULL */

/* Reads one piece of up to `size` bytes and hands over its lines. Returns 1, 0 at the end, -ESTALE if the file has
 * become shorter than what was read, another negative errno if it cannot be read. */
int tail_read(struct tail *t, char *piece, size_t size);

void tail_note(struct tail *t, uint64_t at);			/* a line was handed over */
bool tail_acknowledge(struct tail *t, uint64_t at);		/* false: unknown offset */
bool tail_is_done(const struct tail *t);			/* every line handed over is acknowledged */
uint64_t tail_offset(const struct tail *t);			/* every line before it is acknowledged */

/* The hash of the first bytes, at most TAIL_MARK and `offset`; 0 if there are none. */
uint64_t tail_mark(int fd, uint64_t offset);

#endif
