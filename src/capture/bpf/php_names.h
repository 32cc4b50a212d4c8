/* php_names.h: reads the name of a PHP function, when its key is seen for the first time.
 *
 * The strings are copied while the function is on a stack, so that naming needs no living process later.
 */
#ifndef CAPTURE_BPF_PHP_NAMES_H
#define CAPTURE_BPF_PHP_NAMES_H

#include "php_key.h"

/* Copies a zend_string up to its first NUL, which is followed by an address in the names of anonymous classes.
 * Returns the size of the string, or up to the NUL if that is less; 0 if it cannot be read. */
static __always_inline u32 copy_string(const struct php_layout *l, char *to, u32 capacity, u64 string)
{
	u64 size = 0;
	long copied;

	to[0] = 0;
	if (!read_user(&size, 8, string + l->string_size))
		return 0;
	copied = read_user_text(to, capacity, string + l->string_text);
	if (copied <= 0)
		return 0;
	if ((u64)copied - 1 < capacity - 1)
		return (u32)copied - 1;
	return (u32)size;
}

static __always_inline void copy_words(struct function_event *e, const u8 *bytes, u32 size)
{
	const u64 *words = (const u64 *)bytes;

#ifdef __clang__
#pragma clang loop unroll(full)
#endif
	for (u32 i = 0; i < FUNCTION_WORDS; i++)
		e->words[i] = i < size / 8 ? words[i] : 0;
}

/* Fills in everything but type, id and process. `scratch` has room for PHP_FUNCTION_MAX bytes, aligned as words. */
static __always_inline void php_describe(const struct php_layout *l, u64 function, u8 *scratch, struct function_event *e)
{
	u64 name, scope, file = 0, class_name = 0;
	u32 size = FUNCTION_WORDS * 8;

	e->unreadable = e->name_size = e->class_size = e->file_size = e->line_start = 0;
	e->name[0] = e->scope[0] = e->file[0] = 0;
	if (!read_user(scratch, l->function_bytes & (PHP_FUNCTION_MAX - 1), function)) {
		size = PHP_COMMON_BYTES;
		if (!read_user(scratch, size, function)) {
			e->unreadable = 3;
			return;
		}
	}
	e->kind = scratch[0];
	name = field64(scratch, l->fn_name);
	scope = field64(scratch, l->fn_scope);
	if (name && !(e->name_size = copy_string(l, e->name, NAME_SIZE, name)))
		e->unreadable++;
	if (scope && (!read_user(&class_name, 8, scope + l->class_name) ||
		      !(e->class_size = copy_string(l, e->scope, NAME_SIZE, class_name))))
		e->unreadable++;
	if (e->kind == PHP_INTERNAL) {
		copy_words(e, scratch, size);
		return;
	}
	e->line_start = field32(scratch, l->fn_line_start);
	file = field64(scratch, l->fn_filename);
	if (file && !(e->file_size = copy_string(l, e->file, FILE_SIZE, file)))
		e->unreadable++;
}

#endif
