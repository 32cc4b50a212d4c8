/* test_open_batch.c: messages that wait to be merged, and the counters until then. */

#include "open_batch.h"

#include "batch_rows.h"
#include "mem.h"
#include "test.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#define BUCKET		(1700000000LL * 1000000000LL)
#define FUNCTIONS	40u
#define BATCHES		(size_t)200

static const struct open_batch_rules rules = { .max_series = 10 }, sharing = { .max_series = 10, .share_stacks = true };

/* A message of some KB: 40 functions below each other, `number` samples in one of them. */
static size_t make_message(unsigned number, uint8_t *buffer, size_t capacity)
{
	struct strobe_wire_info info = {
		.kind = STROBE_WIRE_SAMPLES, .clock = STROBE_CLOCK_WALL, .start_ns = BUCKET, .end_ns = BUCKET,
		.period_ns = 10000000,
	};
	struct strobe_wire_writer w;
	char name[80];

	strobe_wire_begin(&w, buffer, capacity, &info);
	strobe_wire_string(&w, "entry", 5);
	strobe_wire_string(&w, number % 2 ? "odd" : "even", number % 2 ? 3 : 4);
	strobe_wire_string(&w, "samples", 7);
	strobe_wire_string(&w, "count", 5);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		strobe_wire_string(&w, name,
				   (size_t)snprintf(name, sizeof(name),
						    "App\\Module%u\\Handler\\Of\\What\\Came\\In::process",
							  (number * 7 + i * i) % 200));
	strobe_wire_label(&w, 1, 2);
	strobe_wire_column(&w, 3, 4);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		strobe_wire_frame(&w, 5 + i, 0, 0);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		strobe_wire_node(&w, i, i, &(int64_t){ i == number % FUNCTIONS ? number : 0 });
	return strobe_wire_end(&w);
}

static uint64_t add_by(struct open_batch *b, unsigned number, const struct open_batch_rules *by)
{
	const struct message_metadata about = { 0 };
	struct strobe_wire_message m;
	uint8_t bytes[4096];
	uint64_t samples = 0;
	bool folded;
	size_t n = make_message(number, bytes, sizeof(bytes));

	CHECK_INT(strobe_wire_parse(bytes, n, &m), STROBE_WIRE_OK);
	CHECK_INT(open_batch_add(b, &about, &m, BUCKET, by, &samples, &folded), 0);
	memset(bytes, 0xee, sizeof(bytes));		/* they live until the call returns */
	return samples;
}

static uint64_t add(struct open_batch *b, unsigned number)
{
	return add_by(b, number, &rules);
}

static void check_same(const struct profile *a, const struct profile *b)
{
	CHECK_INT(a->node_count, b->node_count);
	CHECK_INT(a->frame_count, b->frame_count);
	for (uint32_t i = 1; i < a->node_count && i < b->node_count; i++) {
		CHECK_INT(a->parents[i], b->parents[i]);
		CHECK_STR(profile_name(a, a->node_frames[i]).p, profile_name(b, b->node_frames[i]).p);
		CHECK_INT(a->columns[0].self[i], b->columns[0].self[i]);
	}
}

TEST(a_batch_is_the_same_whenever_it_is_merged)
{
	struct open_batch *at_once = open_batch_new(1), *late = open_batch_new(2);

	for (unsigned i = 1; i <= 5000; i++) {		/* more than may wait */
		CHECK_INT(add(at_once, i), i);
		open_batch_merge(at_once);
		CHECK_INT(add(late, i), i);
		CHECK_INT(late->samples, at_once->samples);
	}
	open_batch_seal(at_once);
	open_batch_seal(late);
	CHECK_INT(late->batch.count, 2);
	CHECK_INT(late->bytes, at_once->bytes);
	for (size_t i = 0; i < 2; i++)
		check_same(late->batch.entries[i].profile, at_once->batch.entries[i].profile);
	CHECK_INT(profile_sum(late->batch.entries[0].profile, 0) + profile_sum(late->batch.entries[1].profile, 0),
		  5000 * 5001 / 2);
	open_batch_free(at_once);
	open_batch_free(late);
}

/* The value of each stack of `a` is that in `b`, which may lack stacks without values. */
static void check_same_values(const struct profile *a, struct profile *b)
{
	_cleanup_(freep) uint32_t *nodes = xcalloc(a->node_count, sizeof(*nodes));

	CHECK_INT(profile_sum(a, 0), profile_sum(b, 0));
	for (uint32_t i = 1; i < a->node_count; i++) {
		struct str name = profile_name(a, a->node_frames[i]);

		nodes[i] = profile_child(b, nodes[a->parents[i]], profile_frame(b, name, (struct str){ "", 0 }, 0));
		CHECK_INT(a->columns[0].self[i], b->columns[0].self[nodes[i]]);
	}
}

