/* test_ack_tokens.c: tests that entries are acknowledged after the commit, and count once wherever a crash occurs. */

#include "batch_record.h"
#include "collector_private.h"

#include "log.h"
#include "mem.h"
#include "test.h"
#include "test_message.h"

#include <assert.h>
#include <pthread.h>
#include <unistd.h>

#define SECONDS (10 * NS_PER_SECOND)

/* A sink that keeps batches as a store does: each id once. It outlives collectors. */
struct sink {
	pthread_mutex_t lock;
	bool fails;
	uint64_t ids[1000], samples, known;
	size_t count;
	uint64_t kept_ids[10];
	size_t kept_count, keep_calls;
	int64_t bucket_ns;
};

static int commit(void *data, const struct batch *b, struct err *err)
{
	struct sink *s = data;
	int r = 0;

	pthread_mutex_lock(&s->lock);
	if (s->fails) {
		r = err_set(err, -ENOSPC, "the disk of the test is full");
		goto out;
	}
	for (size_t i = 0; i < s->count; i++)
		if (s->ids[i] == b->id) {
			s->known++;
			goto out;
		}
	s->ids[s->count++] = b->id;
	for (size_t i = 0; i < b->count; i++)
		s->samples += (uint64_t)profile_sum(b->entries[i].profile, 0);
	s->bucket_ns = b->entries[0].bucket_ns;
out:
	pthread_mutex_unlock(&s->lock);
	return r;
}

static void keep_ids(void *data, const uint64_t *ids, size_t count)
{
	struct sink *s = data;

	pthread_mutex_lock(&s->lock);
	assert(count <= ARRAY_SIZE(s->kept_ids));
	for (size_t i = 0; i < count; i++)
		s->kept_ids[i] = ids[i];
	s->kept_count = count;
	s->keep_calls++;
	pthread_mutex_unlock(&s->lock);
}

/* A source that notes its calls, in place of a stream. */
struct fake {
	struct source source;
	uint64_t acked, confirmed;
	bool is_slow;			/* confirms only `confirmed` ack tokens */
	uint8_t record[1024];		/* the last one */
	size_t record_size;
	uint64_t records, forgotten, last_forgotten;
};

static void ack(struct source *s, const struct ack_token *tokens, size_t n)
{
	struct fake *f = (struct fake *)s;

	f->acked += n;
	if (!f->is_slow)
		f->confirmed += n;
}

static uint64_t confirmed(struct source *s)
{
	return ((struct fake *)s)->confirmed;
}

/* Runs in a sink's thread, before the sink sees the batch; the test reads the result afterwards. */
static bool record(struct source *s, uint64_t batch_id, const struct buf *bytes)
{
	struct fake *f = (struct fake *)s;

	assert(bytes->size <= sizeof(f->record));
	memcpy(f->record, bytes->data, bytes->size);
	f->record_size = bytes->size;
	f->records++;
	return true;
}

static void forget(struct source *s, uint64_t batch_id)
{
	struct fake *f = (struct fake *)s;

	f->forgotten++;
	f->last_forgotten = batch_id;
}

static const struct source_ops fake_ops = {
	.scheme = "fake",
	.ack = ack,
	.confirmed = confirmed,
	.record = record,
	.forget = forget,
};

struct fixture {
	char directory[64], path[96];
	struct sink sinks[2];
	struct fake one, two;
	struct loop *loop;
	struct collector *c;
	const struct collector_counters *n;
};

static void live(struct fixture *f)
{
	struct collector_sink sinks[2] = {
		{ .url = "one", .commit = commit, .data = &f->sinks[0] },
		{ .url = "two", .commit = commit, .keep_ids = keep_ids, .data = &f->sinks[1] },
	};
	struct collector_options o;

	collector_default_options(&o);
	o.journal = f->path;
	f->one = (struct fake){ .source = { .ops = &fake_ops, .url = (char *)"fake:one" } };
	f->two = (struct fake){ .source = { .ops = &fake_ops, .url = (char *)"fake:two" } };
	f->loop = loop_new(NULL);
	CHECK(collector_new(sinks, 2, &o, f->loop, &f->c, NULL) == 0);
	f->n = collector_counters(f->c);
}

