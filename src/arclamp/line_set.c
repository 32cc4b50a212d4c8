/* line_set.c: a hash table of whole lines. */

#include "line_set.h"

#include "chart.h"
#include "folded_write.h"
#include "format.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define PICTURE_PARTS 20000

/* Identified by 128 bits of hash, so that collisions of different lines are practically impossible. */
struct line_slot {
	uint64_t low, high;
	size_t line;			/* index + 1; 0: free */
};

void line_set_init(struct line_set *s, bool keep_order)
{
	*s = (struct line_set){ .keep_order = keep_order };
	arena_init(&s->text);
}

void line_set_done(struct line_set *s)
{
	free(s->lines);
	free(s->slots);
	arena_done(&s->text);
	*s = (struct line_set){ 0 };
}

static struct line_slot *find(const struct line_set *s, XXH128_hash_t hash)
{
	size_t i = (size_t)hash.low64 & (s->slot_count - 1);

	while (s->slots[i].line && (s->slots[i].low != hash.low64 || s->slots[i].high != hash.high64))
		i = (i + 1) & (s->slot_count - 1);
	return &s->slots[i];
}

static void grow(struct line_set *s)
{
	struct line_slot *old = s->slots;
	size_t n = s->slot_count;

	s->slot_count = n ? 2 * n : 1024;
	s->slots = xcalloc(s->slot_count, sizeof(*s->slots));
	for (size_t i = 0; i < n; i++)
		if (old[i].line)
			*find(s, (XXH128_hash_t){ old[i].low, old[i].high }) = old[i];
	free(old);
}

static void append(struct line_set *s, struct str line)
{
	GROW(&s->lines, &s->capacity, s->count + 1);
	s->lines[s->count++] = (struct flamegraph_line){
		.text = { arena_copy(&s->text, line.p, line.n), line.n }, .repeat = 1, .number = s->number,
	};
}

static void take_in_order(struct line_set *s, struct str line)
{
	struct flamegraph_line *last = s->count ? &s->lines[s->count - 1] : NULL;

	if (last && last->text.n == line.n && !memcmp(last->text.p, line.p, line.n))
		last->repeat++;
	else
		append(s, line);
}

void line_set_take(void *data, struct str line)
{
	struct line_set *s = data;
	XXH128_hash_t hash;
	struct line_slot *slot;

	s->number++;
	if (s->keep_order) {
		take_in_order(s, line);
		return;
	}
	hash = XXH3_128bits(line.p, line.n);
	if (s->count * 3 >= s->slot_count * 2)
		grow(s);
	slot = find(s, hash);
	if (slot->line) {
		s->lines[slot->line - 1].repeat++;
		return;
	}
	append(s, line);
	*slot = (struct line_slot){ hash.low64, hash.high64, s->count };
}

static void take_lines(struct line_set *s, const struct buf *text)
{
	for (const char *at = text->data, *end = text->data + text->size; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		line_set_take(s, (struct str){ at, (size_t)((newline ? newline : end) - at) });
		at = newline ? newline + 1 : end;
	}
}

int line_set_take_profile(struct line_set *s, const struct profile *p, uint32_t column, struct err *err)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	int r;

	buf_init(&text);
	r = folded_write(p, column, &text, err);
	if (r >= 0)
		take_lines(s, &text);
	return r;
}

/* Splits a chart's time into pieces, each with the stack that was running. */
struct pieces {
	const struct chart *chart;
	struct buf order;		/* an array of struct format_stack */
	int64_t least_ns, at;		/* shortest visible call, and the end of the pieces so far */
	uint32_t *open, depth;		/* calls */
	size_t capacity;
};

static bool is_seen(const struct pieces *p, uint32_t call)
{
	return p->chart->calls[call].end_ns - p->chart->calls[call].start_ns >= p->least_ns;
}

/* Attributes the time since the last piece to the innermost call. */
static void put_piece(struct pieces *p, int64_t until)
{
	struct format_stack piece = { .value = until - p->at };

	if (p->depth && piece.value > 0) {
		piece.node = p->chart->calls[p->open[p->depth - 1]].node;
		buf_put(&p->order, (const char *)&piece, sizeof(piece));
	}
	p->at = until;
}

static void open_call(void *pieces, uint32_t call)
{
	struct pieces *p = pieces;

	if (!is_seen(p, call))
		return;
	put_piece(p, p->chart->calls[call].start_ns);
	GROW(&p->open, &p->capacity, (size_t)p->depth + 1);
	p->open[p->depth++] = call;
}

static void close_call(void *pieces, uint32_t call)
{
	struct pieces *p = pieces;

	if (!is_seen(p, call))
		return;
	put_piece(p, p->chart->calls[call].end_ns);
	p->depth--;
}

int line_set_take_chart(struct line_set *s, const struct profile *p, struct err *err)
{
	struct pieces pieces = { .chart = p->chart, .least_ns = chart_end(p->chart) / PICTURE_PARTS };
	_cleanup_(buf_done) struct buf text = { 0 };
	int r;

	buf_init(&text);
	buf_init(&pieces.order);
	chart_walk(p->chart, open_call, close_call, &pieces);
	r = folded_write_order(p, &pieces.order, &text, err);
	if (r >= 0)
		take_lines(s, &text);
	buf_done(&pieces.order);
	free(pieces.open);
	return r;
}
