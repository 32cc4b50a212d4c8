/* test_queries.c: queries in separate processes, their limits, and how answers are stored. */
#include "answer_file.h"
#include "confine.h"
#include "fake_store.h"
#include "mem.h"
#include "queries.h"
#include "query_starter.h"
#include "test.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* --- Answers --- */

static size_t read_all(int fd, struct buf *out)
{
	char block[ANSWER_BLOCK];
	uint64_t at = 0;
	size_t blocks = 0;
	ssize_t n;

	while ((n = answer_read(fd, &at, block)) > 0) {
		buf_put(out, block, (size_t)n);
		blocks++;
	}
	CHECK_INT(n, 0);
	return blocks;
}

TEST(a_response_is_stored_compressed_and_restored_unchanged)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct answer_writer *w = answer_writer_new(fd);
	struct buf given, back;
	uint64_t random = 1;

	buf_init(&given);
	buf_init(&back);
	for (int i = 0; i < 20000; i++)
		buf_printf(&given, "main;App\\Kernel::handle;f%d %d\n", i % 50, i);
	for (int i = 0; i < 100000; i++) {	/* incompressible */
		random = random * 6364136223846793005u + 1;
		buf_putc(&given, (char)(random >> 56));
	}
	CHECK(w->drain.take(&w->drain, "forgotten", 9));
	w->drain.restart(&w->drain);
	for (size_t at = 0, n = 1; at < given.size; at += n, n = n * 3 + 1) {
		n = n < given.size - at ? n : given.size - at;
		CHECK(w->drain.take(&w->drain, given.data + at, n));
	}
	CHECK(answer_writer_end(w));
	CHECK_INT(w->plain, given.size);
	CHECK_INT(read_all(fd, &back), (given.size + ANSWER_BLOCK - 1) / ANSWER_BLOCK);
	CHECK(back.size == given.size && !memcmp(back.data, given.data, given.size));
	CHECK(lseek(fd, 0, SEEK_END) < (off_t)given.size / 3);
	answer_writer_free(w);
	buf_done(&given);
	buf_done(&back);
	close(fd);
}

TEST(a_file_that_is_not_a_response_is_rejected)
{
	static const uint32_t bad[][2] = { { 0, 5 }, { 9, 5 }, { 5, ANSWER_BLOCK + 1 }, { 4, 5 } };
	char block[ANSWER_BLOCK];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		int fd = memfd_create("test", MFD_CLOEXEC);
		uint64_t at = 0;

		CHECK(write(fd, bad[i], sizeof(bad[i])) == sizeof(bad[i]) && write(fd, "12345", 5) == 5);
		CHECK(answer_read(fd, &at, block) == -EBADMSG);
		close(fd);
	}
}

/* --- Messages --- */

TEST(requests_and_responses_arrive_unchanged)
{
	struct query_limits l = { 1, 2, 3, 4 }, l2;
	struct request q = { .path = "/api/v1/profile", .query = "from=-1d", .accept = "a\x7f/b", .now_ns = -5,
			     .accepts_html = true, .shows_pages = true, .headers = { .method = "HEAD" } }, q2;
	struct response r, r2;
	const char *socket;
	uint64_t size;
	int status;
	struct buf b;

	buf_init(&b);
	response_init(&r);
	response_init(&r2);
	query_put_request(&b, &l, &q, NULL);
	CHECK(query_get_request(b.data, b.size, &l2, &q2, &socket));
	CHECK(!memcmp(&l, &l2, sizeof(l)) && !socket && q2.now_ns == -5 && q2.accepts_html && q2.shows_pages && !q2.accepts_gzip);
	CHECK_STR(q2.path, q.path);
	CHECK_STR(q2.query, q.query);
	CHECK_STR(q2.accept, q.accept);
	CHECK_STR(q2.headers.method, "HEAD");
	for (size_t n = 0; n < b.size; n++)
		CHECK(!query_get_request(b.data, n, &l2, &q2, &socket));

	r.status = 503;
	r.warning = "some days are damaged";
	r.pruned = true;
	query_put_answer(&b, &r, 1ull << 40);
	CHECK(!query_get_ended(b.data, b.size, &status));
	CHECK(query_get_answer(b.data, b.size, &r2, &size));
	CHECK(r2.status == 503 && r2.pruned && !r2.gzipped && !r2.etag && size == 1ull << 40);
	CHECK_STR(r2.warning, r.warning);
	CHECK_STR(r2.type, r.type);
	query_put_ended(&b, 9);
	CHECK(!query_get_answer(b.data, b.size, &r2, &size));
	CHECK(r2.status == 503 && size == 1ull << 40);		/* unchanged */
	CHECK(query_get_ended(b.data, b.size, &status) && status == 9);
	buf_done(&b);
	response_done(&r);
	response_done(&r2);
}

