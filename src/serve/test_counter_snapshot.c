/* test_counter_snapshot.c: counters are read while another thread is halfway through changing them. */

#include "counter_snapshot.h"
#include "test.h"

#include <pthread.h>
#include <unistd.h>

/* A thread that is preempted between two counters. */
static void *finish_late(void *data)
{
	struct collector_counters *n = data;

	usleep(100 * 1000);
	n->samples_queued++;
	return NULL;
}

TEST(an_update_in_progress_is_awaited)
{
	static struct collector_counters n = { .samples_received = 7, .samples_stored = 2, .samples_queued = 3, .samples_dropped_queue = 1 };
	struct collector_snapshot t;
	pthread_t thread;

	CHECK_INT(pthread_create(&thread, NULL, finish_late, &n), 0);
	t = snapshot_collector(&n);
	pthread_join(thread, NULL);
	CHECK_INT(t.received, 7);
	CHECK_INT(t.stored, 2);
	CHECK_INT(t.queued, 4);
	CHECK_INT(t.dropped_queue, 1);
}

TEST(an_inconsistent_sum_is_shown_unchanged)
{
	static struct sink_counters n = { .samples_handed = 7, .samples_stored = 2 };
	struct sink_snapshot t = snapshot_sink(&n);

	CHECK_INT(t.handed, 7);
	CHECK_INT(t.stored, 2);
	CHECK_INT(t.queued, 0);
}

TEST_MAIN()
