/* test_resp_client.c: connections that send in pieces, too much, garbage or nothing, and limits for all of them. */

#include "mem.h"
#include "test_resp.h"

#include <poll.h>
#include <sys/resource.h>

TEST(commands_may_arrive_in_chunks_of_any_size)
{
	static const char text[] = "*3\r\n$7\r\nPUBLISH\r\n$7\r\nexcimer\r\n$8\r\nmain;a 1\r\n";
	struct fixture f;
	int fd;

	start(&f, "");
	fd = dial(&f);
	for (size_t i = 0; i < sizeof(text) - 2; i++) {
		CHECK_INT(send(fd, text + i, 1, MSG_NOSIGNAL), 1);
		settle_for(&f, 1);
		CHECK_INT(f.got.size, 0);
	}
	CHECK_STR(ask(&f, fd, "\n"), ":1\r\n");
	CHECK_STR(f.got.data, "excimer - main;a 1\n");
	close(fd);
	stop(&f);
}

TEST(a_large_line_arrives_whole_and_its_memory_is_freed)
{
	size_t n = SOURCE_LINE_MAX, sent = 0;
	struct fixture f;
	struct buf b;
	int fd;

	start(&f, "");
	fd = dial(&f);
	buf_init(&b);
	buf_printf(&b, "*3\r\n$7\r\nPUBLISH\r\n$1\r\nc\r\n$%zu\r\n", n);
	memset(buf_reserve(&b, n), 'x', n);
	buf_wrote(&b, n);
	memcpy(b.data + b.size - 2, " 1", 2);
	buf_puts(&b, "\r\nping\r\n");
	while (sent < b.size) {
		ssize_t r = send(fd, b.data + sent, b.size - sent, MSG_NOSIGNAL);

		sent += r > 0 ? (size_t)r : 0;
		settle_for(&f, 1);
	}
	CHECK_STR(ask(&f, fd, ""), ":1\r\n+PONG\r\n");
	CHECK_INT(f.got.size, n + 5);

	/* One more byte is too long for a line. */
	b.size = 0;
	buf_printf(&b, "*3\r\n$7\r\nPUBLISH\r\n$1\r\nc\r\n$%zu\r\n", n + 2);
	memset(buf_reserve(&b, n + 2), 'x', n + 2);
	buf_wrote(&b, n + 2);
	buf_puts(&b, "\r\n");
	for (sent = 0; sent < b.size; settle_for(&f, 1)) {
		ssize_t r = send(fd, b.data + sent, b.size - sent, MSG_NOSIGNAL);

		sent += r > 0 ? (size_t)r : 0;
	}
	CHECK_STR(ask(&f, fd, ""), ":0\r\n");
	CHECK_INT(f.s->counters.rejected_lines[SOURCE_LINE_TOO_LONG], 1);
	buf_done(&b);
	close(fd);
	stop(&f);
}

TEST(malformed_input_is_answered_with_an_error_and_a_disconnect)
{
	static const struct {
		const char *text, *answer;
	} cases[] = {
		{ "*3\r\nPUBLISH\r\n", "-ERR Protocol error: expected '$', got 'P'\r\n(closed)" },
		{ "*99999\r\n", "-ERR Protocol error: invalid multibulk length\r\n(closed)" },
		{ "*1\r\n$99999999999\r\n", "-ERR Protocol error: invalid bulk length\r\n(closed)" },
		{ "echo \"a\r\n", "-ERR Protocol error: unbalanced quotes in request\r\n(closed)" },
		{ "ping\r\n*1\r\n!\r\nping\r\n", "+PONG\r\n-ERR Protocol error: expected '$', got '!'\r\n(closed)" },
	};
	struct fixture f;

	start(&f, "");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int fd = dial(&f);

		CHECK_STR(ask(&f, fd, cases[i].text), cases[i].answer);
		CHECK_INT(f.s->counters.connections_closed_for_garbage, i + 1);
		close(fd);
	}
	stop(&f);
}

TEST(a_browser_is_disconnected_before_its_body_is_read)
{
	struct fixture f;
	int fd;

	start(&f, "");
	fd = dial(&f);
	CHECK_STR(ask(&f, fd, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\npublish excimer \"main 1\"\r\n"), "(closed)");
	close(fd);
	fd = dial(&f);
	CHECK(strstr(ask(&f, fd, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\npublish excimer \"main 1\"\r\n"),
		     "(closed)") != NULL);
	close(fd);
	CHECK_INT(f.got.size, 0);
	CHECK_INT(f.s->counters.connections_closed_for_garbage, 2);
	stop(&f);
}

TEST(a_client_that_does_not_read_its_replies_is_disconnected)
{
	char *large = xmalloc(1 << 16);
	struct fixture f;
	int fd, size = 4096;

	start(&f, "");
	fd = dial(&f);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	memset(large, 'x', 1 << 16);
	memcpy(large, "echo ", 5);
	large[(1 << 16) - 1] = '\n';
	for (int i = 0; i < 2000 && !f.s->counters.connections_closed_slow; i++) {
		if (send(fd, large, 1 << 16, MSG_NOSIGNAL) < 0 && errno != EAGAIN)
			break;
		settle_for(&f, 1);
	}
	CHECK_INT(f.s->counters.connections_closed_slow, 1);
	CHECK_INT(f.s->counters.connections_now, 0);
	close(fd);
	free(large);
	stop(&f);
}

