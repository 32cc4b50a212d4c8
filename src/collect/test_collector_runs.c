/* test_collector_runs.c: runs are handed on one by one, wait while they cannot be stored, and are counted. */

#include "test_collector.h"

static void check_run_sums(const struct fixture *f)
{
	CHECK_INT(f->n->runs_received, f->n->runs_stored + f->n->runs_deduplicated + f->n->runs_queued +
					       f->n->runs_dropped_queue +
					       f->n->runs_dropped_rejected + f->n->runs_dropped_conflict);
}

TEST(runs_are_stored_individually_and_counted_by_outcome)
{
	static const int results[] = { 1, 0, -EEXIST, -EINVAL };
	struct fixture f;

	start(&f, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(results); i++) {
		f.sink.run_result = results[i];
		for (size_t k = 0; k <= i; k++)
			give(&f, &(struct test_message){ .run = true, .samples = 5, .lost = 2 });
		CHECK_INT(collector_flush(f.c, 5 * NS_PER_SECOND), 0);
	}
	CHECK_INT(f.n->runs_stored, 1);
	CHECK_INT(f.n->runs_deduplicated, 2);
	CHECK_INT(f.n->runs_dropped_conflict, 3);
	CHECK_INT(f.n->runs_dropped_rejected, 4);
	CHECK_INT(f.sink.runs, 10);
	CHECK_INT(f.n->queue_bytes, 0);
	/* Runs are not counted as samples, and neither are runs that senders lost. */
	CHECK_INT(f.n->samples_received + f.sink.calls, 0);
	CHECK_INT(f.n->sender_run_drops[STROBE_DROP_FULL], 20);
	CHECK_INT(f.n->sender_drops[STROBE_DROP_FULL], 0);
	check_run_sums(&f);
	give(&f, &(struct test_message){ .run = true, .bare = true });
	CHECK_INT(f.n->runs_received, 10);
	stop(&f);
}

TEST(runs_wait_while_they_cannot_be_stored_and_samples_continue)
{
	struct collector_options o;
	struct fixture f;

	collector_default_options(&o);
	o.queue_bytes = 8192;
	start(&f, &o);
	f.sink.run_result = 1;
	set(&f.sink, true, false);
	for (int i = 0; i < 200; i++)
		give(&f, &(struct test_message){ .run = true, .samples = 5 });
	CHECK(collector_flush(f.c, NS_PER_SECOND / 5) > 0);
	CHECK(f.n->runs_dropped_queue > 0 && f.n->runs_queued > 10);
	CHECK(f.n->runs_failing);
	CHECK(f.n->queue_bytes <= 8192);
	check_run_sums(&f);
	set(&f.sink, false, false);
	CHECK_INT(collector_flush(f.c, 5 * NS_PER_SECOND), 0);
	CHECK_INT(f.n->runs_queued, 0);
	CHECK_INT(f.n->queue_bytes, 0);
	CHECK(!f.n->runs_failing);
	CHECK(f.sink.run_calls < 100);		/* many are committed at once */
	check_run_sums(&f);
	f.sink.refuses = true;
	give(&f, &(struct test_message){ .run = true, .samples = 5 });
	CHECK_INT(collector_flush(f.c, 5 * NS_PER_SECOND), 0);
	CHECK_INT(f.n->runs_dropped_rejected, 1);
	stop(&f);
}

TEST(runs_with_a_wrong_time_are_corrected_and_queued_runs_freed_at_shutdown)
{
	struct fixture f;

	start(&f, NULL);
	f.sink.run_result = 1;
	give(&f, &(struct test_message){ .run = true, .samples = 5, .end_ns = 1000000000 });
	CHECK_INT(collector_flush(f.c, 5 * NS_PER_SECOND), 0);
	CHECK_INT(f.n->times_corrected, 1);
	CHECK(f.sink.run_time_ns > clock_wall_ns() - 60 * NS_PER_SECOND);
	set(&f.sink, true, false);
	give(&f, &(struct test_message){ .run = true, .samples = 5 });
	stop(&f);
}

TEST_MAIN()
