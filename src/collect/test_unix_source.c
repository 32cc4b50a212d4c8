/* test_unix_source.c: real sockets, well-behaved senders and others. */

#include "source.h"

#include "mem.h"
#include "test.h"
#include "test_message.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define ALL_SEALS	(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

struct fixture {
	char directory[64], path[96], url[112];
	struct loop *loop;
	struct source *s;
	uint64_t messages, bytes, open_runs, killed;
	struct watch timer;
	int turns;
};

static void got(void *data, const struct source_about *about, const struct strobe_wire_message *m)
{
	struct fixture *f = data;

	f->messages++;
	f->bytes += m->size;
}

static void on_open_run(void *data, const struct source_about *about, const struct strobe_wire_message *m)
{
	((struct fixture *)data)->open_runs++;
}

static void runs_killed(void *data, uint64_t count)
{
	((struct fixture *)data)->killed += count;
}

static int open_source(struct fixture *f, const char *url, struct loop *loop, struct source **ret, struct err *err)
{
	struct source_receiver receiver = { .message = got, .open = on_open_run, .runs_killed = runs_killed, .data = f };

	return source_open(url, loop, &receiver, ret, err);
}

static void start(struct fixture *f)
{
	struct err err = { 0 };

	memset(f, 0, sizeof(*f));
	snprintf(f->directory, sizeof(f->directory), "/tmp/strobe-test-XXXXXX");
	CHECK(mkdtemp(f->directory) != NULL);
	snprintf(f->path, sizeof(f->path), "%s/s", f->directory);
	snprintf(f->url, sizeof(f->url), "unix:%s", f->path);
	f->loop = loop_new(NULL);
	CHECK(open_source(f, f->url, f->loop, &f->s, &err) == 0);
	if (!f->s)
		printf("# %s\n", err.text);
}

static void stop(struct fixture *f)
{
	f->s = source_close(f->s);
	loop_free(f->loop);
	unlink(f->path);
	CHECK(rmdir(f->directory) == 0);
}

static void turn_over(struct watch *w, uint32_t events)
{
	struct fixture *f = (struct fixture *)((char *)w - offsetof(struct fixture, timer));

	loop_timer_read(w);
	if (--f->turns <= 0)
		loop_stop(f->loop, 0);
}

/* Lets the loop work off what is waiting: two ticks are two wakeups with everything ready served before. */
static void settle(struct fixture *f)
{
	f->turns = 10;
	f->timer = (struct watch){ .ready = turn_over, .fd = -1 };
	CHECK(loop_add_timer(f->loop, &f->timer, 2 * 1000000, NULL) == 0);
	loop_run(f->loop, NULL);
	loop_remove_timer(f->loop, &f->timer);
}

static int dial(const struct fixture *f)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(a.sun_path, f->path, strlen(f->path) + 1);
	CHECK(connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
	return fd;
}

static void send_message(int fd, int64_t samples)
{
	uint8_t bytes[4096];
	size_t n = test_message_write(&(struct test_message){ .samples = samples }, bytes, sizeof(bytes));

	CHECK_INT(send(fd, bytes, n, MSG_NOSIGNAL), n);
}

static void send_with_fds(int fd, const void *bytes, size_t n, const int *fds, size_t count)
{
	union {
		struct cmsghdr h;
		char space[CMSG_SPACE(8 * sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)bytes, n };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (count) {
		m.msg_control = control.space;
		m.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.h.cmsg_level = SOL_SOCKET;
		control.h.cmsg_type = SCM_RIGHTS;
		control.h.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.h), fds, count * sizeof(int));
	}
	CHECK(sendmsg(fd, &m, MSG_NOSIGNAL) >= 0);
}

