/* file_registry.h: maps file ids to paths, and holds the counted calls: the part of a stack registry for file I/O. */
#ifndef CAPTURE_FILE_REGISTRY_H
#define CAPTURE_FILE_REGISTRY_H

#include "bpf/file_event.h"
#include "intern.h"
#include "map.h"
#include <stddef.h>

struct counted_file {
	struct file_key key;
	struct file_count count;
};

struct file_registry {
	struct intern paths;
	struct map ids;			/* id of a file -> its path; one path may have several ids, if it was replaced */
	struct map keys;		/* hash of a key -> its number in `counts` */
	struct counted_file *counts;
	size_t count_count, count_capacity;
};

#define FILE_REGISTRY_UNKNOWN	"[unknown file]"	/* its event was lost */

void file_registry_init(struct file_registry *b);
void file_registry_done(struct file_registry *b);

/* Stores an EVENT_FILE of `size` bytes; malformed ones are ignored. */
void file_registry_note(struct file_registry *b, const struct file_event *e, size_t size);

/* Adds a count to those under the same key. */
void file_registry_count(struct file_registry *b, const struct file_key *key, const struct file_count *count);

void file_registry_forget_counts(struct file_registry *b);

/* Returns an index of `paths`; that of FILE_REGISTRY_UNKNOWN if the id is unknown. */
u32 file_registry_path(struct file_registry *b, u64 file);

void file_count_add(struct file_count *to, const struct file_count *more);

/* Returns the sum of all calls of an operation. */
struct file_count file_registry_sum(const struct file_registry *b, enum file_operation operation);

/* "read", "write", "open", "stat", "fsync". */
extern const char *const file_operation_names[FILE_OPERATIONS];

#endif
