/* perf_map.h: names of generated code, as its process writes them into /tmp/perf-PID.map.
 *
 *	7f1c2e4010c0 5f JIT$App\Cart::total
 *	start        size (both hexadecimal), and the name up to the end of the line
 *
 * The file belongs to the process, which may write anything into it: lines of any other form are counted and skipped, names
 * end at PERF_MAP_NAME bytes, of a large file the last PERF_MAP_MAX bytes are read, and of those PERF_MAP_ENTRIES lines.
 * If code was generated twice at one address, the last line holds.
 */
#ifndef CAPTURE_PERF_MAP_H
#define CAPTURE_PERF_MAP_H

#include "arena.h"
#include "process_maps.h"
#include <stddef.h>
#include <stdint.h>

#define PERF_MAP_MAX	((size_t)32 << 20)
#define PERF_MAP_ENTRIES	1000000u
#define PERF_MAP_NAME	512u

struct perf_map {
	struct perf_map_entry *list;	/* ascending by start */
	size_t count, capacity;
	struct arena names;
	unsigned malformed;		/* lines */
};

void perf_map_parse(struct perf_map *m, const char *text, size_t n);
void perf_map_done(struct perf_map *m);

/* Reads the file of a process, which may be gone: `root` is the directory that was / to it. Only a file that belongs to the
 * user of the process, or to root, is read. -ENOENT if there is none, -EPERM if it belongs to another user. */
int perf_map_read(struct perf_map *m, int root, const struct process_identity *who);

/* NULL if no code with a name is there. Lives as long as `m`. */
const char *perf_map_find(const struct perf_map *m, uint64_t address);

#endif
