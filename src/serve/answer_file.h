/* answer_file.h: passes the body of a response from the process that makes it to the connections that send it.
 *
 * A file in memory, written in pieces while the response is made and read in pieces while it is sent, so that neither
 * side ever holds all of it. Each piece is compressed: stacks are repetitive text, so a slow reader holds a tenth of
 * its response. The file is a sequence of blocks:
 *
 *	0	4	bytes that follow
 *	4	4	their size decompressed, 1 to ANSWER_BLOCK; the same number if they are not compressed
 *	8	…	those bytes, one frame of zstd if they are compressed
 */
#ifndef SERVE_ANSWER_FILE_H
#define SERVE_ANSWER_FILE_H

#include "buf.h"
#include <sys/types.h>

#define ANSWER_BLOCK	((size_t)64 << 10)

/* The writer is a drain, which may be that of the response's body. */
struct answer_writer {
	struct buf_drain drain;
	int fd;					/* stays the caller's */
	uint64_t plain;				/* bytes so far */
	bool failed;				/* the file would have become too large */
	size_t pending;
	void *compressor;
	char block[ANSWER_BLOCK];
};

struct answer_writer *answer_writer_new(int fd);
struct answer_writer *answer_writer_free(struct answer_writer *w);	/* NULL is fine; returns NULL */

/* Writes pending data. False if anything was dropped. */
bool answer_writer_end(struct answer_writer *w);

/* Decompresses the next block into `ret`, which has room for ANSWER_BLOCK; `*at` is its offset (0 at first) and is
 * advanced. Returns its size, 0 at the end, or -EBADMSG. */
ssize_t answer_read(int fd, uint64_t *at, char *ret);

#endif
