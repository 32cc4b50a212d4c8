/* decompress.c: drives zlib and libzstd. */
#include "decompress.h"

#include "mem.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

struct decompressor {
	bool is_zstd;
	bool between;		/* a member or frame has ended, and the next has not begun */
	bool ended;		/* the rest is not compressed data */
	z_stream z;
	ZSTD_DStream *zstd;
};

static bool is_gzip(const char *bytes, size_t n)
{
	return n >= 2 && !memcmp(bytes, "\x1f\x8b", 2);
}

static bool is_zstd(const char *bytes, size_t n)
{
	return n >= 4 && !memcmp(bytes, "\x28\xb5\x2f\xfd", 4);
}

int decompress_start(const char *bytes, size_t n, struct decompressor **ret, struct err *err)
{
	struct decompressor *d;

	*ret = NULL;
	if (!is_gzip(bytes, n) && !is_zstd(bytes, n))
		return 0;
	d = xcalloc(1, sizeof(*d));
	d->is_zstd = is_zstd(bytes, n);
	/* 15 + 16: the largest window, gzip only. */
	if (d->is_zstd ? !(d->zstd = ZSTD_createDStream()) : inflateInit2(&d->z, 15 + 16) != Z_OK) {
		free(d);
		return err_set(err, -ENOMEM, "not enough memory to decompress");
	}
	*ret = d;
	return 0;
}

struct decompressor *decompress_stop(struct decompressor *d)
{
	if (!d)
		return NULL;
	if (d->is_zstd)
		ZSTD_freeDStream(d->zstd);
	else
		inflateEnd(&d->z);
	free(d);
	return NULL;
}

bool decompress_ended(const struct decompressor *d)
{
	return d->ended;
}

static int cut_off(struct err *err)
{
	return err_set(err, -EINVAL, "its compressed data is truncated: the file is incomplete");
}

static int damaged(struct err *err, const char *why)
{
	return err_set(err, -EINVAL, "its compressed data is damaged: %s", why);
}

static ssize_t gunzip(struct decompressor *d, const char *in, size_t n, bool last, size_t *ret_taken, char *out,
		      size_t capacity, struct err *err)
{
	uInt given = n < UINT_MAX ? (uInt)n : UINT_MAX, wanted = capacity < UINT_MAX ? (uInt)capacity : UINT_MAX;
	int r;

	if (d->between) {
		if (n < 2 && !last)
			return 0;
		/* Another member may follow; anything else after the end is padding, as in gzip. */
		d->ended = !is_gzip(in, n);
		if (d->ended)
			return 0;
		inflateReset(&d->z);
		d->between = false;
	}
	d->z.next_in = (Bytef *)in;
	d->z.avail_in = given;
	d->z.next_out = (Bytef *)out;
	d->z.avail_out = wanted;
	r = inflate(&d->z, Z_NO_FLUSH);
	*ret_taken = given - d->z.avail_in;
	if (r == Z_STREAM_END)
		d->between = true;
	else if (r != Z_OK && r != Z_BUF_ERROR)
		return damaged(err, d->z.msg ? d->z.msg : "not a gzip stream");
	else if (last && *ret_taken == n && d->z.avail_out)
		return cut_off(err);
	return wanted - d->z.avail_out;
}

static ssize_t unzstd(struct decompressor *d, const char *in, size_t n, bool last, size_t *ret_taken, char *out,
		      size_t capacity, struct err *err)
{
	ZSTD_inBuffer from = { in, n, 0 };
	ZSTD_outBuffer to = { out, capacity, 0 };
	size_t r;

	if (d->between && n == 0) {
		d->ended = last;
		return 0;
	}
	r = ZSTD_decompressStream(d->zstd, &to, &from);
	if (ZSTD_isError(r))
		return damaged(err, ZSTD_getErrorName(r));
	*ret_taken = from.pos;
	d->between = r == 0;
	if (!d->between && last && from.pos == n && to.pos < capacity)
		return cut_off(err);
	return (ssize_t)to.pos;
}

ssize_t decompress_more(struct decompressor *d, const char *in, size_t n, bool last, size_t *ret_taken, char *out,
			size_t capacity, struct err *err)
{
	*ret_taken = 0;
	if (d->ended)
		return 0;
	return (d->is_zstd ? unzstd : gunzip)(d, in, n, last, ret_taken, out, capacity, err);
}
