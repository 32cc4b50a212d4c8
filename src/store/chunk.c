/* chunk.c: rows to bits and back; the layout is drawn in chunk.h. */
#include "chunk.h"
#include "mem.h"
#include "pack.h"
#include "saturate.h"
#include "strobe_wire.h"
#include <assert.h>
#include <string.h>

#define ALL_EQUAL	63u		/* as k: all values are equal */
#define K_MAX		40u
#define BUCKET_BITS	9u		/* bits of a row's key */

static_assert(CHUNK_BUCKETS <= 1u << BUCKET_BITS, "a bucket fits into a row's key");
static_assert(CHUNK_BUCKETS * BATCH_BUCKET_NS == 3600LL * 1000000000LL, "a chunk covers an hour");

void chunk_rows_init(struct chunk_rows *rows)
{
	memset(rows, 0, sizeof(*rows));
	buf_init(&rows->plain);
}

void chunk_rows_done(struct chunk_rows *rows)
{
	free(rows->keys);
	free(rows->values);
	buf_done(&rows->plain);
	memset(rows, 0, sizeof(*rows));
}

void chunk_rows_reset(struct chunk_rows *rows, uint32_t columns)
{
	assert(columns > 0 && columns <= PROFILE_COLUMNS);
	rows->columns = columns;
	rows->count = 0;
}

void chunk_rows_add(struct chunk_rows *rows, uint32_t stack, unsigned bucket, const int64_t *values)
{
	assert(bucket < CHUNK_BUCKETS);
	GROW(&rows->keys, &rows->key_capacity, rows->count + 1);
	GROW(&rows->values, &rows->value_capacity, (rows->count + 1) * rows->columns);
	rows->keys[rows->count] = (uint64_t)stack << BUCKET_BITS | bucket;
	memcpy(rows->values + rows->count * rows->columns, values, rows->columns * sizeof(*values));
	rows->count++;
}

static uint32_t key_stack(uint64_t key)
{
	return (uint32_t)(key >> BUCKET_BITS);
}

static unsigned key_bucket(uint64_t key)
{
	return key & ((1u << BUCKET_BITS) - 1);
}

struct place {
	uint64_t key;
	size_t at;
};

static int place_compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static bool is_ascending(const struct chunk_rows *rows)
{
	for (size_t i = 1; i < rows->count; i++)
		if (rows->keys[i] <= rows->keys[i - 1])
			return false;
	return true;
}

static void sort(struct chunk_rows *rows)
{
	_cleanup_(freep) struct place *places = NULL;
	int64_t *values;

	if (is_ascending(rows))
		return;
	places = xmalloc(rows->count * sizeof(*places));
	values = xmalloc(rows->count * rows->columns * sizeof(*values));
	for (size_t i = 0; i < rows->count; i++)
		places[i] = (struct place){ rows->keys[i], i };
	qsort(places, rows->count, sizeof(*places), place_compare);
	for (size_t i = 0; i < rows->count; i++) {
		rows->keys[i] = places[i].key;
		memcpy(values + i * rows->columns, rows->values + places[i].at * rows->columns,
		       rows->columns * sizeof(*values));
	}
	free(rows->values);
	rows->values = values;
	rows->value_capacity = rows->count * rows->columns;
}

/* Adds up rows with equal keys and drops rows of zeros; the rows must be sorted. */
static void merge(struct chunk_rows *rows)
{
	uint32_t columns = rows->columns;
	size_t kept = 0;

	for (size_t i = 0; i < rows->count;) {
		uint64_t key = rows->keys[i];
		int64_t sums[PROFILE_COLUMNS];
		bool any = false;

		memcpy(sums, rows->values + i * columns, columns * sizeof(*sums));
		for (i++; i < rows->count && rows->keys[i] == key; i++)
			for (uint32_t c = 0; c < columns; c++)
				saturating_add(&sums[c], rows->values[i * columns + c]);
		for (uint32_t c = 0; c < columns; c++)
			any |= sums[c] != 0;
		if (!any)
			continue;
		assert(!kept || rows->keys[kept - 1] < key);
		rows->keys[kept] = key;
		memcpy(rows->values + kept * columns, sums, columns * sizeof(*sums));
		kept++;
	}
	rows->count = kept;
}

