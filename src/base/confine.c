/* confine.c: uses rlimits, prctl and /proc. */
#include "confine.h"

#include "io.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__SANITIZE_ADDRESS__)
#define LIMIT_MEMORY false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIMIT_MEMORY false
#endif
#endif
#ifndef LIMIT_MEMORY
#define LIMIT_MEMORY true
#endif

void confine_die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

void confine_prefer_oom_kill(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	io_write_all(fd, "1000", 4, NULL);
	close(fd);
}

void confine_limit(int what, rlim_t n)
{
	struct rlimit r = { n, n };

	setrlimit(what, &r);
}

/* At the hard limit the kernel sends SIGKILL, which does not reveal the cause. */
void confine_cpu(rlim_t seconds)
{
	struct rlimit r = { seconds, seconds + 2 };

	setrlimit(RLIMIT_CPU, &r);
}

/* Counts pages of address space of this process, and private writable ones. Returns false if they are unknown. */
static bool count_pages(size_t *ret_space, size_t *ret_data)
{
	char text[128] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && sscanf(text, "%zu %*u %*u %*u %*u %zu", ret_space, ret_data) == 2;
}

/* Malloc reserves 64 MB of address space for each thread, and makes it writable as needed: without the second limit,
 * a process forked by a thread could use these, too. */
void confine_memory(rlim_t bytes)
{
	rlim_t page = (rlim_t)sysconf(_SC_PAGESIZE);
	size_t space, data;

	if (!LIMIT_MEMORY || !count_pages(&space, &data))
		return;
	confine_limit(RLIMIT_AS, space * page + bytes);
	confine_limit(RLIMIT_DATA, data * page + bytes);
}

static void close_between(int first, int last)
{
	if (first <= last)
		syscall(SYS_close_range, first, last, 0);
}

void confine_close_others(int keep, int keep_too)
{
	int low = keep < keep_too ? keep : keep_too, high = keep < keep_too ? keep_too : keep;

	close_between(STDERR_FILENO + 1, low - 1);
	close_between(low < STDERR_FILENO + 1 ? STDERR_FILENO + 1 : low + 1, high - 1);
	syscall(SYS_close_range, high < STDERR_FILENO + 1 ? STDERR_FILENO + 1 : high + 1, ~0u, 0);
}

void confine_be_quiet(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
}
