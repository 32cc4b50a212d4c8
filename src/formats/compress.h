/* compress.h: bytes to a descriptor as a .gz or .zst file, piece by piece, so that a log of gigabytes takes a
 * megabyte. */
#ifndef FORMATS_COMPRESS_H
#define FORMATS_COMPRESS_H

#include "err.h"

#include <stdbool.h>
#include <stdint.h>

struct compressor;

struct compress_options {
	bool zstd;			/* instead of gzip */
	int level;
	const char *name;		/* kept in the header of a .gz, as `gzip -N` does; NULL: none. */
	uint32_t mtime;			/* the same; seconds since 1970, 0: none */
	const char *comment;		/* of a .gz; NULL: none. All three must stay until compress_end */
};

/* Writes to `fd`, which stays the caller's. */
int compress_start(int fd, const struct compress_options *o, struct compressor **ret, struct err *err);
int compress_put(struct compressor *c, const void *bytes, size_t n, struct err *err);

/* Writes what is left. Nothing may be put behind it. */
int compress_end(struct compressor *c, struct err *err);

struct compressor *compress_free(struct compressor *c);		/* NULL is fine; returns NULL */
void compress_freep(struct compressor **c);

/* The comment of a .gz whose first bytes these are, as a string of at most `room` bytes; false if it has none, or one
 * that does not fit or is not complete in here. */
bool compress_comment(const uint8_t *bytes, size_t n, char *ret, size_t room);

#endif
