/* line_set.c: a hash table of whole lines. */

#include "line_set.h"

#include "folded_write.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* By 128 bits of hash: two lines that differ do not meet in this. */
struct line_slot {
	uint64_t low, high;
	size_t line;			/* number + 1; 0: free */
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

int line_set_take_profile(struct line_set *s, const struct profile *p, uint32_t column, struct err *err)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	int r;

	buf_init(&text);
	r = folded_write(p, column, &text, err);
	for (const char *at = text.data, *end = text.data + text.size; r >= 0 && at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		line_set_take(s, (struct str){ at, (size_t)((newline ? newline : end) - at) });
		at = newline ? newline + 1 : end;
	}
	return r;
}
