/* shifted_offsets.h: tables of offsets that are wrong in one field each, for record_image and test_php_images.
 *
 * record_image also records the memory read by a comparison with each of them, so that the test has the memory that a
 * wrong offset leads to.
 */
#ifndef CAPTURE_SHIFTED_OFFSETS_H
#define CAPTURE_SHIFTED_OFFSETS_H

#include "mem.h"
#include "php_offsets.h"

struct shifted_field {
	const char *name;
	size_t at;			/* offset in struct php_layout */
	int by;				/* bytes; 0: one of two bits, which is shifted up */
};

#define SHIFTED(name, by)	{ #name, offsetof(struct php_layout, name), by }, { #name, offsetof(struct php_layout, name), -(by) }

static const struct shifted_field shifted_fields[] = {
	SHIFTED(current_execute_data, 8),
	{ "opline", offsetof(struct php_layout, opline), 8 },
	SHIFTED(func, 8),
	SHIFTED(type_info, 4),
	{ "prev", offsetof(struct php_layout, prev), -8 },
	SHIFTED(fn_flags, 4),
	SHIFTED(fn_name, 8),
	SHIFTED(fn_scope, 8),
	SHIFTED(fn_filename, 8),
	SHIFTED(fn_line_start, 4),
	SHIFTED(fn_line_end, 4),
	SHIFTED(fn_opcodes, 8),
	SHIFTED(class_name, 8),
	SHIFTED(op_line, 4),
	SHIFTED(string_hash, 8),
	SHIFTED(string_size, 8),
	SHIFTED(string_text, 1),
	SHIFTED(generator_execute_data, 8),
	SHIFTED(generator_parent, 8),
	{ "call_top", offsetof(struct php_layout, call_top), 0 },
};

/* The bit of immutable functions only matters with opcache. */
static inline struct php_layout shifted_layout(const struct php_layout *l, const struct shifted_field *f)
{
	struct php_layout r = *l;
	char *field = (char *)&r + f->at;

	if (f->by)
		*(u16 *)field = (u16)(*(u16 *)field + f->by);
	else
		*(u32 *)field <<= 1;
	r.function_bytes = (u16)((r.fn_line_end > r.fn_line_start ? r.fn_line_end : r.fn_line_start) + 4);
	if (r.function_bytes < r.fn_filename + 8)
		r.function_bytes = (u16)(r.fn_filename + 8);
	return r;
}

#endif