/* --- Writing bits --- */

struct bit_writer {
	char *p;			/* position of the next byte; there is room for a row and 8 more */
	uint64_t bits;			/* the low `count` bits are not written yet */
	unsigned count;			/* below 8 between calls */
};

static void put_bits(struct bit_writer *w, uint64_t v, unsigned n)
{
	uint64_t next;

	assert(w->count < 8);
	if (n > 32) {
		put_bits(w, v >> 32, n - 32);
		v &= UINT32_MAX;
		n = 32;
	}
	assert(n == 32 || v >> n == 0);
	w->bits = w->bits << n | v;
	w->count += n;
	/* Writes all of them at once; the next call overwrites the incomplete byte. */
	next = w->count ? w->bits << (64 - w->count) : 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	next = __builtin_bswap64(next);
#endif
	memcpy(w->p, &next, sizeof(next));
	w->p += w->count / 8;
	w->count %= 8;
	w->bits &= (1u << w->count) - 1;
}

static unsigned bit_length(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/* Returns the bit length of q + 1, even if that is 2^64. */
static unsigned code_length(uint64_t q)
{
	return q == UINT64_MAX ? 65 : bit_length(q + 1);
}

static void put_code(struct bit_writer *w, uint64_t v, unsigned k)
{
	uint64_t q = v >> k;
	unsigned n = code_length(q);

	if (2 * n - 1 + k <= 32) {		/* the common case; leading zeros are the number's */
		put_bits(w, (q + 1) << k | (v & ((1ull << k) - 1)), 2 * n - 1 + k);
		return;
	}
	put_bits(w, 0, n - 1);
	put_bits(w, 1, 1);
	if (n > 1)
		put_bits(w, n == 65 ? 0 : (q + 1) & (UINT64_MAX >> (65 - n)), n - 1);
	put_bits(w, k ? v & (UINT64_MAX >> (64 - k)) : 0, k);
}

/* Counts how often each bit length occurs: nearly all that the best k depends on. */
struct lengths {
	unsigned count;
	uint64_t largest, occurs[2];	/* a bit per length */
	uint64_t of[65];		/* only set for lengths that occur: most chunks have a row or two */
	uint8_t seen[65];		/* the lengths that occur, `count` of them */
};

static void lengths_init(struct lengths *l)
{
	l->count = 0;
	l->largest = l->occurs[0] = l->occurs[1] = 0;
}

static void lengths_add(struct lengths *l, uint64_t v)
{
	unsigned n = bit_length(v);

	if (!(l->occurs[n / 64] & 1ull << n % 64)) {
		l->occurs[n / 64] |= 1ull << n % 64;
		l->of[n] = 0;
		l->seen[l->count++] = (uint8_t)n;
	}
	l->of[n]++;
	if (v > l->largest)
		l->largest = v;
}

static unsigned best_k(const struct lengths *l)
{
	uint64_t best = UINT64_MAX;
	unsigned best_k = 0, most = bit_length(l->largest);

	/* Numbers of n bits take n + 1 bits with k = n, and more with any other k. */
	if (l->count == 1 && most <= K_MAX)
		return most;
	for (unsigned k = 0; k <= K_MAX && k <= most; k++) {
		uint64_t cost = 0;

		/* Estimates with the middle of the range of n-bit numbers. */
		for (unsigned i = 0; i < l->count; i++) {
			unsigned n = l->seen[i];
			uint64_t v = n < 2 ? n : 3ull << (n - 2);

			cost += l->of[n] * (2 * code_length(v >> k) - 1 + k);
		}
		if (cost < best) {
			best = cost;
			best_k = k;
		}
	}
	return best_k;
}

/* The values of a chunk's header. */
struct plan {
	unsigned first_bucket, last_bucket, k_stack, k_bucket;
	int64_t total, smallest[PROFILE_COLUMNS];
	uint8_t k_value[PROFILE_COLUMNS];
};

static void plan_keys(const struct chunk_rows *rows, struct plan *p)
{
	struct lengths stacks, buckets;

	lengths_init(&stacks);
	lengths_init(&buckets);
	p->first_bucket = CHUNK_BUCKETS;
	for (size_t i = 0; i < rows->count; i++) {
		uint64_t key = rows->keys[i], before = i ? rows->keys[i - 1] : 0;
		unsigned bucket = key_bucket(key);

		assert(!i || key > before);
		lengths_add(&stacks, key_stack(key) - key_stack(before));
		if (i && key_stack(key) == key_stack(before))
			lengths_add(&buckets, bucket - key_bucket(before) - 1);
		if (bucket < p->first_bucket)
			p->first_bucket = bucket;
		if (bucket > p->last_bucket)
			p->last_bucket = bucket;
	}
	assert(p->first_bucket <= p->last_bucket && p->last_bucket < CHUNK_BUCKETS);
	p->k_stack = best_k(&stacks);
	p->k_bucket = best_k(&buckets);
}

static void plan_values(const struct chunk_rows *rows, struct plan *p)
{
	for (uint32_t c = 0; c < rows->columns; c++) {
		int64_t smallest = INT64_MAX;
		struct lengths above;

		lengths_init(&above);
		for (size_t i = 0; i < rows->count; i++) {
			int64_t v = rows->values[i * rows->columns + c];

			smallest = v < smallest ? v : smallest;
			if (c == 0)
				saturating_add(&p->total, v);
		}
		for (size_t i = 0; i < rows->count; i++)
			lengths_add(&above, (uint64_t)rows->values[i * rows->columns + c] - (uint64_t)smallest);
		p->smallest[c] = smallest;
		p->k_value[c] = (uint8_t)(above.largest ? best_k(&above) : ALL_EQUAL);
	}
}

static void put_header(const struct chunk_rows *rows, const struct plan *p, struct buf *out)
{
	/* Readers refuse anything larger. */
	assert(p->k_stack <= K_MAX && p->k_bucket <= K_MAX);
	buf_put_varint(out, rows->count);
	buf_put_varint(out, p->first_bucket);
	buf_put_varint(out, p->last_bucket - p->first_bucket);
	buf_put_varint(out, strobe_wire_zigzag(p->total));
	buf_putc(out, (char)p->k_stack);
	buf_putc(out, (char)p->k_bucket);
	for (uint32_t c = 0; c < rows->columns; c++) {
		assert(p->k_value[c] <= K_MAX || p->k_value[c] == ALL_EQUAL);
		buf_put_varint(out, strobe_wire_zigzag(p->smallest[c]));
		buf_putc(out, (char)p->k_value[c]);
	}
}

/* A code has at most 169 bits: 64 zeros, 65 bits of the number, and K_MAX low bits. */
#define CODE_BYTES	22u

static void put_row(struct bit_writer *w, const struct chunk_rows *rows, const struct plan *p, size_t i)
{
	uint64_t key = rows->keys[i], before = i ? rows->keys[i - 1] : 0;
	uint32_t distance = key_stack(key) - key_stack(before);

	put_code(w, distance, p->k_stack);
	if (i == 0 || distance)
		put_bits(w, key_bucket(key) - p->first_bucket, bit_length(p->last_bucket - p->first_bucket));
	else
		put_code(w, key_bucket(key) - key_bucket(before) - 1, p->k_bucket);
	for (uint32_t c = 0; c < rows->columns; c++)
		if (p->k_value[c] != ALL_EQUAL)
			put_code(w, (uint64_t)rows->values[i * rows->columns + c] - (uint64_t)p->smallest[c], p->k_value[c]);
}

static void put_rows(const struct chunk_rows *rows, const struct plan *p, struct buf *out)
{
	struct bit_writer w = { 0 };
	char *start;

	for (size_t i = 0; i < rows->count; i++) {
		start = buf_reserve(out, (rows->columns + 2) * CODE_BYTES + sizeof(w.bits));
		if (!start)
			return;
		w.p = start;
		put_row(&w, rows, p, i);
		buf_wrote(out, (size_t)(w.p - start));
	}
	if (w.count)
		buf_putc(out, (char)(w.bits << (8 - w.count)));
}

bool chunk_encode(struct chunk_rows *rows, struct buf *out)
{
	struct plan p = { 0 };

	assert(rows->columns > 0);
	sort(rows);
	merge(rows);
	if (!rows->count)
		return false;
	plan_keys(rows, &p);
	plan_values(rows, &p);
	buf_reset(&rows->plain);
	put_header(rows, &p, &rows->plain);
	put_rows(rows, &p, &rows->plain);
	pack_put(out, rows->plain.data, rows->plain.size);
	return true;
}

/* --- Reading bits --- */

/* Fills `bits` from the top. Bytes after the end are read as zero; taking too many bits is detected later. */
static inline void refill(struct chunk_reader *r)
{
	assert(r->bit_count < 64);
	if (r->end - r->p >= 8) {
		uint64_t next;

		memcpy(&next, r->p, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		next = __builtin_bswap64(next);
#endif
		r->bits |= next >> r->bit_count;
		r->p += (63 - r->bit_count) >> 3;
		r->bit_count |= 56;
		return;
	}
	while (r->bit_count < 56 && r->p < r->end) {	/* below 64, since shifting by 64 is undefined */
		r->bits |= (uint64_t)*r->p++ << (56 - r->bit_count);
		r->bit_count += 8;
	}
}

/* Reads at most 56 bits at a time. */
static inline bool get_bits(struct chunk_reader *r, unsigned n, uint64_t *ret)
{
	assert(n <= 56);
	if (r->bit_count < n)
		refill(r);
	if (r->bit_count < n)
		return false;
	*ret = n ? r->bits >> (64 - n) : 0;
	r->bits <<= n;
	r->bit_count -= n;
	return true;
}

static bool get_long_bits(struct chunk_reader *r, unsigned n, uint64_t *ret)
{
	uint64_t high = 0, low;

	if (n > 32 && !get_bits(r, n - 32, &high))
		return false;
	if (!get_bits(r, n > 32 ? 32 : n, &low))
		return false;
	*ret = high << 32 | low;
	return true;
}

/* Reads a code that is not completely in `bits`. This is rare, so it reads bit by bit. */
static bool get_long_code(struct chunk_reader *r, unsigned k, uint64_t *ret)
{
	unsigned zeros = 0;
	uint64_t bit, rest, low, q;

	for (;;) {
		if (!get_bits(r, 1, &bit))
			return false;
		if (bit)
			break;
		if (++zeros > 64)
			return false;
	}
	if (!get_long_bits(r, zeros, &rest) || !get_long_bits(r, k, &low))
		return false;
	if (zeros == 64 && rest)
		return false;
	q = zeros == 64 ? UINT64_MAX : ((uint64_t)1 << zeros | rest) - 1;
	if (q > UINT64_MAX >> k)
		return false;
	*ret = q << k | low;
	return true;
}

static inline bool get_code(struct chunk_reader *r, unsigned k, uint64_t *ret)
{
	unsigned zeros, n;
	uint64_t q, rest;

	if (r->bit_count < 48)
		refill(r);
	zeros = r->bits ? (unsigned)__builtin_clzll(r->bits) : 64;
	n = 2 * zeros + 1 + k;
	if (n > r->bit_count)
		return get_long_code(r, k, ret);
	q = ((r->bits << zeros) >> (63 - zeros)) - 1;
	rest = r->bits << (2 * zeros + 1);
	*ret = q << k | (k ? rest >> (64 - k) : 0);
	r->bits <<= n;
	r->bit_count -= n;
	return true;
}

static bool get_byte(struct strobe_wire_cursor *c, unsigned *ret)
{
	if (c->p == c->end)
		return false;
	*ret = *c->p++;
	return true;
}

static bool is_k(unsigned k)
{
	return k <= K_MAX;
}

static int read_header(struct chunk_reader *r, struct strobe_wire_cursor *c)
{
	uint64_t rows, first, span, total;

	if (!strobe_wire_get_varint(c, &rows) || !strobe_wire_get_varint(c, &first) ||
	    !strobe_wire_get_varint(c, &span) || !strobe_wire_get_varint(c, &total))
		return -EBADMSG;
	/* Each row takes at least one bit, so a short chunk cannot claim many rows. */
	if (rows == 0 || rows > UINT32_MAX || rows > (uint64_t)(c->end - c->p) * 8)
		return -EBADMSG;
	if (first >= CHUNK_BUCKETS || span >= CHUNK_BUCKETS - first)
		return -EBADMSG;
	if (!get_byte(c, &r->k_stack) || !get_byte(c, &r->k_bucket) || !is_k(r->k_stack) || !is_k(r->k_bucket))
		return -EBADMSG;
	for (uint32_t i = 0; i < r->columns; i++) {
		uint64_t smallest;
		unsigned k;

		if (!strobe_wire_get_varint(c, &smallest) || !get_byte(c, &k) || (!is_k(k) && k != ALL_EQUAL))
			return -EBADMSG;
		r->smallest[i] = strobe_wire_unzigzag(smallest);
		r->k_value[i] = (uint8_t)k;
	}
	r->rows = (uint32_t)rows;
	r->first_bucket = (unsigned)first;
	r->last_bucket = (unsigned)(first + span);
	r->bucket_bits = bit_length(span);
	r->total = strobe_wire_unzigzag(total);
	return 0;
}

int chunk_open(struct chunk_reader *r, const void *data, size_t size, uint32_t columns, struct buf *scratch)
{
	struct strobe_wire_cursor c;
	const uint8_t *bytes;
	size_t n;

	assert(columns > 0 && columns <= PROFILE_COLUMNS);
	memset(r, 0, sizeof(*r));
	if (pack_get(data, size, scratch, &bytes, &n) < 0)
		return -EBADMSG;
	r->columns = columns;
	c.p = bytes;
	c.end = bytes + n;
	if (read_header(r, &c) < 0)
		return -EBADMSG;
	r->p = c.p;
	r->end = c.end;
	return 0;
}

/* Checks that after the last row less than a byte remains, and that it is zero. */
static bool is_at_end(const struct chunk_reader *r)
{
	return r->p == r->end && r->bit_count < 8 && r->bits == 0;
}

static int get_bucket(struct chunk_reader *r, bool same_stack)
{
	uint64_t v;

	if (same_stack) {
		if (!get_code(r, r->k_bucket, &v) || v >= CHUNK_BUCKETS)
			return -EBADMSG;
		v += r->bucket + 1;
	} else {
		if (!get_bits(r, r->bucket_bits, &v))
			return -EBADMSG;
		v += r->first_bucket;
	}
	if (v > r->last_bucket)
		return -EBADMSG;
	r->bucket = (unsigned)v;
	return 0;
}

int chunk_next(struct chunk_reader *r, uint32_t *ret_stack, unsigned *ret_bucket, int64_t *values)
{
	uint64_t distance, above;

	if (r->row == r->rows)
		return 0;
	if (!get_code(r, r->k_stack, &distance) || distance > UINT32_MAX - r->stack)
		return -EBADMSG;
	if (get_bucket(r, r->row > 0 && distance == 0) < 0)
		return -EBADMSG;
	r->stack += (uint32_t)distance;
	for (uint32_t i = 0; i < r->columns; i++) {
		values[i] = r->smallest[i];
		if (r->k_value[i] == ALL_EQUAL)
			continue;
		if (!get_code(r, r->k_value[i], &above) || above > (uint64_t)INT64_MAX - (uint64_t)r->smallest[i])
			return -EBADMSG;
		values[i] = (int64_t)((uint64_t)r->smallest[i] + above);
	}
	if (++r->row == r->rows && !is_at_end(r))
		return -EBADMSG;
	*ret_stack = r->stack;
	*ret_bucket = r->bucket;
	return 1;
}

int chunk_rows_add_chunk(struct chunk_rows *rows, const void *data, size_t size, struct buf *scratch)
{
	struct chunk_reader r;
	size_t before = rows->count;
	int rc = chunk_open(&r, data, size, rows->columns, scratch);

	if (rc < 0)
		return rc;
	for (;;) {
		int64_t values[PROFILE_COLUMNS];
		uint32_t stack;
		unsigned bucket;

		rc = chunk_next(&r, &stack, &bucket, values);
		if (rc <= 0)
			break;
		chunk_rows_add(rows, stack, bucket, values);
	}
	if (rc < 0)
		rows->count = before;
	return rc;
}
