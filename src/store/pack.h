/* pack.h: bytes in a database row, compressed if that makes them smaller.
 *
 *   offset  size  packed bytes
 *        0     1  1: plain, the rest is the content; 2: zstd
 *        1  varint  (2) size of the content, at most PACK_MAX
 *                 (2) one zstd frame
 */
#ifndef STORE_PACK_H
#define STORE_PACK_H

#include "buf.h"

#define PACK_MAX ((size_t)256 << 20)

enum { PACK_PLAIN = 1, PACK_ZSTD = 2 };

/* Appends `n` bytes packed. Small pieces are not worth the attempt and stay plain. */
void pack_put(struct buf *out, const void *bytes, size_t n);

/* The size of the packed content, from its first PACK_HEAD bytes; 0 if unknown. */
#define PACK_HEAD 11u
size_t pack_plain_size(const void *head, size_t n, size_t size);

/* Unpacks; the result points into `data` or into `scratch`, which is overwritten. Returns -EBADMSG if the bytes are
 * invalid. */
int pack_get(const void *data, size_t size, struct buf *scratch, const uint8_t **ret_bytes, size_t *ret_size);

#endif
