/* compress.c: drives zlib and libzstd. */
#include "compress.h"

#include "io.h"
#include "mem.h"

#include <assert.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#define STEP		((size_t)256 << 10)
#define WINDOW_GZIP	(15 + 16)	/* largest window; + 16 selects gzip's header instead of zlib's */

struct compressor {
	int fd;
	bool deflating;			/* deflateEnd must be called */
	z_stream z;
	gz_header header;
	ZSTD_CCtx *zstd;		/* NULL: gzip */
	const char *comment;
	char out[STEP];
};

static int start_gzip(struct compressor *c, const struct compress_options *o, struct err *err)
{
	if (deflateInit2(&c->z, o->level, Z_DEFLATED, WINDOW_GZIP, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return err_set(err, -ENOMEM, "not enough memory to compress");
	c->deflating = true;
	/* 3 means Unix. zlib does not modify these strings. */
	c->header = (gz_header){ .os = 3, .time = o->mtime, .name = (Bytef *)o->name, .comment = (Bytef *)o->comment };
	deflateSetHeader(&c->z, &c->header);
	return 0;
}

static int start_zstd(struct compressor *c, const struct compress_options *o, struct err *err)
{
	c->zstd = ZSTD_createCCtx();
	if (!c->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, o->level)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_checksumFlag, 1)))
		return err_set(err, -ENOMEM, "not enough memory to compress");
	return 0;
}

int compress_start(int fd, const struct compress_options *o, struct compressor **ret, struct err *err)
{
	struct compressor *c = xcalloc(1, sizeof(*c));
	int r;

	assert(!o->comment || strlen(o->comment) <= COMPRESS_COMMENT_MAX);
	c->fd = fd;
	c->comment = o->comment;
	r = o->zstd ? start_zstd(c, o, err) : start_gzip(c, o, err);
	*ret = r < 0 ? compress_free(c) : c;
	return r;
}

static int put_gzip(struct compressor *c, const void *bytes, size_t n, bool last, struct err *err)
{
	const char *at = bytes;
	int r;

	do {
		uInt part = n > UINT_MAX / 2 ? UINT_MAX / 2 : (uInt)n;

		c->z.next_in = (Bytef *)at;
		c->z.avail_in = part;
		do {
			c->z.next_out = (Bytef *)c->out;
			c->z.avail_out = STEP;
			if (deflate(&c->z, last && part == n ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
				return err_set(err, -EIO, "zlib failed");
			r = io_write_all(c->fd, c->out, STEP - c->z.avail_out, err);
			if (r < 0)
				return r;
		} while (c->z.avail_out == 0);
		at += part;
		n -= part;
	} while (n);
	return 0;
}

static int put_zstd(struct compressor *c, const void *bytes, size_t n, bool last, struct err *err)
{
	ZSTD_inBuffer in = { bytes, n, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { c->out, STEP, 0 };
		int r;

		left = ZSTD_compressStream2(c->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return err_set(err, -EIO, "zstd failed: %s", ZSTD_getErrorName(left));
		r = io_write_all(c->fd, c->out, out.pos, err);
		if (r < 0)
			return r;
	} while (last ? left > 0 : in.pos < in.size);
	return 0;
}

int compress_put(struct compressor *c, const void *bytes, size_t n, struct err *err)
{
	return c->zstd ? put_zstd(c, bytes, n, false, err) : put_gzip(c, bytes, n, false, err);
}

static const uint8_t frame_head[] = { 0x50, 0x2a, 0x4d, 0x18, COMPRESS_COMMENT_MAX + 1, 0, 0, 0 };

static int put_comment_frame(const struct compressor *c, struct err *err)
{
	char frame[sizeof(frame_head) + COMPRESS_COMMENT_MAX + 1] = { 0 };

	memcpy(frame, frame_head, sizeof(frame_head));
	memcpy(frame + sizeof(frame_head), c->comment, strlen(c->comment));
	return io_write_all(c->fd, frame, sizeof(frame), err);
}

int compress_end(struct compressor *c, struct err *err)
{
	int r = c->zstd ? put_zstd(c, "", 0, true, err) : put_gzip(c, "", 0, true, err);

	return r >= 0 && c->zstd && c->comment ? put_comment_frame(c, err) : r;
}

struct compressor *compress_free(struct compressor *c)
{
	if (!c)
		return NULL;
	if (c->deflating)
		deflateEnd(&c->z);
	ZSTD_freeCCtx(c->zstd);
	free(c);
	return NULL;
}

void compress_freep(struct compressor **c)
{
	compress_free(*c);
}

/* --- Comments: the header of a .gz (RFC 1952), the last frame of a .zst --- */

enum { HAS_EXTRA = 4, HAS_NAME = 8, HAS_COMMENT = 16 };

/* Returns the offset after the string at `at`; 0 if it does not end within the bytes. */
static size_t behind_string(const uint8_t *bytes, size_t n, size_t at)
{
	const uint8_t *end = at < n ? memchr(bytes + at, 0, n - at) : NULL;

	return end ? (size_t)(end - bytes) + 1 : 0;
}

bool compress_comment(const uint8_t *bytes, size_t n, char *ret, size_t capacity)
{
	size_t at = 10, end;

	if (n < at || bytes[0] != 0x1f || bytes[1] != 0x8b || !(bytes[3] & HAS_COMMENT) || (bytes[3] & HAS_EXTRA))
		return false;
	if ((bytes[3] & HAS_NAME) && !(at = behind_string(bytes, n, at)))
		return false;
	end = behind_string(bytes, n, at);
	if (!end || end - at > capacity)
		return false;
	memcpy(ret, bytes + at, end - at);
	return true;
}

static bool read_comment_frame(int fd, char ret[COMPRESS_COMMENT_MAX + 1])
{
	const size_t size = sizeof(frame_head) + COMPRESS_COMMENT_MAX + 1;
	uint8_t frame[sizeof(frame_head) + COMPRESS_COMMENT_MAX + 1];
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size < (off_t)size ||
	    pread(fd, frame, size, st.st_size - (off_t)size) != (ssize_t)size ||
	    memcmp(frame, frame_head, sizeof(frame_head)) != 0 || frame[size - 1])
		return false;
	memcpy(ret, frame + sizeof(frame_head), COMPRESS_COMMENT_MAX + 1);
	return true;
}

bool compress_read_comment(int fd, char ret[COMPRESS_COMMENT_MAX + 1])
{
	uint8_t head[10 + 256 + COMPRESS_COMMENT_MAX + 1];	/* a file name has up to 255 bytes */
	ssize_t n = pread(fd, head, sizeof(head), 0);

	return (n > 0 && compress_comment(head, (size_t)n, ret, COMPRESS_COMMENT_MAX + 1)) ||
	       read_comment_frame(fd, ret);
}
