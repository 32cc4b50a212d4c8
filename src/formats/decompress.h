/* decompress.h: decompresses gzip and zstd, piece by piece, so that a small file cannot use up the memory at once. */
#ifndef FORMATS_DECOMPRESS_H
#define FORMATS_DECOMPRESS_H

#include "err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define DECOMPRESS_MAGIC 4u	/* bytes needed for detection */

struct decompressor;

/* Detects the format by the first bytes: *ret is NULL if they are not compressed. There may be several consecutive
 * members or frames. */
int decompress_start(const char *bytes, size_t n, struct decompressor **ret, struct err *err);
struct decompressor *decompress_stop(struct decompressor *d);	/* NULL is fine; returns NULL */

/* Consumes up to `n` bytes at `in`, returns their number in *ret_taken, and fills `out`. `last`: no bytes follow.
 * Returns the number of bytes produced: 0 if it needs more input, or at the end; -EINVAL if the input is damaged or
 * truncated. */
ssize_t decompress_more(struct decompressor *d, const char *in, size_t n, bool last, size_t *ret_taken, char *out,
			size_t capacity, struct err *err);

/* Tells whether the compressed data is complete: anything after it is padding. */
bool decompress_ended(const struct decompressor *d);

#endif
