/* test_clickhouse_cache.c: tests the memory shared by processes, any of which may be killed at any moment. */
#include "clickhouse_cache.h"
#include "clock.h"
#include "hash.h"
#include "test.h"
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#define DEPTH	24u

static uint64_t hash(uint64_t i)
{
	return XXH3_64bits(&i, sizeof(i));
}

static uint32_t add_frame(struct clickhouse_cache *c, uint32_t i)
{
	char name[32];
	struct cached_frame f = { { name, (size_t)snprintf(name, sizeof(name), "f%u", i) }, { "/a.php", 6 }, i };

	return clickhouse_cache_add_frame(c, hash(i), &f);
}

static uint32_t line_of(uint32_t i, uint32_t k)
{
	return i % 2 && k >= 3 ? i + 2 * k : 0;
}

/* Stack `i` calls function i on the first level, i / 2 on the next, and so on; from level 3 on with lines if `i` is odd. */
static void add_stack(struct clickhouse_cache *c, uint32_t i)
{
	uint32_t node = 0;

	for (uint32_t k = 0; k < DEPTH; k++) {
		uint32_t frame = add_frame(c, i / (k + 1) + k);

		if (frame == UINT32_MAX)
			return;
		node = clickhouse_cache_add_node(c, node, frame, line_of(i, k));
		if (node == CLICKHOUSE_NO_NODE)
			return;
	}
	clickhouse_cache_add_stack(c, hash(1000000 + i), node);
}

static bool is_frame(const struct clickhouse_cache *c, uint32_t number, uint32_t i)
{
	struct cached_frame f = clickhouse_cache_frame(c, number);
	char name[32];
	size_t n = (size_t)snprintf(name, sizeof(name), "f%u", i);

	return f.name.n == n && !memcmp(f.name.p, name, n) && f.file.n == 6 && !memcmp(f.file.p, "/a.php", 6) && f.line == i;
}

static bool is_right(const struct clickhouse_cache *c, uint32_t i, uint32_t node)
{
	const struct cached_node *nodes = clickhouse_cache_nodes(c);
	uint32_t plain = nodes[node].plain;
	bool right = true;

	for (uint32_t k = DEPTH; k-- && right; node = nodes[node].parent, plain = nodes[plain].parent) {
		right = is_frame(c, nodes[node].frame, i / (k + 1) + k) && nodes[node].line == line_of(i, k) &&
			nodes[node].plain == plain && nodes[plain].plain == plain && !nodes[plain].line &&
			nodes[plain].frame == nodes[node].frame && (nodes[node].parent < node && nodes[plain].parent < plain);
	}
	return right && !node && !plain;
}

/* Returns how many of the first `count` stacks are in the cache; -1 if one of them is wrong. */
static int count_right(const struct clickhouse_cache *c, uint32_t count)
{
	int n = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = clickhouse_cache_stack(c, hash(1000000 + i));

		if (node == CLICKHOUSE_NO_NODE)
			continue;
		if (!is_right(c, i, node))
			return -1;
		n++;
	}
	return n;
}

TEST(cached_stacks_are_found_unchanged)
{
	struct clickhouse_cache *c = clickhouse_cache_new();

	CHECK(c);
	CHECK_INT(clickhouse_cache_stack(c, hash(1000000)), CLICKHOUSE_NO_NODE);
	CHECK_INT(clickhouse_cache_find_frame(c, hash(0)), UINT32_MAX);
	CHECK(clickhouse_cache_begin(c));
	CHECK(!clickhouse_cache_begin(c));		/* one at a time */
	for (uint32_t i = 0; i < 1000; i++)
		add_stack(c, i);
	for (uint32_t i = 0; i < 1000; i++)
		add_stack(c, i);
	clickhouse_cache_end(c);
	CHECK_INT(count_right(c, 2000), 1000);
	CHECK_INT(clickhouse_cache_frames(c), 1000);
	CHECK_INT(clickhouse_cache_find_frame(c, hash(0)), 0);
	clickhouse_cache_free(c);
}

TEST(a_missing_cache_acts_as_an_empty_one)
{
	CHECK_INT(clickhouse_cache_stack(NULL, 1), CLICKHOUSE_NO_NODE);
	CHECK_INT(clickhouse_cache_find_frame(NULL, 1), UINT32_MAX);
	CHECK_INT(clickhouse_cache_frames(NULL), 0);
	CHECK(!clickhouse_cache_begin(NULL));
}

TEST(a_full_cache_keeps_its_stacks_and_is_replaced_after_an_hour)
{
	struct clickhouse_cache *c = clickhouse_cache_new();
	int64_t now = clock_monotonic_ns();
	int before;

	CHECK(clickhouse_cache_begin(c));
	for (uint32_t i = 0; i < 200000; i++)
		add_stack(c, i);
	clickhouse_cache_end(c);
	before = count_right(c, 200000);
	CHECK(before > 50000 && before < 200000);
	CHECK(!clickhouse_cache_begin(c));
	CHECK(!clickhouse_cache_is_old(c, now + 3599 * NS_PER_SECOND));
	CHECK(clickhouse_cache_is_old(c, now + 3602 * NS_PER_SECOND));
	clickhouse_cache_free(c);
	c = clickhouse_cache_new();
	CHECK(!clickhouse_cache_is_old(c, now + 7200 * NS_PER_SECOND));
	clickhouse_cache_free(c);
}

TEST(a_name_above_the_limit_is_not_cached)
{
	struct clickhouse_cache *c = clickhouse_cache_new();
	size_t large = 9u << 20;
	char *text = calloc(1, large);
	struct cached_frame f = { { text, large }, { "", 0 }, 1 };

	CHECK(clickhouse_cache_begin(c));
	CHECK_INT(clickhouse_cache_add_frame(c, 1, &f), UINT32_MAX);
	f.name.n = 5;
	f.file = (struct str){ text, large };
	CHECK_INT(clickhouse_cache_add_frame(c, 2, &f), UINT32_MAX);
	clickhouse_cache_end(c);
	CHECK_INT(clickhouse_cache_frames(c), 0);
	free(text);
	clickhouse_cache_free(c);
}

/* Forks a process that adds stacks from `first` on until it is killed, fewer than the cache can hold. */
static pid_t start_adding(struct clickhouse_cache *c, uint32_t first)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	for (uint32_t i = first;; i++) {
		while (!clickhouse_cache_begin(c))
			;
		add_stack(c, i % 50000);
		clickhouse_cache_end(c);
	}
}

TEST(processes_killed_while_adding_leave_the_cache_consistent_and_writable)
{
	struct clickhouse_cache *c = clickhouse_cache_new();
	int found = 0;

	for (int round = 0; round < 60; round++) {
		pid_t one = start_adding(c, 0), two = start_adding(c, 5);

		usleep(1000 + 37 * (useconds_t)round);
		kill(one, SIGKILL);
		CHECK(count_right(c, 50000) >= 0);
		kill(two, SIGKILL);
		waitpid(one, NULL, 0);
		waitpid(two, NULL, 0);
		found = count_right(c, 50000);
		CHECK(found >= 0);
	}
	CHECK(found > 0);
	CHECK(clickhouse_cache_begin(c));
	add_stack(c, 60000);
	clickhouse_cache_end(c);
	CHECK(count_right(c, 60001) == found + 1);
	clickhouse_cache_free(c);
}

TEST_MAIN()
