/* btf.c: walks the kernel's type information for one name.
 *
 * Layout (linux/btf.h): a header with offsets of two sections, types and strings, counted from its own end. Types are
 * numbered from 1 in file order; the length of each follows from its kind.
 */
#include "kernel_features.h"

#include <linux/btf.h>
#include <stddef.h>
#include <string.h>

/* Kinds that kernels newer than the installed header have. */
#define KIND_DECL_TAG	17
#define KIND_TYPE_TAG	18
#define KIND_ENUM64	19

/* Returns the number of bytes that follow struct btf_type; UINT64_MAX if the kind is unknown. */
static uint64_t tail_size(const struct btf_type *t)
{
	uint64_t n = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case KIND_ENUM64:
		return n * 12;
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return n * sizeof(struct btf_var_secinfo);
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case KIND_TYPE_TAG:
		return 0;
	default:
		return UINT64_MAX;
	}
}

uint32_t btf_find(const void *bytes, uint64_t size, const char *name, unsigned kind)
{
	const char *p = bytes, *strings, *at, *end;
	uint64_t name_size = strlen(name) + 1, string_size;
	struct btf_header h;
	uint32_t id = 1;

	if (size < sizeof(h))
		return 0;
	memcpy(&h, p, sizeof(h));
	if (h.magic != BTF_MAGIC || h.hdr_len < sizeof(h) || h.hdr_len > size ||
	    (uint64_t)h.type_off + h.type_len > size - h.hdr_len || (uint64_t)h.str_off + h.str_len > size - h.hdr_len)
		return 0;
	strings = p + h.hdr_len + h.str_off;
	string_size = h.str_len;
	at = p + h.hdr_len + h.type_off;
	end = at + h.type_len;
	for (; (size_t)(end - at) >= sizeof(struct btf_type); id++) {
		struct btf_type t;
		uint64_t tail;

		memcpy(&t, at, sizeof(t));
		if (BTF_INFO_KIND(t.info) == kind && t.name_off < string_size && string_size - t.name_off >= name_size &&
		    memcmp(strings + t.name_off, name, name_size) == 0)
			return id;
		tail = tail_size(&t);
		at += sizeof(t);
		if (tail > (uint64_t)(end - at))
			return 0;
		at += tail;
	}
	return 0;
}
