/* file_registry.c: paths by id, counts by key. */

#include "file_registry.h"

#include "file_path.h"
#include "mem.h"

#include <string.h>
#include <xxhash.h>

const char *const file_operation_names[FILE_OPERATIONS] = { "read", "write", "open", "stat", "fsync" };

void file_registry_init(struct file_registry *b)
{
	intern_init(&b->paths);
	map_init(&b->ids);
	map_init(&b->keys);
}

void file_registry_done(struct file_registry *b)
{
	intern_done(&b->paths);
	map_done(&b->ids);
	map_done(&b->keys);
	free(b->counts);
}

void file_registry_note(struct file_registry *b, const struct file_event *e, size_t size)
{
	_cleanup_(buf_done) struct buf path = { 0 };

	buf_init(&path);
	if (file_path_put(e, size, &path))
		map_set(&b->ids, e->id, intern_add(&b->paths, path.data, path.size));
}

void file_count_add(struct file_count *to, const struct file_count *more)
{
	to->calls += more->calls;
	to->failed += more->failed;
	to->bytes += more->bytes;
	to->ns += more->ns;
}

void file_registry_count(struct file_registry *b, const struct file_key *key, const struct file_count *count)
{
	u32 *slot = map_slot(&b->keys, XXH3_64bits(key, sizeof(*key)));

	if (*slot == MAP_NONE) {
		GROW(&b->counts, &b->count_capacity, b->count_count + 1);
		*slot = (u32)b->count_count;
		b->counts[b->count_count++] = (struct counted_file){ .key = *key };
	}
	file_count_add(&b->counts[*slot].count, count);
}

void file_registry_forget_counts(struct file_registry *b)
{
	map_clear(&b->keys);
	b->count_count = 0;
}

u32 file_registry_path(struct file_registry *b, u64 file)
{
	u32 path = map_get(&b->ids, file);

	return path != MAP_NONE ? path : intern_add(&b->paths, FILE_REGISTRY_UNKNOWN, strlen(FILE_REGISTRY_UNKNOWN));
}

struct file_count file_registry_sum(const struct file_registry *b, enum file_operation operation)
{
	struct file_count sum = { 0 };

	for (size_t i = 0; i < b->count_count; i++)
		if (b->counts[i].key.operation == operation)
			file_count_add(&sum, &b->counts[i].count);
	return sum;
}
