/* fd_budget.c: getrlimit and setrlimit. */

#include "fd_budget.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#define HTTP_LEAST	4u		/* a connection for each of its threads */
#define HTTP_OWN	12u		/* descriptors open without any connection */

static _Atomic rlim_t used;		/* part of the limit used by descriptors that are always open */

/* The lowest free descriptor approximates the number in use: descriptors are assigned without gaps. */
static rlim_t in_use(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0 ? (rlim_t)fd : 0;
}

void fd_budget_raise(unsigned more)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max - l.rlim_cur < more ? l.rlim_max : l.rlim_cur + more;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

void fd_budget_share(void)
{
	used = in_use();
}

unsigned fd_budget_for_http(void)
{
	rlim_t taken = in_use() + HTTP_OWN, n;
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur < taken)
		return HTTP_LEAST;
	n = (l.rlim_cur - taken) / 4;
	return n < HTTP_LEAST ? HTTP_LEAST : n < 1u << 20 ? (unsigned)n : 1u << 20;
}

static rlim_t for_sinks(const struct rlimit *l)
{
	rlim_t room = l->rlim_cur > used ? (l->rlim_cur - used) / 2 : 0;

	return room < FD_BUDGET ? room : FD_BUDGET;
}

bool fd_budget_left(int fd)
{
	struct rlimit l;

	return getrlimit(RLIMIT_NOFILE, &l) < 0 || (rlim_t)fd < l.rlim_cur - for_sinks(&l);
}

unsigned fd_budget_for_files(void)
{
	struct rlimit l;

	return getrlimit(RLIMIT_NOFILE, &l) < 0 ? FD_BUDGET / 2 : (unsigned)for_sinks(&l) / 2;
}