/* A memfd that holds a message of about 60 KB per extra string. */
static int make_memfd(uint64_t extra, int seals, size_t *ret_size)
{
	struct test_message t = { .samples = 11, .extra_strings = extra };
	size_t size = test_message_write(&t, NULL, 0);
	char *bytes = xmalloc(size);
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	test_message_write(&t, bytes, size);
	CHECK(write(fd, bytes, size) == (ssize_t)size);
	if (seals)
		CHECK(fcntl(fd, F_ADD_SEALS, seals) == 0);
	free(bytes);
	*ret_size = size;
	return fd;
}

static void send_memfd(int fd, int memfd, uint64_t announced)
{
	uint8_t envelope[STROBE_WIRE_ENVELOPE];

	strobe_wire_put_envelope(envelope, announced);
	send_with_fds(fd, envelope, sizeof(envelope), &memfd, memfd >= 0);
	if (memfd >= 0)
		close(memfd);
}

static int open_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 2000; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

TEST(a_message_arrives_and_is_counted)
{
	struct fixture f;
	struct stat st;
	int fd;

	start(&f);
	CHECK(stat(f.path, &st) == 0 && (st.st_mode & 0777) == 0660);
	fd = dial(&f);
	send_message(fd, 1);
	send_message(fd, 2);
	settle(&f);
	CHECK_INT(f.messages, 2);
	CHECK_INT(f.s->counters.messages, 2);
	CHECK_INT(f.s->counters.bytes, f.bytes);
	CHECK_INT(f.s->counters.connections, 1);
	CHECK_INT(f.s->counters.connections_now, 1);
	CHECK(f.s->counters.last_message_ns > 0);
	close(fd);
	settle(&f);
	CHECK_INT(f.s->counters.connections_now, 0);
	stop(&f);
}

TEST(garbage_is_counted_by_reason_and_the_connection_goes_on)
{
	uint8_t bytes[4096];
	struct fixture f;
	size_t n;
	int fd;

	start(&f);
	fd = dial(&f);
	n = test_message_write(&(struct test_message){ .samples = 1 }, bytes, sizeof(bytes));
	send(fd, "hello", 5, 0);
	send(fd, bytes, n - 1, 0);
	bytes[0] = 'X';
	send(fd, bytes, n, 0);
	bytes[0] = 'S';
	bytes[4] = 9;
	send(fd, bytes, n, 0);
	send_message(fd, 1);
	settle(&f);
	CHECK_INT(f.messages, 1);
	CHECK_INT(f.s->counters.rejected[STROBE_WIRE_TRUNCATED], 2);
	CHECK_INT(f.s->counters.rejected[STROBE_WIRE_BAD_MAGIC], 1);
	CHECK_INT(f.s->counters.rejected[STROBE_WIRE_UNKNOWN_VERSION], 1);
	close(fd);
	stop(&f);
}

TEST(a_datagram_above_the_buffer_is_counted)
{
	int size = 4 << 20;
	struct fixture f;
	char *bytes = xcalloc(1, 300 * 1024);
	int fd;

	start(&f);
	fd = dial(&f);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	if (send(fd, bytes, 300 * 1024, MSG_NOSIGNAL) < 0) {
		free(bytes);
		close(fd);
		stop(&f);
		SKIP("this user may not raise a socket's buffer");
	}
	settle(&f);
	CHECK_INT(f.s->counters.rejected[STROBE_WIRE_TOO_LARGE], 1);
	CHECK_INT(f.messages, 0);
	free(bytes);
	close(fd);
	stop(&f);
}

TEST(endless_garbage_ends_the_connection)
{
	struct fixture f;
	int fd, sent = 0;

	start(&f);
	fd = dial(&f);
	for (int round = 0; round < 100 && f.s->counters.connections_now + (round == 0); round++) {
		while (sent < 2000 && send(fd, "garbage", 7, MSG_NOSIGNAL) == 7)
			sent++;
		settle(&f);
	}
	CHECK_INT(f.s->counters.connections_closed_for_garbage, 1);
	CHECK_INT(f.s->counters.connections_now, 0);
	CHECK_INT(f.s->counters.rejected[STROBE_WIRE_TRUNCATED], 1000);
	close(fd);
	fd = dial(&f);
	send_message(fd, 1);
	settle(&f);
	CHECK_INT(f.messages, 1);
	close(fd);
	stop(&f);
}

