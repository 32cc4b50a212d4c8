/* state_lock.c: a locked file with the owner's process id. The kernel releases the lock when the owner ends. */

#include "state_lock.h"

#include "io.h"
#include "mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

static int name_owner(int fd, const char *directory, struct err *err)
{
	char text[32] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	long pid = n > 0 ? strtol(text, NULL, 10) : 0;
	char who[48] = "";

	if (pid > 0)
		snprintf(who, sizeof(who), " (pid %ld)", pid);
	return err_set(err, -EBUSY, "'%s' is in use by another strobe%s, and two would send the same samples twice; "
		       "stop that one, or choose another directory with --state", directory, who);
}

int state_lock(const char *directory, int *ret_fd, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s/collect.lock", directory);
	_cleanup_(fd_closep) int fd = -1;
	int r = io_make_dirs(directory, 0750, err);

	if (r < 0)
		return r;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? name_owner(fd, directory, err) :
		       err_set(err, -errno, "cannot lock '%s': %s", path, strerror(errno));
	/* Only shown; a full disk must not keep a collector from starting. */
	if (ftruncate(fd, 0) == 0)
		(void)!dprintf(fd, "%ld\n", (long)getpid());
	*ret_fd = TAKE_FD(fd);
	return 0;
}
