/* perf_map.h: names of generated code, as its process writes them into /tmp/perf-PID.map.
 *
 *	7f1c2e4010c0 5f JIT$App\Cart::total
 *	start        size (both hexadecimal), and the name up to the end of the line
 *
 * The file belongs to the process, which may write anything into it: malformed lines are counted and skipped, names
 * are truncated to PERF_MAP_NAME bytes, and only the last PERF_MAP_MAX bytes and PERF_MAP_ENTRIES lines of a large
 * file are read. If code was generated twice at one address, the last line wins.
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
	unsigned malformed;		/* malformed lines */
};

void perf_map_parse(struct perf_map *m, const char *text, size_t n);
void perf_map_done(struct perf_map *m);

/* Reads the file of a process that may have ended: `root` is its root directory. Only a file that belongs to the user
 * of the process, or to root, is read. Returns -ENOENT if there is none, -EPERM if it belongs to another user. */
int perf_map_read(struct perf_map *m, int root, const struct process_identity *who);

/* Returns the name, valid as long as `m`, or NULL if there is no named code at the address. */
const char *perf_map_find(const struct perf_map *m, uint64_t address);

#endif
