/* unix_listen.c: the socket file and its permissions. */

#include "unix_listen.h"

#include "passed_socket.h"

#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define BACKLOG		4096

static int lock_directory(const char *path, int *ret_fd, struct err *err)
{
	_cleanup_(freep) char *directory = strdup(path);
	_cleanup_(fd_closep) int fd = -1;
	char *slash = directory ? strrchr(directory, '/') : NULL;

	if (!slash)
		return err_set(err, -EINVAL, "the socket '%s' needs an absolute path", path);
	slash[slash == directory] = '\0';
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, -errno, "cannot listen in '%s': %s", directory, strerror(errno));
	if (flock(fd, LOCK_EX) < 0)
		return err_set(err, -errno, "cannot lock '%s': %s", directory, strerror(errno));
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* Appends the process that listens: not an init that passes the socket on, nor one of another PID namespace. */
static int set_in_use(int fd, const char *path, struct err *err)
{
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	char pid[32] = "";

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.pid > 1)
		snprintf(pid, sizeof(pid), " (pid %ld)", (long)peer.pid);
	return err_set(err, -EADDRINUSE, "another strobe listens on unix:%s%s; stop it, or choose another socket with --from or STROBE_SOCKET", path,
		       pid);
}

/* Removes a stale socket file. */
static int remove_stale(const struct sockaddr_un *a, struct err *err)
{
	_cleanup_(fd_closep) int fd = -1;
	const char *path = a->sun_path;
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_set(err, -errno, "cannot stat '%s': %s", path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, -EEXIST, "'%s' exists and is not a socket; remove it or choose another path", path);

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(err, -errno, "cannot create a socket: %s", strerror(errno));
	/* EAGAIN: a daemon is running, but its backlog is full, perhaps because it is stopped. */
	if (connect(fd, (const struct sockaddr *)a, sizeof(*a)) == 0 || errno == EAGAIN)
		return set_in_use(fd, path, err);
	if (errno == EPROTOTYPE)
		return err_set(err, -EADDRINUSE, "another program listens on '%s'; choose another path", path);
	if (errno != ECONNREFUSED)
		return err_set(err, -errno, "cannot determine which process listens on '%s': %s", path, strerror(errno));
	if (unlink(path) < 0 && errno != ENOENT)
		return err_set(err, -errno, "cannot replace the unused socket '%s': %s", path, strerror(errno));
	return 0;
}

/* Nobody can connect before listen(), so the permissions are right from the start. A group that root was started with
 * is intended, such as that of PHP's workers in a container; root's own group would exclude PHP. */
static int open_to_group(const char *path, struct err *err)
{
	struct group *g = geteuid() == 0 && getegid() == 0 ? getgrnam("strobe") : NULL;

	if (g && lchown(path, (uid_t)-1, g->gr_gid) < 0)
		return err_set(err, -errno, "cannot give '%s' to group strobe: %s; start the daemon with the group of PHP's workers, or with CAP_CHOWN",
			       path, strerror(errno));
	if (chmod(path, 0660) < 0)
		return err_set(err, -errno, "cannot set the mode of '%s': %s", path, strerror(errno));
	return 0;
}

int unix_listen(const char *path, int *ret_fd, bool *ret_activated, struct err *err)
{
	_cleanup_(fd_closep) int fd = -1, lock = -1;
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t n = strlen(path);
	int r;

	if (n >= sizeof(a.sun_path))
		return err_set(err, -ENAMETOOLONG, "the socket path '%s' has %zu bytes; at most %zu are possible",
			       path, n, sizeof(a.sun_path) - 1);
	memcpy(a.sun_path, path, n + 1);

	*ret_fd = passed_socket(SOCK_SEQPACKET, (const struct sockaddr *)&a, sizeof(a));
	*ret_activated = *ret_fd >= 0;
	if (*ret_activated)
		return 0;

	/* Two daemons that start at once must not both find the same dead socket and replace each other's. */
	if ((r = lock_directory(path, &lock, err)) < 0 || (r = remove_stale(&a, err)) < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(err, -errno, "cannot create a socket: %s", strerror(errno));
	if (bind(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return err_set(err, -errno, "cannot listen on unix:%s: %s", path, strerror(errno));
	if ((r = open_to_group(path, err)) < 0) {
		unlink(path);
		return r;
	}
	if (listen(fd, BACKLOG) < 0)
		return err_set(err, -errno, "cannot listen on unix:%s: %s", path, strerror(errno));

	*ret_fd = TAKE_FD(fd);
	return 0;
}
