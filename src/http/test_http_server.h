/* test_http_server.h: a child process that acts as a well- or misbehaving HTTP server, for unit tests. */
#ifndef HTTP_TEST_HTTP_SERVER_H
#define HTTP_TEST_HTTP_SERVER_H

#include <arpa/inet.h>
#include <assert.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Answers one request, `text` (head and body). `connection` and `nth`, the request's number on that connection, count
 * from 0. Returns whether to keep the connection open. */
typedef bool test_http_fn(int fd, int connection, int nth, const char *text);

struct test_http_server {
	pid_t pid;
	unsigned port;
};

static inline void test_http_put(int fd, const char *text)
{
	(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static bool test_http_read(int fd, char *text, size_t size)
{
	size_t n = 0, body = 0;
	const char *end = NULL, *length;

	while (n + 1 < size) {
		ssize_t got = read(fd, text + n, size - 1 - n);

		if (got <= 0)
			return false;
		text[n += (size_t)got] = '\0';
		if (!end && (end = strstr(text, "\r\n\r\n")) && (length = strstr(text, "Content-Length: ")))
			body = strtoul(length + strlen("Content-Length: "), NULL, 10);
		/* The length of a TLS greeting is unknown here. */
		if (text[0] == 0x16 || (end && n >= (size_t)(end + 4 - text) + body))
			return true;
	}
	return false;
}

static void test_http_serve(int fd, int connection, test_http_fn *answer)
{
	static char text[1 << 20];

	for (int nth = 0; test_http_read(fd, text, sizeof(text)); nth++)
		if (!answer(fd, connection, nth, text))
			break;
}

/* A process per connection, so that a kept one does not block the next. */
static void test_http_child(int listener, test_http_fn *answer)
{
	signal(SIGCHLD, SIG_IGN);
	for (int connection = 0;; connection++) {
		int fd = accept(listener, NULL, NULL);

		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(listener);
			test_http_serve(fd, connection, answer);
			_exit(0);
		}
		close(fd);
	}
}

static inline int test_http_listen(int backlog, unsigned *ret_port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r;
	socklen_t size = sizeof(address);

	r = bind(listener, (struct sockaddr *)&address, sizeof(address));
	assert(r == 0);
	r = listen(listener, backlog);
	assert(r == 0);
	r = getsockname(listener, (struct sockaddr *)&address, &size);
	assert(r == 0);
	*ret_port = ntohs(address.sin_port);
	return listener;
}

static inline struct test_http_server test_http_start(test_http_fn *answer)
{
	struct test_http_server s;
	int listener = test_http_listen(16, &s.port);

	fflush(stdout);
	s.pid = fork();
	if (s.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		test_http_child(listener, answer);
	}
	close(listener);
	return s;
}

static inline void test_http_stop(struct test_http_server *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

#endif
