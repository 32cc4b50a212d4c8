/* test_collector_change.c: sinks and sources that are added and removed while samples are in flight. */

#include "clock.h"
#include "collector_private.h"
#include "source.h"
#include "test.h"
#include "test_message.h"

#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct sink {
	_Atomic uint64_t samples, lines, rows, runs;
	_Atomic bool blocks, fails;
	unsigned gone;
	uint64_t left, passed_on;
	char why[64];
};

static int commit(void *data, const struct batch *b, struct err *err)
{
	struct sink *s = data;

	while (s->blocks)
		usleep(1000);
	if (s->fails)
		return err_set(err, -ENOSPC, "the disk of the test is full");
	s->lines += b->line_count;
	for (size_t i = 0; i < b->count; i++) {
		s->samples += (uint64_t)profile_sum(b->entries[i].profile, 0);
		s->rows += b->entries[i].rows.count;
		for (size_t k = 0; k < b->entries[i].rows.count; k++)
			s->samples += (uint64_t)b->entries[i].rows.values[k];
	}
	return 0;
}

static int commit_runs(void *data, struct collector_run *runs, size_t n, struct err *err)
{
	struct sink *s = data;

	if (s->fails)
		return err_set(err, -ENOSPC, "the disk of the test is full");
	for (size_t i = 0; i < n; i++)
		runs[i].result = 1;
	s->runs += n;
	return 0;
}

static void closed(void *data, const struct sink_leftover *left)
{
	struct sink *s = data;

	s->gone++;
	s->left += left->samples + left->runs;
	s->passed_on += left->samples_passed_on + left->runs_passed_on;
	snprintf(s->why, sizeof(s->why), "%.60s", left->why);
}

struct fixture {
	struct loop *loop;
	struct collector *c;
	struct sink sinks[3];
	struct source sources[2];
	struct source_ops ops;
	struct source_receiver receiver;
	struct watch timer;
	size_t acknowledged;
};

static struct fixture *current;

static void ack(struct source *s, const struct ack_token *tokens, size_t n)
{
	current->acknowledged += n;
}

static struct collector_sink port(struct fixture *f, unsigned i, bool wants_lines)
{
	static const char *const urls[] = { "test:0", "test:1", "test:2" };

	return (struct collector_sink){ .url = urls[i], .commit = commit, .data = &f->sinks[i],
					.wants_lines = wants_lines };
}

static void stop_loop(struct watch *w, uint32_t events)
{
	loop_timer_read(w);
	loop_stop(current->loop, 0);
}

static void start_draining_for(struct fixture *f, int64_t drain_ns)
{
	struct collector_options o;
	struct collector_sink first;
	struct err err;

	memset(f, 0, sizeof(*f));
	current = f;
	f->ops.ack = ack;
	f->sources[0] = (struct source){ .ops = &f->ops, .url = (char *)"test:a" };
	f->sources[1] = (struct source){ .ops = &f->ops, .url = (char *)"test:b" };
	f->loop = loop_new(&err);
	f->timer = (struct watch){ .ready = stop_loop, .fd = -1 };
	collector_default_options(&o);
	o.commit_ns = NS_PER_SECOND / 50;
	o.drain_ns = drain_ns;
	first = port(f, 0, false);
	CHECK_INT(collector_new(&first, 1, &o, f->loop, &f->c, &err), 0);
	f->receiver = collector_receiver(f->c);
	f->sources[0].receiver = f->sources[1].receiver = f->receiver;
}

static void start(struct fixture *f)
{
	start_draining_for(f, 300 * NS_PER_SECOND);
}

static void finish(struct fixture *f)
{
	collector_free(f->c);
	loop_free(f->loop);
}

static void run(struct fixture *f, int64_t ns)
{
	struct err err;

	CHECK_INT(loop_add_timer(f->loop, &f->timer, ns, &err), 0);
	loop_run(f->loop, &err);
	loop_remove_timer(f->loop, &f->timer);
}

/* Runs the loop until the condition is true, at most two seconds. */
#define CHECK_SOON(f, condition) do {						\
		for (unsigned i_ = 0; i_ < 200 && !(condition); i_++)		\
			run(f, NS_PER_SECOND / 100);				\
		CHECK(condition);						\
	} while (0)