/* Ends the collector as kill -9 does: nothing more is written or acknowledged. */
static void crash(struct fixture *f)
{
	f->c = collector_free(f->c);
	f->loop = loop_free(f->loop);
}

static void start(struct fixture *f)
{
	log_set_level(0);		/* their messages are not checked here */
	memset(f, 0, sizeof(*f));
	snprintf(f->directory, sizeof(f->directory), "/tmp/strobe-acks-XXXXXX");
	CHECK(mkdtemp(f->directory) != NULL);
	snprintf(f->path, sizeof(f->path), "%s/collect.journal", f->directory);
	for (int i = 0; i < 2; i++)
		pthread_mutex_init(&f->sinks[i].lock, NULL);
	live(f);
}

static void stop(struct fixture *f)
{
	char lock[128];

	if (f->c)
		crash(f);
	unlink(f->path);
	snprintf(lock, sizeof(lock), "%s.lock", f->path);
	unlink(lock);
	CHECK(rmdir(f->directory) == 0);
}

static void set_fails(struct sink *s, bool fails)
{
	pthread_mutex_lock(&s->lock);
	s->fails = fails;
	pthread_mutex_unlock(&s->lock);
}

static void set_both_fail(struct fixture *f, bool fail)
{
	set_fails(&f->sinks[0], fail);
	set_fails(&f->sinks[1], fail);
}

/* An entry named `number`, with one message of `samples`. */
static void give_relayed(struct fixture *f, struct fake *from, uint64_t number, int64_t samples, uint64_t batch_id,
			 uint32_t part)
{
	struct source_receiver r = collector_receiver(f->c);
	struct ack_token token = { .high = number };
	struct message_metadata about = {
		.source = &from->source,
		.ack_token = &token,
		.time_ns = clock_wall_ns(),
		.batch_id = batch_id,
		.part = part,
	};
	struct strobe_wire_message m;
	uint8_t bytes[1024];
	size_t n = test_message_write(&(struct test_message){ .samples = samples }, bytes, sizeof(bytes));

	CHECK_INT(strobe_wire_parse(bytes, n, &m), STROBE_WIRE_OK);
	r.message(r.data, &about, &m);
}

static void give(struct fixture *f, struct fake *from, uint64_t number, int64_t samples)
{
	give_relayed(f, from, number, samples, 0, 0);
}

static void give_line(struct fixture *f, struct fake *from, uint64_t number, const char *line, int64_t time_ns)
{
	struct source_receiver r = collector_receiver(f->c);
	struct ack_token token = { .high = number };

	r.line(r.data, &(struct message_metadata){ .source = &from->source, .ack_token = &token, .time_ns = time_ns }, line,
	       strlen(line));
}

static void caught_up(struct fixture *f, struct fake *from)
{
	struct source_receiver r = collector_receiver(f->c);

	r.caught_up(r.data, &from->source);
}

static void flush(struct fixture *f)
{
	CHECK_INT(collector_flush(f->c, SECONDS), 0);
}

/* Crashes between the commit in both sinks and the acknowledgement. */
static void commit_unacknowledged(struct fixture *f)
{
	uint64_t until = f->n->commits + 2;

	f->one.is_slow = f->two.is_slow = true;
	flush(f);
	CHECK(f->n->commits >= until);
}

TEST(ack_tokens_are_acknowledged_once_all_sinks_have_committed_the_batch)
{
	struct fixture f;

	start(&f);
	set_fails(&f.sinks[1], true);
	give(&f, &f.one, 1, 5);
	give(&f, &f.one, 2, 6);
	CHECK_INT(collector_flush(f.c, NS_PER_SECOND / 5), 11);
	CHECK_INT(collector_unstored(f.c), 0);		/* the first sink has it */
	CHECK_INT(f.one.acked, 0);
	CHECK_INT(f.one.source.counters.samples_in_flight, 11);
	set_fails(&f.sinks[1], false);
	flush(&f);
	CHECK_INT(f.one.acked, 2);
	CHECK_INT(f.one.source.counters.samples_stored, 11);
	CHECK_INT(f.one.source.counters.samples_in_flight, 0);
	CHECK_INT(f.sinks[0].samples, 11);
	CHECK_INT(f.sinks[1].samples, 11);
	stop(&f);
}

