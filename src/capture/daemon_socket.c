/* daemon_socket.c: a SEQPACKET connection, and memfds for large messages. */

#include "daemon_socket.h"

#include "io.h"
#include "mem.h"
#include "strobe_wire.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#define PATIENCE_S	5
#define SEALS		(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

struct daemon_socket {
	struct sockaddr_un address;
	int fd;				/* -1: not connected */
};

int daemon_socket_new(struct daemon_socket **ret, const char *address, struct err *err)
{
	const char *path = strncmp(address, "unix:", 5) ? address : address + 5;
	struct daemon_socket *s;
	size_t n = strlen(path);

	if (*path != '/' || n >= sizeof(s->address.sun_path))
		return err_set(err, -EINVAL, "invalid --to '%s'; use the address of a daemon's socket, such as unix:/run/strobe/strobe.sock", address);
	s = xcalloc(1, sizeof(*s));
	s->address.sun_family = AF_UNIX;
	memcpy(s->address.sun_path, path, n + 1);
	s->fd = -1;
	*ret = s;
	return 0;
}

static void disconnect(struct daemon_socket *s)
{
	fd_closep(&s->fd);
	s->fd = -1;
}

struct daemon_socket *daemon_socket_free(struct daemon_socket *s)
{
	if (s)
		disconnect(s);
	free(s);
	return NULL;
}

static int connect_now(struct daemon_socket *s, struct err *err)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };

	if (s->fd >= 0)
		return 0;
	s->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (s->fd >= 0 && setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0 &&
	    connect(s->fd, (struct sockaddr *)&s->address, sizeof(s->address)) == 0)
		return 0;
	err_set(err, -errno, "cannot connect to the daemon at '%s': %s", s->address.sun_path, strerror(errno));
	disconnect(s);
	return err->code;
}

static int new_memfd(const void *bytes, size_t size)
{
	_cleanup_(fd_closep) int fd = memfd_create("strobe", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < size; ) {
		ssize_t n = write(fd, (const char *)bytes + done, size - done);

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return fcntl(fd, F_ADD_SEALS, SEALS) < 0 ? -errno : TAKE_FD(fd);
}

static int send_packet(struct daemon_socket *s, const void *bytes, size_t size, int passed)
{
	union { struct cmsghdr header; char bytes[CMSG_SPACE(sizeof(int))]; } control = { 0 };
	struct iovec part = { (void *)(uintptr_t)bytes, size };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (passed >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		control.header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(&control.header), &passed, sizeof(passed));
	}
	return sendmsg(s->fd, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int send_one(struct daemon_socket *s, const char *bytes, size_t size)
{
	_cleanup_(fd_closep) int fd = -1;
	uint8_t envelope[STROBE_WIRE_ENVELOPE];

	if (size <= STROBE_WIRE_INLINE)
		return send_packet(s, bytes, size, -1);
	fd = new_memfd(bytes, size);
	if (fd < 0)
		return fd;
	strobe_wire_put_envelope(envelope, size);
	return send_packet(s, envelope, sizeof(envelope), fd);
}

int daemon_socket_send(struct daemon_socket *s, const struct buf *messages, size_t *ret_sent, struct err *err)
{
	int e;

	*ret_sent = 0;
	e = connect_now(s, err);
	while (e >= 0 && *ret_sent < messages->size) {
		const char *at = messages->data + *ret_sent;
		size_t size = strobe_wire_first(at, messages->size - *ret_sent);

		e = send_one(s, at, size);
		if (e >= 0)
			*ret_sent += size;
		else
			err_set(err, e, "cannot send to the daemon at '%s': %s", s->address.sun_path, strerror(-e));
	}
	if (e < 0)
		disconnect(s);
	return e;
}