TEST(a_slow_client_gets_all_replies)
{
	enum { TEXT = 60000,
	       ANSWER = TEXT + 10 };
	size_t sent = 0, have = 0, asked = 0;
	struct resp_source *r;
	struct fixture f;
	char *answer = xmalloc(ANSWER);
	struct buf b;
	ssize_t n;
	int fd;

	start(&f, "");
	r = (struct resp_source *)f.s;
	fd = dial(&f);
	buf_init(&b);
	buf_puts(&b, "echo ");
	memset(buf_reserve(&b, TEXT), 'x', TEXT);
	buf_wrote(&b, TEXT);
	buf_putc(&b, '\n');
	/* Until the socket is full and replies have to wait. */
	while (!(r->clients && r->clients->out.size) && asked < 1000) {
		for (sent = 0; sent < b.size; settle_for(&f, 1)) {
			n = send(fd, b.data + sent, b.size - sent, MSG_NOSIGNAL);
			sent += n > 0 ? (size_t)n : 0;
		}
		asked++;
	}
	CHECK(r->clients && r->clients->out.size > 0 && r->held > 0);
	for (int i = 0; i < 2000 && have < asked * ANSWER; i++) {
		while ((n = recv(fd, answer, ANSWER, MSG_DONTWAIT)) > 0)
			have += (size_t)n;
		settle_for(&f, 1);
	}
	CHECK_INT(have, asked * ANSWER);
	CHECK_INT(r->held, 0);
	CHECK_STR(ask(&f, fd, "echo end\r\n"), "$3\r\nend\r\n");
	buf_done(&b);
	free(answer);
	close(fd);
	stop(&f);
}

TEST(idle_clients_are_disconnected_after_the_timeout)
{
	struct fixture f;
	int fd;

	start(&f, "?idle=0.1");
	fd = dial(&f);
	CHECK_STR(ask(&f, fd, "ping\r\n"), "+PONG\r\n");
	for (int i = 0; i < 100 && f.s->counters.connections_now; i++)
		settle_for(&f, 20);
	CHECK_INT(f.s->counters.connections_closed_idle, 1);
	CHECK_STR(ask(&f, fd, ""), "(closed)");
	close(fd);
	stop(&f);
}

TEST(clients_above_the_limit_are_refused_with_an_error)
{
	struct fixture f;
	int a, b, c;

	start(&f, "?clients=2");
	a = dial(&f);
	b = dial(&f);
	c = dial(&f);
	CHECK_STR(ask(&f, a, "ping\r\n"), "+PONG\r\n");
	CHECK_STR(ask(&f, c, ""), "-ERR max number of clients reached\r\n(closed)");
	CHECK_INT(f.s->counters.connections_refused, 1);
	close(a);
	close(c);
	settle_for(&f, 5);
	c = dial(&f);
	CHECK_STR(ask(&f, c, "ping\r\n"), "+PONG\r\n");
	close(b);
	close(c);
	stop(&f);
}

TEST(clients_are_refused_when_descriptors_run_out_and_the_loop_continues)
{
	struct rlimit before, l;
	struct fixture f;
	int fd, free_fd;

	start(&f, "");
	fd = dial(&f);
	getrlimit(RLIMIT_NOFILE, &before);
	l = before;
	free_fd = dup(0);
	close(free_fd);
	l.rlim_cur = (rlim_t)free_fd;
	CHECK_STR(ask(&f, fd, ""), "");
	close(fd);
	settle_for(&f, 5);
	fd = dial(&f);
	free_fd = dup(0);
	close(free_fd);
	l.rlim_cur = (rlim_t)free_fd + 1;		/* one for the timer of settle_for */
	setrlimit(RLIMIT_NOFILE, &l);
	CHECK_STR(ask(&f, fd, ""), "-ERR max number of clients reached\r\n(closed)");
	setrlimit(RLIMIT_NOFILE, &before);
	CHECK_INT(f.s->counters.connections_refused, 1);
	close(fd);
	fd = dial(&f);
	CHECK_STR(ask(&f, fd, "ping\r\n"), "+PONG\r\n");
	close(fd);
	stop(&f);
}

TEST(data_sent_before_eof_is_read)
{
	struct fixture f;
	char answer[64];
	int a, b;

	start(&f, "");
	a = dial(&f);
	CHECK_STR(ask(&f, a, "ping\r\n"), "+PONG\r\n");
	b = dial(&f);			/* nobody has accepted it yet */
	CHECK(send(a, "publish c \"a 1\"\r\n", 17, MSG_NOSIGNAL) == 17);
	CHECK(send(b, "publish c \"b 1\"\r\n", 17, MSG_NOSIGNAL) == 17);
	source_stop(f.s);
	CHECK(strstr(f.got.data, "c - a 1\n") != NULL);
	CHECK(strstr(f.got.data, "c - b 1\n") != NULL);
	CHECK_INT(recv(b, answer, sizeof(answer), 0), 4);
	CHECK_INT(recv(b, answer, sizeof(answer), 0), 0);
	close(a);
	close(b);
	stop(&f);
}

TEST_MAIN()