TEST(a_large_message_comes_as_a_sealed_memfd)
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

static void send_run(int fd, enum strobe_wire_kind kind, const char *id, bool discarded)
{
	struct strobe_wire_info info = { .kind = kind, .pid = 7 };
	struct strobe_wire_writer w;
	uint8_t bytes[1024];

	strobe_wire_begin(&w, bytes, sizeof(bytes), &info);
	strobe_wire_string(&w, "id", 2);
	strobe_wire_string(&w, id, strlen(id));
	strobe_wire_string(&w, "discarded", 9);
	strobe_wire_label(&w, 1, 2);
	if (discarded)
		strobe_wire_label(&w, 3, 2);
	CHECK(send(fd, bytes, strobe_wire_end(&w), MSG_NOSIGNAL) > 0);
}

/* As another thread sends it than the one that has announced the run. */
static void send_part_of_run(int fd, const char *id)
{
	struct strobe_wire_info info = { .kind = STROBE_WIRE_OPEN_RUN, .pid = 7 };
	struct strobe_wire_writer w;
	uint8_t bytes[1024];

	strobe_wire_begin(&w, bytes, sizeof(bytes), &info);
	strobe_wire_string(&w, "id", 2);
	strobe_wire_string(&w, id, strlen(id));
	strobe_wire_label(&w, 1, 2);
	strobe_wire_frame(&w, 2, 0, 0);
	strobe_wire_node(&w, 0, 0, NULL);
	CHECK(send(fd, bytes, strobe_wire_end(&w), MSG_NOSIGNAL) > 0);
}

TEST(runs_that_were_announced_and_did_not_come_are_lost_with_their_connection)
{
	struct fixture f;
	char id[16];
	int fd, other;

	start(&f);
	fd = dial(&f);
	other = dial(&f);
	for (int i = 0; i < 20; i++) {
		snprintf(id, sizeof(id), "run%d", i);
		send_run(fd, STROBE_WIRE_OPEN_RUN, id, false);
		send_run(fd, STROBE_WIRE_OPEN_RUN, id, false);
	}
	send_run(fd, STROBE_WIRE_RUN, "run3", false);
	send_run(fd, STROBE_WIRE_OPEN_RUN, "run19", true);
	send_run(fd, STROBE_WIRE_OPEN_RUN, "unknown", true);
	send_run(other, STROBE_WIRE_RUN, "run4", false);
	send_part_of_run(other, "run5");
	settle(&f);
	CHECK_INT(f.messages, 2);
	CHECK_INT(f.open_runs, 43);
	CHECK_INT(f.killed, 0);
	close(other);
	settle(&f);
	CHECK_INT(f.killed, 0);
	close(fd);
	settle(&f);
	CHECK_INT(f.killed, 18);
	stop(&f);
}

/* Samples that will come again are no samples, and no error; nor is anything lost with their connection. */
TEST(open_samples_are_told_apart)
{
	struct fixture f;
	int fd;

	start(&f);
	fd = dial(&f);
	send_run(fd, STROBE_WIRE_OPEN_SAMPLES, "x", false);
	settle(&f);
	close(fd);
	settle(&f);
	CHECK_INT(f.messages, 0);
	CHECK_INT(f.open_runs, 1);
	CHECK_INT(f.killed, 0);
	for (int e = 0; e < STROBE_WIRE_ERRORS; e++)
		CHECK_INT(f.s->counters.rejected[e], 0);
	stop(&f);
}

TEST(a_daemon_that_ends_loses_no_runs)
{
	struct fixture f;
	int fd;

	start(&f);
	fd = dial(&f);
	send_run(fd, STROBE_WIRE_OPEN_RUN, "run", false);
	settle(&f);
	f.s = source_close(f.s);
	CHECK_INT(f.open_runs, 1);
	CHECK_INT(f.killed, 0);
	close(fd);
	stop(&f);
}

