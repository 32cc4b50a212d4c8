/* test_collector.c: batches, the queue, and counters that add up whatever the sink does. */

#include "test_collector.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

TEST(messages_of_one_series_and_bucket_become_one_entry)
{
	int64_t now = clock_wall_ns();
	struct fixture f;

	start(&f, NULL);
	for (int i = 0; i < 5; i++)
		give(&f, &(struct test_message){ .samples = 3, .end_ns = now });
	CHECK_INT(f.n->samples_queued, 15);
	CHECK(f.n->queue_bytes > 0);
	CHECK_INT(collector_flush(f.c, 10 * NS_PER_SECOND), 0);
	CHECK_INT(f.sink.batches, 1);
	CHECK_INT(f.sink.entries, 1);
	CHECK_INT(f.sink.samples, 15);
	CHECK_INT(f.sink.nodes, 3);
	CHECK_INT(f.sink.bucket_ns, now - now % BATCH_BUCKET_NS);
	CHECK_STR(f.sink.labels, "entry=index");
	CHECK_INT(f.n->samples_stored, 15);
	CHECK_INT(f.n->queue_bytes, 0);
	CHECK_INT(f.n->commits, 1);
	check_sums(&f);
	stop(&f);
}

TEST(labels_and_buckets_keep_entries_apart)
{
	int64_t now = clock_wall_ns();
	struct fixture f;

	start(&f, NULL);
	give(&f, &(struct test_message){ .samples = 1, .end_ns = now });
	give(&f, &(struct test_message){ .samples = 1, .end_ns = now, .entry = "api" });
	give(&f, &(struct test_message){ .samples = 1, .end_ns = now - BATCH_BUCKET_NS });
	collector_flush(f.c, 10 * NS_PER_SECOND);
	CHECK_INT(f.sink.entries, 3);
	CHECK_INT(f.sink.samples, 3);
	stop(&f);
}

TEST(request_ids_do_not_count_toward_the_series_limit)
{
	struct collector_options o;
	struct fixture f;
	int64_t now = clock_wall_ns();
	char id[20];

	collector_default_options(&o);
	o.max_series = 3;
	start(&f, &o);
	for (int i = 0; i < 50; i++) {
		snprintf(id, sizeof(id), "%016d", i);
		give(&f, &(struct test_message){ .samples = 1, .span_id = id, .end_ns = now });
	}
	CHECK_INT(f.n->series_folded, 0);
	CHECK_INT(f.n->labels_dropped, 1);
	collector_flush(f.c, 10 * NS_PER_SECOND);
	CHECK_INT(f.sink.entries, 1);
	CHECK_INT(f.sink.samples, 50);
	CHECK_STR(f.sink.labels, "entry=index");
	stop(&f);
}

TEST(no_batch_is_committed_without_samples)
{
	struct fixture f;

	start(&f, NULL);
	give(&f, &(struct test_message){ .bare = true, .lost = 5 });
	CHECK_INT(collector_flush(f.c, NS_PER_SECOND), 0);
	CHECK_INT(f.sink.calls, 0);
	CHECK_INT(f.n->last_sample_ns, 0);
	CHECK_INT(f.n->sender_drops[STROBE_DROP_FULL], 5);
	stop(&f);
}

static void *unblock_late(void *data)
{
	usleep(2300 * 1000);
	set(data, false, false);
	return NULL;
}

TEST(a_commit_in_progress_at_the_deadline_is_not_counted_as_lost)
{
	struct fixture f;
	pthread_t thread;

	start(&f, NULL);
	set(&f.sink, false, true);
	give(&f, &(struct test_message){ .samples = 4 });
	CHECK_INT(pthread_create(&thread, NULL, unblock_late, &f.sink), 0);
	CHECK_INT(collector_flush(f.c, 2 * NS_PER_SECOND), 0);
	CHECK_INT(f.n->samples_stored, 4);
	pthread_join(thread, NULL);
	stop(&f);
}

TEST(unknown_reasons_of_senders_count_as_other)
{
	struct strobe_wire_info info = { .kind = STROBE_WIRE_SAMPLES };
	struct strobe_wire_writer w;
	struct fixture f;
	uint8_t bytes[256];

	start(&f, NULL);
	strobe_wire_begin(&w, bytes, sizeof(bytes), &info);
	strobe_wire_drop(&w, (enum strobe_drop)77, 9);
	send_bytes(&f, bytes, strobe_wire_end(&w));
	CHECK_INT(f.n->sender_drops[0], 9);
	stop(&f);
}

