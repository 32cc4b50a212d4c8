/* set_clock.c: gives one process a wall clock that a test sets while it runs. Preloaded into it. The offset to the machine's
 * clock is 8 bytes of a file that is mapped, so that all its threads see a new one at once: libfaketime, which reads its
 * file again for each call, gives the machine's own time now and then when two threads ask together.
 *
 * CLOCK_OFFSET_FILE: this file, an int64_t in seconds. The monotonic clocks are left as they are. */

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const _Atomic int64_t *offset;

__attribute__((constructor)) static void map_offset(void)
{
	const char *path = getenv("CLOCK_OFFSET_FILE");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*offset), PROT_READ, MAP_SHARED, fd, 0);

	/* A test whose clock cannot be set would pass for the wrong reason. */
	if (map == MAP_FAILED)
		abort();
	close(fd);
	offset = map;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, id, t);

	/* Other libraries may ask before the constructor ran. */
	if (r == 0 && offset && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		t->tv_sec += *offset;
	return r;
}

time_t time(time_t *ret)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (ret)
		*ret = t.tv_sec;
	return t.tv_sec;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec t;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &t);
	*tv = (struct timeval){ .tv_sec = t.tv_sec, .tv_usec = t.tv_nsec / 1000 };
	return 0;
}
