/* elf_file.c: reads headers, sections and parts of a file. Symbols are in elf_symbols.c, notes in elf_notes.c. */

#include "elf_file.h"

#include "mem.h"

#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define PAGE		4096u

void elf_bytes_done(struct elf_bytes *b)
{
	free(b->data);
	*b = (struct elf_bytes){ 0 };
}

static int read_at(const struct elf *e, uint64_t offset, void *out, size_t size, struct err *err)
{
	char *to = out;

	if (offset > e->size || size > e->size - offset)
		return err_set(err, -ERANGE, "'%s' is damaged: it ends at byte %llu, and %zu bytes at %llu are needed", e->name,
			       (unsigned long long)e->size, size, (unsigned long long)offset);
	if (e->fd < 0) {
		if (size)
			memcpy(to, e->memory + offset, size);
		return 0;
	}
	while (size) {
		ssize_t n = pread(e->fd, to, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, -errno, "cannot read '%s': %s", e->name, strerror(errno));
		if (n == 0)
			return err_set(err, -ERANGE, "'%s' was truncated while it was read", e->name);
		to += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

/* Adds a NUL that is not counted. */
int elf_read(const struct elf *e, uint64_t offset, uint64_t size, struct elf_bytes *ret, struct err *err)
{
	_cleanup_(freep) uint8_t *data = NULL;
	int r;

	if (size > ELF_READ_MAX || size > e->size)
		return err_set(err, -ERANGE, "'%s' is damaged: a part of %llu bytes", e->name, (unsigned long long)size);
	data = xmalloc((size_t)size + 1);
	r = read_at(e, offset, data, (size_t)size, err);
	if (r < 0)
		return r;
	data[size] = 0;
	ret->size = (size_t)size;
	ret->data = TAKE_PTR(data);
	return 0;
}

/* --- Headers --- */

static int read_segments(struct elf *e, const Elf64_Ehdr *h, struct err *err)
{
	struct elf_bytes b = { 0 };
	int r;

	if (h->e_phnum == 0)
		return 0;
	if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum > ELF_SEGMENTS)
		return err_set(err, -ENOEXEC, "'%s' is damaged: %u program headers of %u bytes", e->name, h->e_phnum,
			       h->e_phentsize);
	r = elf_read(e, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr), &b, err);
	if (r < 0)
		return r == -ERANGE ? (err ? err->code = -ENOEXEC : -ENOEXEC) : r;
	e->segments = (Elf64_Phdr *)(void *)b.data;
	e->segment_count = h->e_phnum;
	return 0;
}

static void read_sections(struct elf *e, const Elf64_Ehdr *h)
{
	struct elf_bytes table = { 0 }, names = { 0 };
	const Elf64_Shdr *s;

	if (h->e_shnum == 0 || h->e_shnum > ELF_SECTIONS || h->e_shentsize != sizeof(Elf64_Shdr) ||
	    h->e_shstrndx >= h->e_shnum ||
	    elf_read(e, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr), &table, NULL) < 0)
		return;
	s = (const Elf64_Shdr *)(const void *)table.data + h->e_shstrndx;
	if (elf_read(e, s->sh_offset, s->sh_size, &names, NULL) < 0) {
		elf_bytes_done(&table);
		return;
	}
	e->sections = (Elf64_Shdr *)(void *)table.data;
	e->section_count = h->e_shnum;
	e->section_names = (char *)names.data;
	e->section_names_size = names.size;
}

static int read_headers(struct elf *e, struct err *err)
{
	Elf64_Ehdr h;
	int r = read_at(e, 0, &h, sizeof(h), NULL);

	if (r < 0 && r != -ERANGE)
		return read_at(e, 0, &h, sizeof(h), err);
	if (r < 0 || memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_VERSION] != EV_CURRENT)
		return err_set(err, -ENOEXEC, "'%s' is not an ELF file", e->name);
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB)
		return err_set(err, -ENOTSUP, "'%s' is not a 64-bit little-endian program, and no other kind is supported", e->name);
	e->machine = h.e_machine;
	e->type = h.e_type;
	r = read_segments(e, &h, err);
	if (r < 0)
		return r;
	read_sections(e, &h);
	return 0;
}

int elf_open(struct elf *e, int fd, const char *name, struct err *err)
{
	struct stat st;
	int r;

	*e = (struct elf){ .fd = fd };
	if (fstat(fd, &st) < 0)
		return err_set(err, -errno, "cannot read '%s': %s", name, strerror(errno));
	/* Reading a pipe or a device may never end. */
	if (!S_ISREG(st.st_mode))
		return err_set(err, -ENOEXEC, "'%s' is not a regular file", name);
	e->name = xstrdup(name);
	e->size = (uint64_t)st.st_size;
	r = read_headers(e, err);
	if (r < 0)
		elf_close(e);
	return r;
}

