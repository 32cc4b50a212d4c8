/* perl_image.c: finds Perl in a file by its symbols, and thread-local storage by headers and relocations. */

#include "perl_image.h"

#include "elf_file.h"

#include <string.h>

/* Reads a variable of one byte, such as PL_version; returns -1 if there is none. */
static int read_byte(const struct elf *e, const char *name)
{
	_cleanup_(elf_bytes_done) struct elf_bytes b = { 0 };
	uint64_t offset;
	u64 at = elf_symbol_value(e, name);

	return at && elf_offset_of(e, at, &offset, NULL) && elf_read(e, offset, 1, &b, NULL) >= 0 ? b.data[0] : -1;
}

static const struct perl_version *find_version(const struct elf *e, const struct perl_offsets *o, struct perl_image *i)
{
	int major = read_byte(e, "PL_revision"), minor = read_byte(e, "PL_version"), patch = read_byte(e, "PL_subversion");

	if (major < 0 || minor < 0 || patch < 0)
		return NULL;
	i->major = (unsigned)major;
	i->minor = (unsigned)minor;
	snprintf(i->version, sizeof(i->version), "%d.%d.%d", major, minor, patch);
	return perl_offsets_find(o, i->major, i->minor);
}

/* A library asks the dynamic linker for the number of its thread-local block. Returns the address where that is
 * stored; 0 if there is none. */
static u64 module_slot(const struct elf *e, const char *variable)
{
	_cleanup_(elf_symbols_done) struct elf_symbols s = { 0 };
	_cleanup_(elf_bytes_done) struct elf_bytes b = { 0 };
	const Elf64_Shdr *section = elf_section(e, ".rela.dyn", 0);

	if (e->machine != EM_X86_64 || !section || elf_read_section(e, section, &b, NULL) < 0 ||
	    elf_read_symbols(e, ELF_DYNAMIC, &s, NULL) < 0)
		return 0;
	for (size_t at = 0; at + sizeof(Elf64_Rela) <= b.size; at += sizeof(Elf64_Rela)) {
		Elf64_Rela r;

		memcpy(&r, b.data + at, sizeof(r));
		if (ELF64_R_TYPE(r.r_info) == R_X86_64_DTPMOD64 && ELF64_R_SYM(r.r_info) < s.count &&
		    !strcmp(elf_symbol_name(&s, ELF64_R_SYM(r.r_info)), variable))
			return r.r_offset;
	}
	return 0;
}

/* A program's own block is next to the thread pointer: before it on x86-64, after two words on arm64. */
static bool program_offset(const struct elf *e, u64 value, s64 *ret)
{
	for (unsigned i = 0; i < e->segment_count; i++) {
		const Elf64_Phdr *p = &e->segments[i];
		u64 align = p->p_align ? p->p_align : 1;

		if (p->p_type != PT_TLS || align & (align - 1) || align > 65536 || p->p_memsz > 1u << 30)
			continue;
		if (e->machine == EM_X86_64)
			*ret = (s64)(value - ((p->p_memsz + align - 1) & -align));
		else
			*ret = (s64)(value + ((16 + align - 1) & -align));
		return true;
	}
	return false;
}

static bool find_interpreter(const struct elf *e, struct perl_place *p)
{
	Elf64_Sym s;

	if (!elf_find_symbol(e, "PL_current_context", &s) || ELF64_ST_TYPE(s.st_info) != STT_TLS)
		return false;
	p->tls_offset = (s64)s.st_value;
	p->tls_module = module_slot(e, "PL_current_context");
	return p->tls_module || program_offset(e, s.st_value, &p->tls_offset);
}

static int read_perl(const struct elf *e, const char *name, const struct perl_offsets *o, struct perl_image *ret, struct err *err)
{
	struct perl_place *p = &ret->binary.perl;
	const struct perl_version *v = find_version(e, o, ret);
	Elf64_Sym s;

	if (!v)
		return err_set(err, -ENOTSUP, "%s is Perl %s, which the offset table lacks; add it with "
			       "--perl-offsets FILE (scripts/perl-offsets prints the line of an installed Perl)", name,
			       *ret->version ? ret->version : "of an unknown version");
	p->layout = v->layout;
	p->threads = elf_find_symbol(e, "PL_thr_key", &s);
	p->curstackinfo = elf_symbol_value(e, "PL_curstackinfo");
	p->curcop = elf_symbol_value(e, "PL_curcop");
	p->defstash = elf_symbol_value(e, "PL_defstash");
	p->defgv = elf_symbol_value(e, "PL_defgv");
	ret->first_interpreter = elf_symbol_value(e, "PL_curinterp");
	if (p->threads ? !find_interpreter(e, p) : !p->curstackinfo || !p->curcop || !p->defstash || !p->defgv)
		return err_set(err, -ENOTSUP, "%s is Perl %s, but its interpreter pointer cannot be found: %s", name, ret->version,
			       p->threads ? "PL_current_context is not where this program looks for it" :
			       "PL_curstackinfo and others are not exported");
	ret->binary.kind = BINARY_PERL;
	return 1;
}

int perl_image_read(int fd, const char *name, const struct perl_offsets *o, struct perl_image *ret, struct err *err)
{
	_cleanup_(elf_close) struct elf e = { .fd = -1 };
	uint64_t text;
	int r;

	*ret = (struct perl_image){ .binary.kind = BINARY_OTHER };
	r = elf_open(&e, fd, name, err);
	if (r < 0)
		return r == -ENOEXEC || r == -ENOTSUP ? 0 : r;
	if (!elf_text_address(&e, &text) || !elf_symbol_value(&e, "Perl_runops_standard"))
		return 0;
	ret->binary.text = text;
	return read_perl(&e, name, o, ret, err);
}