/* --- Processes --- */

static int open_fake(void *data, int64_t until_ns, struct store **ret, struct err *err)
{
	if (fake_store_fails)
		return err_set(err, -EIO, "the disk is gone");
	*ret = &fake_store;
	return 0;
}

struct tried {
	enum query_result result;
	struct err err;
	struct response response;
	struct buf body;
};

static const struct query_limits ample = { .memory = 256 << 20, .answer = 1 << 20, .milliseconds = 600000 };

/* `store` is called by each query of the starter, in its own process. */
static struct query_starter *start(void (*store)(void))
{
	struct query_starter *s = NULL;

	fake_store_waits = store;
	CHECK_INT(query_starter_new(&(struct query_start){ .open = open_fake }, &s, NULL), 0);
	fake_store_waits = NULL;
	return s;
}

static struct tried try(struct query_starter *s, const struct query_limits *l)
{
	struct request q = { .path = "/api/v1/profile", .query = "format=json", .now_ns = 1795248000LL * 1000000000,
			     .headers = { .method = "GET" } };
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct tried t;
	uint64_t size;

	t.err.text[0] = 0;
	buf_init(&t.body);
	response_init(&t.response);
	t.result = query_starter_run(s, l, &q, "unix:/run/test.sock", &fake_store, fd, &t.response, &size, &t.err);
	if (t.result == QUERY_DONE) {
		read_all(fd, &t.body);
		CHECK_INT(t.body.size, size);
	}
	close(fd);
	return t;
}

static void tried_done(struct tried *t)
{
	buf_done(&t->body);
	response_done(&t->response);
}

static void check_fine(struct query_starter *s)
{
	struct tried t = try(s, &ample);

	CHECK_INT(t.result, QUERY_DONE);
	CHECK_INT(t.response.status, 200);
	CHECK_STR(t.response.type, "application/json");
	CHECK(strstr(t.body.data, "\"looked\""));
	tried_done(&t);
}

TEST(a_query_runs_in_another_process)
{
	struct query_starter *s = start(NULL);

	check_fine(s);
	check_fine(s);
	query_starter_free(s);
}

TEST(an_error_of_the_handler_is_returned_as_a_response)
{
	struct query_starter *s;
	struct tried t;

	fake_store_fails = 1;
	s = start(NULL);
	fake_store_fails = 0;
	t = try(s, &ample);
	CHECK_INT(t.result, QUERY_DONE);
	CHECK_INT(t.response.status, 500);
	CHECK_STR(t.body.data, "{\"error\":\"the disk is gone\"}\n");
	tried_done(&t);
	query_starter_free(s);
}

static unsigned how_often(const char *path)
{
	char text[2] = "0";
	FILE *f = fopen(path, "r");

	if (f && fgets(text, sizeof(text), f) == NULL)
		text[0] = '0';
	if (f)
		fclose(f);
	return (unsigned)atoi(text);
}

static char counter[] = "/tmp/strobe-queries-XXXXXX";

/* The first query misbehaves, and later ones are fine. */
static bool is_first(void)
{
	FILE *f;

	if (how_often(counter))
		return false;
	f = fopen(counter, "w");
	fputs("1", f);
	fclose(f);
	return true;
}

static void take_memory(void)
{
	if (!is_first())
		return;
	for (;;)
		memset(xmalloc(1 << 20), 1, 1 << 20);
}

static void take_time(void)
{
	if (is_first())
		for (;;)
			pause();
}

static void crash(void)
{
	if (is_first())
		abort();
}

/* Only the query that exceeds a limit fails, with the reason. */
static void check_first_fails(void (*store)(void), struct query_limits l, enum query_result result, const char *why)
{
	struct query_starter *s;
	struct tried t;

	close(mkstemp(strcpy(counter, "/tmp/strobe-queries-XXXXXX")));
	s = start(store);
	t = try(s, &l);
	CHECK_INT(t.result, result);
	CHECK_STR(t.err.text, why);
	tried_done(&t);
	check_fine(s);
	query_starter_free(s);
	unlink(counter);
}

TEST(a_query_that_exceeds_its_memory_limit_fails_alone)
{
#ifndef __SANITIZE_ADDRESS__
	check_first_fails(take_memory, (struct query_limits){ .memory = 64 << 20, .answer = 1 << 20, .milliseconds = 600000 },
			  QUERY_OUT_OF_MEMORY, "the query takes more than 64 MB of memory, the limit of --query-memory; "
			  "select a shorter range or fewer labels");
#endif
}

