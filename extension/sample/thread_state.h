/* thread_state.h: checks in Linux' /proc whether a thread of this process sleeps. Opens a file. */
#ifndef STROBE_THREAD_STATE_H
#define STROBE_THREAD_STATE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Returns true if the thread waits in a system call and can be woken by a signal; not if it waits for memory, is
 * stopped, or has only been preempted; nor if the state is unknown. */
static inline bool thread_sleeps(pid_t tid)
{
	char path[64], text[128];
	const char *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');	/* end of the name, which may contain anything */
	return end && strncmp(end, ") S", 3) == 0;
}

#endif