static void send_line(struct fixture *f, unsigned source, uint64_t token)
{
	struct ack_token t = { .low = token };
	struct message_metadata about = { .source = &f->sources[source], .ack_token = token ? &t : NULL };

	CHECK_INT(source_line(&f->sources[source], about, "main;a 1", 8), SOURCE_LINE_OK);
}

static struct sink_worker *add(struct fixture *f, const struct collector_sink *sink)
{
	struct sink_worker *o;
	struct err err;

	CHECK_INT(collector_add_sink(f->c, sink, &o, &err), 0);
	return o;
}

static void start_with_two_sinks(struct fixture *f)
{
	struct collector_sink second = port(f, 1, false);

	start(f);
	add(f, &second);
}

TEST(an_added_sink_gets_samples_received_from_then_on)
{
	struct collector_sink second;
	struct fixture f;

	start(&f);
	second = port(&f, 1, true);
	send_line(&f, 0, 0);
	add(&f, &second);
	send_line(&f, 0, 0);
	CHECK_SOON(&f, f.sinks[0].samples == 2 && f.sinks[1].samples == 1);
	CHECK_INT(f.sinks[1].lines, 1);
	CHECK_INT(collector_sink_count(f.c), 2);
	CHECK_STR(collector_sink(f.c, 1)->url, "test:1");
	finish(&f);
}

static void send_message(struct fixture *f)
{
	uint8_t bytes[4096];
	size_t n = test_message_write(&(struct test_message){ .samples = 3 }, bytes, sizeof(bytes));

	CHECK_INT(source_message(&f->sources[0], (struct message_metadata){ 0 }, bytes, n), STROBE_WIRE_OK);
}

TEST(stacks_are_shared_while_all_sinks_read_rows_and_other_sinks_get_profiles)
{
	struct collector_sink second, third;
	struct fixture f;

	start(&f);
	second = port(&f, 1, false);
	second.reads_rows = true;
	third = port(&f, 2, false);
	add(&f, &second);
	send_message(&f);					/* the first reads none */
	CHECK_SOON(&f, f.sinks[0].samples == 3 && f.sinks[1].samples == 3);
	CHECK_INT(f.sinks[1].rows, 0);
	collector_remove_sink(f.c, collector_sink(f.c, 0), closed, &f.sinks[0]);
	send_message(&f);
	CHECK_SOON(&f, f.sinks[1].samples == 6);
	CHECK_INT(f.sinks[1].rows, 1);
	add(&f, &third);
	send_message(&f);
	CHECK_SOON(&f, f.sinks[1].samples == 9 && f.sinks[2].samples == 3);
	CHECK_INT(f.sinks[1].rows, 1);
	CHECK_INT(f.sinks[0].rows + f.sinks[2].rows, 0);
	finish(&f);
}

TEST(a_removed_sink_is_drained_first)
{
	struct fixture f;

	start_with_two_sinks(&f);
	f.sinks[0].blocks = true;
	send_line(&f, 0, 0);
	collector_remove_sink(f.c, collector_sink(f.c, 0), closed, &f.sinks[0]);
	CHECK_INT(collector_sink_count(f.c), 1);
	CHECK_STR(collector_sink(f.c, 0)->url, "test:1");
	send_line(&f, 0, 0);
	CHECK_SOON(&f, f.sinks[1].samples == 2);
	CHECK_INT(f.sinks[0].gone, 0);
	f.sinks[0].blocks = false;
	CHECK_SOON(&f, f.sinks[0].gone == 1);
	CHECK_INT(f.sinks[0].left, 0);
	CHECK_INT(f.sinks[0].samples, 1);
	CHECK_SOON(&f, collector_counters(f.c)->samples_stored == 2);
	finish(&f);
	CHECK_INT(f.sinks[0].gone, 1);
}

