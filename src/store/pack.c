/* pack.c: one byte in front says whether what follows is compressed, so that a reader needs no setting. */
#include "pack.h"
#include "mem.h"
#include "strobe_wire.h"
#include <assert.h>
#include <zstd.h>
#include <zstd_errors.h>

#define WORTH_TRYING	1024		/* bytes; setting zstd up costs 200 microseconds */
#define LEVEL		6		/* level of zstd: written once, read often */

static bool put_compressed(struct buf *out, const void *bytes, size_t n)
{
	size_t start = out->size, size;
	char *to;

	buf_putc(out, PACK_ZSTD);
	buf_put_varint(out, n);
	to = buf_reserve(out, ZSTD_compressBound(n));
	size = to ? ZSTD_compress(to, ZSTD_compressBound(n), bytes, n, LEVEL) : 0;
	if (!to || ZSTD_isError(size) || out->size + size - start > n) {
		out->size = start;
		return false;
	}
	buf_wrote(out, size);
	return true;
}

void pack_put(struct buf *out, const void *bytes, size_t n)
{
	assert(bytes || n == 0);
	if (n >= WORTH_TRYING && n <= PACK_MAX && put_compressed(out, bytes, n))
		return;
	buf_putc(out, PACK_PLAIN);
	buf_put(out, bytes, n);
}

size_t pack_plain_size(const void *head, size_t n, size_t size)
{
	const uint8_t *p = head;
	struct strobe_wire_cursor c = { p + 1, p + n };
	uint64_t plain;

	if (n == 0)
		return 0;
	if (p[0] == PACK_PLAIN)
		return size - 1;
	return p[0] == PACK_ZSTD && strobe_wire_get_varint(&c, &plain) && plain <= PACK_MAX ? plain : 0;
}

int pack_get(const void *data, size_t size, struct buf *scratch, const uint8_t **ret_bytes, size_t *ret_size)
{
	const uint8_t *p = data;
	struct strobe_wire_cursor c = { p + 1, p + size };
	size_t unpacked;
	uint64_t n;
	char *to;

	if (size == 0)
		return -EBADMSG;
	if (p[0] == PACK_PLAIN) {
		*ret_bytes = p + 1;
		*ret_size = size - 1;
		return 0;
	}
	if (p[0] != PACK_ZSTD || !strobe_wire_get_varint(&c, &n) || n > PACK_MAX)
		return -EBADMSG;
	/* The frame header has the size as well; trusting only our field would let bad data reserve any amount of
	 * memory. */
	if (ZSTD_getFrameContentSize(c.p, (size_t)(c.end - c.p)) != n)
		return -EBADMSG;
	buf_reset(scratch);
	to = buf_reserve(scratch, n ? n : 1);
	if (!to)
		return -EBADMSG;
	unpacked = ZSTD_decompress(to, n, c.p, (size_t)(c.end - c.p));
	if (ZSTD_getErrorCode(unpacked) == ZSTD_error_memory_allocation)	/* no damage */
		mem_exhausted(n);
	if (unpacked != n)
		return -EBADMSG;
	buf_wrote(scratch, n);
	*ret_bytes = (const uint8_t *)scratch->data;
	*ret_size = n;
	return 0;
}
