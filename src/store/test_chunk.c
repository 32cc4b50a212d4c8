/* test_chunk.c: tests that rows survive encoding, and that damaged chunks are refused. */
#include "chunk.h"
#include "mem.h"
#include "pack.h"
#include "test.h"

static uint64_t state;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Encodes `rows`, reads the chunk back and compares; returns its size. */
static size_t round_trip(struct chunk_rows *rows)
{
	_cleanup_(buf_done) struct buf out = { 0 }, scratch = { 0 };
	struct chunk_reader r;
	int64_t values[PROFILE_COLUMNS];
	uint32_t stack;
	unsigned bucket;
	size_t n = 0;
	int rc;

	buf_init(&out);
	buf_init(&scratch);
	CHECK(chunk_encode(rows, &out));
	CHECK_INT(chunk_open(&r, out.data, out.size, rows->columns, &scratch), 0);
	CHECK_INT(r.rows, rows->count);
	while ((rc = chunk_next(&r, &stack, &bucket, values)) > 0) {
		if (n == rows->count || rows->keys[n] != ((uint64_t)stack << 9 | bucket) ||
		    memcmp(values, rows->values + n * rows->columns, rows->columns * sizeof(*values))) {
			CHECK(!"a row came back changed");
			return out.size;
		}
		n++;
	}
	CHECK_INT(rc, 0);
	CHECK_INT(n, rows->count);
	return out.size;
}

TEST(one_sample_takes_a_dozen_bytes)
{
	struct chunk_rows rows;
	int64_t one = 1;

	chunk_rows_init(&rows);
	chunk_rows_reset(&rows, 1);
	chunk_rows_add(&rows, 123456, 200, &one);
	CHECK(round_trip(&rows) <= 14);
	chunk_rows_done(&rows);
}

TEST(rows_are_sorted_and_equal_ones_added_up)
{
	_cleanup_(buf_done) struct buf out = { 0 };
	struct chunk_rows rows;
	int64_t v[] = { 1, -5 }, zero[] = { 0, 0 }, minus[] = { -1, 5 };

	chunk_rows_init(&rows);
	chunk_rows_reset(&rows, 2);
	chunk_rows_add(&rows, 9, 3, v);
	chunk_rows_add(&rows, 0, 359, v);
	chunk_rows_add(&rows, 9, 3, v);
	chunk_rows_add(&rows, 9, 2, v);
	chunk_rows_add(&rows, 4, 0, zero);
	chunk_rows_add(&rows, 5, 0, v);
	chunk_rows_add(&rows, 5, 0, minus);
	round_trip(&rows);
	CHECK_INT(rows.count, 3);
	CHECK_INT(rows.values[5], -10);
	chunk_rows_reset(&rows, 2);
	chunk_rows_add(&rows, 4, 0, zero);
	buf_init(&out);
	CHECK(!chunk_encode(&rows, &out));
	CHECK_INT(out.size, 0);
	chunk_rows_done(&rows);
}

TEST(numbers_of_every_length_survive_a_round_trip)
{
	struct chunk_rows rows;

	chunk_rows_init(&rows);
	chunk_rows_reset(&rows, 3);
	for (unsigned i = 0; i < 64; i++) {
		int64_t v[] = { (int64_t)(UINT64_MAX >> i), (int64_t)1 << (i % 63), i % 2 ? INT64_MIN : INT64_MAX };

		chunk_rows_add(&rows, i < 32 ? UINT32_MAX >> i : i, i * 5, v);
	}
	round_trip(&rows);
	for (int i = 0; i < 64; i++) {	/* each by itself, so that it gets the best k */
		int64_t v[] = { i % 2 ? -((int64_t)1 << i % 63) : (int64_t)1 << i % 63, 0, INT64_MIN };

		chunk_rows_reset(&rows, 3);
		chunk_rows_add(&rows, (uint32_t)(1ull << i % 32), 0, v);
		v[2] = INT64_MAX;
		chunk_rows_add(&rows, UINT32_MAX, 359, v);
		round_trip(&rows);
	}
	chunk_rows_done(&rows);
}

