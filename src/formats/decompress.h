/* decompress.h: gzip and zstd, piece by piece, so that a small file cannot ask for all memory at once. */
#ifndef FORMATS_DECOMPRESS_H
#define FORMATS_DECOMPRESS_H

#include "err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define DECOMPRESS_MAGIC 4u	/* bytes that tell */

struct decompressor;

/* Detected by the first bytes: *ret is NULL if they are not compressed. Several members or frames may follow one another. */
int decompress_start(const char *bytes, size_t n, struct decompressor **ret, struct err *err);
struct decompressor *decompress_stop(struct decompressor *d);	/* NULL is fine; returns NULL */

/* Consumes up to `n` bytes at `in`, with their number in *ret_taken, and fills `out`. `last`: no bytes follow.
 * Returns how many bytes it produced: 0 when it needs more input, or at the end; -EINVAL if they are damaged or cut
 * off. */
ssize_t decompress_more(struct decompressor *d, const char *in, size_t n, bool last, size_t *ret_taken, char *out,
			size_t capacity, struct err *err);

/* Whether the compressed data is complete: then what follows is padding. */
bool decompress_ended(const struct decompressor *d);

#endif
