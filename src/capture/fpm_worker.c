/* fpm_worker.c: struct fpm_scoreboard_proc_s, whose first fields are the same in PHP 5.4 to 8.5:
 *
 *	offset	size
 *	0	16	a lock
 *	16	4	1 while a worker has the record
 *	24	8	when the worker began (seconds, wall clock)
 *	32	4	its pid
 *	40	8	requests
 *	48	4	stage
 *	56	16	when the request was accepted (seconds and microseconds, monotonic clock)
 */

#include "fpm_worker.h"

#include "clock.h"
#include "io.h"
#include "mem.h"
#include "process.h"
#include "remote_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define RECORD_BYTES	72u
#define TABLE_MAX	(8u << 20)	/* 7,000 workers; larger mappings are opcache's */
#define MAPS_LIMIT	((size_t)16 << 20)
#define TICKS		100		/* per second, of a process' start */
#define TOLERANCE	3		/* seconds between fork and the record */
#define EPOCH_MIN	1000000000	/* 2001: before and after, no clock is right */
#define EPOCH_MAX	10000000000

static u64 field(const u8 *record, size_t offset, size_t size)
{
	u64 v = 0;

	memcpy(&v, record + offset, size);
	return v;
}

/* Returns the process' start, in seconds of the wall clock. */
static int64_t start_of(pid_t pid)
{
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	return clock_wall_ns() / NS_PER_SECOND - boot.tv_sec + (int64_t)(process_start_ticks(pid) / TICKS);
}

/* The range of possible start times of a worker, in seconds of the wall clock. */
struct period {
	int64_t from, to;
};

static bool is_record(const u8 *r, pid_t number, const struct period *start)
{
	int64_t began = (int64_t)field(r, 24, 8);

	return field(r, 16, 4) == 1 && field(r, 32, 4) == (u64)number && began >= start->from && began <= start->to && field(r, 48, 4) >= FPM_ACCEPTING && field(r, 48, 4) <= FPM_FINISHED && field(r, 64, 8) < 1000000;
}

static bool search(const u8 *bytes, size_t size, pid_t number, const struct period *start, struct fpm_worker *ret)
{
	for (size_t at = 0; at + RECORD_BYTES <= size; at += 8) {
		const u8 *r = bytes + at;

		if (!is_record(r, number, start))
			continue;
		ret->stage = (enum fpm_stage)field(r, 48, 4);
		ret->requests = field(r, 40, 8);
		ret->accepted_ns = (int64_t)(field(r, 56, 8) * NS_PER_SECOND + field(r, 64, 8) * 1000);
		return true;
	}
	return false;
}

static bool find(pid_t pid, const struct period *start, struct fpm_worker *ret)
{
	_cleanup_(buf_done) struct buf maps = { 0 };
	pid_t number = thread_own_number(pid, pid);
	char path[64], *line, *rest;
	bool found = false;

	buf_init(&maps);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	if (io_read_file(path, &maps, MAPS_LIMIT, NULL) < 0)
		return false;
	remote_memory_select(pid);
	for (rest = maps.data; !found && (line = strsep(&rest, "\n")); ) {
		uint64_t from, to;
		char access[5];
		u8 *bytes;

		if (!strstr(line, "/dev/zero") || sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, access) != 3 ||
		    strcmp(access, "rw-s") || to - from > TABLE_MAX)
			continue;
		bytes = xmalloc(to - from);
		found = read_user(bytes, (u32)(to - from), from) && search(bytes, to - from, number, start, ret);
		free(bytes);
	}
	return found;
}

bool fpm_worker_read(pid_t pid, struct fpm_worker *ret)
{
	int64_t start = start_of(pid);
	const struct period expected = { start - TOLERANCE, start + TOLERANCE }, any = { EPOCH_MIN, EPOCH_MAX };

	/* The wall clock may have been set in the meantime, as after booting. */
	return find(pid, &expected, ret) || find(pid, &any, ret);
}
