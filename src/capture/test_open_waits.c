/* test_open_waits.c: tests that each nanosecond of a wait counts once, no matter when it is read. */

#include "open_waits.h"
#include "test.h"

#define SECOND UINT64_C(1000000000)

static struct waiting wait_of(u64 stack, u64 since_ns)
{
	return (struct waiting){ .key = { .php = stack }, .since_ns = since_ns, .weight = 1 };
}

/* Adds the programs' count of a wait that ends. */
static void end(struct stack_registry *b, const struct waiting *w, enum sample_kind kind, u64 from_ns, u64 to_ns)
{
	struct count_key key = w->key;
	struct count c = { w->weight, (to_ns - from_ns) * w->weight };

	key.kind = kind;
	stack_registry_count(b, &key, &c);
}

static u64 take(struct stack_registry *b, enum sample_kind kind)
{
	u64 ns = stack_registry_sum(b, kind).ns;

	stack_registry_forget_counts(b);
	return ns;
}

static void snapshot(struct open_waits *w, struct stack_registry *b, u64 now_ns, const struct waiting *a, const struct waiting *other)
{
	open_waits_begin(w, now_ns);
	if (a)
		open_waits_see(w, 1, a);
	if (other)
		open_waits_see(w, 2, other);
	open_waits_end(w, b);
}

TEST(an_open_wait_is_counted_incrementally_and_only_once)
{
	struct stack_registry *b = stack_registry_new();
	struct open_waits *w = open_waits_new(0);
	struct waiting a = wait_of(7, 100 * SECOND);

	snapshot(w, b, 101 * SECOND, &a, NULL);
	CHECK_INT(take(b, SAMPLE_BLOCKED), SECOND);
	snapshot(w, b, 103 * SECOND, &a, NULL);
	CHECK_INT(take(b, SAMPLE_BLOCKED), 2 * SECOND);
	end(b, &a, SAMPLE_BLOCKED, 100 * SECOND, 104 * SECOND);
	snapshot(w, b, 105 * SECOND, NULL, NULL);
	CHECK_INT(take(b, SAMPLE_BLOCKED), SECOND);
	snapshot(w, b, 106 * SECOND, NULL, NULL);
	CHECK_INT(take(b, SAMPLE_BLOCKED), 0);
	open_waits_free(w);
	stack_registry_free(b);
}

TEST(a_woken_wait_counts_as_runnable_from_then_on)
{
	struct stack_registry *b = stack_registry_new();
	struct open_waits *w = open_waits_new(0);
	struct waiting a = wait_of(7, 100 * SECOND), preempted = wait_of(8, 101 * SECOND);

	preempted.preempted = 1;
	preempted.weight = 4;
	snapshot(w, b, 101 * SECOND, &a, NULL);
	stack_registry_forget_counts(b);
	a.woken_ns = 102 * SECOND;
	snapshot(w, b, 104 * SECOND, &a, &preempted);
	CHECK_INT(stack_registry_sum(b, SAMPLE_BLOCKED).ns, SECOND);
	CHECK_INT(stack_registry_sum(b, SAMPLE_RUNNABLE).ns, 2 * SECOND + 4 * 3 * SECOND);
	stack_registry_forget_counts(b);
	end(b, &a, SAMPLE_BLOCKED, 100 * SECOND, 102 * SECOND);
	end(b, &a, SAMPLE_RUNNABLE, 102 * SECOND, 105 * SECOND);
	snapshot(w, b, 105 * SECOND, NULL, &preempted);
	CHECK_INT(stack_registry_sum(b, SAMPLE_BLOCKED).ns, 0);
	CHECK_INT(stack_registry_sum(b, SAMPLE_RUNNABLE).ns, SECOND + 4 * SECOND);
	open_waits_free(w);
	stack_registry_free(b);
}

TEST(an_end_counted_after_the_refresh_is_corrected_later)
{
	struct stack_registry *b = stack_registry_new();
	struct open_waits *w = open_waits_new(0);
	struct waiting a = wait_of(7, 100 * SECOND);
	u64 sum = 0;

	snapshot(w, b, 110 * SECOND, &a, NULL);
	sum += take(b, SAMPLE_BLOCKED);
	snapshot(w, b, 111 * SECOND, NULL, NULL);
	sum += take(b, SAMPLE_BLOCKED);
	end(b, &a, SAMPLE_BLOCKED, 100 * SECOND, 111 * SECOND);
	snapshot(w, b, 112 * SECOND, NULL, NULL);
	sum += take(b, SAMPLE_BLOCKED);
	CHECK_INT(sum, 11 * SECOND);
	open_waits_free(w);
	stack_registry_free(b);
}

