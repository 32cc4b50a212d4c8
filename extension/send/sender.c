/* sender.c: the connection to the daemon. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "sender.h"
#include "platform.h"
#include "strobe_assert.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void sender_init(struct sender *s)
{
	memset(s, 0, sizeof(*s));
	s->fd = -1;
}

/* Whether fd is still our socket. */
static bool is_ours(const struct sender *s)
{
	struct stat st;

	return s->fd >= 0 && fstat(s->fd, &st) == 0 && st.st_dev == s->device && st.st_ino == s->inode;
}

static void disconnect(struct sender *s)
{
	if (is_ours(s))
		close(s->fd);
	s->fd = -1;
	s->packed = 0;
}

void sender_close(struct sender *s)
{
	disconnect(s);
	send_queue_clear(&s->waiting);
}

bool sender_is_connected(const struct sender *s)
{
	struct pollfd p = { .fd = s->fd };

	return is_ours(s) && poll(&p, 1, 0) == 0;
}

int sender_probe(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (!S_ISSOCK(st.st_mode))
		return ENOTSOCK;
	return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) ? errno : 0;
}

static int reason_of(int error)
{
	switch (error) {
	case EAGAIN:
	case ETOOMANYREFS:
		return STROBE_DROP_FULL;
	case EACCES:
	case EPERM:
		return STROBE_DROP_REFUSED;
	case EMSGSIZE:
		return STROBE_DROP_TOO_LARGE;
	case ENOBUFS:
	case ENOMEM:
	case EMFILE:
	case ENFILE:
		return STROBE_DROP_NO_MEMORY;
	default:
		return STROBE_DROP_NO_DAEMON;
	}
}

/* Returns 0 or an errno. */
static int connect_to(struct sender *s, const char *path)
{
	struct stat st;
	int fd = platform_connect(path);

	STROBE_ASSERT(s->fd < 0);
	if (fd < 0)
		return -fd;
	if (fstat(fd, &st)) {
		int error = errno;

		close(fd);
		return error;
	}
	s->fd = fd;
	s->device = st.st_dev;
	s->inode = st.st_ino;
	if (path != s->path)
		snprintf(s->path, sizeof(s->path), "%s", path);
	return 0;
}

/* Sends one datagram with `send`, over a new connection if the old one is broken. Returns 0 or an errno. */
static int attempt(struct sender *s, const char *path, const struct msghdr *message,
		   int (*send)(int fd, const struct msghdr *message))
{
	bool fresh = false;

	if (!is_ours(s))
		s->fd = -1;
	else if (strcmp(s->path, path) != 0)
		disconnect(s);

	for (;;) {
		int error;

		if (s->fd < 0) {
			fresh = true;
			if ((error = connect_to(s, path)))
				return error;
		}
		error = send(s->fd, message);
		if (error == 0)
			return 0;
		if (error == EINTR)
			continue;
		if (error != EPIPE && error != ECONNRESET && error != ENOTCONN)
			return error;
		disconnect(s);
		if (fresh)
			return error;
	}
}

/* --- one message */

static bool is_full(int error)
{
	return error == EAGAIN || error == ETOOMANYREFS;
}

/* Sends the descriptor of a sealed memfd. Returns 0 or an errno. */
static int attempt_memfd(struct sender *s, const char *path, int memfd, size_t size,
			 int (*send)(int fd, const struct msghdr *message))
{
	uint8_t envelope[STROBE_WIRE_ENVELOPE];
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { envelope, sizeof(envelope) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control.space),
	};

	strobe_wire_put_envelope(envelope, size);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &memfd, sizeof(int));
	return attempt(s, path, &message, send);
}

