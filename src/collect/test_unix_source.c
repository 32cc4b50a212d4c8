/* test_unix_source.c: real sockets, well-behaved senders and others. test_unix_memfd.c has descriptors. */

#include "test_unix.h"

#include <pthread.h>
#include <sys/stat.h>

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

TEST(malformed_messages_are_counted_by_reason_and_the_connection_stays_open)
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

/* Sends it as another thread than the announcer of the run does. */
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

TEST(announced_runs_that_never_arrive_are_counted_as_lost_with_their_connection)
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

/* Open samples, which are sent again later, count neither as samples nor as errors, and losing their connection loses
 * nothing. */
TEST(open_samples_count_neither_as_samples_nor_as_lost)
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

TEST(stopping_the_daemon_loses_no_runs)
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

TEST(messages_of_a_sender_that_has_exited_count)
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

TEST(stopping_the_source_reads_messages_sent_before)
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
	int fd = *(int *)data;

	n = test_message_write(&(struct test_message){ .samples = 1 }, bytes, sizeof(bytes));
	for (;;) {
		if (send(fd, bytes, n, MSG_NOSIGNAL) >= 0)
			sent++;
		else if (errno != EAGAIN)
			break;
	}
	return (void *)sent;
}

TEST(a_sender_that_never_pauses_loses_no_message_when_the_source_stops)
{
	struct fixture f;
	pthread_t sender;
	void *sent;
	int fd;

	for (int i = 0; i < 100; i++) {
		start(&f);
		fd = dial(&f);
		CHECK(pthread_create(&sender, NULL, send_until_closed, &fd) == 0);
		settle(&f);
		source_stop(f.s);
		CHECK(pthread_join(sender, &sent) == 0);
		CHECK_INT(f.messages, (uintptr_t)sent);
		close(fd);
		stop(&f);
	}
}

TEST(all_of_many_frequent_messages_arrive_including_the_last_ones)
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

TEST(a_running_daemon_keeps_its_socket_and_a_stale_one_is_replaced)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct source *second = NULL;
	struct err err = { 0 };
	struct fixture f;
	char pid[40];
	int fd;

	start(&f);
	CHECK_INT(open_source(&f, f.url, f.loop, &second, &err), -EADDRINUSE);
	snprintf(pid, sizeof(pid), " (pid %ld); stop it", (long)getpid());
	CHECK(strstr(err.text, "another strobe listens on unix:") && strstr(err.text, pid));
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

TEST(files_and_sockets_of_other_programs_are_left_alone)
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

TEST(invalid_urls_are_rejected_with_an_error)
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
