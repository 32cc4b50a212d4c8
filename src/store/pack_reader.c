/* pack_reader.c: incremental reads of the row, decompressed with zstd's streaming API. */
#include "pack_reader.h"
#include "cleanup.h"
#include "mem.h"
#include "pack.h"
#include "sqlite_error.h"
#include "strobe_wire.h"
#include <assert.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#define PIECE	((size_t)64 << 10)

struct pack_reader {
	sqlite3 *db;
	const char *path;
	sqlite3_blob *row;
	size_t row_size, row_at;	/* `row_at`: number of bytes read */
	ZSTD_DStream *zstd;		/* NULL: plain */
	uint64_t left;
	ZSTD_inBuffer in;		/* the unused rest of `bytes` */
	uint8_t bytes[PIECE];
};

DEFINE_FREEP(struct pack_reader, pack_reader_free)

/* Reads the next piece; returns -EBADMSG at the end. */
static int fill(struct pack_reader *r, struct err *err)
{
	size_t n = r->row_size - r->row_at < PIECE ? r->row_size - r->row_at : PIECE;

	assert(r->in.pos == r->in.size);		/* the previous piece is used up */
	if (n == 0)
		return -EBADMSG;
	if (sqlite3_blob_read(r->row, r->bytes, (int)n, (int)r->row_at))
		return sqlite_failed(r->db, "read", r->path, err);
	r->row_at += n;
	r->in = (ZSTD_inBuffer){ r->bytes, n, 0 };
	return 0;
}

/* Reads the first bytes, as described in pack.h. */
static int read_head(struct pack_reader *r, struct err *err)
{
	struct strobe_wire_cursor c;
	uint8_t kind;
	int rc = fill(r, err);

	if (rc < 0)
		return rc;
	kind = r->bytes[0];
	c = (struct strobe_wire_cursor){ r->bytes + 1, r->bytes + r->in.size };
	if (kind == PACK_PLAIN)
		r->left = r->row_size - 1;
	else if (kind != PACK_ZSTD || !strobe_wire_get_varint(&c, &r->left) || r->left > PACK_MAX ||
		 ZSTD_getFrameContentSize(c.p, (size_t)(c.end - c.p)) != r->left)
		return -EBADMSG;
	r->in.pos = (size_t)(c.p - r->bytes);
	if (kind == PACK_ZSTD && !(r->zstd = ZSTD_createDStream()))
		mem_exhausted(sizeof(*r));
	return 0;
}

int pack_reader_new(sqlite3 *db, const char *path, const char *table, const char *column, int64_t row,
		    struct pack_reader **ret, struct err *err)
{
	_cleanup_(pack_reader_freep) struct pack_reader *r = xcalloc(1, sizeof(*r));
	int rc;

	*r = (struct pack_reader){ .db = db, .path = path };
	if (sqlite3_blob_open(db, "main", table, column, row, 0, &r->row))
		return sqlite_failed(db, "read", path, err);
	r->row_size = (size_t)sqlite3_blob_bytes(r->row);
	rc = read_head(r, err);
	if (rc < 0)
		return rc;
	*ret = TAKE_PTR(r);
	return 0;
}

struct pack_reader *pack_reader_free(struct pack_reader *r)
{
	if (!r)
		return NULL;
	sqlite3_blob_close(r->row);
	ZSTD_freeDStream(r->zstd);
	free(r);
	return NULL;
}

uint64_t pack_reader_left(const struct pack_reader *r)
{
	return r->left;
}

static int decompress(struct pack_reader *r, ZSTD_outBuffer *out)
{
	size_t before = out->pos, result = ZSTD_decompressStream(r->zstd, out, &r->in);

	if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)	/* no damage */
		mem_exhausted(out->size);
	/* The frame ended before the promised size. */
	if (ZSTD_isError(result) || (result == 0 && out->pos < out->size && before == out->pos))
		return -EBADMSG;
	return 0;
}

static void copy(struct pack_reader *r, ZSTD_outBuffer *out)
{
	size_t n = r->in.size - r->in.pos, room = out->size - out->pos;

	n = n < room ? n : room;
	memcpy((char *)out->dst + out->pos, r->bytes + r->in.pos, n);
	out->pos += n;
	r->in.pos += n;
}

int pack_reader_read(struct pack_reader *r, void *to, size_t n, struct err *err)
{
	ZSTD_outBuffer out = { to, n, 0 };
	int rc = n <= r->left ? 0 : -EBADMSG;

	while (rc >= 0 && out.pos < n) {
		size_t before = out.pos;

		if (r->zstd)
			rc = decompress(r, &out);
		else
			copy(r, &out);
		/* zstd may have more output even without more input. */
		if (rc >= 0 && out.pos == before && r->in.pos == r->in.size)
			rc = fill(r, err);
	}
	assert(rc < 0 || (out.pos == n && r->left >= n));
	r->left -= rc < 0 ? 0 : n;
	return rc;
}