TEST(random_rows_survive_a_round_trip)
{
	struct chunk_rows rows;

	state = 88172645463325252ull;
	chunk_rows_init(&rows);
	for (int round = 0; round < 300; round++) {
		uint32_t columns = 1 + (uint32_t)(any() % (round % 10 ? 3 : PROFILE_COLUMNS));
		unsigned stacks = (unsigned)(any() % 31), shift[PROFILE_COLUMNS];

		chunk_rows_reset(&rows, columns);
		for (uint32_t c = 0; c < columns; c++)
			shift[c] = (unsigned)(any() % 64);
		for (uint64_t n = any() % 2000 + 1; n > 0; n--) {
			int64_t v[PROFILE_COLUMNS];

			for (uint32_t c = 0; c < columns; c++)
				v[c] = (int64_t)any() >> shift[c];
			v[0] |= 1;
			chunk_rows_add(&rows, (uint32_t)any() >> stacks, (unsigned)(any() % 360), v);
		}
		round_trip(&rows);
	}
	chunk_rows_done(&rows);
}

TEST(two_hundred_samples_of_a_series_in_an_hour_take_three_bytes_each)
{
	struct chunk_rows rows;
	int64_t one = 1;

	state = 1234567;
	chunk_rows_init(&rows);
	chunk_rows_reset(&rows, 1);
	for (int i = 0; i < 200; i++)
		chunk_rows_add(&rows, (uint32_t)(any() % 400000), (unsigned)(any() % 360), &one);
	CHECK(round_trip(&rows) <= 600);
	chunk_rows_done(&rows);
}

/* Reads to the end or the first error. */
static int read_all(const void *data, size_t size, uint32_t columns)
{
	_cleanup_(buf_done) struct buf scratch = { 0 };
	struct chunk_reader r;
	int64_t values[PROFILE_COLUMNS];
	uint32_t stack;
	unsigned bucket;
	int rc;

	buf_init(&scratch);
	rc = chunk_open(&r, data, size, columns, &scratch);
	while (rc >= 0 && (rc = chunk_next(&r, &stack, &bucket, values)) > 0)
		CHECK(bucket < CHUNK_BUCKETS);
	return rc;
}

TEST(a_truncated_or_overlong_chunk_is_rejected)
{
	_cleanup_(buf_done) struct buf out = { 0 };
	struct chunk_rows rows;
	int64_t v[] = { 3, 1000000 };

	chunk_rows_init(&rows);
	chunk_rows_reset(&rows, 2);
	for (uint32_t i = 0; i < 40; i++, v[1] += i)
		chunk_rows_add(&rows, i * i, i, v);
	buf_init(&out);
	CHECK(chunk_encode(&rows, &out));
	CHECK_INT(read_all(out.data, out.size, 2), 0);
	for (size_t n = 0; n < out.size; n++) {
		char *copy = xmalloc(n + 1);	/* exactly this size, for the sanitizer */

		memcpy(copy, out.data, n);
		CHECK_INT(read_all(copy, n, 2), -EBADMSG);
		free(copy);
	}
	buf_putc(&out, 0);
	CHECK_INT(read_all(out.data, out.size, 2), -EBADMSG);
	CHECK_INT(read_all("\3abc", 4, 1), -EBADMSG);
	chunk_rows_done(&rows);
}

TEST(repetitive_data_compresses_well_and_a_wrong_size_is_rejected)
{
	_cleanup_(buf_done) struct buf out = { 0 }, scratch = { 0 };
	_cleanup_(freep) char *piece = xcalloc(1, 100000);
	const uint8_t *bytes;
	size_t n;

	buf_init(&out);
	buf_init(&scratch);
	pack_put(&out, piece, 100000);
	CHECK(out.size < 100);
	CHECK_INT(pack_get(out.data, out.size, &scratch, &bytes, &n), 0);
	CHECK_INT(n, 100000);
	CHECK(!memcmp(bytes, piece, n));
	out.data[1]++;
	CHECK_INT(pack_get(out.data, out.size, &scratch, &bytes, &n), -EBADMSG);
	buf_reset(&out);
	buf_putc(&out, 2);
	buf_put_varint(&out, PACK_MAX + 1);
	CHECK_INT(pack_get(out.data, out.size, &scratch, &bytes, &n), -EBADMSG);
}

TEST_MAIN()
