/* test_unix_memfd.c: large messages as memfds, and the limit of descriptors. */

#include "test_unix.h"

#include <sys/resource.h>

TEST(a_large_message_arrives_in_a_sealed_memfd)
{
	struct fixture f;
	size_t size;
	int before, fd, memfd;

	start(&f);
	fd = dial(&f);
	settle(&f);
	before = open_fds();
	memfd = make_memfd(20, ALL_SEALS, &size);
	CHECK(size > 1000000);
	send_memfd(fd, memfd, size);
	settle(&f);
	CHECK_INT(f.messages, 1);
	CHECK_INT(f.bytes, size);
	CHECK_INT(open_fds(), before);
	close(fd);
	stop(&f);
}

TEST(a_memfd_may_hold_several_messages)
{
	struct fixture f;
	uint8_t bytes[8192];
	size_t n = 0, size = 0;
	int fd, memfd;

	start(&f);
	fd = dial(&f);
	for (int i = 1; i <= 3; i++)
		n += test_message_write(&(struct test_message){ .samples = i }, bytes + n, sizeof(bytes) - n);
	for (int bad = 0; bad < 3; bad++) {
		memfd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		size = bad == 1 ? n - 1 : bad == 2 ? n + 5 : n;
		CHECK(write(memfd, bytes, n) == (ssize_t)n && ftruncate(memfd, (off_t)size) == 0);
		CHECK(fcntl(memfd, F_ADD_SEALS, ALL_SEALS) == 0);
		send_memfd(fd, memfd, size);
	}
	settle(&f);
	CHECK_INT(f.messages, 3 + 2 + 3);
	CHECK_INT(f.s->counters.rejected[STROBE_WIRE_TRUNCATED], 2);
	close(fd);
	stop(&f);
}

TEST(unsealed_missing_and_wrongly_sized_memfds_are_rejected)
{
	uint8_t envelope[STROBE_WIRE_ENVELOPE];
	struct fixture f;
	int before, fd, pipes[2], three[3];
	size_t size;

	start(&f);
	fd = dial(&f);
	settle(&f);
	before = open_fds();
	send_memfd(fd, make_memfd(3, 0, &size), 200000);
	send_memfd(fd, make_memfd(3, F_SEAL_SHRINK | F_SEAL_GROW, &size), size);
	send_memfd(fd, make_memfd(3, ALL_SEALS, &size), size + 1);
	send_memfd(fd, make_memfd(3, ALL_SEALS, &size), size - 1);
	send_memfd(fd, -1, size);
	CHECK(pipe2(pipes, O_CLOEXEC) == 0);
	send_memfd(fd, pipes[0], size);
	close(pipes[1]);
	send_memfd(fd, open("/proc/self/exe", O_RDONLY | O_CLOEXEC), size);
	settle(&f);
	CHECK_INT(f.s->counters.rejected_memfd, 7);

	send_memfd(fd, make_memfd(3, ALL_SEALS, &size), (uint64_t)1 << 40);
	settle(&f);
	CHECK_INT(f.s->counters.rejected[STROBE_WIRE_TOO_LARGE], 1);

	for (int i = 0; i < 3; i++)
		three[i] = make_memfd(3, ALL_SEALS, &size);
	strobe_wire_put_envelope(envelope, size);
	send_with_fds(fd, envelope, sizeof(envelope), three, 3);
	settle(&f);
	CHECK_INT(f.s->counters.rejected_memfd, 8);
	for (int i = 0; i < 3; i++)
		close(three[i]);

	CHECK_INT(f.messages, 0);
	CHECK_INT(open_fds(), before);
	close(fd);
	stop(&f);
}

TEST(unused_passed_descriptors_are_closed)
{
	struct fixture f;
	uint8_t bytes[4096];
	size_t n = test_message_write(&(struct test_message){ .samples = 1 }, bytes, sizeof(bytes));
	int before, fd, many[8];

	start(&f);
	fd = dial(&f);
	settle(&f);
	before = open_fds();
	for (int i = 0; i < 8; i++)
		many[i] = STDOUT_FILENO;
	send_with_fds(fd, bytes, n, many, 2);
	send_with_fds(fd, bytes, n, many, 8);
	settle(&f);
	CHECK_INT(f.messages, 1);
	CHECK_INT(f.s->counters.rejected_memfd, 1);
	CHECK_INT(open_fds(), before);
	close(fd);
	stop(&f);
}

TEST(connections_are_refused_while_descriptors_are_exhausted)
{
	struct rlimit old, low;
	int a, b, fillers[200];
	size_t n = 0;
	struct fixture f;

	start(&f);
	a = dial(&f);
	b = dial(&f);
	getrlimit(RLIMIT_NOFILE, &old);
	low = old;
	low.rlim_cur = 100;
	setrlimit(RLIMIT_NOFILE, &low);
	while (n < ARRAY_SIZE(fillers) && (fillers[n] = dup(STDOUT_FILENO)) >= 0)
		n++;
	CHECK(n > 0 && n < ARRAY_SIZE(fillers));
	close(fillers[--n]);			/* room for the timer of settle */
	settle(&f);
	while (n)
		close(fillers[--n]);
	setrlimit(RLIMIT_NOFILE, &old);
	CHECK(f.s->counters.connections_refused >= 1);
	close(a);
	close(b);
	a = dial(&f);
	send_message(a, 1);
	settle(&f);
	CHECK_INT(f.messages, 1);
	close(a);
	stop(&f);
}

/* So that connections never keep a sink from opening its files. */
TEST(connections_use_at_most_half_of_the_descriptors)
{
	struct rlimit old, low;
	int clients[30], files[50];
	size_t n = 0;
	struct fixture f;

	start(&f);
	getrlimit(RLIMIT_NOFILE, &old);
	low = old;
	low.rlim_cur = 100;			/* and connections have the numbers below 50 */
	setrlimit(RLIMIT_NOFILE, &low);
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		clients[i] = dial(&f);
	settle(&f);
	CHECK(f.s->counters.connections_now > 0);
	CHECK_INT(f.s->counters.connections_now + f.s->counters.connections_refused, ARRAY_SIZE(clients));
	while (n < ARRAY_SIZE(files) && (files[n] = dup(STDOUT_FILENO)) >= 0)
		n++;
	CHECK_INT(n, ARRAY_SIZE(files));
	while (n)
		close(files[--n]);
	setrlimit(RLIMIT_NOFILE, &old);
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		close(clients[i]);
	settle(&f);
	clients[0] = dial(&f);			/* closing one makes room */
	send_message(clients[0], 1);
	settle(&f);
	CHECK_INT(f.messages, 1);
	close(clients[0]);
	stop(&f);
}

TEST_MAIN()
