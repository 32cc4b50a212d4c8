/* test_server.h: a process that responds like a Redis, or a faulty one, for the unit tests. */
#ifndef REDIS_TEST_SERVER_H
#define REDIS_TEST_SERVER_H

#include <arpa/inet.h>
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns the response to a command. NULL: closes the connection, "": no response. `connection` counts from 0;
 * `words` are its arguments. */
typedef const char *test_answer_fn(int connection, char **words, int count);

struct test_server {
	pid_t pid;
	unsigned port;
};

/* Reads one command of version 2; returns the number of its words, 0 at the end. */
static int test_server_read(FILE *in, char **words, int max)
{
	char line[64];
	int count, size;

	if (!fgets(line, sizeof(line), in) || sscanf(line, "*%d", &count) != 1 || count > max)
		return 0;
	for (int i = 0; i < count; i++) {
		if (!fgets(line, sizeof(line), in) || sscanf(line, "$%d", &size) != 1)
			return 0;
		words[i] = calloc(1, (size_t)size + 3);
		assert(words[i]);
		if (fread(words[i], 1, (size_t)size + 2, in) != (size_t)size + 2)
			return 0;
		words[i][size] = '\0';
	}
	return count;
}

static void test_server_child(int listener, test_answer_fn *answer)
{
	for (int connection = 0;; connection++) {
		int fd = accept(listener, NULL, NULL), count;
		FILE *in = fdopen(fd, "r");
		char *words[16];

		if (!in)
			_exit(1);
		while ((count = test_server_read(in, words, 16))) {
			const char *reply = answer(connection, words, count);

			for (int i = 0; i < count; i++)
				free(words[i]);
			if (!reply)
				break;
			if (send(fd, reply, strlen(reply), MSG_NOSIGNAL) < 0)
				break;
		}
		fclose(in);
	}
}

static int test_server_listen(const struct sockaddr *address, socklen_t size)
{
	int listener = socket(address->sa_family, SOCK_STREAM, 0), r;

	r = bind(listener, address, size);
	assert(r == 0);
	r = listen(listener, 16);
	assert(r == 0);
	return listener;
}

static pid_t test_server_fork(int listener, test_answer_fn *answer)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		test_server_child(listener, answer);
	}
	close(listener);
	return pid;
}

static inline struct test_server test_server_start(test_answer_fn *answer)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = test_server_listen((struct sockaddr *)&address, sizeof(address)), r;
	socklen_t size = sizeof(address);

	r = getsockname(listener, (struct sockaddr *)&address, &size);
	assert(r == 0);
	return (struct test_server){ .pid = test_server_fork(listener, answer), .port = ntohs(address.sin_port) };
}

/* Listens on a unix socket, which the caller must remove. */
static inline struct test_server test_server_start_at(const char *path, test_answer_fn *answer)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener;

	assert(strlen(path) < sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	unlink(path);
	listener = test_server_listen((struct sockaddr *)&address, sizeof(address));
	return (struct test_server){ .pid = test_server_fork(listener, answer) };
}

static inline void test_server_stop(struct test_server *s)
{
	kill(s->pid, SIGCONT);
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

/* Responds as usual to the commands that a connection begins with. */
static inline const char *test_answer_ordinary(int connection, char **words, int count)
{
	(void)connection;
	(void)count;
	return !strcmp(words[0], "PING") ? "+PONG\r\n" : !strcmp(words[0], "ECHO") ? "$2\r\nhi\r\n" : "+OK\r\n";
}

#endif
