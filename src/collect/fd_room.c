/* fd_room.c: getrlimit and setrlimit. */

#include "fd_room.h"

#include <sys/resource.h>

void fd_room_raise(unsigned more)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max - l.rlim_cur < more ? l.rlim_max : l.rlim_cur + more;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

bool fd_room_left(int fd)
{
	struct rlimit l;
	rlim_t room;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return true;
	room = l.rlim_cur / 2 < FD_ROOM ? l.rlim_cur / 2 : FD_ROOM;
	return (rlim_t)fd < l.rlim_cur - room;
}
