/* process_maps.h: the executable parts of a process' memory, and their files, from /proc.
 *
 *	7f0c8a200000-7f0c8a355000 r-xp 00028000 fe:01 123456    /usr/lib/x86_64-linux-gnu/libc.so.6
 *	start        end          mode offset   dev   inode     path, with " (deleted)" if it has been unlinked
 *
 * Malformed lines are counted and skipped. A path may contain any byte but NUL; the kernel writes a newline as \012.
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
	uint32_t device;		/* in the kernel's format: major << 20 | minor */
	uint64_t inode;
	const char *path;		/* "" if there is none */
	bool deleted, shared;
	bool executable;		/* false only for shared memory without a name: see below */
};

struct process_maps {
	struct process_map *list;	/* in the kernel's order, ascending */
	size_t count, capacity;
	struct arena paths;
	unsigned malformed;		/* malformed lines */
};

/* Parses the text of /proc/PID/maps: its executable parts, and shared memory without a name. While PHP's JIT writes,
 * its code is not executable in that process, although other threads, and later the same one, run it. */
void process_maps_parse(struct process_maps *m, const char *text, size_t n);
void process_maps_done(struct process_maps *m);

/* Reads the maps of a process. Returns -ESRCH if it has ended, -EACCES if it belongs to another user. */
int process_maps_read(struct process_maps *m, pid_t pid, struct err *err);

/* Opens the file of a process' mapping, which may be deleted, or replaced by a newer one with the same name: only a
 * file with the same inode is accepted. `root` is the root directory of the process, or -1 if that is not open yet.
 * Returns a descriptor; -ESTALE if the file no longer exists. */
int process_maps_open(pid_t pid, int root, const struct process_map *m, struct err *err);

/* Reads the identity of a process as others know it: its number in its own pid namespace, which programs use to name
 * their files (`pid` itself if unknown), and its effective user. Returns false if it has ended. */
struct process_identity {
	pid_t inner_pid;
	uid_t uid;
};

bool process_identity_read(struct process_identity *p, pid_t pid);

#endif
