/* elf_symbols.c: finds symbol tables by section, or through the dynamic linker's tables. */

#include "elf_file.h"

#include <string.h>

void elf_symbols_done(struct elf_symbols *s)
{
	elf_bytes_done(&s->entries);
	elf_bytes_done(&s->names);
	s->count = 0;
}

static int of_section(const struct elf *e, uint32_t type, struct elf_symbols *ret, struct err *err)
{
	const Elf64_Shdr *s = elf_section(e, NULL, type);
	int r;

	if (!s || s->sh_link >= e->section_count || s->sh_type == SHT_NOBITS)
		return -ENOENT;
	r = elf_read_section(e, s, &ret->entries, err);
	if (r >= 0)
		r = elf_read_section(e, &e->sections[s->sh_link], &ret->names, err);
	return r;
}

/* --- Without sections --- */

struct dynamic {
	uint64_t symtab, strtab, strsz, hash, gnu_hash;
};

static bool read_dynamic(const struct elf *e, struct dynamic *ret)
{
	_cleanup_(elf_bytes_done) struct elf_bytes b = { 0 };

	*ret = (struct dynamic){ 0 };
	for (unsigned i = 0; i < e->segment_count && !b.data; i++)
		if (e->segments[i].p_type == PT_DYNAMIC)
			elf_read(e, e->segments[i].p_offset, e->segments[i].p_filesz, &b, NULL);
	for (size_t at = 0; at + sizeof(Elf64_Dyn) <= b.size; at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn d;

		memcpy(&d, b.data + at, sizeof(d));
		switch (d.d_tag) {
		case DT_NULL: return ret->symtab && ret->strtab;
		case DT_SYMTAB: ret->symtab = d.d_un.d_ptr; break;
		case DT_STRTAB: ret->strtab = d.d_un.d_ptr; break;
		case DT_STRSZ: ret->strsz = d.d_un.d_val; break;
		case DT_HASH: ret->hash = d.d_un.d_ptr; break;
		case DT_GNU_HASH: ret->gnu_hash = d.d_un.d_ptr; break;
		}
	}
	return ret->symtab && ret->strtab;
}

/* Reads everything after an address in its segment. */
static bool read_from(const struct elf *e, uint64_t address, uint64_t most, struct elf_bytes *ret)
{
	uint64_t offset, size;

	return elf_offset_of(e, address, &offset, &size) &&
	       elf_read(e, offset, size < most ? size : most, ret, NULL) >= 0;
}

static uint32_t word(const struct elf_bytes *b, size_t i)
{
	uint32_t v = 0;

	if (i < b->size / 4)
		memcpy(&v, b->data + i * 4, 4);
	return v;
}

/* Reads the header {buckets, chains}: there is a chain entry per symbol. */
static size_t count_by_hash(const struct elf *e, uint64_t address)
{
	_cleanup_(elf_bytes_done) struct elf_bytes b = { 0 };

	return read_from(e, address, 8, &b) ? word(&b, 1) : 0;
}

/* The format is header {buckets, first symbol, words of the filter, shift}, filter (8 bytes each), buckets, chains.
 * The last symbol ends the chain that begins last; an odd entry ends a chain. */
static size_t count_by_gnu_hash(const struct elf *e, uint64_t address)
{
	_cleanup_(elf_bytes_done) struct elf_bytes b = { 0 };
	size_t buckets, chains, first, last = 0;

	if (!read_from(e, address, ELF_READ_MAX, &b))
		return 0;
	first = word(&b, 1);
	buckets = 4 + (size_t)word(&b, 2) * 2;
	chains = buckets + word(&b, 0);
	for (size_t i = buckets; i < chains && i < b.size / 4; i++)
		last = word(&b, i) > last ? word(&b, i) : last;
	if (last < first)
		return first;
	for (size_t i = chains + (last - first); i < b.size / 4; i++, last++)
		if (word(&b, i) & 1)
			return last + 1;
	return last;
}

static int of_dynamic(const struct elf *e, struct elf_symbols *ret)
{
	struct dynamic d;
	size_t count;

	if (!read_dynamic(e, &d))
		return -ENOENT;
	count = d.hash ? count_by_hash(e, d.hash) : d.gnu_hash ? count_by_gnu_hash(e, d.gnu_hash) : 0;
	if (!count || !read_from(e, d.symtab, (uint64_t)count * sizeof(Elf64_Sym), &ret->entries) ||
	    !read_from(e, d.strtab, d.strsz, &ret->names))
		return -ENOENT;
	return 0;
}

/* --- Reading a table --- */

int elf_read_symbols(const struct elf *e, enum elf_table table, struct elf_symbols *ret, struct err *err)
{
	int r;

	*ret = (struct elf_symbols){ 0 };
	r = of_section(e, table == ELF_ALL ? SHT_SYMTAB : SHT_DYNSYM, ret, err);
	if (r < 0 && table == ELF_DYNAMIC) {
		elf_symbols_done(ret);
		r = of_dynamic(e, ret);
	}
	if (r == -ENOENT)
		err_set(err, r, "'%s' has no %s", e->name, table == ELF_ALL ? "symbols other than those for linking" : "symbols");
	if (r < 0) {
		elf_symbols_done(ret);
		return r;
	}
	ret->count = ret->entries.size / sizeof(Elf64_Sym);
	return 0;
}

Elf64_Sym elf_symbol(const struct elf_symbols *s, size_t i)
{
	Elf64_Sym y;

	memcpy(&y, s->entries.data + i * sizeof(y), sizeof(y));
	return y;
}

const char *elf_symbol_name(const struct elf_symbols *s, size_t i)
{
	uint32_t at = elf_symbol(s, i).st_name;

	return at < s->names.size ? (const char *)s->names.data + at : "";
}

static bool find(const struct elf_symbols *s, const char *name, Elf64_Sym *ret)
{
	for (size_t i = 0; i < s->count; i++) {
		*ret = elf_symbol(s, i);
		if (ret->st_shndx != SHN_UNDEF && !strcmp(elf_symbol_name(s, i), name))
			return true;
	}
	return false;
}

bool elf_find_symbol(const struct elf *e, const char *name, Elf64_Sym *ret)
{
	for (int table = ELF_DYNAMIC; table <= ELF_ALL; table++) {
		_cleanup_(elf_symbols_done) struct elf_symbols s = { 0 };

		if (elf_read_symbols(e, table, &s, NULL) >= 0 && find(&s, name, ret))
			return true;
	}
	return false;
}

uint64_t elf_symbol_value(const struct elf *e, const char *name)
{
	Elf64_Sym s;

	return elf_find_symbol(e, name, &s) ? s.st_value : 0;
}
