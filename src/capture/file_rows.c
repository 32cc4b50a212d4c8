/* file_rows.c: sums calls by path, and by path and stack. */

#include "file_rows.h"

#include "mem.h"
#include "stack_registry_private.h"

#include <string.h>

u64 file_count_weight(const struct file_count *c, enum file_weight weight)
{
	return weight == FILE_BY_BYTES ? c->bytes : weight == FILE_BY_COUNT ? c->calls : c->ns;
}

/* The calls of one stack on one file. */
struct part {
	u32 row, stack;
	struct file_count count;
};

struct adding {
	struct file_rows *rows;
	size_t row_capacity;
	struct map by_path;		/* path -> row */
	struct map by_stack;		/* row and stack -> part */
	struct part *parts;
	size_t part_count, part_capacity;
};

static u32 row_of(struct adding *a, struct stack_registry *b, u64 file)
{
	u32 path = file_registry_path(&b->files, file), *place = map_slot(&a->by_path, path);
	struct file_rows *r = a->rows;

	if (*place == MAP_NONE) {
		GROW(&r->rows, &a->row_capacity, r->count + 1);
		r->rows[r->count] = (struct file_row){ .path = intern_get(&b->files.paths, path) };
		*place = (u32)r->count++;
	}
	return *place;
}

static struct part *part_of(struct adding *a, u32 row, u32 stack)
{
	u32 *place = map_slot(&a->by_stack, map_pair(row, stack));

	if (*place == MAP_NONE) {
		GROW(&a->parts, &a->part_capacity, a->part_count + 1);
		a->parts[a->part_count] = (struct part){ .row = row, .stack = stack };
		*place = (u32)a->part_count++;
	}
	return &a->parts[*place];
}

static void add_all(struct adding *a, struct stack_registry *b, u32 operations)
{
	struct stack_writer *w = stack_writer_new(b, a->rows->stacks);

	for (size_t i = 0; i < b->files.count_count; i++) {
		const struct counted_file *c = &b->files.counts[i];
		u32 row;

		if (c->key.operation >= FILE_OPERATIONS || !(operations & 1u << c->key.operation))
			continue;
		row = row_of(a, b, c->key.file);
		file_count_add(&a->rows->rows[row].operations[c->key.operation], &c->count);
		file_count_add(&a->rows->rows[row].all, &c->count);
		file_count_add(&a->rows->whole, &c->count);
		file_count_add(&part_of(a, row, stack_writer_add(w, PROFILE_ROOT, c->key.php))->count, &c->count);
	}
	stack_writer_free(w);
}

static bool is_more(const struct file_count *a, const struct file_count *b, enum file_weight weight)
{
	u64 x = file_count_weight(a, weight), y = file_count_weight(b, weight);

	return x > y || (x == y && a->calls > b->calls);
}

static void choose_stacks(const struct adding *a, enum file_weight weight)
{
	for (size_t i = 0; i < a->part_count; i++) {
		const struct part *p = &a->parts[i];
		struct file_row *row = &a->rows->rows[p->row];

		if (!row->by_stack.calls || is_more(&p->count, &row->by_stack, weight)) {
			row->stack = p->stack;
			row->by_stack = p->count;
		}
	}
}

static int compare(const void *x, const void *y, void *data)
{
	const struct file_row *a = x, *b = y;
	enum file_weight weight = *(const enum file_weight *)data;
	size_t shorter = a->path.n < b->path.n ? a->path.n : b->path.n;
	int order;

	if (is_more(&a->all, &b->all, weight) || is_more(&b->all, &a->all, weight))
		return is_more(&a->all, &b->all, weight) ? -1 : 1;
	order = memcmp(a->path.p, b->path.p, shorter);
	return order ? order : a->path.n < b->path.n ? -1 : 1;
}

void file_rows_init(struct file_rows *r, struct stack_registry *b, enum file_weight weight, u32 operations)
{
	struct adding a = { .rows = r };

	*r = (struct file_rows){ .stacks = profile_new() };
	map_init(&a.by_path);
	map_init(&a.by_stack);
	add_all(&a, b, operations);
	choose_stacks(&a, weight);
	if (r->count)
		qsort_r(r->rows, r->count, sizeof(*r->rows), compare, &weight);
	map_done(&a.by_path);
	map_done(&a.by_stack);
	free(a.parts);
}

void file_rows_done(struct file_rows *r)
{
	free(r->rows);
	profile_free(r->stacks);
}