TEST(another_wait_of_the_same_thread_is_counted_separately)
{
	struct stack_registry *b = stack_registry_new();
	struct open_waits *w = open_waits_new(0);
	struct waiting a = wait_of(7, 100 * SECOND), next = wait_of(7, 103 * SECOND);
	u64 sum = 0;

	snapshot(w, b, 102 * SECOND, &a, NULL);
	sum += take(b, SAMPLE_BLOCKED);
	end(b, &a, SAMPLE_BLOCKED, 100 * SECOND, 102 * SECOND + 1);
	snapshot(w, b, 105 * SECOND, &next, NULL);
	sum += take(b, SAMPLE_BLOCKED);
	CHECK_INT(sum, 2 * SECOND + 1 + 2 * SECOND);
	open_waits_free(w);
	stack_registry_free(b);
}

TEST(short_waits_are_omitted_until_they_reach_the_minimum)
{
	struct stack_registry *b = stack_registry_new();
	struct open_waits *w = open_waits_new(3 * SECOND);
	struct waiting a = wait_of(7, 100 * SECOND);

	snapshot(w, b, 102 * SECOND, &a, NULL);
	CHECK_INT(take(b, SAMPLE_BLOCKED), 0);
	snapshot(w, b, 104 * SECOND, &a, NULL);
	CHECK_INT(take(b, SAMPLE_BLOCKED), 4 * SECOND);
	open_waits_free(w);
	stack_registry_free(b);
}

TEST(each_wait_is_counted_completely_at_the_end_of_a_recording)
{
	struct stack_registry *b = stack_registry_new();
	struct open_waits *w = open_waits_new(0);
	struct waiting a = wait_of(7, 100 * SECOND), other = wait_of(8, 100 * SECOND);

	snapshot(w, b, 105 * SECOND, &a, &other);
	CHECK_INT(take(b, SAMPLE_BLOCKED), 10 * SECOND);
	end(b, &a, SAMPLE_BLOCKED, 100 * SECOND, 106 * SECOND);
	end(b, &other, SAMPLE_BLOCKED, 100 * SECOND, 106 * SECOND);
	open_waits_finish(w, b);
	CHECK_INT(take(b, SAMPLE_BLOCKED), 2 * SECOND);
	open_waits_free(w);
	stack_registry_free(b);
}

/* Waits of one stack, in many threads, begin and end at any time: nothing is counted twice or forgotten. */
TEST(refreshes_and_ends_add_up_in_any_order)
{
	struct stack_registry *b = stack_registry_new();
	struct open_waits *w = open_waits_new(0);
	u64 since[8] = { 0 }, sum = 0, whole = 0;
	unsigned random = 1;

	for (u64 now = 1000; now < 21000; now++) {
		unsigned thread = (random = random * 1103515245u + 12345u) >> 16 & 7;
		struct waiting one = wait_of(7, since[thread]);

		if (since[thread]) {
			end(b, &one, SAMPLE_BLOCKED, since[thread], now);
			whole += now - since[thread];
			since[thread] = 0;
		} else {
			since[thread] = now;
		}
		if (random >> 24 & 7)
			continue;
		open_waits_begin(w, now);
		for (u32 i = 0; i < 8; i++) {
			struct waiting open = wait_of(7, since[i]);

			if (since[i])
				open_waits_see(w, i, &open);
		}
		open_waits_end(w, b);
		sum += take(b, SAMPLE_BLOCKED);
	}
	for (u32 i = 0; i < 8; i++) {
		struct waiting open = wait_of(7, since[i]);

		if (since[i]) {
			end(b, &open, SAMPLE_BLOCKED, since[i], 21000);
			whole += 21000 - since[i];
		}
	}
	open_waits_finish(w, b);
	sum += take(b, SAMPLE_BLOCKED);
	CHECK_INT(sum, whole);
	open_waits_free(w);
	stack_registry_free(b);
}

TEST_MAIN()
