/* test_stream_records.c: the records of batches beside a stream, while Redis fails and once it is back. */
#include "clock.h"
#include "mem.h"
#include "redis_stream_private.h"
#include "source.h"
#include "source_url.h"
#include "test.h"
#include "test_server.h"

#include <pthread.h>
#include <sys/mman.h>

#define PATIENCE_NS	(60 * NS_PER_SECOND)

/* Shared with the process of the server. Attempts are counted as connections, since on a busy machine one may be given up
 * before it has sent its record. */
static struct shared {
	_Atomic int connections;		/* that have sent a command */
	_Atomic bool too_early;			/* a record came when the stream was to be read */
} * shared;

struct fixture {
	struct test_server server;
	struct loop *loop;
	struct watch guard;
	struct source *source;
	bool timed_out;
};

static bool never_full(void *data)
{
	return false;
}

static void on_caught_up(void *data, struct source *s)
{
	struct fixture *f = data;

	loop_stop(f->loop, 0);
}

static void guard_rang(struct watch *w, uint32_t events)
{
	struct fixture *f = (struct fixture *)((char *)w - offsetof(struct fixture, guard));

	loop_timer_read(w);
	f->timed_out = true;
	loop_stop(f->loop, 0);
}

static void setup(struct fixture *f, test_answer_fn *answer)
{
	struct source_receiver r = { .full = never_full, .caught_up = on_caught_up, .data = f };
	_cleanup_(freep) char *url = NULL;
	struct err err = { 0 };

	if (!shared)
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert(shared != MAP_FAILED);
	shared->connections = 0;
	shared->too_early = false;
	*f = (struct fixture){ .guard = { .ready = guard_rang, .fd = -1 } };
	f->server = test_server_start(answer);
	f->loop = loop_new(NULL);
	loop_add_timer(f->loop, &f->guard, PATIENCE_NS, NULL);
	url = xasprintf("redis://127.0.0.1:%u/?stream=strobe&group=g&consumer=c", f->server.port);
	CHECK_INT(source_open(url, f->loop, &r, &f->source, &err), 0);
}

static void done(struct fixture *f)
{
	source_stop(f->source);
	source_close(f->source);
	loop_remove_timer(f->loop, &f->guard);
	loop_free(f->loop);
	test_server_stop(&f->server);
}

static bool record(struct fixture *f, uint64_t batch_id)
{
	_cleanup_(buf_done) struct buf bytes = { 0 };

	buf_init(&bytes);
	buf_puts(&bytes, "a record");
	return f->source->ops->record(f->source, batch_id, &bytes);
}

static bool have_come(int connections)
{
	int64_t deadline = clock_monotonic_ns() + PATIENCE_NS;

	while (shared->connections < connections && clock_monotonic_ns() < deadline)
		usleep(1000);
	return shared->connections >= connections;
}

/* --- Redis fails, then the stream is read again --- */

/* The server takes one connection at a time: the first one is that of records, the second reads the stream until there
 * is nothing left that was pending, the third is that of records again. */
static const char *fails_at_first(int connection, char **words, int count)
{
	shared->connections = connection + 1;
	if (!strcmp(words[0], "HSET")) {
		shared->too_early |= connection == 1;
		return connection == 0 ? "-LOADING Redis is loading the dataset in memory\r\n" : ":1\r\n";
	}
	if (!strcmp(words[0], "EVAL"))
		return ":0\r\n";
	if (!strcmp(words[0], "XINFO") || !strcmp(words[0], "HGETALL"))
		return "*0\r\n";
	if (!strcmp(words[0], "XREADGROUP"))
		return strcmp(words[count - 1], ">") ? "*1\r\n*2\r\n$6\r\nstrobe\r\n*0\r\n" : NULL;
	return test_answer_ordinary(connection, words, count);
}

TEST(recording_resumes_as_soon_as_the_stream_can_be_read)
{
	struct fixture f;

	setup(&f, fails_at_first);
	CHECK(!record(&f, 1));
	CHECK(!record(&f, 2));		/* a sink does not wait for a Redis that has just failed */
	loop_run(f.loop, NULL);
	CHECK(!f.timed_out);
	CHECK(!shared->too_early);
	record(&f, 3);
	CHECK(have_come(3));
	done(&f);
}

/* --- The stream is read again before the failure is noticed --- */

static const char *never_answers(int connection, char **words, int count)
{
	shared->connections = connection + 1;
	return "";
}

static void *record_one(void *data)
{
	CHECK(!record(data, 1));
	return NULL;
}

TEST(a_failure_before_redis_reconnects_does_not_delay_later_records)
{
	struct fixture f;
	pthread_t sink;

	setup(&f, never_answers);
	CHECK_INT(pthread_create(&sink, NULL, record_one, &f), 0);
	CHECK(have_come(1));
	stream_records_resume((struct redis_stream *)f.source);		/* while that one still waits */
	pthread_join(sink, NULL);
	record(&f, 2);
	CHECK(have_come(2));
	done(&f);
}

TEST_MAIN()