TEST(entries_redelivered_after_a_crash_count_once_in_each_sink)
{
	struct fixture f;

	start(&f);
	give(&f, &f.one, 1, 5);
	give(&f, &f.one, 2, 6);
	set_fails(&f.sinks[1], true);
	CHECK_INT(collector_flush(f.c, NS_PER_SECOND / 5), 11);		/* the first sink has it, the second has not */
	CHECK_INT(collector_unstored(f.c), 0);
	crash(&f);

	set_fails(&f.sinks[1], false);
	live(&f);
	give(&f, &f.one, 1, 5);
	give(&f, &f.one, 2, 6);
	give(&f, &f.one, 3, 7);			/* new */
	caught_up(&f, &f.one);
	flush(&f);
	CHECK_INT(f.sinks[0].samples, 18);
	CHECK_INT(f.sinks[1].samples, 18);
	CHECK_INT(f.sinks[0].known, 1);
	CHECK_INT(f.one.acked, 3);
	CHECK_INT(f.n->samples_received, f.n->samples_stored);
	stop(&f);
}

/* The record of the last batch of another collector. */
static void read_record(const struct fake *from, struct batch_record *ret)
{
	struct strobe_wire_cursor c = { from->record, from->record + from->record_size };

	CHECK(batch_record_read(&c, ret));
	CHECK(c.p == c.end);
}

/* Removes everything of the first collector except the record beside the stream. */
static void forget_state(struct fixture *f)
{
	crash(f);
	CHECK(unlink(f->path) == 0);
}

TEST(claimed_entries_of_a_crashed_collector_form_the_same_batch_again)
{
	struct batch_record r;
	struct source_receiver to;
	struct fake before;
	struct fixture f;

	start(&f);
	give(&f, &f.one, 1, 5);
	give(&f, &f.one, 2, 6);
	set_fails(&f.sinks[1], true);
	collector_flush(f.c, NS_PER_SECOND / 5);		/* the first sink has it, the second has not */
	before = f.one;
	CHECK_INT(before.records, 1);				/* for both sinks */
	read_record(&before, &r);
	CHECK_INT(r.shares[0].ack_token_count, 2);
	CHECK_INT(r.id, f.sinks[0].ids[0]);
	forget_state(&f);

	set_fails(&f.sinks[1], false);
	live(&f);
	caught_up(&f, &f.one);			/* nothing was pending for us */
	to = collector_receiver(f.c);
	to.recorded(to.data, &f.one.source, &r);
	give(&f, &f.one, 1, 5);
	collector_close_batches(f.c);		/* as if a second had passed before the next entry */
	give(&f, &f.one, 3, 7);			/* new */
	give(&f, &f.one, 2, 6);
	caught_up(&f, &f.one);
	flush(&f);
	CHECK_INT(f.sinks[0].samples, 18);
	CHECK_INT(f.sinks[1].samples, 18);
	CHECK_INT(f.sinks[0].known, 1);
	CHECK_INT(f.one.acked, 3);
	CHECK_INT(f.one.records, 1);		/* that of the new one */
	CHECK_INT(f.one.forgotten, 2);
	CHECK_INT(f.n->samples_received, f.n->samples_stored);
	batch_record_done(&r);
	stop(&f);
}

TEST(a_batch_is_forgotten_when_its_acknowledgement_is_confirmed)
{
	struct batch_record r;
	struct fixture f;

	start(&f);
	give(&f, &f.one, 1, 5);
	commit_unacknowledged(&f);
	CHECK_INT(f.one.acked, 1);
	CHECK_INT(f.one.forgotten, 0);
	read_record(&f.one, &r);
	f.one.confirmed = 1;
	give(&f, &f.one, 2, 1);
	flush(&f);
	CHECK_INT(f.one.forgotten, 1);
	CHECK_INT(f.one.last_forgotten, r.id);
	batch_record_done(&r);
	stop(&f);
}

