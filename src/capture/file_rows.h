/* file_rows.h: the calls counted in a stack registry, summed per file, each with the PHP stack that caused the most
 * of them. */
#ifndef CAPTURE_FILE_ROWS_H
#define CAPTURE_FILE_ROWS_H

#include "stack_registry.h"

struct file_row {
	struct str path;				/* lives as long as the registry */
	struct file_count operations[FILE_OPERATIONS], all;
	u32 stack;					/* a node of `stacks`: the stack that caused the most … */
	struct file_count by_stack;			/* … and its calls */
};

struct file_rows {
	struct file_row *rows;				/* most first; equal weights by number of calls, then by path */
	size_t count;
	struct file_count whole;			/* sum of all rows */
	struct profile *stacks;
};

/* Includes only operations whose bit, 1 << enum file_operation, is set. */
void file_rows_init(struct file_rows *r, struct stack_registry *b, enum file_weight weight, u32 operations);
void file_rows_done(struct file_rows *r);

u64 file_count_weight(const struct file_count *c, enum file_weight weight);

#endif
