/* test_bundle.c: tests that chunks survive being bundled, and that damaged bundles are refused where the damage
 * begins. */
#include "bundle.h"
#include "pending_chunks.h"
#include "sqlite_day.h"
#include "test.h"
#include <errno.h>

/* Reads a bundle as "series:chunk series:chunk", with "!" at damage. */
static const char *read_bundle(const void *data, size_t size)
{
	static char text[256];
	struct bundle_reader r;
	struct str chunk;
	int64_t series;
	size_t n = 0;
	int rc;

	text[0] = 0;
	bundle_open(&r, BUNDLE_SERIES, data, size);
	while ((rc = bundle_next(&r, &series, &chunk)) > 0)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%lld:%.*s", n ? " " : "", (long long)series, (int)chunk.n, chunk.p);
	if (rc < 0) {
		CHECK_INT(rc, -EBADMSG);
		snprintf(text + n, sizeof(text) - n, "!");
		CHECK_INT(bundle_next(&r, &series, &chunk), 0);
	}
	return text;
}

TEST(chunks_are_read_in_the_order_of_their_series)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	bundle_put(&b, 0, 1, "one", 3);
	bundle_put(&b, 1, 1, "more", 4);
	bundle_put(&b, 1, 700, "far", 3);
	bundle_put(&b, 700, DAY_SERIES - 1, "last", 4);
	CHECK_STR(read_bundle(b.data, b.size), "1:one 1:more 700:far 16777215:last");
}

TEST(a_damaged_bundle_is_read_up_to_the_damage)
{
	CHECK_STR(read_bundle("", 0), "!");
	CHECK_STR(read_bundle("\0\1a", 3), "!");			/* series 0 */
	CHECK_STR(read_bundle("\1\0", 2), "!");				/* an empty chunk */
	CHECK_STR(read_bundle("\1\1a\1", 4), "1:a!");			/* no size */
	CHECK_STR(read_bundle("\1\1a\1\2b", 6), "1:a!");		/* more than is left */
	CHECK_STR(read_bundle("\1\1a\xff\xff\xff\7\1b", 9), "1:a!");	/* beyond the last series */
	CHECK_STR(read_bundle("\1\1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1b", 14), "1:a!");
	CHECK_STR(read_bundle("\1\1a\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1b", 14), "1:a!");
}

TEST(a_row_of_an_earlier_version_is_one_chunk_of_any_series)
{
	static const int64_t series[] = { 1, 99, -1, INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < ARRAY_SIZE(series); i++) {
		struct bundle_reader r;
		struct str chunk;
		int64_t found;

		bundle_open(&r, series[i], "chunk", 5);
		CHECK_INT(bundle_next(&r, &found, &chunk), 1);
		CHECK_INT(found, series[i]);
		CHECK_INT(chunk.n, 5);
		CHECK_INT(bundle_next(&r, &found, &chunk), 0);
	}
}

TEST(pending_chunks_are_sorted_by_key_and_then_by_arrival)
{
	static const struct { uint64_t key; const char *bytes; } in[] = { { 7, "a" }, { 1ull << 40, "bb" }, { 2, "c" }, { 7, "d" }, { 2, "e" } };
	struct pending_chunks p;
	char text[32] = "";

	pending_chunks_init(&p);
	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		size_t start = p.bytes.size;

		buf_puts(&p.bytes, in[i].bytes);
		pending_chunks_add(&p, in[i].key, start);
	}
	pending_chunks_sort(&p);
	for (size_t i = 0; i < p.count; i++)
		strncat(text, p.bytes.data + p.chunks[i].start, p.chunks[i].size);
	CHECK_STR(text, "ceadbb");
	pending_chunks_done(&p);
}

TEST_MAIN()