int elf_open_memory(struct elf *e, const void *bytes, size_t n, const char *name, struct err *err)
{
	int r;

	*e = (struct elf){ .fd = -1, .memory = bytes, .size = n, .name = xstrdup(name) };
	r = read_headers(e, err);
	if (r < 0)
		elf_close(e);
	return r;
}

void elf_close(struct elf *e)
{
	free(e->name);
	free(e->segments);
	free(e->sections);
	free(e->section_names);
	*e = (struct elf){ .fd = -1 };
}

/* --- Sections --- */

/* Compares only the length of the wanted name: many sections may share one long name. */
static bool has_name(const struct elf *e, const Elf64_Shdr *s, const char *name)
{
	size_t n = strlen(name) + 1;

	return s->sh_name <= e->section_names_size && n <= e->section_names_size + 1 - s->sh_name &&
	       !memcmp(e->section_names + s->sh_name, name, n);
}

const Elf64_Shdr *elf_section(const struct elf *e, const char *name, uint32_t type)
{
	for (unsigned i = 0; i < e->section_count; i++)
		if (name ? has_name(e, &e->sections[i], name) : e->sections[i].sh_type == type)
			return &e->sections[i];
	return NULL;
}

static int unpack(const struct elf *e, const struct elf_bytes *packed, struct elf_bytes *ret, struct err *err)
{
	_cleanup_(freep) uint8_t *data = NULL;
	Elf64_Chdr h;
	uLongf size;

	if (packed->size < sizeof(h))
		return err_set(err, -ERANGE, "'%s' is damaged: a compressed section of %zu bytes", e->name, packed->size);
	memcpy(&h, packed->data, sizeof(h));
	if (h.ch_type != ELFCOMPRESS_ZLIB)
		return err_set(err, -ENOTSUP, "'%s' has a section compressed in a way (%u) that is not supported", e->name,
			       h.ch_type);
	/* Deflate's best ratio is 1032 to 1, so a larger size is bogus and would only waste memory. */
	if (h.ch_size > ELF_READ_MAX || h.ch_size / 1032 > packed->size)
		return err_set(err, -ERANGE, "'%s' is damaged: a section of %llu bytes compressed to %zu", e->name,
			       (unsigned long long)h.ch_size, packed->size);
	size = (uLongf)h.ch_size;
	data = xmalloc(size + 1);
	if (uncompress(data, &size, packed->data + sizeof(h), packed->size - sizeof(h)) != Z_OK || size != h.ch_size)
		return err_set(err, -ERANGE, "'%s' is damaged: a compressed section cannot be unpacked", e->name);
	data[size] = 0;
	ret->size = size;
	ret->data = TAKE_PTR(data);
	return 0;
}

int elf_read_section(const struct elf *e, const Elf64_Shdr *s, struct elf_bytes *ret, struct err *err)
{
	_cleanup_(elf_bytes_done) struct elf_bytes b = { 0 };
	int r;

	*ret = (struct elf_bytes){ 0 };
	if (s->sh_type == SHT_NOBITS)
		return err_set(err, -ENOENT, "'%s' has only the headers of a section", e->name);
	r = elf_read(e, s->sh_offset, s->sh_size, &b, err);
	if (r < 0)
		return r;
	if (s->sh_flags & SHF_COMPRESSED)
		return unpack(e, &b, ret, err);
	*ret = b;
	b = (struct elf_bytes){ 0 };
	return 0;
}

/* --- Addresses --- */

bool elf_offset_of(const struct elf *e, uint64_t address, uint64_t *ret_offset, uint64_t *ret_size)
{
	for (unsigned i = 0; i < e->segment_count; i++) {
		const Elf64_Phdr *p = &e->segments[i];
		uint64_t into = address - p->p_vaddr;

		if (p->p_type != PT_LOAD || address < p->p_vaddr || into >= p->p_filesz || p->p_offset > e->size ||
		    p->p_filesz > e->size - p->p_offset)
			continue;
		*ret_offset = p->p_offset + into;
		if (ret_size)
			*ret_size = p->p_filesz - into;
		return true;
	}
	return false;
}

bool elf_address_of(const struct elf *e, uint64_t offset, uint64_t *ret_address)
{
	for (unsigned i = 0; i < e->segment_count; i++) {
		const Elf64_Phdr *p = &e->segments[i];
		uint64_t start = p->p_offset / PAGE * PAGE;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || offset < start || p->p_filesz > e->size ||
		    p->p_offset > e->size || offset >= p->p_offset + p->p_filesz)
			continue;
		*ret_address = p->p_vaddr + (offset - p->p_offset);
		return true;
	}
	return false;
}

bool elf_text_address(const struct elf *e, uint64_t *ret)
{
	for (unsigned i = 0; i < e->segment_count; i++)
		if (e->segments[i].p_type == PT_LOAD && e->segments[i].p_flags & PF_X) {
			*ret = e->segments[i].p_vaddr;
			return true;
		}
	return false;
}