TEST(a_memfd_that_is_unsealed_or_of_another_size_or_missing_is_rejected)
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

TEST(descriptors_that_nobody_asked_for_are_closed)
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

TEST(two_hundred_connections_are_served)
{
	struct fixture f;
	int fds[200];

	start(&f);
	for (int i = 0; i < 200; i++) {
		fds[i] = dial(&f);
		send_message(fds[i], i);
	}
	settle(&f);
	CHECK_INT(f.s->counters.connections_now, 200);
	for (int i = 0; i < 200; i++)
		send_message(fds[i], i);
	for (int i = 0; i < 200; i++)
		close(fds[i]);
	settle(&f);
	CHECK_INT(f.messages, 400);
	CHECK_INT(f.s->counters.connections_now, 0);
	stop(&f);
}

TEST(what_a_dead_sender_sent_still_counts)
{
	struct fixture f;
	int fd;

	start(&f);
	fd = dial(&f);
	for (int i = 0; i < 50; i++)
		send_message(fd, 1);
	close(fd);
	settle(&f);
	CHECK_INT(f.messages, 50);
	stop(&f);
}

TEST(stopping_the_source_reads_what_was_sent_before)
{
	struct fixture f;
	int fd, never_accepted;

	start(&f);
	fd = dial(&f);
	settle(&f);
	never_accepted = dial(&f);
	send_message(fd, 1);
	send_message(never_accepted, 1);
	source_stop(f.s);
	CHECK_INT(f.messages, 2);
	f.s = source_close(f.s);
	CHECK_INT(f.messages, 2);
	CHECK(access(f.path, F_OK) < 0);
	close(fd);
	close(never_accepted);
	stop(&f);
}

static void *send_until_closed(void *data)
{
	size_t n;
	uint8_t bytes[4096];
	uintptr_t sent = 0;
	int fd = dial(data);

	n = test_message_write(&(struct test_message){ .samples = 1 }, bytes, sizeof(bytes));
	for (;;) {
		if (send(fd, bytes, n, MSG_NOSIGNAL) >= 0)
			sent++;
		else if (errno != EAGAIN)
			break;
	}
	close(fd);
	return (void *)sent;
}

TEST(a_sender_without_a_pause_loses_no_message_when_the_source_stops)
{
	struct fixture f;
	pthread_t sender;
	void *sent;

	for (int i = 0; i < 100; i++) {
		start(&f);
		CHECK(pthread_create(&sender, NULL, send_until_closed, &f) == 0);
		settle(&f);
		source_stop(f.s);
		CHECK(pthread_join(sender, &sent) == 0);
		CHECK_INT(f.messages, (uintptr_t)sent);
		stop(&f);
	}
}

TEST(messages_that_come_often_all_arrive_and_so_do_the_last_ones)
{
	struct fixture f;
	int fds[5];

	start(&f);
	for (int i = 0; i < 5; i++)
		fds[i] = dial(&f);
	for (int i = 0; i < 100; i++) {			/* for a second at least, so that they are taken together */
		send_message(fds[i % 5], 1);
		send_message(fds[i % 5], 1);
		f.turns = 1;
		f.timer = (struct watch){ .ready = turn_over, .fd = -1 };
		CHECK(loop_add_timer(f.loop, &f.timer, 10 * 1000000, NULL) == 0);
		loop_run(f.loop, NULL);
		loop_remove_timer(f.loop, &f.timer);
	}
	source_stop(f.s);
	CHECK_INT(f.messages, 200);
	CHECK_INT(f.s->counters.messages, 200);
	for (int i = 0; i < 5; i++)
		close(fds[i]);
	stop(&f);
}

