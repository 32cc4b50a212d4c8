/* bundle.c: chunks side by side; the layout is drawn in bundle.h. */
#include "bundle.h"
#include "sqlite_day.h"
#include "strobe_wire.h"
#include <assert.h>
#include <errno.h>

void bundle_put(struct buf *out, uint32_t last, uint32_t series, const void *chunk, size_t size)
{
	assert(series > BUNDLE_SERIES && series >= last && series < DAY_SERIES && size > 0);
	buf_put_varint(out, series - last);
	buf_put_varint(out, size);
	buf_put(out, chunk, size);
}

void bundle_open(struct bundle_reader *r, int64_t series, const void *data, size_t size)
{
	*r = (struct bundle_reader){ .series = series, .is_chunk = series != BUNDLE_SERIES };
	r->p = data;
	r->end = r->p + size;
}

static int take_row(struct bundle_reader *r, int64_t *ret_series, struct str *ret_chunk)
{
	*ret_series = r->series;
	*ret_chunk = (struct str){ (const char *)r->p, (size_t)(r->end - r->p) };
	r->ended = true;
	return 1;
}

int bundle_next(struct bundle_reader *r, int64_t *ret_series, struct str *ret_chunk)
{
	struct strobe_wire_cursor c = { r->p, r->end };
	uint64_t distance, size;

	if (r->ended)
		return 0;
	if (r->is_chunk)
		return take_row(r, ret_series, ret_chunk);
	if (r->p == r->end && r->series != BUNDLE_SERIES)
		return 0;
	if (!strobe_wire_get_varint(&c, &distance) || !strobe_wire_get_varint(&c, &size) ||
	    distance >= DAY_SERIES - (uint64_t)r->series || r->series + (int64_t)distance == BUNDLE_SERIES || size == 0 ||
	    size > (uint64_t)(c.end - c.p)) {
		r->ended = true;
		return -EBADMSG;
	}
	r->series += (int64_t)distance;
	r->p = c.p + size;
	*ret_series = r->series;
	*ret_chunk = (struct str){ (const char *)c.p, (size_t)size };
	return 1;
}