TEST(a_sink_that_cannot_be_drained_is_closed_at_shutdown_with_its_samples_counted)
{
	struct fixture f;

	start_with_two_sinks(&f);
	f.sinks[0].fails = true;
	send_line(&f, 0, 0);
	send_line(&f, 1, 0);
	collector_remove_sink(f.c, collector_sink(f.c, 0), closed, &f.sinks[0]);
	run(&f, NS_PER_SECOND / 10);
	CHECK_INT(f.sinks[0].gone, 0);
	finish(&f);
	CHECK_INT(f.sinks[0].gone, 1);
	CHECK_INT(f.sinks[0].left, 2);
}

static void add_sink(struct fixture *f, unsigned i)
{
	struct collector_sink sink = port(f, i, false);

	add(f, &sink);
}

TEST(a_removed_sink_that_keeps_failing_is_abandoned_and_sources_continue)
{
	const struct collector_counters *n;
	struct sink_worker *removed;
	struct fixture f;

	start_draining_for(&f, NS_PER_SECOND / 2);
	add_sink(&f, 1);
	n = collector_counters(f.c);
	f.sinks[0].fails = true;
	send_line(&f, 0, 7);
	CHECK_SOON(&f, f.sinks[1].samples == 1 && n->failing);
	removed = collector_sink(f.c, 0);
	collector_remove_sink(f.c, removed, closed, &f.sinks[0]);
	CHECK(!n->failing && sink_worker_counters(removed)->failing);
	CHECK_INT(f.sinks[0].gone, 0);
	CHECK_INT(f.acknowledged, 0);
	CHECK_SOON(&f, f.sinks[0].gone == 1 && f.acknowledged == 1);
	CHECK_INT(f.sinks[0].left, 1);
	CHECK_INT(f.sinks[0].passed_on, 0);
	CHECK_STR(f.sinks[0].why, "the disk of the test is full");
	CHECK_INT(n->removed_sink_samples, 1);
	CHECK_INT(n->samples_stored, 1);
	CHECK_INT(f.sinks[1].samples, 1);
	finish(&f);
	CHECK_INT(f.sinks[0].gone, 1);
}

TEST(batches_meant_only_for_a_removed_sink_go_to_the_other_sinks)
{
	const struct collector_counters *n;
	struct fixture f;

	start_draining_for(&f, NS_PER_SECOND / 2);
	n = collector_counters(f.c);
	f.sinks[0].fails = true;
	send_line(&f, 0, 7);
	send_message(&f);
	run(&f, NS_PER_SECOND / 10);
	add_sink(&f, 1);
	collector_remove_sink(f.c, collector_sink(f.c, 0), closed, &f.sinks[0]);
	send_line(&f, 0, 8);
	CHECK_SOON(&f, f.acknowledged == 2 && f.sinks[0].gone == 1 && n->samples_stored == 5);
	CHECK_INT(f.sinks[1].samples, 5);
	CHECK_INT(f.sinks[0].left, 4);
	CHECK_INT(f.sinks[0].passed_on, 4);
	CHECK_INT(n->removed_sink_samples, 0);
	CHECK_INT(n->samples_dropped_queue + n->samples_dropped_rejected, 0);
	finish(&f);
}

TEST(batches_that_neither_of_two_removed_sinks_stored_go_to_a_remaining_one)
{
	const struct collector_counters *n;
	struct fixture f;

	start_draining_for(&f, NS_PER_SECOND / 2);
	add_sink(&f, 1);
	n = collector_counters(f.c);
	f.sinks[0].fails = f.sinks[1].fails = true;
	send_line(&f, 0, 7);
	run(&f, NS_PER_SECOND / 10);
	add_sink(&f, 2);
	collector_remove_sink(f.c, collector_sink(f.c, 0), closed, &f.sinks[0]);
	collector_remove_sink(f.c, collector_sink(f.c, 0), closed, &f.sinks[1]);
	CHECK_SOON(&f, f.acknowledged == 1 && f.sinks[0].gone == 1 && f.sinks[1].gone == 1);
	CHECK_INT(f.sinks[2].samples, 1);
	CHECK_INT(f.sinks[0].left, 1);
	CHECK_INT(f.sinks[1].left, 1);
	CHECK_INT(f.sinks[0].passed_on + f.sinks[1].passed_on, 1);
	CHECK_INT(n->removed_sink_samples, 1);
	CHECK_INT(n->samples_stored, 1);
	finish(&f);
}

