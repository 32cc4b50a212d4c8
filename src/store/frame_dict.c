/* frame_dict.c: finds frames by the hashes of their parts, and compares the complete record. */
#include "frame_dict.h"
#include "mem.h"
#include "strobe_wire.h"
#include <assert.h>
#include <string.h>

void frame_dict_init(struct frame_dict *d)
{
	*d = (struct frame_dict){ 0 };
	map_init(&d->numbers);
	arena_init(&d->bytes);
}

void frame_dict_done(struct frame_dict *d)
{
	free(d->records);
	free(d->is_hole);
	map_done(&d->numbers);
	arena_done(&d->bytes);
	*d = (struct frame_dict){ 0 };
}

static uint64_t key_of(const struct frame_parts *f)
{
	return map_pair(f->name_hash, f->file_hash) + f->line * 0x9e3779b97f4a7c15u;
}

static bool take_equal(const uint8_t **record, struct str part)
{
	size_t n;
	const char *bytes = strobe_wire_next_string(record, &n);

	return n == part.n && (n == 0 || !memcmp(bytes, part.p, n));
}

static bool is_same(struct str record, const struct frame_parts *f)
{
	const uint8_t *p = (const uint8_t *)record.p;

	return take_equal(&p, f->name) && take_equal(&p, f->file) && strobe_wire_next(&p) == f->line;
}

bool frame_dict_is(const struct frame_dict *d, uint32_t number, const struct frame_parts *f)
{
	assert(number < d->count);
	return is_same(d->records[number], f);
}

static bool is_hole(const struct frame_dict *d, uint32_t frame)
{
	return frame < d->hole_count && d->is_hole[frame];
}

/* Returns the key of the frame and its number; or a free key for it, and FRAME_NONE. */
static uint64_t find(const struct frame_dict *d, const struct frame_parts *f, uint32_t *ret_number)
{
	for (uint64_t key = key_of(f);; key++) {
		uint32_t number = map_get(&d->numbers, key);

		assert(number == MAP_NONE || number < d->count);
		if (number == MAP_NONE || is_same(d->records[number], f)) {
			*ret_number = number;
			return key;
		}
	}
}

void frame_dict_prefetch(const struct frame_dict *d, const struct frame_parts *frames, size_t n)
{
	for (size_t i = 0; i < n; i++)
		map_prefetch(&d->numbers, key_of(&frames[i]));
	for (size_t i = 0; i < n; i++) {
		uint32_t number = map_get(&d->numbers, key_of(&frames[i]));

		if (number != MAP_NONE)
			__builtin_prefetch(d->records[number].p);
	}
}

static_assert(FRAME_NONE == MAP_NONE, "a key without a frame has none");

uint32_t frame_dict_find(const struct frame_dict *d, const struct frame_parts *f)
{
	uint32_t number;

	find(d, f, &number);
	return number != FRAME_NONE && is_hole(d, number) ? FRAME_NONE : number;
}

static uint32_t append(struct frame_dict *d, struct str record)
{
	assert(d->count < FRAME_NONE - 1);
	GROW(&d->records, &d->capacity, d->count + 1);
	d->records[d->count] = record;
	return d->count++;
}

static struct str make_record(struct frame_dict *d, const struct frame_parts *f)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	b.limit = SIZE_MAX / 2;		/* a truncated record would corrupt everything after it */
	buf_put_varint(&b, f->name.n);
	buf_put(&b, f->name.p, f->name.n);
	buf_put_varint(&b, f->file.n);
	buf_put(&b, f->file.p, f->file.n);
	buf_put_varint(&b, f->line);
	return (struct str){ arena_copy(&d->bytes, b.data, b.size), b.size };
}

uint32_t frame_dict_add(struct frame_dict *d, const struct frame_parts *f, struct buf *new_records)
{
	uint32_t number;
	uint64_t key = find(d, f, &number);

	if (number != FRAME_NONE && !is_hole(d, number))
		return number;
	number = append(d, number == FRAME_NONE ? make_record(d, f) : d->records[number]);
	map_set(&d->numbers, key, number);
	buf_put(new_records, d->records[number].p, d->records[number].n);
	return number;
}

static struct frame_parts parts_of(struct str record)
{
	const uint8_t *p = (const uint8_t *)record.p;
	struct frame_parts f = { 0 };

	f.name.p = strobe_wire_next_string(&p, &f.name.n);
	f.file.p = strobe_wire_next_string(&p, &f.file.n);
	f.line = (uint32_t)strobe_wire_next(&p);
	f.name_hash = intern_hash(f.name);
	f.file_hash = intern_hash(f.file);
	return f;
}

/* Tells whether the hash is that of holes and of a frame without a name. */
static bool is_unnamed(const struct frame_parts *f)
{
	return !f->name.n && !f->file.n && !f->line;
}

bool frame_dict_load(struct frame_dict *d, struct str record)
{
	struct frame_parts f = parts_of(record);
	uint32_t number;
	uint64_t key = find(d, &f, &number);

	/* Lookup by bytes finds the first of several holes; the others are unreachable. */
	if (number != FRAME_NONE && !is_unnamed(&f))
		return false;
	record.p = arena_copy(&d->bytes, record.p, record.n);
	if (number == FRAME_NONE)
		map_set(&d->numbers, key, d->count);
	append(d, record);
	return true;
}

void frame_dict_make_holes(struct frame_dict *d, const uint8_t *kept)
{
	d->is_hole = xrealloc(d->is_hole, d->count + 1);
	for (uint32_t i = 0; i < d->count; i++)
		d->is_hole[i] = !kept[i];
	d->hole_count = d->count;
}