TEST(a_failing_sink_gets_the_same_batch_until_it_succeeds)
{
	struct fixture f;

	start(&f, NULL);
	set(&f.sink, true, false);
	give(&f, &(struct test_message){ .samples = 4 });
	CHECK_INT(collector_flush(f.c, NS_PER_SECOND / 2), 4);
	CHECK_INT(collector_unstored(f.c), 4);
	CHECK(f.n->failing);
	CHECK(f.n->commit_failures >= 1);
	CHECK_INT(f.n->samples_queued, 4);
	CHECK_INT(f.n->samples_stored, 0);
	check_sums(&f);

	set(&f.sink, false, false);
	CHECK_INT(collector_flush(f.c, 20 * NS_PER_SECOND), 0);
	CHECK(!f.n->failing);
	CHECK_INT(f.sink.samples, 4);
	CHECK(!f.sink.id_changed_in_retry);
	CHECK_INT(f.n->samples_stored, 4);
	check_sums(&f);
	stop(&f);
}

TEST(a_batch_that_is_rejected_permanently_does_not_block_others)
{
	struct fixture f;

	start(&f, NULL);
	f.sink.refuses = true;
	give(&f, &(struct test_message){ .samples = 4 });
	CHECK_INT(collector_flush(f.c, 10 * NS_PER_SECOND), 0);
	CHECK_INT(f.n->samples_dropped_rejected, 4);
	CHECK_INT(f.n->samples_stored, 0);
	CHECK(!f.n->failing);
	check_sums(&f);

	f.sink.refuses = false;
	give(&f, &(struct test_message){ .samples = 5 });
	CHECK_INT(collector_flush(f.c, 10 * NS_PER_SECOND), 0);
	CHECK_INT(f.n->samples_stored, 5);
	CHECK_INT(f.n->queue_bytes, 0);
	check_sums(&f);
	stop(&f);
}

TEST(with_a_slow_sink_the_queue_grows_to_its_cap_before_samples_are_dropped)
{
	struct collector_options o;
	struct fixture f;
	char entry[20];

	collector_default_options(&o);
	o.queue_bytes = 400000;
	start(&f, &o);
	set(&f.sink, false, true);
	for (int i = 0; i < 1000; i++) {
		snprintf(entry, sizeof(entry), "e%d", i);
		give(&f, &(struct test_message){ .samples = 2, .entry = entry });
	}
	CHECK(f.n->samples_dropped_queue > 0);
	CHECK(f.n->samples_queued > 0);
	CHECK(f.n->queue_bytes <= 400000);
	CHECK_INT(f.n->samples_received, 2000);
	check_sums(&f);

	set(&f.sink, false, false);
	CHECK_INT(collector_flush(f.c, 20 * NS_PER_SECOND), 0);
	CHECK_INT(f.n->samples_stored, f.sink.samples);
	check_sums(&f);
	give(&f, &(struct test_message){ .samples = 2 });
	CHECK_INT(f.n->samples_queued, 2);
	stop(&f);
}

TEST(messages_that_merge_into_the_queue_are_not_dropped)
{
	struct collector_options o;
	struct fixture f;

	collector_default_options(&o);
	o.queue_bytes = 40000;
	start(&f, &o);
	for (int i = 0; i < 1000; i++)
		give(&f, &(struct test_message){ .samples = 2, .end_ns = 1700000000LL * NS_PER_SECOND });
	CHECK_INT(f.n->samples_dropped_queue, 0);
	CHECK(f.n->queue_bytes <= 40000);
	CHECK_INT(collector_flush(f.c, 20 * NS_PER_SECOND), 0);
	CHECK_INT(f.sink.samples, 2000);
	CHECK_INT(f.n->queue_bytes, 0);
	stop(&f);
}

/* The open batch is closed, and nothing in it is merged yet. */
static void begin_closing(struct fixture *f)
{
	struct open_batch *b = f->c->open;

	f->c->open = open_batch_new(collector_take_id(f->c));
	collector_close_batch(f->c, b);
	CHECK(f->c->closing != NULL);
}

