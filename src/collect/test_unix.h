/* test_unix.h: a unix socket's source on a loop of its own, and senders, for its tests. */
#ifndef COLLECT_TEST_UNIX_H
#define COLLECT_TEST_UNIX_H

#include "source.h"

#include "mem.h"
#include "test.h"
#include "test_message.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
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

static inline void got(void *data, const struct message_metadata *about, const struct strobe_wire_message *m)
{
	struct fixture *f = data;

	f->messages++;
	f->bytes += m->size;
}

static inline void on_open_run(void *data, const struct message_metadata *about, const struct strobe_wire_message *m)
{
	((struct fixture *)data)->open_runs++;
}

static inline void runs_killed(void *data, uint64_t count)
{
	((struct fixture *)data)->killed += count;
}

static inline int open_source(struct fixture *f, const char *url, struct loop *loop, struct source **ret, struct err *err)
{
	struct source_receiver receiver = { .message = got, .open = on_open_run, .runs_killed = runs_killed, .data = f };

	return source_open(url, loop, &receiver, ret, err);
}

static inline void start(struct fixture *f)
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

static inline void stop(struct fixture *f)
{
	f->s = source_close(f->s);
	loop_free(f->loop);
	unlink(f->path);
	CHECK(rmdir(f->directory) == 0);
}

static inline void turn_over(struct watch *w, uint32_t events)
{
	struct fixture *f = (struct fixture *)((char *)w - offsetof(struct fixture, timer));

	loop_timer_read(w);
	if (--f->turns <= 0)
		loop_stop(f->loop, 0);
}

/* Lets the loop work off what is waiting: two ticks are two wakeups with everything ready served before. */
static inline void settle(struct fixture *f)
{
	f->turns = 10;
	f->timer = (struct watch){ .ready = turn_over, .fd = -1 };
	CHECK(loop_add_timer(f->loop, &f->timer, 2 * 1000000, NULL) == 0);
	loop_run(f->loop, NULL);
	loop_remove_timer(f->loop, &f->timer);
}

static inline int dial(const struct fixture *f)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(a.sun_path, f->path, strlen(f->path) + 1);
	CHECK(connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
	return fd;
}

static inline void send_message(int fd, int64_t samples)
{
	uint8_t bytes[4096];
	size_t n = test_message_write(&(struct test_message){ .samples = samples }, bytes, sizeof(bytes));

	CHECK_INT(send(fd, bytes, n, MSG_NOSIGNAL), n);
}

static inline void send_with_fds(int fd, const void *bytes, size_t n, const int *fds, size_t count)
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
static inline int make_memfd(uint64_t extra, int seals, size_t *ret_size)
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

static inline void send_memfd(int fd, int memfd, uint64_t announced)
{
	uint8_t envelope[STROBE_WIRE_ENVELOPE];

	strobe_wire_put_envelope(envelope, announced);
	send_with_fds(fd, envelope, sizeof(envelope), &memfd, memfd >= 0);
	if (memfd >= 0)
		close(memfd);
}

static inline int open_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 2000; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

#endif
