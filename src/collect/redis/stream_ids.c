/* stream_ids.c: the text of an id, and a hash set by open addressing. */
#include "stream_ids.h"

#include "mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- Text --- */

static bool parse_number(const char **p, const char *end, uint64_t *ret)
{
	const char *start = *p;
	uint64_t v = 0;

	for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
		unsigned digit = (unsigned)(**p - '0');

		if (v > (UINT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*ret = v;
	return *p > start;
}

bool stream_id_parse(const char *text, size_t n, struct stream_id *ret)
{
	const char *p = text, *end = text + n;

	return parse_number(&p, end, &ret->ms) && p < end && *p++ == '-' && parse_number(&p, end, &ret->seq) &&
	       p == end;
}

static size_t put_number(char *out, uint64_t v)
{
	char digits[20];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	for (size_t i = 0; i < n; i++)
		out[i] = digits[n - 1 - i];
	return n;
}

size_t stream_id_format(struct stream_id id, char *text)
{
	size_t n = put_number(text, id.ms);

	text[n++] = '-';
	n += put_number(text + n, id.seq);
	text[n] = '\0';
	assert(n < STREAM_ID_TEXT);
	return n;
}

/* --- The set --- */

static bool is_none(struct stream_id id)
{
	return !id.ms && !id.seq;
}

/* Returns the slot at which the search for `id` begins. */
static size_t home(const struct stream_id_set *s, struct stream_id id)
{
	uint64_t h = (id.ms * 0x9e3779b97f4a7c15 ^ id.seq) * 0xd6e8feb86659fd93;

	return (size_t)(h >> 32) & (s->capacity - 1);
}

/* Returns the slot of `id`, or the free one where it would go. */
static size_t find(const struct stream_id_set *s, struct stream_id id)
{
	size_t i = home(s, id);

	while (!is_none(s->slots[i]) && stream_id_compare(s->slots[i], id))
		i = (i + 1) & (s->capacity - 1);
	return i;
}

static void resize(struct stream_id_set *s, size_t capacity)
{
	struct stream_id_set old = *s;

	assert(!(capacity & (capacity - 1)) && capacity > s->count);
	s->slots = xcalloc(capacity, sizeof(*s->slots));
	s->capacity = capacity;
	for (size_t i = 0; i < old.capacity; i++)
		if (!is_none(old.slots[i]))
			s->slots[find(s, old.slots[i])] = old.slots[i];
	free(old.slots);
}

bool stream_id_set_add(struct stream_id_set *s, struct stream_id id)
{
	size_t i;

	if (2 * (s->count + 1) > s->capacity)
		resize(s, s->capacity ? 2 * s->capacity : 64);
	assert(2 * (s->count + 1) <= s->capacity);	/* a search ends at a free slot */
	i = find(s, id);
	if (is_none(id) || !is_none(s->slots[i]))
		return false;
	s->slots[i] = id;
	s->count++;
	return true;
}

bool stream_id_set_has(const struct stream_id_set *s, struct stream_id id)
{
	return s->count && !is_none(id) && !is_none(s->slots[find(s, id)]);
}

/* Moves up the ids behind the hole, so that no search ends there. */
static void close_hole(struct stream_id_set *s, size_t hole)
{
	size_t mask = s->capacity - 1;

	assert(!is_none(s->slots[hole]) && s->count > 0);
	for (size_t i = (hole + 1) & mask; !is_none(s->slots[i]); i = (i + 1) & mask) {
		size_t wants = home(s, s->slots[i]);

		if (((i - wants) & mask) < ((i - hole) & mask))
			continue;
		s->slots[hole] = s->slots[i];
		hole = i;
	}
	s->slots[hole] = (struct stream_id){ 0 };
}

bool stream_id_set_remove(struct stream_id_set *s, struct stream_id id)
{
	if (!stream_id_set_has(s, id))
		return false;
	close_hole(s, find(s, id));
	s->count--;
	if (s->capacity > 1024 && s->count < s->capacity / 8)
		resize(s, s->capacity / 2);
	return true;
}

void stream_id_set_done(struct stream_id_set *s)
{
	free(s->slots);
	memset(s, 0, sizeof(*s));
}