TEST(running_out_of_descriptors_refuses_and_recovers)
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
TEST(half_of_a_low_limit_of_descriptors_is_left_to_others)
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
	clients[0] = dial(&f);			/* and those that go make room */
	send_message(clients[0], 1);
	settle(&f);
	CHECK_INT(f.messages, 1);
	close(clients[0]);
	stop(&f);
}

TEST(a_living_daemon_keeps_its_socket_and_a_dead_one_is_replaced)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct source *second = NULL;
	struct err err = { 0 };
	struct fixture f;
	int fd;

	start(&f);
	CHECK_INT(open_source(&f, f.url, f.loop, &second, &err), -EADDRINUSE);
	CHECK(strstr(err.text, "another strobe listens on unix:") != NULL);
	fd = dial(&f);
	close(fd);
	f.s = source_close(f.s);

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	memcpy(a.sun_path, f.path, strlen(f.path) + 1);
	CHECK(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
	close(fd);				/* as a killed daemon leaves it */
	CHECK(open_source(&f, f.url, f.loop, &f.s, &err) == 0);
	fd = dial(&f);
	send_message(fd, 1);
	settle(&f);
	CHECK_INT(f.messages, 1);
	close(fd);
	stop(&f);
}

TEST(a_file_or_another_programs_socket_is_left_alone)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct err err = { 0 };
	struct source *s = NULL;
	struct fixture f;
	int fd;

	start(&f);
	f.s = source_close(f.s);
	fd = open(f.path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	CHECK_INT(open_source(&f, f.url, f.loop, &s, &err), -EEXIST);
	CHECK(access(f.path, F_OK) == 0);
	unlink(f.path);

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	memcpy(a.sun_path, f.path, strlen(f.path) + 1);
	CHECK(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 1) == 0);
	CHECK_INT(open_source(&f, f.url, f.loop, &s, &err), -EADDRINUSE);
	CHECK(access(f.path, F_OK) == 0);
	close(fd);
	stop(&f);
}

TEST(a_bare_path_may_have_any_name)
{
	struct source *s = NULL;
	struct fixture f;
	char path[128];

	start(&f);
	snprintf(path, sizeof(path), "%s/a?b=%%3F", f.directory);
	CHECK_INT(open_source(&f, path, f.loop, &s, NULL), 0);
	CHECK(access(path, F_OK) == 0);
	source_close(s);
	CHECK(access(path, F_OK) < 0);
	stop(&f);
}

TEST(bad_urls_have_a_sentence)
{
	struct loop *loop = loop_new(NULL);
	struct source *s = NULL;
	char url[300] = "unix:/tmp/";
	struct err err;

	CHECK_INT(open_source(NULL, "carrier-pigeon:coop", loop, &s, &err), -EINVAL);
	CHECK_STR(err.text, "cannot collect from 'carrier-pigeon:coop': a source looks like unix:SOCKET, "
		  "resp://HOST:PORT, redis://HOST/?channel=NAME, redis://HOST/?stream=NAME, file:PATH, runs:DIR or -");
	CHECK_INT(open_source(NULL, "unix:relative", loop, &s, &err), -EINVAL);
	CHECK_INT(open_source(NULL, "unix:/nonexistent-directory/s", loop, &s, &err), -ENOENT);
	CHECK_INT(open_source(NULL, "unix:/tmp/s?label.dc=x", loop, &s, &err), -EINVAL);
	CHECK_STR(err.text, "'unix:/tmp/s?label.dc=x': a socket takes no parameters, since messages carry their own "
		  "labels; if its name contains a ?, omit unix:, as in /run/what?.sock");
	CHECK_INT(open_source(NULL, "unix:/tmp/s?", loop, &s, &err), -EINVAL);
	memset(url + 10, 'x', 200);
	CHECK_INT(open_source(NULL, url, loop, &s, &err), -ENAMETOOLONG);
	CHECK(s == NULL);
	loop_free(loop);
}

TEST_MAIN()
