/* thread_pointer.c: struct pthread of glibc and musl on x86-64.
 *
 * It begins with a pointer to itself, from which compiled code gets its address. glibc (2.2 to 2.41) has another one
 * at 16 and the number of the thread at 0x2d0, on which libthread_db relies, too; musl (1.2) has the number at 48,
 * after the links of its list of threads. A thread's record is at the end of its stack, the main thread's in a small
 * mapping of the dynamic linker, in the heap of a static program, or among musl's variables.
 */

#include "thread_pointer.h"

#include "io.h"
#include "mem.h"
#include "process.h"
#include "remote_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ALIGNMENT	8u		/* musl's; glibc's is 64 */
#define GLIBC_SELF	16u
#define GLIBC_TID	0x2d0u
#define MUSL_PREVIOUS	16u
#define MUSL_NEXT	24u
#define MUSL_TID	48u
#define RECORD_BYTES	(GLIBC_TID + 4)
#define WINDOW_BYTES	(128u << 10)
#define MAPPING_MAX	(64u << 20)	/* size of a mapping that is searched as a whole */
#define MAPS_LIMIT	((size_t)16 << 20)

#if defined(__x86_64__)
static u64 word(const u8 *bytes, size_t at)
{
	u64 v;

	memcpy(&v, bytes + at, sizeof(v));
	return v;
}

static u32 number_at(const u8 *bytes, size_t at)
{
	u32 v;

	memcpy(&v, bytes + at, sizeof(v));
	return v;
}

/* `left` is the number of remaining bytes; the number is small enough to occur anywhere by coincidence. */
static bool is_record(const u8 *record, size_t left, u64 address, u32 number)
{
	if (word(record, GLIBC_SELF) == address && left >= RECORD_BYTES && number_at(record, GLIBC_TID) == number)
		return true;
	return number_at(record, MUSL_TID) == number && word(record, MUSL_PREVIOUS) && word(record, MUSL_NEXT) &&
	       !(word(record, MUSL_PREVIOUS) % ALIGNMENT) && !(word(record, MUSL_NEXT) % ALIGNMENT);
}

static bool search(u64 start, const u8 *bytes, size_t size, u32 number, u64 *ret)
{
	for (size_t at = 0; at + MUSL_TID + sizeof(number) <= size; at += ALIGNMENT) {
		if (word(bytes, at) == start + at && is_record(bytes + at, size - at, start + at, number)) {
			*ret = start + at;
			return true;
		}
	}
	return false;
}

struct search {
	u32 number;
	u8 *bytes;
};

/* Windows overlap, so that each record is complete in one of them. Searches backwards, since the record is at the end
 * unless the kernel has merged the thread's stack with another mapping. */
static bool search_mapping(const struct search *s, u64 start, u64 end, u64 *ret)
{
	u64 low = end - start > MAPPING_MAX ? end - MAPPING_MAX : start;

	while (end - low > MUSL_TID) {
		u64 from = end - low > WINDOW_BYTES ? end - WINDOW_BYTES : low;

		if (read_user(s->bytes, (u32)(end - from), from) && search(from, s->bytes, end - from, s->number, ret))
			return true;
		if (from == low)
			break;
		end = from + RECORD_BYTES;
	}
	return false;
}

static bool search_all(const struct search *s, const char *maps, bool whole, u64 *ret)
{
	for (const char *line = maps; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		uint64_t start, end;
		char access[5];
		int name = 0;

		/* "7f00-7f10 rw-p 00000000 00:00 0 [heap]"; mappings of files have an inode, and only musl's
		 * variables are in one */
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s 00000000 00:00 0%n", &start, &end, access, &name) < 3 ||
		    (!name && !whole) || strcmp(access, "rw-p"))
			continue;
		if (!whole && end - start > WINDOW_BYTES)
			start = end - WINDOW_BYTES;
		if (search_mapping(s, start, end, ret))
			return true;
	}
	return false;
}

bool thread_pointer_find(pid_t pid, pid_t tid, u64 *ret)
{
	_cleanup_(buf_done) struct buf maps = { 0 };
	_cleanup_(freep) u8 *bytes = xmalloc(WINDOW_BYTES);
	struct search s = { (u32)thread_own_number(pid, tid), bytes };
	char path[64];

	buf_init(&maps);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	if (io_read_file(path, &maps, MAPS_LIMIT, NULL) < 0)
		return false;
	remote_memory_select(pid);
	return search_all(&s, maps.data, false, ret) || search_all(&s, maps.data, true, ret);
}

#else

bool thread_pointer_find(pid_t pid, pid_t tid, u64 *ret)
{
	return false;
}

#endif