TEST(truncated_records_and_records_with_wrong_sizes_are_rejected)
{
	static const uint8_t lies[] = { 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1 };
	struct strobe_wire_cursor c = { lies, lies + sizeof(lies) };
	struct batch_record r;
	struct fixture f;

	CHECK(!batch_record_read(&c, &r));
	batch_record_done(&r);
	start(&f);
	give(&f, &f.one, 1, 5);
	flush(&f);
	for (size_t n = 0; n < f.one.record_size; n++) {
		c = (struct strobe_wire_cursor){ f.one.record, f.one.record + n };
		CHECK(!batch_record_read(&c, &r));
		batch_record_done(&r);
	}
	stop(&f);
}

TEST(a_batch_whose_acknowledgement_was_lost_is_deduplicated)
{
	struct fixture f;

	start(&f);
	give(&f, &f.one, 1, 5);
	commit_unacknowledged(&f);
	CHECK_INT(f.one.acked, 1);
	crash(&f);

	live(&f);
	give(&f, &f.one, 1, 5);
	caught_up(&f, &f.one);
	flush(&f);
	CHECK_INT(f.sinks[0].samples, 5);
	CHECK_INT(f.sinks[0].known, 1);
	CHECK_INT(f.one.acked, 1);
	stop(&f);
}

TEST(an_interrupted_batch_waits_until_all_of_its_entries_are_redelivered)
{
	struct fixture f;

	start(&f);
	set_both_fail(&f, true);
	give(&f, &f.one, 1, 5);
	give(&f, &f.one, 2, 6);
	collector_flush(f.c, NS_PER_SECOND / 5);
	crash(&f);

	set_both_fail(&f, false);
	live(&f);
	give(&f, &f.one, 1, 5);
	flush(&f);				/* shutdown before the source has caught up */
	CHECK_INT(f.sinks[0].samples, 0);
	CHECK_INT(f.one.acked, 0);
	crash(&f);

	live(&f);
	give(&f, &f.one, 1, 5);
	give(&f, &f.one, 2, 6);
	caught_up(&f, &f.one);
	flush(&f);
	CHECK_INT(f.sinks[0].samples, 11);
	CHECK_INT(f.one.acked, 2);
	stop(&f);
}

TEST(a_source_that_has_not_reconnected_does_not_delay_other_sources)
{
	struct fixture f;

	start(&f);
	set_both_fail(&f, true);
	give(&f, &f.one, 1, 5);
	give(&f, &f.two, 1, 100);		/* the same ack token from another source */
	collector_flush(f.c, NS_PER_SECOND / 5);
	crash(&f);

	set_both_fail(&f, false);
	live(&f);
	give(&f, &f.one, 1, 5);
	caught_up(&f, &f.one);
	flush(&f);
	CHECK_INT(f.sinks[0].samples, 5);
	give(&f, &f.two, 1, 100);
	caught_up(&f, &f.two);
	flush(&f);
	CHECK_INT(f.sinks[0].samples, 105);
	CHECK_INT(f.one.acked, 1);
	CHECK_INT(f.two.acked, 1);
	stop(&f);
}

TEST(a_redelivered_batch_of_a_relay_counts_once_with_all_of_its_messages)
{
	struct fixture f;

	start(&f);
	give_relayed(&f, &f.one, 1, 5, 0xaa, 0);
	give_relayed(&f, &f.one, 1, 6, 0xaa, 1);
	give_relayed(&f, &f.one, 2, 5, 0xaa, 0);	/* sent again at once */
	give_relayed(&f, &f.one, 2, 6, 0xaa, 1);
	give_relayed(&f, &f.one, 3, 7, 0xbb, 0);
	give_relayed(&f, &f.one, 4, 5, 0xaa, 0);	/* and later */
	flush(&f);
	CHECK_INT(f.sinks[0].samples, 18);
	CHECK_INT(f.one.acked, 4);
	CHECK_INT(f.n->messages_deduplicated, 3);
	give_relayed(&f, &f.one, 5, 7, 0xbb, 0);
	flush(&f);
	CHECK_INT(f.sinks[0].samples, 18);
	CHECK_INT(f.one.acked, 5);
	CHECK_INT(f.n->queue_bytes, 0);
	stop(&f);
}

