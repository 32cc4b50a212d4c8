/* listener.c: getaddrinfo, bind and listen, and the remedies when they fail. */
#include "listener.h"

#include "cleanup.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BACKLOG	128

static int fail_to_listen(const char *text, const char *option, int error, struct err *err)
{
	if (error == EADDRINUSE)
		return err_set(err, -error, "%s is in use, perhaps by another daemon ('ss -ltnp' shows by which process); "
					    "choose another with %s",
			       text, option);
	if (error == EACCES)
		return err_set(err, -error, "%s needs privileges (ports below 1024 do); choose another with %s",
			       text, option);
	return err_set(err, -error, "cannot listen on %s: %s", text, strerror(error));
}

static int bind_address(const char *text, const char *option, const struct addrinfo *ai, bool listens, int *ret_fd,
			struct err *err)
{
	_cleanup_(fd_closep) int fd = -1;
	int one = 1;

	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fail_to_listen(text, option, errno, err);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || (listens && listen(fd, BACKLOG) < 0))
		return fail_to_listen(text, option, errno, err);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int bound_port(int fd)
{
	struct sockaddr_storage a = { 0 };
	socklen_t n = sizeof(a);

	if (getsockname(fd, (struct sockaddr *)&a, &n) < 0)
		return -errno;
	if (a.ss_family != AF_INET && a.ss_family != AF_INET6)
		return -EAFNOSUPPORT;
	return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port :
					       ((struct sockaddr_in *)&a)->sin_port);
}

/* A name other than localhost is resolved once, here. */
static int open_address(const char *text, const char *option, const struct address *a, bool listens, int *ret_fd, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *found = NULL;
	const char *host = strcmp(a->host, "localhost") == 0 ? "127.0.0.1" : a->host;
	char port[8];
	int r;

	snprintf(port, sizeof(port), "%d", a->port);
	r = getaddrinfo(host, port, &hints, &found);
	if (r != 0)
		return err_set(err, -EINVAL, "cannot listen on %s: %s", text, gai_strerror(r));
	r = bind_address(text, option, found, listens, ret_fd, err);
	freeaddrinfo(found);
	return r;
}

int listener_open(const char *text, const char *option, struct address *a, int *ret_fd, struct err *err)
{
	_cleanup_(fd_closep) int fd = -1;
	int r = open_address(text, option, a, true, &fd, err);

	if (r < 0)
		return r;
	a->port = bound_port(fd);
	if (a->port < 0)
		return err_set(err, a->port, "cannot get the port of %s", text);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* --- The check --- */

/* Whether this process itself listens on the port, which does not keep it from listening there again after a
 * restart. */
static bool is_own_port(int port)
{
	DIR *d = opendir("/proc/self/fd");
	bool found = false;
	struct dirent *e;

	while (d && !found && (e = readdir(d))) {
		int fd = atoi(e->d_name), listens = 0;
		socklen_t n = sizeof(listens);

		found = getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) == 0 && listens && bound_port(fd) == port;
	}
	if (d)
		closedir(d);
	return found;
}

int listener_check(const char *text, const char *option, const struct address *a, struct err *err)
{
	_cleanup_(fd_closep) int fd = -1;
	int r = open_address(text, option, a, false, &fd, err);

	return r == -EADDRINUSE && is_own_port(a->port) ? 0 : r;
}
