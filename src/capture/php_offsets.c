/* php_offsets.c: reads the table of offsets. */

#include "php_offsets.h"

#include "bpf/php_walk.h"

#include "offset_table.h"

#include <string.h>

/* Generated from php_offsets.txt by embed_text.py. */
extern const char php_offsets_text[];
extern const size_t php_offsets_text_size;

static const struct offset_field fields[] = {
#define OFFSET(name, limit, bytes)	{ #name, limit, bytes, offsetof(struct php_version, layout.name), false, false }
#define OPTIONAL(name, limit, bytes)	{ #name, limit, bytes, offsetof(struct php_version, layout.name), false, true }
	{ "api", UINT32_MAX, 1, offsetof(struct php_version, api), true, false },
	OFFSET(current_execute_data, 65536, 8),
	OFFSET(opline, EXECUTE_DATA_BYTES - 7, 8),
	OFFSET(func, EXECUTE_DATA_BYTES - 7, 8),
	OFFSET(type_info, EXECUTE_DATA_BYTES - 3, 4),
	OFFSET(prev, EXECUTE_DATA_BYTES - 7, 8),
	OFFSET(fn_flags, PHP_COMMON_BYTES - 3, 4),
	OFFSET(fn_name, PHP_COMMON_BYTES - 7, 8),
	OFFSET(fn_scope, PHP_COMMON_BYTES - 7, 8),
	OFFSET(fn_filename, PHP_FUNCTION_MAX - 15, 8),
	OFFSET(fn_line_start, PHP_FUNCTION_MAX - 11, 4),
	OFFSET(fn_line_end, PHP_FUNCTION_MAX - 7, 4),
	OPTIONAL(fn_opcodes, PHP_FUNCTION_MAX - 7, 8),
	OPTIONAL(fn_last, PHP_FUNCTION_MAX - 3, 4),
	OFFSET(class_name, 4096, 8),
	OFFSET(op_line, 4096, 4),
	OFFSET(string_hash, 4096, 8),
	OFFSET(string_size, 4096, 8),
	OFFSET(string_text, 4096, 1),
	OPTIONAL(generator_execute_data, 4096, 8),
	OPTIONAL(generator_parent, 4096, 8),
	OFFSET(request_method, 4096, 8),
	OFFSET(path_translated, 4096, 8),
	{ "immutable", UINT32_MAX, 1, offsetof(struct php_version, layout.immutable), true, false },
	{ "call_top", UINT32_MAX, 1, offsetof(struct php_version, layout.call_top), true, false },
};

static const struct offset_form form = { "PHP", fields, ARRAY_SIZE(fields), sizeof(struct php_version) };

static void add(void *data, const void *version)
{
	struct php_offsets *o = data;
	struct php_version v;
	struct php_layout *l = &v.layout;

	memcpy(&v, version, sizeof(v));
	l->function_bytes = (u16)((l->fn_line_end > l->fn_line_start ? l->fn_line_end : l->fn_line_start) + 4);
	if (l->function_bytes < l->fn_filename + 8)
		l->function_bytes = (u16)(l->fn_filename + 8);
	o->count = offset_version_put(&form, o->versions, o->count, PHP_VERSIONS, &v);
}

int php_offsets_add(struct php_offsets *o, const char *name, const char *text, size_t n, struct err *err)
{
	return offset_table_read(&form, name, text, n, add, o, err);
}

void php_offsets_init(struct php_offsets *o)
{
	o->count = 0;
	php_offsets_add(o, "the table of offsets", php_offsets_text, php_offsets_text_size, NULL);
}

const struct php_version *php_offsets_by_version(const struct php_offsets *o, unsigned major, unsigned minor)
{
	return offset_version_find(&form, o->versions, o->count, major, minor);
}

const struct php_version *php_offsets_by_api(const struct php_offsets *o, u32 api)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->versions[i].api == api)
			return &o->versions[i];
	return NULL;
}
