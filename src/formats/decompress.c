/* decompress.c: drives zlib and libzstd by pieces, so that a small file cannot ask for all memory at once. */
#include "decompress.h"
#include <limits.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE ((size_t)256 << 10)

static int above_limit(struct err *err, size_t limit)
{
	return err_set(err, -EFBIG, "it holds more than %zu bytes once decompressed, which is the limit", limit);
}

static int cut_off(struct err *err)
{
	return err_set(err, -EINVAL, "its compressed data is cut off: the file is not complete");
}

static int damaged(struct err *err, const char *why)
{
	return err_set(err, -EINVAL, "its compressed data is damaged: %s", why);
}

/* Room for the next piece of output; one byte above the limit, so that reaching it is seen. */
static char *piece_room(struct buf *out, size_t before, size_t limit, size_t *ret_n)
{
	size_t left = limit - (out->size - before) + 1;

	*ret_n = left < PIECE ? left : PIECE;
	return buf_reserve(out, *ret_n);
}

static int gunzip(z_stream *z, const char *bytes, size_t n, struct buf *out, size_t limit, struct err *err)
{
	size_t before = out->size, fed = 0;

	for (;;) {
		size_t room_size, taken;
		char *room = piece_room(out, before, limit, &room_size);
		uInt available;
		int r;

		if (!room)
			return above_limit(err, limit);
		available = n - fed < UINT_MAX ? (uInt)(n - fed) : UINT_MAX;
		z->next_in = (Bytef *)(bytes + fed);
		z->avail_in = available;
		z->next_out = (Bytef *)room;
		z->avail_out = (uInt)room_size;
		r = inflate(z, Z_NO_FLUSH);
		taken = available - z->avail_in;
		fed += taken;
		out->size += room_size - z->avail_out;
		if (out->size - before > limit)
			return above_limit(err, limit);
		if (r == Z_STREAM_END) {
			/* Another member may follow; anything else behind the end is padding, as gzip has it. */
			if (n - fed < 2 || memcmp(bytes + fed, "\x1f\x8b", 2))
				return 1;
			inflateReset(z);
		} else if (r == Z_BUF_ERROR || (r == Z_OK && fed == n && z->avail_out)) {
			return cut_off(err);
		} else if (r != Z_OK) {
			return damaged(err, z->msg ? z->msg : "not a gzip stream");
		}
	}
}

static int unzstd(ZSTD_DStream *z, const char *bytes, size_t n, struct buf *out, size_t limit, struct err *err)
{
	ZSTD_inBuffer in = { bytes, n, 0 };
	size_t before = out->size, r = 1;

	for (;;) {
		ZSTD_outBuffer piece = { 0 };

		piece.dst = piece_room(out, before, limit, &piece.size);
		if (!piece.dst)
			return above_limit(err, limit);
		r = ZSTD_decompressStream(z, &piece, &in);
		if (ZSTD_isError(r))
			return damaged(err, ZSTD_getErrorName(r));
		out->size += piece.pos;
		if (out->size - before > limit)
			return above_limit(err, limit);
		/* 0: a frame ended. All input taken and room left: nothing more will come. */
		if (in.pos == n && r == 0)
			return 1;
		if (in.pos == n && piece.pos < piece.size)
			return cut_off(err);
	}
}

int decompress(const char *bytes, size_t n, struct buf *out, size_t limit, struct err *err)
{
	size_t before = out->size;
	int r = 0;

	if (n >= 2 && !memcmp(bytes, "\x1f\x8b", 2)) {
		z_stream z = { 0 };

		/* 15 + 16: the largest window, gzip only. */
		if (inflateInit2(&z, 15 + 16) != Z_OK)
			return err_set(err, -ENOMEM, "cannot start to decompress: zlib has no memory");
		r = gunzip(&z, bytes, n, out, limit, err);
		inflateEnd(&z);
	} else if (n >= 4 && !memcmp(bytes, "\x28\xb5\x2f\xfd", 4)) {
		ZSTD_DStream *z = ZSTD_createDStream();

		if (!z)
			return err_set(err, -ENOMEM, "cannot start to decompress: libzstd has no memory");
		r = unzstd(z, bytes, n, out, limit, err);
		ZSTD_freeDStream(z);
	}
	if (r < 0) {
		out->size = before;
		if (out->capacity)
			out->data[before] = 0;
	}
	return r;
}
