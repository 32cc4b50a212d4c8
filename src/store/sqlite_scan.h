/* sqlite_scan.h: passes the chunks that match a query to a visitor, day by day.
 *
 * Each day is read in one transaction on its own connection, so a visitor sees consistent chunks and stacks
 * while the writer continues. Damaged chunks and days are counted, noted and skipped. */
#ifndef STORE_SQLITE_SCAN_H
#define STORE_SQLITE_SCAN_H

#include "chunk.h"
#include "sqlite_store.h"

struct scan_chunk {
	const struct series *series;
	uint32_t id;			/* id of the series within its day */
	struct chunk_reader *reader;	/* its header has been read, but no row yet */
	int64_t hour_bucket;		/* first bucket of the chunk's hour, since 1970 */
	unsigned from, to;		/* requested buckets of the hour: [from, to) */
};

/* All may be NULL; without `chunk`, chunks are not read. A negative result ends the scan, except -EBADMSG: damaged
 * parts are skipped. */
struct scan_visitor {
	int (*series)(void *data, const struct series *s);		/* called for each matching series of each day */
	int (*chunk)(void *data, struct day *d, const struct scan_chunk *c, struct err *err);
	void (*day_end)(void *data, const struct series *series, size_t count);	/* series by id - 1 */
	void *data;
};

/* Adds to `stats` (may be NULL), except samples, first_ns and last_ns, which the visitor computes. */
int sqlite_scan(struct sqlite_store *s, const struct store_query *q, const struct scan_visitor *v,
		struct store_query_stats *stats, struct err *err);

/* Reads the next requested row. Returns 1, 0 after the last one, or -EBADMSG. */
static inline int scan_next(const struct scan_chunk *c, uint32_t *ret_stack, unsigned *ret_bucket, int64_t *values)
{
	int rc;

	do
		rc = chunk_next(c->reader, ret_stack, ret_bucket, values);
	while (rc > 0 && (*ret_bucket < c->from || *ret_bucket >= c->to));
	return rc;
}

static inline bool scan_is_whole(const struct scan_chunk *c)
{
	return c->reader->first_bucket >= c->from && c->reader->last_bucket < c->to;
}

#endif