TEST(a_batch_of_a_relay_counts_once_after_a_crash_too)
{
	struct fixture f;

	start(&f);
	set_both_fail(&f, true);
	give_relayed(&f, &f.one, 1, 5, 0xaa, 0);
	give_relayed(&f, &f.one, 1, 6, 0xaa, 1);
	give_relayed(&f, &f.one, 2, 5, 0xaa, 0);
	collector_flush(f.c, NS_PER_SECOND / 5);
	give_relayed(&f, &f.one, 3, 5, 0xaa, 0);	/* its ack token alone is in a second batch */
	set_both_fail(&f, false);
	commit_unacknowledged(&f);
	CHECK_INT(f.sinks[0].samples, 11);
	crash(&f);

	live(&f);
	give_relayed(&f, &f.one, 1, 5, 0xaa, 0);
	give_relayed(&f, &f.one, 1, 6, 0xaa, 1);
	give_relayed(&f, &f.one, 2, 5, 0xaa, 0);
	give_relayed(&f, &f.one, 3, 5, 0xaa, 0);
	give_relayed(&f, &f.one, 4, 5, 0xaa, 0);
	caught_up(&f, &f.one);
	flush(&f);
	CHECK_INT(f.sinks[0].samples, 11);
	CHECK_INT(f.one.acked, 4);
	CHECK_INT(f.n->queue_bytes, 0);
	stop(&f);
}

TEST(redelivered_entries_keep_their_original_time)
{
	int64_t now = clock_wall_ns(), bucket;
	struct fixture f;

	start(&f);
	give_line(&f, &f.one, 1, "main;work 3", now - 40 * NS_PER_DAY);		/* too old, so it counts as of now */
	commit_unacknowledged(&f);
	bucket = f.sinks[0].bucket_ns;
	CHECK(bucket > now - SECONDS);
	crash(&f);

	live(&f);
	f.sinks[0].count = f.sinks[1].count = 0;			/* the store was lost */
	f.sinks[0].bucket_ns = 0;
	usleep(1100 * 1000);
	give_line(&f, &f.one, 1, "main;work 3", now - 40 * NS_PER_DAY);
	caught_up(&f, &f.one);
	flush(&f);
	CHECK_INT(f.sinks[0].bucket_ns, bucket);
	stop(&f);
}

TEST(a_line_delayed_for_days_keeps_its_time)
{
	int64_t then = clock_wall_ns() - 5 * NS_PER_DAY;
	struct fixture f;

	start(&f);
	give_line(&f, &f.one, 1, "main;work 3", then);
	flush(&f);
	CHECK_INT(f.sinks[0].bucket_ns, then - then % BATCH_BUCKET_NS);
	CHECK_INT(f.n->times_corrected, 0);
	stop(&f);
}

TEST(a_full_queue_pauses_sources_with_ack_tokens_and_drops_none_of_their_data)
{
	struct collector_sink sink = { .url = "one", .commit = commit };
	struct source_receiver r;
	struct collector_options o;
	struct fixture f;

	start(&f);
	crash(&f);
	collector_default_options(&o);
	o.queue_bytes = 2000;
	f.loop = loop_new(NULL);
	sink.data = &f.sinks[0];
	set_fails(&f.sinks[0], true);
	CHECK(collector_new(&sink, 1, &o, f.loop, &f.c, NULL) == 0);
	f.n = collector_counters(f.c);
	r = collector_receiver(f.c);
	CHECK(!r.full(r.data));
	for (uint64_t i = 1; i <= 20; i++) {
		give(&f, &f.one, i, 1);
		collector_flush(f.c, 1000000);
	}
	CHECK(r.full(r.data));
	set_fails(&f.sinks[0], false);
	flush(&f);
	CHECK_INT(f.sinks[0].samples, 20);
	CHECK_INT(f.one.acked, 20);
	CHECK(!r.full(r.data));
	stop(&f);
}

