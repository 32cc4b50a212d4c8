/* notify.c: one datagram per state. */

#include "notify.h"

#include "cleanup.h"
#include "clock.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

void notify_send(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	_cleanup_(fd_closep) int fd = -1;
	size_t n = path ? strlen(path) : 0;

	if (n < 2 || n >= sizeof(a.sun_path) || (*path != '/' && *path != '@'))
		return;
	memcpy(a.sun_path, path, n);
	if (*path == '@')		/* an abstract name begins with NUL */
		a.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		(void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&a,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
}

int64_t notify_watchdog_ns(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	long long v = usec ? atoll(usec) : 0;

	if (pid && atol(pid) != getpid())
		return 0;
	return v > 0 && v < INT64_MAX / 1000 ? v * 1000 : 0;
}
