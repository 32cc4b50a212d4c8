/* gzip.c: compresses with zlib, in the format of gzip. */

#include "gzip.h"

#include <limits.h>
#include <zlib.h>

#define WINDOW_GZIP	(15 + 16)	/* largest window; + 16 selects gzip's header instead of zlib's */
#define STEP		((size_t)256 * 1024)

static int compress_all(z_stream *z, struct buf *out, size_t n)
{
	size_t left = n;
	int r;

	do {
		uInt part = left > UINT_MAX / 2 ? UINT_MAX / 2 : (uInt)left;
		char *at = buf_reserve(out, STEP);

		if (!at)
			return -EFBIG;
		if (z->avail_in == 0) {
			z->avail_in = part;
			left -= part;
		}
		z->next_out = (Bytef *)at;
		z->avail_out = STEP;
		r = deflate(z, left ? Z_NO_FLUSH : Z_FINISH);
		buf_wrote(out, STEP - z->avail_out);
	} while (r == Z_OK || r == Z_BUF_ERROR);
	return r == Z_STREAM_END ? 0 : -EIO;
}

static int put(struct buf *out, const void *bytes, size_t n, int level, struct err *err)
{
	z_stream z = { .next_in = (Bytef *)bytes };
	int e;

	if (deflateInit2(&z, level, Z_DEFLATED, WINDOW_GZIP, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return err_set(err, -ENOMEM, "not enough memory to compress");
	e = compress_all(&z, out, n);
	deflateEnd(&z);
	if (e < 0)
		return err_set(err, e, "cannot compress %zu bytes: %s", n, e == -EFBIG ? "the result is too large" :
			       "zlib failed");
	return 0;
}

int gzip_put(struct buf *out, const void *bytes, size_t n, struct err *err)
{
	return put(out, bytes, n, Z_DEFAULT_COMPRESSION, err);
}

int gzip_put_fast(struct buf *out, const void *bytes, size_t n, struct err *err)
{
	return put(out, bytes, n, Z_BEST_SPEED, err);
}