TEST(pending_messages_of_a_closing_batch_are_merged_before_anything_is_dropped)
{
	struct collector_options o;
	struct fixture f;

	collector_default_options(&o);
	o.queue_bytes = 45000;
	start(&f, &o);
	for (int batch = 0; batch < 3; batch++) {
		for (int i = 0; i < 15; i++)
			give(&f, &(struct test_message){ .samples = 2, .end_ns = 1700000000LL * NS_PER_SECOND });
		begin_closing(&f);
	}
	for (int i = 0; i < 15; i++)
		give(&f, &(struct test_message){ .samples = 2, .end_ns = 1700000000LL * NS_PER_SECOND });
	CHECK(f.c->closing->next->next);
	CHECK_INT(f.n->samples_dropped_queue, 0);
	CHECK(f.n->queue_bytes <= 45000);
	check_sums(&f);
	CHECK_INT(collector_flush(f.c, 20 * NS_PER_SECOND), 0);
	CHECK_INT(f.sink.samples, 120);
	CHECK_INT(f.n->queue_bytes, 0);
	stop(&f);
}

TEST(a_run_is_not_dropped_while_merging_can_free_space_for_it)
{
	struct collector_options o;
	struct fixture f;

	collector_default_options(&o);
	o.queue_bytes = 28000;
	start(&f, &o);
	f.sink.run_result = 1;
	for (int i = 0; i < 20; i++)
		give(&f, &(struct test_message){ .samples = 2, .end_ns = 1700000000LL * NS_PER_SECOND });
	begin_closing(&f);
	set(&f.sink, true, false);
	for (int i = 0; i < 50; i++)
		give(&f, &(struct test_message){ .run = true, .samples = 5 });
	CHECK_INT(f.n->runs_dropped_queue, 0);
	CHECK(f.n->queue_bytes <= 28000);
	set(&f.sink, false, false);
	CHECK_INT(collector_flush(f.c, 20 * NS_PER_SECOND), 0);
	CHECK_INT(f.sink.runs, 50);
	CHECK_INT(f.sink.samples, 40);
	CHECK_INT(f.n->queue_bytes, 0);
	stop(&f);
}

static void make_room(void *data)
{
	set(data, false, false);
}

TEST(a_sink_is_maintained_even_while_its_commits_fail)
{
	int64_t end_ns = clock_monotonic_ns() + 60 * NS_PER_SECOND;
	bool waits = true;
	struct fixture f;

	start(&f, NULL);
	lock_take(&f.c->lock);
	f.c->sink_workers[0].sink.maintain = make_room;
	lock_release(&f.c->lock);
	f.sink.run_result = 1;
	set(&f.sink, true, false);
	give(&f, &(struct test_message){ .run = true, .samples = 5 });
	while (waits && clock_monotonic_ns() < end_ns) {
		usleep(1000);
		lock_take(&f.c->lock);
		waits = f.n->runs_queued > 0;
		lock_release(&f.c->lock);
	}
	CHECK(!waits);
	CHECK_INT(f.n->runs_stored, 1);
	stop(&f);
}

static _Atomic uint64_t maintained;

static bool always(void *data)
{
	return true;
}

static void count_maintenance(void *data)
{
	maintained++;
}

static bool is_reached(const _Atomic uint64_t *counter, uint64_t wanted, int64_t seconds)
{
	int64_t end_ns = clock_monotonic_ns() + seconds * NS_PER_SECOND;

	while (*counter < wanted && clock_monotonic_ns() < end_ns)
		usleep(1000);
	return *counter >= wanted;
}

TEST(a_sink_low_on_space_is_maintained_more_often)
{
	struct fixture f;

	maintained = 0;
	start(&f, NULL);
	lock_take(&f.c->lock);
	f.c->sink_workers[0].sink.maintain = count_maintenance;
	f.c->sink_workers[0].sink.is_low_on_space = always;
	lock_release(&f.c->lock);
	f.sink.run_result = 1;
	give(&f, &(struct test_message){ .run = true, .samples = 5 });
	CHECK(is_reached(&f.n->runs_stored, 1, 60));
	CHECK(is_reached(&maintained, 1, 60));
	/* Eleven seconds after the first time; without shortage the second would come 49 seconds later. */
	lock_take(&f.c->lock);
	f.c->sink_workers[0].maintained_ns = clock_monotonic_ns() - 11 * NS_PER_SECOND;
	lock_release(&f.c->lock);
	give(&f, &(struct test_message){ .run = true, .samples = 5 });
	CHECK(is_reached(&maintained, 2, 40));
	stop(&f);
}

