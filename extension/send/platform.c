/* platform.c: sending on Linux. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <unistd.h>

/* Programs expect to get lower numbers. From 64 on, the kernel allocates a larger table, for which a multithreaded
 * process waits until all CPUs have passed a quiescent state: 5 to 30 ms. */
#define FIRST_FD 48

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

int platform_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t n = strlen(path);
	int fd;

	if (n == 0 || n >= sizeof(address.sun_path))
		return -ENOENT;
	memcpy(address.sun_path, path, n + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		int error = errno;

		close(fd);
		return -error;
	}
	return move_away(fd);
}

int platform_send(int fd, const struct msghdr *message)
{
	return sendmsg(fd, message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
}

bool platform_has_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT);
}

bool platform_is_read(int fd)
{
	int bytes;

	return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes == 0;
}

/* The kernel doubles the value, up to twice net.core.wmem_max, which is usually twice the default size of a socket's
 * buffer. */
int platform_send_beyond(int fd, const struct msghdr *message)
{
	int before, more = 1 << 24, error;
	socklen_t size = sizeof(before);

	if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &before, &size))
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &more, sizeof(more));
	error = platform_send(fd, message);
	before /= 2;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &before, sizeof(before));
	return error;
}

static int new_memfd(void)
{
	int fd = memfd_create("strobe", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return fd < 0 ? -1 : move_away(fd);
}

int platform_memfd_of(const void *bytes, size_t size)
{
	const char *p = bytes;
	int fd = new_memfd();

	while (fd >= 0 && size > 0) {
		ssize_t n = write(fd, p, size);

		if (n > 0) {
			p += n;
			size -= (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			close(fd);
			return -1;
		}
	}
	return fd;
}

const void *platform_memfd_map(int fd, size_t size)
{
	const void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	return map == MAP_FAILED ? NULL : map;
}

int platform_memfd(size_t size, void **ret_map)
{
	int fd = new_memfd();
	void *map;

	if (fd < 0)
		return -1;
	/* Allocated now, since a write to a page that cannot be allocated would raise SIGBUS. */
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

bool platform_seal(int fd, void *map, size_t size)
{
	if (map)
		munmap(map, size);
	return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0;
}