TEST(a_query_that_exceeds_its_time_limit_fails_alone)
{
	check_first_fails(take_time, (struct query_limits){ .memory = 64 << 20, .answer = 1 << 20, .milliseconds = 1000 },
			  QUERY_OUT_OF_TIME, "the query exceeds the limit of 1 seconds; select a "
					     "shorter range or fewer labels");
}

TEST(a_query_that_crashes_fails_alone)
{
	check_first_fails(crash, ample, QUERY_CRASHED,
			  "the process of the query crashed (Aborted), which is a bug in strobe");
}

TEST(a_query_whose_response_exceeds_the_size_limit_fails)
{
	struct query_starter *s = start(NULL);
	struct query_limits l = ample;
	struct tried t;

	l.answer = 10;
	t = try(s, &l);
	CHECK_INT(t.result, QUERY_OUT_OF_MEMORY);
	CHECK(strstr(t.err.text, "the answer is above"));
	tried_done(&t);
	check_fine(s);
	query_starter_free(s);
}

/* --- The cap --- */

static struct server_context context_with(struct query_starter *s)
{
	struct server_context context = { .options = { .store = &fake_store, .query_starter = s }, .memory = { .most = QUERY_MEMORY } };

	pthread_rwlock_init(&context.lock, NULL);
	connections_init(&context.connections, 1);
	return context;
}

TEST(memory_of_queries_and_responses_is_counted_until_they_are_sent)
{
	struct request q = { .path = "/api/v1/profile", .now_ns = 1795248000LL * 1000000000, .headers = { .method = "GET" } };
	struct query_starter *s = start(NULL);
	struct server_context context = context_with(s);
	struct answer *a = NULL, *none = NULL;
	struct response r;

	response_init(&r);
	CHECK(queries_answer(&context, &q, false, &r, &a));
	CHECK(a && r.status == 200);
	CHECK(context.memory.used >= ANSWER_BLOCK && context.memory.used < 2 * ANSWER_BLOCK);

	/* Leaves no room for a query, which would take a sixteenth. */
	CHECK(memory_cap_reserve(&context.memory, QUERY_MEMORY - QUERY_MEMORY / 32));
	CHECK(queries_answer(&context, &q, false, &r, &none));
	CHECK(!none && r.status == 503 && strstr(r.body.data, "too busy"));
	CHECK_INT(context.http.queries_busy, 1);
	memory_cap_release(&context.memory, QUERY_MEMORY - QUERY_MEMORY / 32);
	response_done(&r);
	response_init(&r);
	CHECK(queries_answer(&context, &q, false, &r, &none));
	CHECK(none && r.status == 200);
	answer_free(none);
	answer_free(a);
	CHECK_INT(context.memory.used, 0);
	CHECK_INT(context.http.queries, 2);
	response_done(&r);
	query_starter_free(s);
}

TEST(a_shared_response_is_kept_until_the_last_client_received_it)
{
	struct request q = { .path = "/api/v1/profile", .now_ns = 1795248000LL * 1000000000, .headers = { .method = "GET" } };
	struct query_starter *s = start(NULL);
	struct server_context context = context_with(s);
	struct answer *a = NULL, *b;
	struct response r, copy;
	struct buf body;
	uint64_t one;

	response_init(&r);
	response_init(&copy);
	buf_init(&body);
	CHECK(queries_answer(&context, &q, false, &r, &a) && a);
	one = context.memory.used;
	b = answer_share(a);
	CHECK(b && b->size == a->size && context.memory.used > one && context.memory.used < 2 * one);
	response_copy(&copy, &r);
	CHECK(copy.status == 200 && copy.type != r.type && !strcmp(copy.type, r.type) && !copy.warning);
	answer_free(a);
	CHECK_INT(context.memory.used, one);
	read_all(b->file, &body);
	CHECK_INT(body.size, b->size);

	CHECK(memory_cap_reserve(&context.memory, QUERY_MEMORY - one));
	CHECK(!answer_share(b));
	memory_cap_release(&context.memory, QUERY_MEMORY - one);
	answer_free(b);
	CHECK_INT(context.memory.used, 0);
	buf_done(&body);
	response_done(&copy);
	response_done(&r);
	query_starter_free(s);
}

#ifndef __SANITIZE_ADDRESS__
static void take_much_memory(void)
{
	size_t n = 128 << 20;

	memset(xmalloc(n), 1, n);
}

static void take_all_memory(void)
{
	for (;;)
		memset(xmalloc(1 << 20), 1, 1 << 20);
}

