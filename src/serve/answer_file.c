/* answer_file.c: writes independent zstd blocks, so that a reader needs no state except its offset. */
#include "answer_file.h"

#include "io.h"
#include "mem.h"

#include <string.h>
#include <zstd.h>

#define LEVEL	1		/* zstd level: compresses faster than the text is produced */

struct block {
	uint32_t size, plain;
};

static bool put_block(struct answer_writer *w)
{
	char packed[sizeof(struct block) + ZSTD_COMPRESSBOUND(ANSWER_BLOCK)];
	size_t n = ZSTD_compressCCtx(w->compressor, packed + sizeof(struct block), sizeof(packed) - sizeof(struct block),
				     w->block, w->pending, LEVEL);
	struct block b = { (uint32_t)n, (uint32_t)w->pending };

	if (ZSTD_isError(n) || n >= w->pending) {
		b.size = b.plain;
		memcpy(packed + sizeof(b), w->block, w->pending);
	}
	memcpy(packed, &b, sizeof(b));
	w->pending = 0;
	return io_write_all(w->fd, packed, sizeof(b) + b.size, NULL) >= 0;
}

static bool take(struct buf_drain *d, const char *bytes, size_t n)
{
	struct answer_writer *w = (struct answer_writer *)d;

	while (n && !w->failed) {
		size_t part = n < ANSWER_BLOCK - w->pending ? n : ANSWER_BLOCK - w->pending;

		memcpy(w->block + w->pending, bytes, part);
		w->pending += part;
		w->plain += part;
		bytes += part;
		n -= part;
		if (w->pending == ANSWER_BLOCK)
			w->failed = !put_block(w);
	}
	return !w->failed;
}

static void restart(struct buf_drain *d)
{
	struct answer_writer *w = (struct answer_writer *)d;

	w->pending = 0;
	w->plain = 0;
	w->failed = ftruncate(w->fd, 0) < 0 || lseek(w->fd, 0, SEEK_SET) < 0;
}

struct answer_writer *answer_writer_new(int fd)
{
	struct answer_writer *w = xcalloc(1, sizeof(*w));

	w->drain = (struct buf_drain){ take, restart };
	w->fd = fd;
	w->compressor = ZSTD_createCCtx();
	if (!w->compressor)
		mem_exhausted(sizeof(*w));
	return w;
}

struct answer_writer *answer_writer_free(struct answer_writer *w)
{
	if (w)
		ZSTD_freeCCtx(w->compressor);
	free(w);
	return NULL;
}

bool answer_writer_end(struct answer_writer *w)
{
	if (w->pending && !w->failed)
		w->failed = !put_block(w);
	return !w->failed;
}

ssize_t answer_read(int fd, uint64_t *at, char *ret)
{
	char packed[ANSWER_BLOCK];
	struct block b;
	ssize_t n = pread(fd, &b, sizeof(b), (off_t)*at);

	if (n == 0)
		return 0;
	if (n != sizeof(b) || !b.size || b.size > b.plain || b.plain > ANSWER_BLOCK ||
	    pread(fd, packed, b.size, (off_t)(*at + sizeof(b))) != (ssize_t)b.size)
		return -EBADMSG;
	if (b.size == b.plain)
		memcpy(ret, packed, b.plain);
	else if (ZSTD_decompress(ret, b.plain, packed, b.size) != b.plain)
		return -EBADMSG;
	*at += sizeof(b) + b.size;
	return (ssize_t)b.plain;
}
