/* file_profile.c: converts counted calls to nodes. */

#include "file_profile.h"

#include "label_groups.h"
#include "mem.h"
#include "stack_registry_private.h"

#include <string.h>

/* All columns are kept; the first one is shown in pictures and folded stacks. */
static const struct {
	const char *name, *unit;
} columns[FILE_WEIGHTS] = {
	[FILE_BY_LATENCY] = { "io_ns", "nanoseconds" },
	[FILE_BY_BYTES] = { "io_bytes", "bytes" },
	[FILE_BY_COUNT] = { "io_calls", "count" },
};

static u32 named(struct profile *p, const char *text, size_t n)
{
	return profile_frame(p, (struct str){ text, n }, (struct str){ "", 0 }, 0);
}

static void add(struct profile *p, u32 node, const char *name, const char *unit, u64 value)
{
	profile_add(p, node, profile_column(p, name, unit), value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static void add_counted(struct stack_registry *b, struct stack_writer *w, struct profile *p, const struct counted_file *c)
{
	const char *operation = file_operation_names[c->key.operation % FILE_OPERATIONS];
	struct str path = intern_get(&b->files.paths, file_registry_path(&b->files, c->key.file));
	u32 node = stack_writer_add(w, PROFILE_ROOT, c->key.php);

	node = profile_child(p, node, named(p, operation, strlen(operation)));
	node = profile_child(p, node, named(p, path.p, path.n));
	add(p, node, columns[FILE_BY_LATENCY].name, columns[FILE_BY_LATENCY].unit, c->count.ns);
	add(p, node, columns[FILE_BY_BYTES].name, columns[FILE_BY_BYTES].unit, c->count.bytes);
	add(p, node, columns[FILE_BY_COUNT].name, columns[FILE_BY_COUNT].unit, c->count.calls);
	add(p, node, "io_failed", "count", c->count.failed);
}

static struct profile *make(struct stack_registry *b, const struct stack_registry_layers *layers, const u32 *groups, u32 group)
{
	struct profile *p = profile_new();
	struct stack_writer *w = stack_writer_new(b, p);

	profile_keep_lines(p, layers->lines);
	profile_column(p, columns[layers->weight].name, columns[layers->weight].unit);
	for (size_t i = 0; i < b->files.count_count; i++)
		if (!groups || groups[i] == group)
			add_counted(b, w, p, &b->files.counts[i]);
	stack_writer_free(w);
	return p;
}

struct profile *file_profile(struct stack_registry *b, const struct stack_registry_layers *layers)
{
	return make(b, layers, NULL, 0);
}

void file_profile_each(struct stack_registry *b, const struct stack_registry_layers *layers, void *data,
		       void (*label)(void *data, const struct count_key *key, struct labels *ret),
		       void (*take)(void *data, struct profile *p))
{
	u32 *group_of = xcalloc(b->files.count_count + 1, sizeof(*group_of));
	struct label_groups groups;

	label_groups_init(&groups);
	for (size_t i = 0; i < b->files.count_count; i++) {
		const struct file_key *key = &b->files.counts[i].key;
		struct labels labels;

		labels_init(&labels);
		label(data, &(struct count_key){ .request = key->request, .process = key->process }, &labels);
		group_of[i] = label_groups_find(&groups, &labels);
		labels_done(&labels);
	}
	for (u32 i = 0; i < groups.count; i++) {
		struct profile *p = make(b, layers, group_of, i);

		labels_copy(&p->labels, &groups.labels[i]);
		take(data, p);
	}
	label_groups_done(&groups);
	free(group_of);
}
