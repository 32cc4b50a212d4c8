/* buf.h: a growing byte buffer.
 *
 * `data` is never NULL after buf_init and always has a NUL after its last byte, so a buffer of text is a C string.
 * Growth beyond `limit` (BUF_LIMIT unless set) is not an error: the bytes are dropped and `overflow` is set.
 *
 * A buffer with a drain holds about BUF_DRAIN bytes at a time: earlier ones were passed to the drain, so only writers
 * that append and never look back may use one. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "cleanup.h"
#include <stdbool.h>
#include <stdint.h>

#define BUF_LIMIT ((size_t)2 << 30)
#define BUF_DRAIN ((size_t)64 << 10)

struct buf_drain {
	/* Consumes all of the bytes, or returns false, which counts as an overflow. */
	bool (*take)(struct buf_drain *d, const char *bytes, size_t n);
	void (*restart)(struct buf_drain *d);		/* forgets everything consumed so far */
};

struct buf {
	char *data;
	size_t size, capacity, limit;
	bool overflow;
	struct buf_drain *drain;			/* NULL: none */
};

void buf_init(struct buf *b);
void buf_done(struct buf *b);
void buf_reset(struct buf *b);				/* empties it and its drain, keeps the memory */
char *buf_take(struct buf *b, size_t *ret_size);	/* the caller frees the result; `b` is empty again */

/* Returns where `n` more bytes may be written, NULL above the limit. Call buf_wrote with the number written; until
 * then the NUL may be overwritten. */
char *buf_reserve(struct buf *b, size_t n);
void buf_wrote(struct buf *b, size_t n);

void buf_put(struct buf *b, const void *bytes, size_t n);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) _printf_(2, 3);

/* Numbers without printf, which took 60 % of a renderer's instructions. */
void buf_put_u64(struct buf *b, uint64_t v);
void buf_put_i64(struct buf *b, int64_t v);
void buf_put_grouped(struct buf *b, int64_t v);		/* 1,234,567 */
void buf_put_fixed(struct buf *b, double v, int decimals);	/* like "%.*f" for |v| < 2^53 / 10^decimals */
void buf_put_varint(struct buf *b, uint64_t v);		/* unsigned LEB128, as in wire/strobe_wire.h */

#endif