TEST(sources_wait_while_too_many_batches_are_in_flight)
{
	struct source_receiver r;
	struct fixture f;

	start(&f);
	f.c->max_open_batches = 3;
	r = collector_receiver(f.c);
	set_fails(&f.sinks[0], true);
	for (uint64_t i = 1; i <= 3; i++) {
		CHECK(!r.full(r.data));
		give(&f, i & 1 ? &f.one : &f.two, i, 1);
		collector_flush(f.c, 1000000);
	}
	CHECK(r.full(r.data));
	set_fails(&f.sinks[0], false);
	f.one.is_slow = true;
	flush(&f);
	CHECK(!r.full(r.data));
	give(&f, &f.two, 4, 1);
	CHECK(r.full(r.data));		/* two are acknowledged, but not confirmed */
	f.one.confirmed = 2;
	give(&f, &f.one, 5, 1);
	flush(&f);
	CHECK(!r.full(r.data));
	CHECK_INT(f.sinks[0].samples, 5);
	stop(&f);
}

/* Makes maintenance due, as after a minute. */
static void maintain_now(struct fixture *f, unsigned sink)
{
	struct sink *s = &f->sinks[sink];
	size_t before = s->keep_calls;
	bool called = false;

	lock_take(&f->c->lock);
	f->c->sink_workers[sink].maintained_ns = -NS_PER_DAY;
	pthread_cond_broadcast(&f->c->changed);
	lock_release(&f->c->lock);
	while (!called) {
		usleep(1000);
		pthread_mutex_lock(&s->lock);
		called = s->keep_calls > before;
		pthread_mutex_unlock(&s->lock);
	}
}

TEST(a_sink_is_informed_which_batches_may_be_redelivered)
{
	struct sink *two;
	struct fixture f;

	start(&f);
	two = &f.sinks[1];
	set_fails(&f.sinks[0], true);
	for (uint64_t i = 1; i <= 2; i++) {
		give(&f, &f.one, i, 1);
		collector_flush(f.c, 1000000);
	}
	while (f.c->sink_workers[1].counters.samples_queued)
		collector_flush(f.c, 1000000);		/* one that times out pauses the sinks */
	maintain_now(&f, 1);
	CHECK_INT(two->kept_count, 2);
	CHECK_INT(two->kept_ids[0], two->ids[0]);
	CHECK_INT(two->kept_ids[1], two->ids[1]);
	crash(&f);
	live(&f);
	maintain_now(&f, 1);
	CHECK_INT(two->kept_count, 2);		/* before the source has redelivered them */
	journal_set_ended_kept(0);
	set_fails(&f.sinks[0], false);
	give(&f, &f.one, 1, 1);
	give(&f, &f.one, 2, 1);
	caught_up(&f, &f.one);
	flush(&f);
	maintain_now(&f, 1);
	CHECK_INT(two->kept_count, 0);
	journal_set_ended_kept(30 * NS_PER_SECOND);
	stop(&f);
}

TEST(data_that_merges_into_the_queue_causes_neither_backpressure_nor_drops)
{
	struct source_receiver r;
	struct collector_options o;
	struct strobe_wire_message run;
	struct fixture f;
	uint8_t bytes[1024];

	start(&f);
	collector_default_options(&o);
	o.queue_bytes = 40000;
	collector_set_caps(f.c, &o);
	r = collector_receiver(f.c);
	for (uint64_t i = 1; i <= 100; i++)
		give(&f, &f.one, i, 1);
	CHECK(!r.full(r.data));
	for (uint64_t i = 101; i <= 150; i++)
		give(&f, &f.one, i, 1);
	CHECK_INT(strobe_wire_parse(bytes, test_message_write(&(struct test_message){ .samples = 1, .run = true }, bytes,
							      sizeof(bytes)), &run), STROBE_WIRE_OK);
	r.message(r.data, &(struct message_metadata){ 0 }, &run);
	CHECK_INT(f.n->runs_received, 1);
	CHECK_INT(f.n->runs_dropped_queue, 0);
	CHECK(f.n->queue_bytes <= 40000);
	flush(&f);
	CHECK_INT(f.sinks[0].samples, 150);
	CHECK_INT(f.one.acked, 150);
	CHECK_INT(f.n->queue_bytes, 0);
	stop(&f);
}

TEST_MAIN()