TEST(series_above_the_limit_go_to_other)
{
	struct collector_options o;
	struct fixture f;
	int64_t now = clock_wall_ns();
	char entry[20];

	collector_default_options(&o);
	o.max_series = 10;
	start(&f, &o);
	for (int i = 0; i < 50; i++) {
		snprintf(entry, sizeof(entry), "e%d", i);
		give(&f, &(struct test_message){ .samples = 1, .entry = entry, .end_ns = now });
	}
	CHECK_INT(f.n->series_folded, 40);
	collector_flush(f.c, 10 * NS_PER_SECOND);
	CHECK_INT(f.sink.entries, 11);
	CHECK_INT(f.sink.samples, 50);
	CHECK_STR(f.sink.second_labels, "entry=other");
	check_sums(&f);
	stop(&f);
}

TEST(series_above_the_hard_limit_are_dropped_and_counted)
{
	struct collector_options o;
	struct fixture f;
	int64_t now = clock_wall_ns();

	collector_default_options(&o);
	o.max_series = 5;
	start(&f, &o);
	for (int i = 0; i < 30; i++)		/* even the folded series differ: each is of another bucket */
		give(&f, &(struct test_message){ .samples = 1, .end_ns = now - i * BATCH_BUCKET_NS });
	CHECK_INT(f.n->samples_queued, 10);
	CHECK_INT(f.n->samples_dropped_queue, 20);
	check_sums(&f);
	stop(&f);
}

TEST(free_queue_space_is_reported_before_any_message_is_accepted)
{
	struct source_receiver r;
	struct collector_options o;
	struct err err = { 0 };
	struct fixture f;
	int64_t now = clock_wall_ns();
	uint8_t bytes[4096];
	struct strobe_wire_message m;

	collector_default_options(&o);
	o.max_series = 5;
	o.queue_bytes = 100000;
	start(&f, &o);
	r = collector_receiver(f.c);
	CHECK_INT(r.room(r.data, 5, 100000, &err), 0);
	CHECK_INT(r.room(r.data, 6, 1, &err), -ENOSPC);
	CHECK_INT(r.room(r.data, 1, 100001, &err), -E2BIG);
	for (int i = 0; i < 8; i++)		/* 5, and 3 that are folded */
		give(&f, &(struct test_message){ .samples = 1, .end_ns = now - i * BATCH_BUCKET_NS });
	CHECK_INT(f.n->samples_queued, 8);
	CHECK_INT(r.room(r.data, 2, 1, &err), 0);
	CHECK_INT(r.room(r.data, 3, 1, &err), -EAGAIN);
	CHECK_STR(err.text, "the batch of this second has its limit of series; retry later");
	CHECK_INT(r.room(r.data, 1, 100000, &err), -EAGAIN);
	CHECK(strstr(err.text, "the queue of ") && strstr(err.text, " is full: 0 MB wait; retry later"));
	CHECK_INT(strobe_wire_parse(bytes, test_message_write(&(struct test_message){ .samples = 1 }, bytes, sizeof(bytes)), &m), 0);
	CHECK_INT(r.room(r.data, 1, open_batch_cost_of(&m), &err), 0);
	give(&f, &(struct test_message){ .samples = 1 });
	CHECK_INT(f.n->samples_dropped_queue, 0);
	check_sums(&f);
	stop(&f);
}

TEST(samples_from_senders_with_wrong_clocks_get_the_time_of_receipt)
{
	int64_t now = clock_wall_ns();
	struct fixture f;

	start(&f, NULL);
	give(&f, &(struct test_message){ .samples = 1, .end_ns = now - 2 * NS_PER_DAY });
	give(&f, &(struct test_message){ .samples = 1, .end_ns = now + 300 * NS_PER_SECOND });
	give(&f, &(struct test_message){ .samples = 1, .end_ns = now - 3600 * NS_PER_SECOND });
	CHECK_INT(f.n->times_corrected, 2);
	collector_flush(f.c, 10 * NS_PER_SECOND);
	CHECK(f.sink.bucket_ns >= now - now % BATCH_BUCKET_NS);
	CHECK(f.sink.entries >= 2);
	stop(&f);
}

