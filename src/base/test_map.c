/* test_map.c: tests map.h, intern.h and arena.h against simple models. */
#include "arena.h"
#include "cleanup.h"
#include "intern.h"
#include "map.h"
#include "test.h"

static uint64_t next_random(void)
{
	static uint64_t state = 0x2545f4914f6cdd1du;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

TEST(an_empty_map_contains_no_keys)
{
	struct map m;

	map_init(&m);
	CHECK(map_get(&m, 0) == MAP_NONE);
	CHECK(map_get(&m, UINT64_MAX) == MAP_NONE);
	map_done(&m);
}

/* Keys such as packed pairs, addresses and all ones: none may be special. */
TEST(every_key_added_to_a_map_is_found)
{
	enum { N = 100000 };
	struct map m;
	unsigned wrong = 0;

	map_init(&m);
	for (uint32_t i = 0; i < N; i++) {
		map_set(&m, map_pair(i / 7, i % 7), i);
		map_set(&m, UINT64_MAX - i, i + 1);
		map_set(&m, 0x7f0000000000u + i * 4096ull, i + 2);
	}
	CHECK_INT(m.count, 3 * N);
	for (uint32_t i = 0; i < N; i++) {
		wrong += map_get(&m, map_pair(i / 7, i % 7)) != i;
		wrong += map_get(&m, UINT64_MAX - i) != i + 1;
		wrong += map_get(&m, 0x7f0000000000u + i * 4096ull) != i + 2;
		wrong += map_get(&m, map_pair(N + i, 9)) != MAP_NONE;
	}
	CHECK_INT(wrong, 0);
	map_set(&m, 0, 77);
	CHECK_INT(map_get(&m, 0), 77);
	CHECK_INT(m.count, 3 * N);
	map_clear(&m);
	CHECK_INT(m.count, 0);
	CHECK(map_get(&m, 0) == MAP_NONE);
	map_set(&m, 5, 1);
	CHECK_INT(map_get(&m, 5), 1);
	map_done(&m);
}

TEST(a_slot_is_empty_only_the_first_time)
{
	struct map m;
	uint32_t *slot;

	map_init(&m);
	slot = map_slot(&m, 42);
	CHECK(*slot == MAP_NONE);
	*slot = 3;
	CHECK_INT(*map_slot(&m, 42), 3);
	CHECK_INT(m.count, 1);
	map_done(&m);
}

TEST(equal_strings_share_a_number_and_different_ones_do_not)
{
	struct intern t;
	char text[40];

	intern_init(&t);
	CHECK(intern_find(&t, "x", 1) == UINT32_MAX);
	for (uint32_t i = 0; i < 50000; i++) {
		int n = snprintf(text, sizeof(text), "Class%u::method%u", i / 10, i % 10);

		CHECK_INT(intern_add(&t, text, (size_t)n), i);
	}
	CHECK_INT(t.count, 50000);
	for (uint32_t i = 0; i < 50000; i += 97) {
		int n = snprintf(text, sizeof(text), "Class%u::method%u", i / 10, i % 10);

		CHECK_INT(intern_add(&t, text, (size_t)n), i);
		CHECK_INT(intern_find(&t, text, (size_t)n), i);
		CHECK_STR(intern_get(&t, i).p, text);
		CHECK_INT(intern_get(&t, i).n, n);
	}
	intern_done(&t);
}

TEST(hashing_all_strings_matches_hashing_each)
{
	struct intern t;
	uint32_t hashes[1000];
	unsigned wrong = 0;

	intern_init(&t);
	for (uint32_t i = 0; i < 1000; i++)
		intern_add(&t, (const char *)&i, i % (sizeof(i) + 1) ? sizeof(i) : i ? 3 : 0);
	CHECK_INT(t.count, 1000);
	intern_hashes(&t, hashes);
	for (uint32_t i = 0; i < 1000; i++)
		wrong += hashes[i] != intern_hash(intern_get(&t, i));
	CHECK_INT(wrong, 0);
	intern_done(&t);
}

TEST(interned_bytes_may_be_empty_or_hold_nul)
{
	struct intern t;
	uint32_t a, b, empty;

	intern_init(&t);
	empty = intern_add(&t, NULL, 0);
	CHECK_INT(intern_add(&t, "", 0), empty);
	a = intern_add(&t, "a\0b", 3);
	b = intern_add(&t, "a\0c", 3);
	CHECK(a != b && a != empty);
	CHECK_INT(intern_add(&t, "a", 1), 3);
	CHECK_INT(intern_get(&t, a).n, 3);
	CHECK(!memcmp(intern_get(&t, a).p, "a\0b", 4));
	CHECK_INT(intern_get(&t, empty).n, 0);
	CHECK_STR(intern_get(&t, empty).p, "");
	intern_done(&t);
}

TEST(an_arena_gives_zeroed_aligned_memory_that_stays_put)
{
	enum { N = 3000 };
	struct arena a;
	unsigned char *pieces[N];
	size_t sizes[N];
	unsigned wrong = 0;

	arena_init(&a);
	for (size_t i = 0; i < N; i++) {
		sizes[i] = i % 100 == 99 ? 100000 : (size_t)(next_random() % 300);
		pieces[i] = arena_alloc(&a, sizes[i]);
		wrong += (uintptr_t)pieces[i] % 16 != 0;
		for (size_t k = 0; k < sizes[i]; k++)
			wrong += pieces[i][k] != 0;
		memset(pieces[i], (int)(i % 251), sizes[i]);
		arena_copy(&a, "x", 1);		/* one byte each shifts the alignment */
	}
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < sizes[i]; k++)
			wrong += pieces[i][k] != i % 251;
	CHECK_INT(wrong, 0);
	CHECK(a.bytes >= 3000000);
	arena_done(&a);
	CHECK_INT(a.bytes, 0);
	arena_done(&a);
}

TEST(a_copy_in_an_arena_ends_with_a_nul)
{
	struct arena a;

	arena_init(&a);
	CHECK_STR(arena_copy(&a, "abcdef", 3), "abc");
	CHECK_STR(arena_copy(&a, NULL, 0), "");
	arena_done(&a);
}

TEST_MAIN()
