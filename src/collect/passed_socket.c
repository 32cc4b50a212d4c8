/* passed_socket.c: looks through the descriptors that were passed. */

#include "passed_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD	3	/* where systemd puts them */
#define FDS_MAX		64

static int get_int(int fd, int option)
{
	int v = -1;
	socklen_t size = sizeof(v);

	return getsockopt(fd, SOL_SOCKET, option, &v, &size) ? -1 : v;
}

static bool same_address(const struct sockaddr *a, const struct sockaddr *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_UNIX)
		return !strncmp(((const struct sockaddr_un *)a)->sun_path, ((const struct sockaddr_un *)b)->sun_path,
				sizeof(((struct sockaddr_un *)NULL)->sun_path));
	if (a->sa_family == AF_INET)
		return a4->sin_port == b4->sin_port && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a->sa_family == AF_INET6 && a6->sin6_port == b6->sin6_port &&
	       !memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr));
}

static bool listens_at(int fd, int type, const struct sockaddr *address)
{
	union {
		struct sockaddr any;
		struct sockaddr_storage storage;
	} a = { 0 };
	socklen_t size = sizeof(a);

	return get_int(fd, SO_TYPE) == type && get_int(fd, SO_ACCEPTCONN) == 1 && !getsockname(fd, &a.any, &size) &&
	       same_address(&a.any, address);
}

static long env_number(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long v;

	if (!text || !*text)
		return -1;
	v = strtol(text, &end, 10);
	return *end ? -1 : v;
}

int passed_socket(int type, const struct sockaddr *address, socklen_t size)
{
	union {
		struct sockaddr any;
		struct sockaddr_storage storage;
	} wanted = { 0 };
	long count = env_number("LISTEN_FDS");

	/* Zeros behind a path that fills less than there is room for. */
	memcpy(&wanted, address, size < sizeof(wanted) ? size : sizeof(wanted));
	if (env_number("LISTEN_PID") != getpid())
		return -1;
	for (int fd = FIRST_FD; fd < FIRST_FD + count && fd < FIRST_FD + FDS_MAX; fd++) {
		if (!listens_at(fd, type, &wanted.any))
			continue;
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		fcntl(fd, F_SETFL, O_NONBLOCK);
		return fd;
	}
	return -1;
}
