/* perl_offsets.c: the fields of the table. */

#include "perl_offsets.h"

#include "bpf/perl_walk.h"
#include "offset_table.h"

/* Generated from perl_offsets.txt by embed_text.py. */
extern const char perl_offsets_text[];
extern const size_t perl_offsets_text_size;

#define OFFSET(name, limit, bytes)	{ #name, limit, bytes, offsetof(struct perl_version, layout.name), false, false }
static const struct offset_field fields[] = {
	OFFSET(curstackinfo, 65536, 8),
	OFFSET(curcop, 65536, 8),
	OFFSET(defstash, 65536, 8),
	OFFSET(defgv, 65536, 8),
	OFFSET(si_cxstack, STACKINFO_BYTES - 7, 8),
	OFFSET(si_prev, STACKINFO_BYTES - 7, 8),
	OFFSET(si_cxsubix, STACKINFO_BYTES - 3, 4),
	OFFSET(si_type, STACKINFO_BYTES - 3, 4),
	OFFSET(cx_size, 4096, 8),
	OFFSET(cx_oldcop, CONTEXT_BYTES - 7, 8),
	OFFSET(cx_retop, CONTEXT_BYTES - 7, 8),
	OFFSET(cx_oldsubix, CONTEXT_BYTES - 3, 4),
	OFFSET(cx_namesv, CONTEXT_BYTES - 7, 8),
	OFFSET(cx_cv, CONTEXT_BYTES - 7, 8),
	OFFSET(cv_stash, CODE_BYTES - 7, 8),
	OFFSET(cv_start, CODE_BYTES - 7, 8),
	OFFSET(cv_gv, CODE_BYTES - 7, 8),
	OFFSET(cv_file, CODE_BYTES - 7, 8),
	OFFSET(cv_flags, CODE_BYTES - 3, 4),
	OFFSET(cv_depth, CODE_BYTES - 3, 4),
	OFFSET(gp_egv, 4096, 8),
	OFFSET(gv_stash, GLOB_BYTES - 7, 8),
	OFFSET(gv_namehek, GLOB_BYTES - 7, 8),
	OFFSET(hv_name, HASH_BYTES - 7, 8),
	OFFSET(hv_name_count, HASH_BYTES - 3, 4),
	OFFSET(cop_line, 4096, 4),
	OFFSET(cop_file, 4096, 8),
	OFFSET(op_type, 4096, 2),
	OFFSET(nextstate, 512, 1),
	OFFSET(dbstate, 512, 1),
	OFFSET(type_code, 256, 1),
	OFFSET(type_format, 256, 1),
};

static const struct offset_form form = { "Perl", fields, ARRAY_SIZE(fields), sizeof(struct perl_version) };

static void add(void *data, const void *version)
{
	struct perl_offsets *o = data;

	o->count = offset_version_put(&form, o->versions, o->count, PERL_VERSIONS, version);
}

int perl_offsets_add(struct perl_offsets *o, const char *name, const char *text, size_t n, struct err *err)
{
	return offset_table_read(&form, name, text, n, add, o, err);
}

void perl_offsets_init(struct perl_offsets *o)
{
	o->count = 0;
	perl_offsets_add(o, "the table of offsets", perl_offsets_text, perl_offsets_text_size, NULL);
}

const struct perl_version *perl_offsets_find(const struct perl_offsets *o, unsigned major, unsigned minor)
{
	return offset_version_find(&form, o->versions, o->count, major, minor);
}