/* The second sink has the run from the start, or is added later, or is added and takes no runs. */
static void give_up_with_a_run(struct fixture *f, bool later, bool takes_runs)
{
	struct collector_sink first = port(f, 0, false), second = port(f, 1, false);
	uint8_t bytes[4096];
	size_t n = test_message_write(&(struct test_message){ .run = true, .samples = 5 }, bytes, sizeof(bytes));
	struct sink_worker *failing;

	start_draining_for(f, NS_PER_SECOND / 2);
	first.commit_runs = commit_runs;
	second.commit_runs = takes_runs ? commit_runs : NULL;
	f->sinks[0].fails = true;
	failing = add(f, &first);
	collector_remove_sink(f->c, collector_sink(f->c, 0), closed, &f->sinks[2]);	/* the one of start(), which takes no runs */
	CHECK_SOON(f, f->sinks[2].gone == 1);
	if (!later)
		add(f, &second);
	CHECK_INT(source_message(&f->sources[0], (struct message_metadata){ 0 }, bytes, n), STROBE_WIRE_OK);
	if (later)
		add(f, &second);
	collector_remove_sink(f->c, failing, closed, &f->sinks[0]);
	CHECK_SOON(f, f->sinks[0].gone == 1 && collector_counters(f->c)->runs_queued == 0);
	CHECK_INT(f->sinks[0].left, 1);
}

TEST(runs_of_an_abandoned_sink_are_passed_on_or_counted)
{
	const struct collector_counters *n;
	struct fixture f;

	give_up_with_a_run(&f, false, true);
	n = collector_counters(f.c);
	CHECK_INT(f.sinks[1].runs, 1);
	CHECK_INT(f.sinks[0].passed_on, 0);
	CHECK_INT(n->runs_stored, 1);
	CHECK_INT(n->removed_sink_runs, 1);
	finish(&f);

	give_up_with_a_run(&f, true, true);
	n = collector_counters(f.c);
	CHECK_INT(f.sinks[1].runs, 1);
	CHECK_INT(f.sinks[0].passed_on, 1);
	CHECK_INT(n->runs_stored, 1);
	CHECK_INT(n->removed_sink_runs, 0);
	finish(&f);

	give_up_with_a_run(&f, true, false);
	n = collector_counters(f.c);
	CHECK_INT(f.sinks[1].runs, 0);
	CHECK_INT(f.sinks[0].passed_on, 0);
	CHECK_INT(n->runs_dropped_rejected, 1);
	CHECK_INT(n->removed_sink_runs, 0);
	finish(&f);
}

TEST(a_removed_sink_that_makes_progress_is_not_abandoned)
{
	struct fixture f;

	start_draining_for(&f, NS_PER_SECOND / 20);
	add_sink(&f, 1);
	f.sinks[0].blocks = true;
	for (unsigned i = 0; i < 5; i++) {
		send_line(&f, 0, 0);
		run(&f, NS_PER_SECOND / 20);
	}
	collector_remove_sink(f.c, collector_sink(f.c, 0), closed, &f.sinks[0]);
	run(&f, NS_PER_SECOND / 5);			/* one commit takes longer than the deadline */
	CHECK_INT(f.sinks[0].gone, 0);
	f.sinks[0].blocks = false;
	CHECK_SOON(&f, f.sinks[0].gone == 1);
	CHECK_INT(f.sinks[0].left, 0);
	CHECK_INT(f.sinks[0].samples, 5);
	finish(&f);
}

static bool is_given_up(struct collector *c, const struct sink_worker *o)
{
	bool given_up;

	lock_take(&c->lock);
	given_up = o->given_up;
	lock_release(&c->lock);
	return given_up;
}

