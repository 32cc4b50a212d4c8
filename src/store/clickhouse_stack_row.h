/* clickhouse_stack_row.h: a row of the table `stacks` in an answer. */
#ifndef STORE_CLICKHOUSE_STACK_ROW_H
#define STORE_CLICKHOUSE_STACK_ROW_H

#include "clickhouse_batch.h"
#include "clickhouse_wire.h"

/* One row of `stacks`, in place. Its frames are at first hashes, then become numbers within the shard's answers, and
 * finally, while nodes are created, frames of the profile with their lines. So the largest part of an answer is never
 * copied. */
struct stack_row {
	uint64_t name, proof, base;
	uint8_t *frames;			/* 8 bytes each */
	const uint8_t *lines;			/* 4 bytes each */
	uint32_t frame_count, line_count;
};

static inline bool get_stack(struct row_reader *r, struct stack_row *ret)
{
	size_t frames, lines;

	ret->name = row_get(r, 8);
	ret->proof = row_get(r, 8);
	ret->base = row_get(r, 8);
	frames = row_get_count(r, 8);
	ret->frames = (uint8_t *)r->at.p;
	r->at.p += frames * 8;
	lines = row_get_count(r, 4);
	ret->lines = r->at.p;
	r->at.p += lines * 4;
	ret->frame_count = (uint32_t)frames;
	ret->line_count = (uint32_t)lines;
	return !r->bad && frames > 0 && frames <= CLICKHOUSE_STACK && (!lines || lines == frames);
}

static inline uint8_t *frame_at(const struct stack_row *row, uint32_t i)
{
	return row->frames + 8 * (size_t)i;
}

static inline uint32_t line_of(const struct stack_row *row, uint32_t i)
{
	return row->line_count ? (uint32_t)strobe_wire_get_le(row->lines + 4 * (size_t)i, 4) : 0;
}

#endif
