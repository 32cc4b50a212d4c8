/* sender.c: the connection to the daemon. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "sender.h"
#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void sender_init(struct sender *s)
{
	memset(s, 0, sizeof(*s));
	s->fd = -1;
}

/* Whether fd still is our socket. */
static bool is_ours(const struct sender *s)
{
	struct stat st;

	return s->fd >= 0 && fstat(s->fd, &st) == 0 && st.st_dev == s->device && st.st_ino == s->inode;
}

void sender_close(struct sender *s)
{
	if (is_ours(s))
		close(s->fd);
	s->fd = -1;
}

bool sender_is_connected(const struct sender *s)
{
	struct pollfd p = { .fd = s->fd };

	return is_ours(s) && poll(&p, 1, 0) == 0;
}

int sender_look(const char *path)
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
	snprintf(s->path, sizeof(s->path), "%s", path);
	return 0;
}

/* Sends one datagram, over a new connection if the old one is gone. Returns 0 or an errno. */
static int attempt(struct sender *s, const char *path, const struct msghdr *message)
{
	bool fresh = false;

	if (!is_ours(s))
		s->fd = -1;
	else if (strcmp(s->path, path) != 0)
		sender_close(s);

	for (;;) {
		int error;

		if (s->fd < 0) {
			fresh = true;
			if ((error = connect_to(s, path)))
				return error;
		}
		error = platform_send(s->fd, message);
		if (error == 0) {
			s->messages++;
			return 0;
		}
		if (error == EINTR)
			continue;
		if (error != EPIPE && error != ECONNRESET && error != ENOTCONN)
			return error;
		sender_close(s);
		if (fresh)
			return error;
	}
}

/* The same. Returns 0 or a reason. */
static int deliver(struct sender *s, const char *path, const struct msghdr *message)
{
	s->error = attempt(s, path, message);
	s->tried = true;
	return s->error ? reason_of(s->error) : 0;
}

int sender_send(struct sender *s, const char *path, const void *bytes, size_t size)
{
	struct iovec part = { (void *)bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	return deliver(s, path, &message);
}

int sender_send_memfd(struct sender *s, const char *path, int memfd, void *map, size_t size)
{
	uint8_t envelope[STROBE_WIRE_ENVELOPE];
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { envelope, sizeof(envelope) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int reason = STROBE_DROP_NO_MEMORY;

	if (platform_seal(memfd, map, size)) {
		strobe_wire_put_envelope(envelope, size);
		message.msg_control = control.space;
		message.msg_controllen = sizeof(control.space);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &memfd, sizeof(int));
		reason = deliver(s, path, &message);
	}
	close(memfd);
	return reason;
}

void sender_lost(struct sender *s, int reason, uint64_t samples)
{
	s->lost[reason] += samples;
	s->unreported[reason] += samples;
}