TEST(a_removed_sink_is_restored_with_its_queue)
{
	const struct collector_counters *n;
	struct sink_worker *o;
	struct fixture f;

	start_with_two_sinks(&f);
	n = collector_counters(f.c);
	o = collector_sink(f.c, 0);
	f.sinks[0].fails = true;
	send_line(&f, 0, 7);
	CHECK_SOON(&f, f.sinks[1].samples == 1 && n->failing);
	for (unsigned i = 0; i < 2 * COLLECTOR_SINKS; i++) {
		collector_remove_sink(f.c, o, closed, &f.sinks[0]);
		CHECK_INT(collector_sink_count(f.c), 1);
		collector_restore_sink(f.c, o);
		CHECK_INT(collector_sink_count(f.c), 2);
		CHECK_STR(collector_sink(f.c, 0)->url, "test:0");
		CHECK(n->failing);
	}
	send_line(&f, 0, 8);
	f.sinks[0].fails = false;
	CHECK_SOON(&f, f.sinks[0].samples == 2 && f.acknowledged == 2);
	CHECK_INT(f.sinks[1].samples, 2);
	CHECK_INT(f.sinks[0].gone, 0);
	finish(&f);
	CHECK_INT(f.sinks[0].gone, 0);
}

/* Also with an empty queue, or after it has failed for too long. */
TEST(a_removed_sink_can_be_restored_until_the_loop_closes_it)
{
	struct sink_worker *first, *third;
	struct fixture f;

	start_draining_for(&f, 1);
	add_sink(&f, 1);
	add_sink(&f, 2);
	first = collector_sink(f.c, 0);
	third = collector_sink(f.c, 2);
	f.sinks[0].fails = true;
	send_line(&f, 0, 0);
	CHECK_SOON(&f, f.sinks[2].samples == 1);
	collector_remove_sink(f.c, first, closed, &f.sinks[0]);
	collector_remove_sink(f.c, third, closed, &f.sinks[2]);
	while (!is_given_up(f.c, first))
		usleep(1000);
	collector_restore_sink(f.c, first);
	collector_restore_sink(f.c, third);
	send_line(&f, 0, 0);
	CHECK_SOON(&f, f.sinks[2].samples == 2);
	f.sinks[0].fails = false;
	CHECK_SOON(&f, f.sinks[0].samples == 2);
	CHECK_INT(f.sinks[0].gone + f.sinks[2].gone, 0);
	finish(&f);
}

TEST(slots_of_removed_sinks_are_reused)
{
	struct fixture f;

	start(&f);
	for (unsigned i = 0; i < 3 * COLLECTOR_SINKS; i++) {
		struct collector_sink more = port(&f, 1 + i % 2, false);
		unsigned before = f.sinks[1 + i % 2].gone;

		add(&f, &more);
		collector_remove_sink(f.c, collector_sink(f.c, 1), closed, more.data);
		CHECK_SOON(&f, f.sinks[1 + i % 2].gone == before + 1);
	}
	finish(&f);
}

TEST(a_source_is_forgotten_once_none_of_its_data_is_in_flight)
{
	struct fixture f;

	start(&f);
	f.sinks[0].blocks = true;
	send_line(&f, 0, 7);
	send_line(&f, 1, 0);
	CHECK(!collector_forget(f.c, &f.sources[0]));
	run(&f, NS_PER_SECOND / 10);
	CHECK(!collector_forget(f.c, &f.sources[0]));
	CHECK_INT(f.acknowledged, 0);
	f.sinks[0].blocks = false;
	CHECK_SOON(&f, collector_forget(f.c, &f.sources[0]) && collector_forget(f.c, &f.sources[1]));
	CHECK_INT(f.acknowledged, 1);
	CHECK_INT(f.sources[0].counters.samples_stored, 1);
	finish(&f);
}

TEST(a_lower_memory_cap_takes_effect_immediately)
{
	struct collector_options o;
	struct fixture f;

	start(&f);
	f.sinks[0].blocks = true;
	collector_default_options(&o);
	o.queue_bytes = 1;
	collector_set_caps(f.c, &o);
	send_line(&f, 0, 0);
	CHECK_INT(f.sources[0].counters.samples_dropped, 1);
	CHECK_INT(collector_counters(f.c)->samples_dropped_queue, 1);
	f.sinks[0].blocks = false;
	finish(&f);
}

TEST_MAIN()