static void wait_for_ever(void)
{
	for (;;)
		pause();
}

TEST(a_connect_rpc_is_canceled_at_the_timeout_of_its_client)
{
	struct request q = { .path = "/querier.v1.QuerierService/GetProfileStats", .now_ns = 1795248000LL * 1000000000, .timeout_ms = 300,
			     .content_type = "application/json", .body = "{}", .body_size = 2, .headers = { .method = "POST" } };
	struct query_starter *s = start(wait_for_ever);
	struct server_context context = context_with(s);
	struct answer *a = NULL;
	struct response r;

	response_init(&r);
	CHECK(queries_answer(&context, &q, false, &r, &a));
	CHECK(!a && r.status == 504);
	CHECK_STR(r.body.data, "{\"code\":\"deadline_exceeded\",\"message\":\"the query exceeds the limit of 0.3 "
			       "seconds; select a shorter range or fewer labels\"}");
	CHECK_INT(context.http.queries_late, 1);

	/* Waiting for a process counts, too. */
	q.timeout_ms = 9000;
	q.arrived_ns = clock_monotonic_ns() - 8900 * (NS_PER_SECOND / 1000);
	CHECK(queries_answer(&context, &q, false, &r, &a));
	CHECK(!a && r.status == 504);
	CHECK(strstr(r.body.data, "the query exceeds the limit of 9 seconds, of which it waited 8.9 for other queries; send fewer at a "
				  "time, or select a shorter range"));
	q.arrived_ns -= NS_PER_SECOND;
	context.options.query_starter = NULL;
	query_starter_free(s);
	context.options.query_starter = s = start(abort);
	CHECK(queries_answer(&context, &q, false, &r, &a));
	CHECK(!a && r.status == 504 && strstr(r.body.data, "deadline_exceeded"));
	CHECK_INT(context.http.queries_late, 3);
	response_done(&r);
	query_starter_free(s);
}

TEST(a_query_that_needs_more_memory_gets_a_second_attempt)
{
	struct request q = { .path = "/api/v1/profile", .now_ns = 1795248000LL * 1000000000, .headers = { .method = "GET" } };
	struct query_starter *s = start(take_much_memory);
	struct server_context context = context_with(s);
	struct answer *a = NULL;
	struct response r;

	response_init(&r);
	CHECK(!queries_answer(&context, &q, false, &r, &a));
	CHECK(!a && !context.memory.used);
	CHECK(queries_answer(&context, &q, true, &r, &a));
	CHECK(a && r.status == 200);
	answer_free(a);
	query_starter_free(s);

	/* The first attempt is not repeated, because this process would answer it. */
	context.options.query_starter = s = start(NULL);
	a = NULL;
	CHECK(!queries_answer(&context, &q, false, &r, &a) && !a);
	q.path = "/api/v1/table";
	CHECK(queries_answer(&context, &q, false, &r, &a) && a);
	answer_free(a);
	q.path = "/api/v1/profile";
	query_starter_free(s);

	/* A small limit, because touching half a gigabyte takes long on some machines. */
	context.memory.most = QUERY_MEMORY / 8;
	context.options.query_starter = s = start(take_all_memory);
	CHECK(queries_answer(&context, &q, true, &r, &a));
	CHECK(!a && r.status == 503 && !context.memory.used);
	CHECK(strstr(r.body.data, "the query takes more than 64 MB of memory, the limit of --query-memory"));
	CHECK_INT(context.http.queries_large, 1);
	response_done(&r);
	query_starter_free(s);
}
#endif

TEST(queries_are_rejected_while_the_process_that_starts_them_is_missing)
{
	struct request q = { .path = "/api/v1/profile", .now_ns = 1795248000LL * 1000000000, .headers = { .method = "GET" } };
	struct query_starter *s = start(crash);
	struct server_context context = context_with(s);
	struct answer *a = NULL;
	struct response r;

	CHECK(query_starter_is_up(s));
	kill(query_starter_pid(s), SIGKILL);
	response_init(&r);
	CHECK(queries_answer(&context, &q, false, &r, &a));
	CHECK(!a && r.status == 503 && !context.memory.used);
	CHECK(strstr(r.body.data, "the process that starts them has exited; restart strobe"));
	CHECK(!query_starter_is_up(s));
	response_done(&r);
	query_starter_free(s);
}

/* --- Limits --- */

TEST(a_process_that_exceeds_its_cpu_limit_ends_by_a_signal)
{
	volatile uint64_t n = 0;
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		confine_limit(RLIMIT_CORE, 0);
		confine_cpu(1);
		for (;;)
			n++;
	}
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU);
}

TEST_MAIN()
