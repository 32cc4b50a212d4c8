/* test_collector.h: a collector whose sink can fail or block, for its tests. */
#ifndef COLLECT_TEST_COLLECTOR_H
#define COLLECT_TEST_COLLECTOR_H

#include "collector_private.h"

#include "mem.h"
#include "test.h"
#include "test_message.h"

#include <pthread.h>
#include <unistd.h>

/* A sink that records its batches, and can fail or block on demand. */
struct sink {
	pthread_mutex_t lock;
	bool fails, blocks, refuses;
	uint64_t calls, samples, entries, last_id, batches;
	bool id_changed_in_retry;
	uint64_t failed_id;
	int64_t bucket_ns;
	char labels[200], second_labels[200];
	uint32_t nodes;
	uint64_t run_calls, runs;
	int64_t run_time_ns;
	int run_result;
};

static inline uint64_t samples_of(const struct batch *b)
{
	uint64_t n = 0;

	for (size_t i = 0; i < b->count; i++)
		n += (uint64_t)profile_sum(b->entries[i].profile, 0);
	return n;
}

static inline void note_labels(const struct batch *b, size_t i, char *out, size_t size)
{
	struct buf text;

	buf_init(&text);
	labels_put(b->entries[i].labels, &text);
	snprintf(out, size, "%s", text.data);
	buf_done(&text);
}

static inline int commit(void *data, const struct batch *b, struct err *err)
{
	struct sink *s = data;

	for (;;) {
		pthread_mutex_lock(&s->lock);
		if (!s->blocks)
			break;
		pthread_mutex_unlock(&s->lock);
		usleep(1000);
	}
	s->calls++;
	if (s->failed_id && s->failed_id != b->id)
		s->id_changed_in_retry = true;
	s->failed_id = 0;
	if (s->fails) {
		s->failed_id = b->id;
		pthread_mutex_unlock(&s->lock);
		return err_set(err, -ENOSPC, "the disk of the test is full");
	}
	if (s->refuses) {
		pthread_mutex_unlock(&s->lock);
		return err_set(err, -E2BIG, "the test wants no more series");
	}
	s->batches++;
	s->samples += samples_of(b);
	s->entries += b->count;
	s->last_id = b->id;
	s->bucket_ns = b->entries[0].bucket_ns;
	s->nodes = b->entries[0].profile->node_count;
	note_labels(b, 0, s->labels, sizeof(s->labels));
	if (b->count > 1)
		note_labels(b, b->count - 1, s->second_labels, sizeof(s->second_labels));
	pthread_mutex_unlock(&s->lock);
	return 0;
}

static inline int commit_runs(void *data, struct collector_run *runs, size_t count, struct err *err)
{
	struct sink *s = data;
	int r = 0;

	pthread_mutex_lock(&s->lock);
	s->run_calls++;
	if (s->fails)
		r = err_set(err, -ENOSPC, "the disk of the test is full");
	else if (s->refuses)
		r = err_set(err, -EINVAL, "the test wants no runs");
	for (size_t i = 0; i < count && r == 0; i++) {
		CHECK_INT(runs[i].message->nodes, 2);
		runs[i].result = s->run_result;
		s->run_time_ns = runs[i].time_ns;
		s->runs++;
	}
	pthread_mutex_unlock(&s->lock);
	return r;
}

static inline void set(struct sink *s, bool fails, bool blocks)
{
	pthread_mutex_lock(&s->lock);
	s->fails = fails;
	s->blocks = blocks;
	pthread_mutex_unlock(&s->lock);
}

/* While the sink's thread may be at work. */
static inline uint64_t calls(struct sink *s)
{
	uint64_t n;

	pthread_mutex_lock(&s->lock);
	n = s->calls;
	pthread_mutex_unlock(&s->lock);
	return n;
}

/* Everything a test needs. The loop never runs unless the test runs it, so that batches close only by flushing. */
struct fixture {
	struct sink sink;
	struct loop *loop;
	struct collector *c;
	const struct collector_counters *n;
};

static inline void start(struct fixture *f, const struct collector_options *o)
{
	struct collector_options defaults;
	struct collector_sink sink = { .commit = commit, .commit_runs = commit_runs, .data = &f->sink };

	memset(f, 0, sizeof(*f));
	pthread_mutex_init(&f->sink.lock, NULL);
	collector_default_options(&defaults);
	f->loop = loop_new(NULL);
	CHECK(collector_new(&sink, 1, o ? o : &defaults, f->loop, &f->c, NULL) == 0);
	f->n = collector_counters(f->c);
}

static inline void stop(struct fixture *f)
{
	collector_free(f->c);
	loop_free(f->loop);
	pthread_mutex_destroy(&f->sink.lock);
}

static inline void send_bytes(struct fixture *f, const void *bytes, size_t size)
{
	struct source_receiver receiver;
	struct message_metadata about = { 0 };
	struct strobe_wire_message m;

	CHECK_INT(strobe_wire_parse(bytes, size, &m), STROBE_WIRE_OK);
	receiver = collector_receiver(f->c);
	receiver.message(receiver.data, &about, &m);
}

static inline void give(struct fixture *f, const struct test_message *t)
{
	uint8_t bytes[64 * 1024];
	size_t size = test_message_write(t, bytes, sizeof(bytes));

	CHECK(size <= sizeof(bytes));
	send_bytes(f, bytes, size);
}

static inline void check_sums(const struct fixture *f)
{
	CHECK_INT(f->n->samples_received,
		  f->n->samples_stored + f->n->samples_queued + f->n->samples_dropped_queue +
			  f->n->samples_dropped_rejected);
}

#endif
