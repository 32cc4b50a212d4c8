/* test_resp.h: a listener on a loop, and non-blocking clients. */
#ifndef COLLECT_TEST_RESP_H
#define COLLECT_TEST_RESP_H

#include "buf.h"
#include "resp_private.h"
#include "test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

struct fixture {
	struct loop *loop;
	struct source *s;
	unsigned port;
	struct buf got;				/* "channel host line\n" */
	uint64_t messages;
	int64_t period_ns;
	struct watch timer;
	int turns;
};

static inline void on_line(void *data, const struct message_metadata *about, const char *line, size_t n)
{
	const char *host = about->labels ? labels_get(about->labels, "host") : NULL;
	struct fixture *f = data;

	buf_printf(&f->got, "%s %s ", about->channel ? about->channel : "-", host ? host : "-");
	buf_put(&f->got, line, n);
	buf_putc(&f->got, '\n');
	f->period_ns = about->period_ns;
}

static inline void on_message(void *data, const struct message_metadata *about, const struct strobe_wire_message *m)
{
	((struct fixture *)data)->messages++;
}

static inline int open_url(struct fixture *f, const char *url, struct err *err)
{
	struct source_receiver receiver = { .message = on_message, .line = on_line, .data = f };

	memset(f, 0, sizeof(*f));
	buf_init(&f->got);
	f->loop = loop_new(NULL);
	return source_open(url, f->loop, &receiver, &f->s, err);
}

static inline void start(struct fixture *f, const char *parameters)
{
	char url[512];
	struct err err = { 0 };

	snprintf(url, sizeof(url), "resp://127.0.0.1:0%s", parameters);
	CHECK_INT(open_url(f, url, &err), 0);
	if (!f->s)
		printf("# %s\n", err.text);
	f->port = (unsigned)atoi(strstr(f->s->url, "127.0.0.1:") + 10);
}

static inline void stop(struct fixture *f)
{
	f->s = source_close(f->s);
	loop_free(f->loop);
	buf_done(&f->got);
}

static inline void turn_over(struct watch *w, uint32_t events)
{
	struct fixture *f = (struct fixture *)((char *)w - offsetof(struct fixture, timer));

	loop_timer_read(w);
	if (--f->turns <= 0)
		loop_stop(f->loop, 0);
}

static inline void settle_for(struct fixture *f, int milliseconds)
{
	f->turns = milliseconds;
	f->timer = (struct watch){ .ready = turn_over, .fd = -1 };
	CHECK(loop_add_timer(f->loop, &f->timer, 1000000, NULL) == 0);
	loop_run(f->loop, NULL);
	loop_remove_timer(f->loop, &f->timer);
}

static inline int dial(const struct fixture *f)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)f->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* Sends, lets the loop work, and returns the answer: "(closed)" is appended if the connection was closed. */
static inline const char *ask_bytes(struct fixture *f, int fd, const char *bytes, size_t n)
{
	static char answer[1 << 16];
	size_t have = 0;
	ssize_t r = 0;

	CHECK_INT(send(fd, bytes, n, MSG_NOSIGNAL), n);
	for (int tries = 0; tries < 20 && !have && r != -2; tries++) {
		settle_for(f, 3);
		while ((r = recv(fd, answer + have, sizeof(answer) - 16 - have, MSG_DONTWAIT)) > 0)
			have += (size_t)r;
		if (r == 0)
			break;
	}
	strcpy(answer + have, r == 0 ? "(closed)" : "");
	return answer;
}

static inline const char *ask(struct fixture *f, int fd, const char *text)
{
	return ask_bytes(f, fd, text, strlen(text));
}

#endif
