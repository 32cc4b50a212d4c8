/* process_maps.h: the executable parts of a process' memory, and their files, from /proc.
 *
 *	7f0c8a200000-7f0c8a355000 r-xp 00028000 fe:01 123456    /usr/lib/x86_64-linux-gnu/libc.so.6
 *	start        end          mode offset   dev   inode     path, with " (deleted)" if it has no name any more
 *
 * Lines of any other form are counted and skipped. A path may have any byte but NUL; the kernel writes a newline in it
 * as \012.
 */
#ifndef CAPTURE_PROCESS_MAPS_H
#define CAPTURE_PROCESS_MAPS_H

#include "arena.h"
#include "err.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum map_kind {
	MAP_FILE,
	MAP_VDSO,
	MAP_ANONYMOUS,			/* generated code: no name, [heap], /dev/zero, /memfd:, /SYSV… */
	MAP_KERNEL,			/* [vsyscall] */
};

struct process_map {
	enum map_kind kind;
	uint64_t start, end, offset;
	uint32_t device;		/* major << 20 | minor, as the kernel has it */
	uint64_t inode;
	const char *path;		/* "" if there is none */
	bool deleted, shared;
	bool executable;		/* false for shared memory without a name only: see below */
};

struct process_maps {
	struct process_map *list;	/* ascending, as the kernel gives them */
	size_t count, capacity;
	struct arena paths;
	unsigned malformed;		/* lines */
};

/* The executable parts of `text`, which is what /proc/PID/maps holds, and its shared memory without a name: while PHP's JIT
 * writes, its code is not executable in that process, although other threads and later moments run it. */
void process_maps_parse(struct process_maps *m, const char *text, size_t n);
void process_maps_done(struct process_maps *m);

/* Reads the maps of a process. -ESRCH if it is gone, -EACCES if it is another user's. */
int process_maps_read(struct process_maps *m, pid_t pid, struct err *err);

/* Opens the file behind a part of a process, which may be deleted, or replaced by a newer one of the same name: only a file
 * of the same inode will do. `root` is the directory that is / to the process, -1 if that is not open yet. Returns a descriptor; -ESTALE if the file is
 * not there any more. */
int process_maps_open(pid_t pid, int root, const struct process_map *m, struct err *err);

/* As others know it: its number in its own pid namespace, by which programs name their files (`pid` itself if that is not
 * known), and its effective user. False if it is gone. */
struct process_identity {
	pid_t inner_pid;
	uid_t uid;
};

bool process_identity_read(struct process_identity *p, pid_t pid);

#endif
