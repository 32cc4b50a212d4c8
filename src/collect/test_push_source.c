/* test_push_source.c: pushes from another thread reach the receiver in the loop's thread, as a whole or not at all. */
#include "push_source.h"
#include "open_batch.h"
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

struct place {
	struct loop *loop;
	struct source *source;
	int room;
	uint64_t cost;
	unsigned messages;
	pthread_t loop_thread, receiver_thread;
	int given;
	struct err err;
};

static void got_message(void *data, const struct message_metadata *about, const struct strobe_wire_message *m)
{
	struct place *p = data;

	(void)about;
	(void)m;
	p->messages++;
	p->receiver_thread = pthread_self();
}

/* Ends the loop at the first call. */
static int room(void *data, size_t folded_series, uint64_t cost, struct err *err)
{
	struct place *p = data;

	CHECK_INT(folded_series, 1);
	loop_stop(p->loop, 0);
	p->cost = cost;
	return p->room == -EAGAIN ? err_set(err, -EAGAIN, "the queue of x is full") : p->room;
}

/* Two empty messages, one behind the other. */
static void *give(void *data)
{
	const struct strobe_wire_info info = { .kind = STROBE_WIRE_SAMPLES };
	struct place *p = data;
	uint8_t bytes[2 * STROBE_WIRE_HEADER];

	for (unsigned i = 0; i < 2; i++) {
		struct strobe_wire_writer w;

		strobe_wire_begin(&w, bytes + i * STROBE_WIRE_HEADER, STROBE_WIRE_HEADER, &info);
		strobe_wire_end(&w);
	}
	p->given = push_source_submit(p->source, SOURCE_PUSH_OTLP, bytes, sizeof(bytes), &p->err);
	return NULL;
}

static void run(struct place *p)
{
	struct source_receiver receiver = { .message = got_message, .room = room, .data = p };
	struct err err = { 0 };
	pthread_t giver;

	p->loop = loop_new(&err);
	p->loop_thread = pthread_self();
	CHECK_INT(push_source_open(p->loop, &receiver, &p->source, &err), 0);
	pthread_create(&giver, NULL, give, p);
	loop_run(p->loop, &err);
	pthread_join(giver, NULL);
}

static void end(struct place *p)
{
	source_close(p->source);
	loop_free(p->loop);
}

TEST(a_push_is_received_on_the_thread_of_the_loop_and_counted)
{
	struct place p = { .room = 0 };

	run(&p);
	CHECK_INT(p.given, 0);
	CHECK_INT(p.messages, 2);
	CHECK(pthread_equal(p.receiver_thread, p.loop_thread));
	CHECK_INT(p.source->counters.pushes[SOURCE_PUSH_OTLP], 1);
	CHECK_INT(p.source->counters.messages, 2);
	end(&p);
}

TEST(a_push_that_does_not_fit_is_rejected_as_a_whole)
{
	struct place p = { .room = -EAGAIN };

	run(&p);
	CHECK_INT(p.given, -EAGAIN);
	CHECK(p.err.text[0]);
	CHECK_INT(p.source->counters.pushes[SOURCE_PUSH_OTLP], 0);
	CHECK_INT(p.cost, 2 * (STROBE_WIRE_HEADER + OPEN_BATCH_SERIES_BYTES));
	CHECK_INT(p.messages, 0);
	end(&p);
}

TEST(a_push_larger_than_the_queue_is_rejected_permanently)
{
	struct place p = { .room = -E2BIG };

	run(&p);
	CHECK_INT(p.given, -E2BIG);
	CHECK(strstr(p.err.text, "queue-bytes"));
	CHECK_INT(p.messages, 0);
	CHECK_INT(p.source->counters.pushes[SOURCE_PUSH_OTLP], 0);
	end(&p);
}

TEST(a_push_above_the_series_limit_is_rejected_permanently)
{
	struct place p = { .room = -ENOSPC };

	run(&p);
	CHECK_INT(p.given, -E2BIG);
	CHECK(strstr(p.err.text, "limit of series"));
	CHECK_INT(p.messages, 0);
	end(&p);
}

TEST(late_pushes_are_rejected_during_shutdown)
{
	struct place p = { .room = 0 };

	run(&p);
	source_stop(p.source);
	give(&p);
	CHECK_INT(p.given, -EAGAIN);
	CHECK_INT(p.messages, 2);
	end(&p);
}

TEST_MAIN()
