/* compress.h: writes bytes to a descriptor as a .gz or .zst file, piece by piece, so that a log of gigabytes takes a
 * megabyte of memory. */
#ifndef FORMATS_COMPRESS_H
#define FORMATS_COMPRESS_H

#include "err.h"

#include <stdbool.h>
#include <stdint.h>

#define COMPRESS_COMMENT_MAX	127u

struct compressor;

/* The comment of a .gz is in its header. A .zst has none, so it is in an additional frame at the end, which
 * decompressors skip (RFC 8878, 3.1.2):
 *
 *	offset	bytes
 *	0	4	50 2a 4d 18
 *	4	4	80 00 00 00: bytes that follow
 *	8	128	the comment, and NUL up to the end
 */
struct compress_options {
	bool zstd;			/* instead of gzip */
	int level;
	const char *name;		/* stored in the header of a .gz, like `gzip -N`; NULL: none. */
	uint32_t mtime;			/* also in the header; seconds since 1970, 0: none */
	const char *comment;		/* up to COMPRESS_COMMENT_MAX bytes; NULL: none. All three must stay valid
					 * until compress_end */
};

/* Writes to `fd`, which stays the caller's. */
int compress_start(int fd, const struct compress_options *o, struct compressor **ret, struct err *err);
int compress_put(struct compressor *c, const void *bytes, size_t n, struct err *err);

/* Writes the rest. Nothing may be appended after it. */
int compress_end(struct compressor *c, struct err *err);

struct compressor *compress_free(struct compressor *c);		/* NULL is fine; returns NULL */
void compress_freep(struct compressor **c);

/* Returns the comment of a .gz that begins with these bytes, as a string of at most `capacity` bytes; false if it has
 * none, or it does not fit or is incomplete. */
bool compress_comment(const uint8_t *bytes, size_t n, char *ret, size_t capacity);

/* Returns the comment of a .gz or .zst opened as `fd`, whose position does not change. */
bool compress_read_comment(int fd, char ret[COMPRESS_COMMENT_MAX + 1]);

#endif
