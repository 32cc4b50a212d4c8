/* test_stream_ids.c: ids as Redis writes them, and a set that agrees with a plain list. */
#include "stream_ids.h"

#include "test.h"

TEST(ids_survive_a_round_trip)
{
	static const char *const good[] = { "0-0", "1-2", "1700000000000-3",
					    "18446744073709551615-18446744073709551615" };
	static const char *const bad[] = { "", "1", "-", "1-", "-1", "1-2-3", "1-2 ", " 1-2", "a-1", "1-a", "+1-1",
					   "18446744073709551616-0", "0-99999999999999999999999" };
	struct stream_id id;
	char text[STREAM_ID_TEXT];

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		CHECK(stream_id_parse(good[i], strlen(good[i]), &id));
		CHECK_INT(stream_id_format(id, text), strlen(good[i]));
		CHECK_STR(text, good[i]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(!stream_id_parse(bad[i], strlen(bad[i]), &id));
}

TEST(ids_sort_in_stream_order)
{
	struct stream_id a = { 1, 9 }, b = { 2, 0 }, c = { 2, 1 };

	CHECK(stream_id_compare(a, b) < 0);
	CHECK(stream_id_compare(c, b) > 0);
	CHECK(stream_id_compare(c, c) == 0);
}

TEST(a_set_of_ids_matches_a_plain_list_after_random_operations)
{
	static bool there[5000];
	struct stream_id_set s = { 0 };
	uint64_t random = 1;
	size_t count = 0;
	bool same = true;

	for (int step = 0; step < 200000; step++) {
		size_t i;
		struct stream_id id;

		random = random * 6364136223846793005 + 1442695040888963407;
		/* Mostly added at first, mostly removed in the end. */
		i = (size_t)(random >> 40) % 5000;
		id = (struct stream_id){ 1 + i / 7, i % 7 };
		if ((random >> 33 & 7) < (step < 100000 ? 6 : 2)) {
			same &= stream_id_set_add(&s, id) == !there[i];
			there[i] = true;
		} else {
			same &= stream_id_set_remove(&s, id) == there[i];
			there[i] = false;
		}
	}
	for (size_t i = 0; i < 5000; i++) {
		same &= stream_id_set_has(&s, (struct stream_id){ 1 + i / 7, i % 7 }) == there[i];
		count += there[i];
	}
	CHECK(same);
	CHECK_INT(s.count, count);
	CHECK(!stream_id_set_add(&s, (struct stream_id){ 0 }));
	stream_id_set_done(&s);
}

TEST_MAIN()
