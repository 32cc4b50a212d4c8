/* answer_file.h: the body of an answer, from the process that makes it to the connections that send it.
 *
 * It is a file in memory that is written in pieces while the answer is made, and read in pieces while it is sent, so that
 * neither side ever holds the whole; in it every piece is compressed, since text of stacks repeats itself: a reader that
 * takes long holds a tenth of what it will get. The file is a row of blocks:
 *
 *	0	4	bytes that follow
 *	4	4	bytes that they stand for, 1 to ANSWER_BLOCK; the same number if they are not compressed
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
	bool failed;				/* the file would be too large */
	size_t pending;
	void *compressor;
	char block[ANSWER_BLOCK];
};

struct answer_writer *answer_writer_new(int fd);
struct answer_writer *answer_writer_free(struct answer_writer *w);	/* NULL is fine; returns NULL */

/* Writes what is pending. False if something was left out. */
bool answer_writer_end(struct answer_writer *w);

/* The next block, decompressed into `ret`, which has room for ANSWER_BLOCK; `*at` is where it begins (0 at first), and is
 * moved on. Returns its size, 0 at the end, or -EBADMSG. */
ssize_t answer_read(int fd, uint64_t *at, char *ret);

#endif
