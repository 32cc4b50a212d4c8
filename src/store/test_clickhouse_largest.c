/* test_clickhouse_largest.c: tests which stacks of a shard are kept if a query lacks the memory for all of them. */
#include "clickhouse_largest.h"
#include "clickhouse_wire.h"
#include "mem.h"
#include "test.h"
#include <string.h>

enum { SAMPLES = 7, TIME = 9 };

static struct clickhouse_kind items[] = {
	{ .name = SAMPLES, .column = "samples" }, { .name = TIME, .column = "cpu_ns" },
};
static const struct clickhouse_kinds kinds = { .items = items, .count = 2, .capacity = 2 };

struct row {
	uint64_t name, kind;
	int64_t value;
};

static void put_rows(struct buf *b, const struct row *rows, size_t count)
{
	buf_init(b);
	for (size_t i = 0; i < count; i++) {
		row_put(b, rows[i].name, 8);
		row_put(b, rows[i].kind, 8);
		row_put(b, (uint64_t)rows[i].value, 8);
	}
}

static bool is(const struct buf *b, const struct row *rows, size_t count)
{
	struct buf expected;
	bool same;

	put_rows(&expected, rows, count);
	same = expected.size == b->size && !memcmp(expected.data, b->data, b->size);
	buf_done(&expected);
	return same;
}

TEST(the_stacks_with_most_samples_are_kept_with_all_their_values)
{
	const struct row all[] = {
		{ 1, SAMPLES, 5 }, { 2, SAMPLES, 50 }, { 3, SAMPLES, 1 }, { 4, SAMPLES, 20 }, { 5, SAMPLES, 2 },
		{ 1, TIME, 900 }, { 2, TIME, 1 }, { 4, TIME, 2 },
	};
	const struct row kept[] = {
		{ 2, SAMPLES, 50 }, { 4, SAMPLES, 20 }, { CLICKHOUSE_LEFT_OUT, SAMPLES, 8 },
		{ 2, TIME, 1 }, { 4, TIME, 2 }, { CLICKHOUSE_LEFT_OUT, TIME, 900 },
	};
	struct buf b;

	put_rows(&b, all, ARRAY_SIZE(all));
	CHECK(clickhouse_keep_largest(&b, &kinds, 2));
	CHECK(is(&b, kept, ARRAY_SIZE(kept)));
	buf_done(&b);
}

TEST(ties_are_kept_up_to_the_limit)
{
	struct row all[100];

	for (uint64_t i = 0; i < 100; i++)
		all[i] = (struct row){ i + 1, SAMPLES, i == 70 ? 9 : i == 80 ? 1 : 3 };
	for (uint32_t most = 1; most < 100; most++) {
		struct row_reader r;
		struct buf b;
		int64_t sum = 0;

		put_rows(&b, all, 100);
		CHECK(clickhouse_keep_largest(&b, &kinds, most));
		CHECK_INT(b.size / 24, most + 1);
		for (r = row_reader_of(&b); row_more(&r);) {
			row_get(&r, 8);
			row_get(&r, 8);
			sum += (int64_t)row_get(&r, 8);
		}
		CHECK_INT(sum, 98 * 3 + 9 + 1);
		buf_done(&b);
	}
}

TEST(few_stacks_are_left_unchanged)
{
	const struct row all[] = { { 1, SAMPLES, INT64_MAX }, { 2, SAMPLES, -3 } };
	struct buf b;

	put_rows(&b, all, ARRAY_SIZE(all));
	CHECK(!clickhouse_keep_largest(&b, &kinds, 2));
	CHECK(is(&b, all, ARRAY_SIZE(all)));
	buf_done(&b);
	buf_init(&b);
	CHECK(!clickhouse_keep_largest(&b, &kinds, 1));
	buf_done(&b);
}

TEST_MAIN()
