/* thread_watch.c: reads /proc/PID/task/TID/stat and schedstat. */

#include "thread_watch.h"

#include "io.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_TICK	10000000ull	/* ticks of the times in stat, on every machine */

enum field { FIELD_STATE = 3, FIELD_USER_TIME = 14, FIELD_SYSTEM_TIME = 15, FIELD_CPU = 39 };

static int open_file(const struct thread_watch *w, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)w->pid, (int)w->tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int thread_watch_open(struct thread_watch *w, pid_t pid, pid_t tid)
{
	*w = (struct thread_watch){ .pid = pid, .tid = tid, .stat = -1, .schedstat = -1 };
	w->stat = open_file(w, "stat");
	if (w->stat < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	w->schedstat = open_file(w, "schedstat");
	return 0;
}

void thread_watch_close(struct thread_watch *w)
{
	if (w->stat >= 0)
		close(w->stat);
	if (w->schedstat >= 0)
		close(w->schedstat);
	w->stat = w->schedstat = -1;
}

static bool read_line(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	if (n <= 0)
		return false;
	text[n] = 0;
	return true;
}

/* Parses the fields after the name, which may contain blanks and parentheses. */
static bool parse_stat(const char *text, struct thread_snapshot *ret, uint64_t *ret_ticks)
{
	const char *p = strrchr(text, ')');

	*ret_ticks = 0;
	for (unsigned field = FIELD_STATE; p && field <= FIELD_CPU; field++) {
		p = strchr(p + 1, ' ');
		if (!p)
			return false;
		if (field == FIELD_STATE)
			ret->state = p[1];
		else if (field == FIELD_USER_TIME || field == FIELD_SYSTEM_TIME)
			*ret_ticks += strtoull(p, NULL, 10);
		else if (field == FIELD_CPU)
			ret->cpu = atoi(p);
	}
	return p;
}

/* Kernels without CONFIG_SCHED_INFO have no such file, or it contains "0 0 0". */
static bool read_schedstat(const struct thread_watch *w, struct thread_snapshot *ret)
{
	char text[96], *end;

	if (w->schedstat < 0 || !read_line(w->schedstat, text, sizeof(text)))
		return false;
	ret->cpu_ns = strtoull(text, &end, 10);
	ret->delay_ns = strtoull(end, &end, 10);
	ret->runs = strtoull(end, &end, 10);
	ret->exact = ret->runs;
	return ret->exact;
}

bool thread_watch_read(const struct thread_watch *w, struct thread_snapshot *ret)
{
	char text[1024];
	uint64_t ticks;
	bool exact = read_schedstat(w, ret);

	/* The accounting is read first: if the thread starts to run between the two reads, it is the older one. */
	if (!read_line(w->stat, text, sizeof(text)) || !parse_stat(text, ret, &ticks) || strchr("ZXx", ret->state))
		return false;
	if (exact)
		return true;
	ret->exact = false;
	ret->cpu_ns = ticks * NS_PER_TICK;
	ret->delay_ns = 0;
	return thread_switches(w->pid, w->tid, &ret->runs);
}

bool thread_watch_account(const struct thread_watch *w, struct thread_snapshot *ret)
{
	struct thread_snapshot all;

	if (read_schedstat(w, ret))
		return true;
	if (!thread_watch_read(w, &all))
		return false;
	all.state = ret->state;
	all.cpu = ret->cpu;
	*ret = all;
	return true;
}

bool thread_state_is_asleep(char state)
{
	return strchr("SDTtIPKW", state) != NULL && state;
}