TEST(batch_ids_differ_between_starts)
{
	struct fixture f;
	uint64_t first;

	start(&f, NULL);
	give(&f, &(struct test_message){ .samples = 1 });
	collector_flush(f.c, 10 * NS_PER_SECOND);
	first = f.sink.last_id;
	give(&f, &(struct test_message){ .samples = 1 });
	collector_flush(f.c, 10 * NS_PER_SECOND);
	CHECK(f.sink.last_id != first);
	stop(&f);

	start(&f, NULL);
	give(&f, &(struct test_message){ .samples = 1 });
	collector_flush(f.c, 10 * NS_PER_SECOND);
	CHECK(first != 0 && f.sink.last_id != 0 && f.sink.last_id != first);
	stop(&f);
}

struct stopper {
	struct watch w;
	struct fixture *f;
};

static void stop_loop(struct watch *w, uint32_t events)
{
	struct fixture *f = ((struct stopper *)w)->f;

	loop_timer_read(w);
	if (f->n->samples_queued == 0)
		loop_stop(f->loop, 0);
}

TEST(the_loop_commits_batches_periodically)
{
	struct stopper timer = { 0 };
	struct collector_options o;
	struct fixture f;

	collector_default_options(&o);
	o.commit_ns = 5 * 1000000;
	start(&f, &o);
	give(&f, &(struct test_message){ .samples = 6 });
	timer.f = &f;
	timer.w.fd = -1;
	timer.w.ready = stop_loop;
	CHECK(loop_add_timer(f.loop, &timer.w, 2 * 1000000, NULL) == 0);
	loop_run(f.loop, NULL);
	CHECK_INT(f.sink.samples, 6);
	CHECK_INT(f.n->samples_stored, 6);
	CHECK(f.n->last_commit_ns > 0);
	loop_remove_timer(f.loop, &timer.w);
	stop(&f);
}

/* Is called at every turn of the loop, and counts the turns during which a batch was being closed. */
struct sender {
	struct watch w;
	struct fixture *f;
	unsigned turns, enough;
};

static void send_or_stop(struct watch *w, uint32_t events)
{
	struct sender *s = (struct sender *)w;

	s->turns += s->f->c->closing != NULL;
	if (s->turns == s->enough || calls(&s->f->sink))
		loop_stop(s->f->loop, 0);
}

/* A batch with more than a megabyte of messages is closed while somebody sends. */
static unsigned close_beside_a_sender(struct fixture *f, unsigned enough)
{
	struct sender s = { .w = { .ready = send_or_stop, .fd = eventfd(1, EFD_CLOEXEC) }, .f = f, .enough = enough };
	struct collector_options o;
	int fd = s.w.fd;

	collector_default_options(&o);
	o.commit_ns = NS_PER_SECOND / 2;		/* batches still open are then closed at once */
	start(f, &o);
	for (int i = 0; i < 20; i++)
		give(f, &(struct test_message){ .samples = 1, .extra_strings = 1,
						.end_ns = 1700000000LL * NS_PER_SECOND });
	CHECK(loop_add(f->loop, &s.w, EPOLLIN, NULL) == 0);
	loop_run(f->loop, NULL);
	loop_remove(f->loop, &s.w);
	close(fd);
	return s.turns;
}

TEST(messages_are_received_while_a_large_batch_is_closed)
{
	struct fixture f;

	CHECK(close_beside_a_sender(&f, UINT32_MAX) >= 5);
	CHECK_INT(collector_flush(f.c, 10 * NS_PER_SECOND), 0);
	CHECK_INT(f.sink.samples, 20);
	CHECK_INT(f.sink.batches, 1);
	check_sums(&f);
	stop(&f);

	/* A message that arrives in between goes into the next batch, and a flush commits both. */
	CHECK_INT(close_beside_a_sender(&f, 2), 2);
	give(&f, &(struct test_message){ .samples = 7 });
	CHECK_INT(collector_flush(f.c, 10 * NS_PER_SECOND), 0);
	CHECK_INT(f.sink.samples, 27);
	CHECK_INT(f.sink.batches, 2);
	check_sums(&f);
	stop(&f);

	/* Frees the collector while a batch is being closed. */
	CHECK_INT(close_beside_a_sender(&f, 2), 2);
	stop(&f);
}

TEST_MAIN()
