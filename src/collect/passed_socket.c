/* passed_socket.c: finds the sockets among the descriptors that systemd passed. */

#include "passed_socket.h"

#include "log.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD	3	/* systemd's first passed descriptor */
#define FDS_MAX		64

static uint64_t sockets_in_use;	/* one bit per socket; sources are opened by one thread */

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

union address {
	struct sockaddr any;
	struct sockaddr_storage storage;
};

/* Pads a path with zeros to the size of the address. */
static union address padded(const struct sockaddr *address, socklen_t size)
{
	union address a = { 0 };

	memcpy(&a, address, size < sizeof(a) ? size : sizeof(a));
	return a;
}

bool socket_listens_at(int fd, int type, const struct sockaddr *address, socklen_t size)
{
	union address wanted = padded(address, size), a = { 0 };
	socklen_t n = sizeof(a);

	return get_int(fd, SO_TYPE) == type && get_int(fd, SO_ACCEPTCONN) == 1 && !getsockname(fd, &a.any, &n) &&
	       same_address(&a.any, &wanted.any);
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

/* Returns the number of sockets passed to this process, not to its parent. */
static int passed_count(void)
{
	long count = env_number("LISTEN_PID") == getpid() ? env_number("LISTEN_FDS") : 0;

	return count < 0 ? 0 : count > FDS_MAX ? FDS_MAX : (int)count;
}

int passed_socket(int type, const struct sockaddr *address, socklen_t size)
{
	int count = passed_count();

	for (int i = 0; i < count; i++) {
		if (!socket_listens_at(FIRST_FD + i, type, address, size))
			continue;
		fcntl(FIRST_FD + i, F_SETFD, FD_CLOEXEC);
		fcntl(FIRST_FD + i, F_SETFL, O_NONBLOCK);
		sockets_in_use |= UINT64_C(1) << i;
		return fcntl(FIRST_FD + i, F_DUPFD_CLOEXEC, FIRST_FD);
	}
	return -1;
}

static void warn_of(const struct sockaddr *a, socklen_t size)
{
	char host[64] = "", port[16] = "";
	const char *path = ((const struct sockaddr_un *)a)->sun_path;

	if (a->sa_family == AF_UNIX)
		log_warning("systemd passed the socket %s, but no source reads it; add --from unix:%s or "
			    "remove it from the socket unit", path, path);
	else if (!getnameinfo(a, size, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		log_warning("systemd passed a socket on %s port %s, but no source reads it, so its clients "
			    "will hang; add --from resp://%s%s%s:%s or remove it from the socket unit",
			    host,
			    port, strchr(host, ':') ? "[" : "", host, strchr(host, ':') ? "]" : "", port);
}

void passed_sockets_warn(void)
{
	int count = passed_count();

	for (int i = 0; i < count; i++) {
		union address a = { 0 };
		socklen_t size = sizeof(a) - 1;		/* a path may fill it, without a NUL behind */

		if (!(sockets_in_use & UINT64_C(1) << i) && !getsockname(FIRST_FD + i, &a.any, &size))
			warn_of(&a.any, size);
	}
}
