/* sender.c: the connection to the daemon. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "sender.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Below it are the numbers that programs expect to get. */
#define FIRST_FD 200

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

static int move_away(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);

	if (moved < 0 && fd < 3)
		moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (moved < 0)
		return fd;
	close(fd);
	return moved;
}

static int connect_to(struct sender *s, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;
	size_t n = strlen(path);
	int fd;

	if (n == 0 || n >= sizeof(address.sun_path))
		return STROBE_DROP_NO_DAEMON;
	memcpy(address.sun_path, path, n + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return reason_of(errno);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) || fstat(fd, &st)) {
		int reason = reason_of(errno);

		close(fd);
		return reason;
	}
	s->fd = move_away(fd);
	s->device = st.st_dev;
	s->inode = st.st_ino;
	memcpy(s->path, path, n + 1);
	return 0;
}

/* Sends one datagram, over a new connection if the old one is gone. */
static int deliver(struct sender *s, const char *path, const struct msghdr *message)
{
	bool fresh = false;

	if (!is_ours(s))
		s->fd = -1;
	else if (strcmp(s->path, path) != 0)
		sender_close(s);

	for (;;) {
		int error, reason;

		if (s->fd < 0) {
			fresh = true;
			if ((reason = connect_to(s, path)))
				return reason;
		}
		if (sendmsg(s->fd, message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
			s->messages++;
			return 0;
		}
		error = errno;
		if (error == EINTR)
			continue;
		if (error != EPIPE && error != ECONNRESET && error != ENOTCONN)
			return reason_of(error);
		sender_close(s);
		if (fresh)
			return STROBE_DROP_NO_DAEMON;
	}
}

int sender_send(struct sender *s, const char *path, const void *bytes, size_t size)
{
	struct iovec part = { (void *)bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	return deliver(s, path, &message);
}

int sender_memfd(size_t size, void **ret_map)
{
	int fd = memfd_create("strobe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *map;

	if (fd < 0)
		return -1;
	fd = move_away(fd);
	/* Allocated now: a write to a page that memory has run out for would be a SIGBUS. */
	if (posix_fallocate(fd, 0, (off_t)size)) {
		close(fd);
		return -1;
	}
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		close(fd);
		return -1;
	}
	*ret_map = map;
	return fd;
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

	munmap(map, size);
	if (fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0) {
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