static int attempt_bytes(struct sender *s, const char *path, const void *bytes, size_t size)
{
	struct iovec part = { (void *)bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	return attempt(s, path, &message, platform_send);
}

/* --- the queue */

/* Queued messages for a previous socket path can no longer be sent. */
static void leave_path(struct sender *s)
{
	sender_drain(s, true);
	for (struct send_queue_message *m = s->waiting.first; m; m = m->next) {
		uint64_t lost = 0;

		send_queue_count(m->bytes, m->size, &lost, s->unreported);
		sender_lost(s, STROBE_DROP_FULL, lost);
	}
	send_queue_clear(&s->waiting);
}

/* Reconnects if the daemon has closed the connection. Returns 0 or an errno. */
static int connect_again(struct sender *s)
{
	if (sender_is_connected(s))
		return 0;
	disconnect(s);
	return connect_to(s, s->path);
}

/* Sends everything queued in one memfd. Returns 0 or an errno. */
static int send_together(struct sender *s, bool last)
{
	size_t size = s->waiting.bytes, at = 0, count = 0;
	void *map;
	int error, memfd;

	/* Without a daemon, each message would copy the whole queue only to discard the copy. */
	if ((error = connect_again(s)))
		return error;
	/* A stopped daemon must not receive one such memfd after another. */
	if (s->packed && is_ours(s) && platform_is_read(s->fd))
		s->packed = 0;
	if (s->packed + size > WAITING_MAX)
		return EAGAIN;
	memfd = platform_memfd(size, &map);
	if (memfd < 0)
		return ENOMEM;
	for (struct send_queue_message *m = s->waiting.first; m; m = m->next, count++) {
		memcpy((char *)map + at, m->bytes, m->size);
		at += m->size;
	}
	STROBE_ASSERT(at == size);
	error = ENOMEM;
	if (platform_seal(memfd, map, size)) {
		error = attempt_memfd(s, s->path, memfd, size, platform_send);
		if (is_full(error) && last)
			error = attempt_memfd(s, s->path, memfd, size, platform_send_beyond);
	}
	close(memfd);
	if (error)
		return error;
	s->packed += size;
	s->messages += count;
	send_queue_clear(&s->waiting);
	return 0;
}

static int drain(struct sender *s, bool last)
{
	struct send_queue_message *m;
	int error;

	while ((m = s->waiting.first)) {
		if (m->next || m->size > STROBE_WIRE_INLINE || last) {
			if (!last && is_ours(s) && !platform_has_room(s->fd))
				return EAGAIN;
			error = send_together(s, last);
			if (error != ENOMEM || m->size > STROBE_WIRE_INLINE)
				return error;
		}
		error = attempt_bytes(s, s->path, m->bytes, m->size);
		if (error)
			return error;
		s->messages++;
		send_queue_remove(&s->waiting);
	}
	return 0;
}

void sender_drain(struct sender *s, bool last)
{
	send_queue_forget_parents(&s->waiting);
	if (s->waiting.first)
		drain(s, last);
}

/* Whether a message may be sent immediately, since none are queued before it. Otherwise `ret_error` tells whether to
 * queue it. */
static bool can_send_now(struct sender *s, const char *path, int *ret_error)
{
	send_queue_forget_parents(&s->waiting);
	if (!s->waiting.first)
		return true;
	if (strcmp(s->path, path) != 0)
		leave_path(s);
	*ret_error = drain(s, false);
	return !*ret_error;
}

/* Stores the outcome of a message. Returns 0 or a drop reason. */
static int finish(struct sender *s, int error)
{
	s->error = error;
	s->tried = true;
	return error ? reason_of(error) : 0;
}

int sender_send(struct sender *s, const char *path, const void *bytes, size_t size)
{
	int error = 0;
	void *place;

	if (can_send_now(s, path, &error)) {
		error = attempt_bytes(s, path, bytes, size);
		s->messages += !error;
	}
	if (is_full(error) && (place = send_queue_add(&s->waiting, size))) {
		memcpy(place, bytes, size);
		error = 0;
	}
	return finish(s, error);
}

int sender_send_memfd(struct sender *s, const char *path, int memfd, void *map, size_t size)
{
	const void *bytes;
	int error = 0;
	void *place;

	if (!platform_seal(memfd, map, size)) {
		error = ENOMEM;
	} else if (can_send_now(s, path, &error)) {
		error = attempt_memfd(s, path, memfd, size, platform_send);
		s->messages += !error;
	}
	if (is_full(error) && (bytes = platform_memfd_map(memfd, size))) {
		if ((place = send_queue_add(&s->waiting, size))) {
			memcpy(place, bytes, size);
			error = 0;
		}
		munmap((void *)bytes, size);
	}
	close(memfd);
	return finish(s, error);
}

void sender_lost(struct sender *s, int reason, uint64_t samples)
{
	STROBE_ASSERT(reason > 0 && reason < SENDER_DROP_REASONS);
	s->lost[reason] += samples;
	s->unreported[reason] += samples;
}