TEST(a_batch_with_shared_stacks_has_the_same_values_in_less_memory)
{
	struct open_batch *apart = open_batch_new(1), *shared = open_batch_new(2);
	struct batch whole;

	for (unsigned i = 1; i <= 5000; i++) {
		add(apart, i);
		CHECK_INT(add_by(shared, i, i == 2500 ? &rules : &sharing), i);	/* as if a sink were added between */
	}
	open_batch_seal(apart);
	open_batch_seal(shared);
	CHECK(!apart->batch.stacks && shared->batch.stacks);
	CHECK(shared->batch.entries[0].rows.count > 0);
	CHECK(shared->bytes > shared->batch.entries[0].rows.count * 12 && shared->bytes < apart->bytes);
	batch_without_rows(&shared->batch, &whole);
	CHECK_INT(whole.count, 2);
	for (size_t i = 0; i < 2; i++)
		check_same_values(apart->batch.entries[i].profile, (struct profile *)whole.entries[i].profile);
	batch_without_rows_done(&shared->batch, &whole);
	open_batch_free(apart);
	open_batch_free(shared);
}

TEST(merging_stops_at_its_budget_and_resumes_there)
{
	struct open_batch *b = open_batch_new(1);
	unsigned calls = 1;
	size_t bytes;

	CHECK(!open_batch_merge_some(b, 1));
	for (unsigned i = 1; i <= 100; i++)
		add(b, i);
	bytes = b->waiting.bytes.bytes;
	while (open_batch_merge_some(b, 20000))
		calls++;
	CHECK(calls <= bytes / 20000 + 1 && calls >= bytes / 23000);	/* the last message of each may go beyond */
	add(b, 101);
	CHECK(!open_batch_merge_some(b, 20000));
	CHECK_INT(profile_sum(b->batch.entries[0].profile, 0) + profile_sum(b->batch.entries[1].profile, 0),
		  101 * 102 / 2);
	open_batch_free(b);
}

TEST(pending_messages_are_counted_at_their_unmerged_size)
{
	struct open_batch *b = open_batch_new(1);
	uint64_t waiting;

	for (unsigned i = 0; i < 40; i++)
		add(b, 2);
	waiting = b->bytes;
	CHECK(waiting > 40 * 3000);
	open_batch_merge(b);
	CHECK(b->bytes < waiting / 5);
	CHECK_INT(b->samples, 80);
	CHECK_INT(profile_sum(b->batch.entries[0].profile, 0), 80);
	open_batch_free(b);
}

static void add_line(struct open_batch *b)
{
	static const char line[] = "index.php;App\\Cart::total;PDO::query 3";
	const struct message_metadata about = { .channel = "excimer" };
	bool folded;

	CHECK_INT(open_batch_add_line(b, &about, (struct str){ line, sizeof(line) - 3 }, 3, (struct str){ line, sizeof(line) - 1 }, BUCKET,
				      &rules, &folded),
		  0);
}

/* Compares the memory of many batches with their counted size, as in the queue of a failing sink: of `messages` each,
 * or of one line. */
static void check_memory(const struct open_batch_rules *by, unsigned messages)
{
	struct open_batch *batches[BATCHES];
	size_t before = mallinfo2().uordblks, taken;
	uint64_t counted = 0;

	for (size_t i = 0; i < BATCHES; i++) {
		batches[i] = open_batch_new(i + 1);
		for (unsigned k = 1; k <= messages; k++)
			add_by(batches[i], k, by);
		if (!messages)
			add_line(batches[i]);
		open_batch_seal(batches[i]);
		counted += batches[i]->bytes;
	}
	taken = mallinfo2().uordblks - before;
	CHECK(counted >= taken / 4 * 3 && counted <= taken / 2 * 5);
	for (size_t i = 0; i < BATCHES; i++)
		open_batch_free(batches[i]);
}

TEST(the_counted_size_of_a_batch_is_about_its_memory)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("the allocator of sanitizers does not say how much it has given");
#endif
	check_memory(&rules, 0);
	check_memory(&rules, 1);
	check_memory(&sharing, 1);
	check_memory(&rules, 100);
	check_memory(&sharing, 100);
}

TEST(a_discarded_batch_drops_its_pending_messages)
{
	struct open_batch *b = open_batch_new(1);

	add(b, 1);
	open_batch_free(b);
}

TEST_MAIN()
