/* test_server.c: stopping the server, whatever requests are in progress. */
#include "clock.h"
#include "fake_store.h"
#include "server.h"
#include "test.h"
#include "upload_read.h"
#include "workers.h"

#include <arpa/inet.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static sem_t asked, may_answer;

static void wait_until_told(void)
{
	sem_post(&asked);
	sem_wait(&may_answer);
}

static int connect_to(const char *url)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				 .sin_port = htons((uint16_t)atoi(strrchr(url, ':') + 1)) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
	return fd;
}

TEST(an_unfinished_request_does_not_delay_shutdown)
{
	char request[200];
	struct server_options o = { .listen = "127.0.0.1:0", .store = &fake_store };
	struct server *s = NULL;
	struct err err = { 0 };
	int fd;

	sem_init(&asked, 0, 0);
	sem_init(&may_answer, 0, 0);
	fake_store_waits = wait_until_told;
	CHECK(server_new(&o, &s, &err) == 0);
	fd = connect_to(server_url(s));
	snprintf(request, sizeof(request), "GET /api/v1/profile HTTP/1.1\r\nHost: %s\r\n\r\n",
		 server_url(s) + strlen("http://"));
	CHECK(write(fd, request, strlen(request)) == (ssize_t)strlen(request));
	sem_wait(&asked);
	CHECK(!server_stop(s, 1));
	CHECK(!server_stop(s, 1));
	sem_post(&may_answer);
	CHECK(server_stop(s, 600 * NS_PER_SECOND));
	server_free(s);
	close(fd);
	fake_store_waits = NULL;
}

static void note_job(void *job)
{
	sem_wait(&may_answer);
	++*(_Atomic int *)job;
}

TEST(uploads_wait_in_a_bounded_queue_and_all_complete_at_shutdown)
{
	_Atomic int done = 0;
	struct workers *u = NULL;
	int taken = 0;

	sem_init(&may_answer, 0, 0);
	CHECK(workers_new(2, 8, &u, NULL) == 0);
	while (taken < 100 && workers_add(u, note_job, &done))
		taken++;
	CHECK(taken >= 8 && taken <= 8 + 2);
	for (int i = 0; i < taken; i++)
		sem_post(&may_answer);
	workers_stop(u);
	CHECK_INT(done, taken);
	CHECK(!workers_add(u, note_job, &done));
	workers_free(u);
}

TEST(a_profile_is_parsed_in_a_separate_process)
{
	struct profile *p = profile_new();
	struct err err = { 0 };

	CHECK_INT(upload_read("x.folded", "main;f 3\nmain;g 4\n", 18, UPLOAD_MEMORY, -1, p, &err), 0);
	CHECK_INT(profile_sum(p, profile_find_column(p, "samples")), 7);
	profile_free(p);
	p = profile_new();
	CHECK_INT(upload_read("x.folded", "main;f 3\nmain;g\n", 16, UPLOAD_MEMORY, -1, p, &err), -EINVAL);
	CHECK_STR(err.text, "'x.folded' (folded): line 2 is not a folded stack (frames separated by ; and a count): "
			    "'main;g'");
	CHECK_INT(upload_read("x.folded", "\0\0\0", 3, UPLOAD_MEMORY, -1, p, &err), -ENOTSUP);
	CHECK_INT(upload_read("x.folded", "main 0\n", 7, UPLOAD_MEMORY, -1, p, &err), -EINVAL);
	CHECK(!profile_has_samples(p));
	profile_free(p);
}

/* Cancellation is signaled before reading begins. */
TEST(parsing_is_canceled_at_shutdown)
{
	struct profile *p = profile_new();
	int fd = eventfd(1, 0);
	struct err err = { 0 };
	struct buf b;

	buf_init(&b);
	while (b.size < (16 << 20))
		buf_printf(&b, "main;f%zu 3\n", b.size);
	CHECK_INT(upload_read("x.folded", b.data, b.size, UPLOAD_MEMORY, fd, p, &err), -ECANCELED);
	buf_done(&b);
	profile_free(p);
	close(fd);
}

TEST(parsing_has_a_memory_limit)
{
	struct profile *p = profile_new();
	struct err err = { 0 };
	struct buf b;

#ifdef __SANITIZE_ADDRESS__
	SKIP("AddressSanitizer takes terabytes of address space");
#endif
	buf_init(&b);
	while (b.size < (15 << 20))
		buf_put(&b, ";;;;;;;;;;;;;;;;", 16);
	buf_puts(&b, "a 1\n");
	CHECK_INT(upload_read("x.folded", b.data, b.size, UPLOAD_MEMORY / 4, -1, p, &err), -ENOMEM);
	buf_done(&b);
	profile_free(p);
}

TEST_MAIN()
