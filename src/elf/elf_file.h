/* elf_file.h: reads untrusted ELF files.
 *
 * 64-bit little-endian files of any machine: programs, libraries, files of debug symbols, and the vDSO's memory. No
 * number in a file is trusted before it is compared with the file's size, and no work grows faster than the file:
 * libelf would read the same, but maps the file, and truncating a mapped file kills the process.
 *
 *	offset  size  ELF header
 *	0       16    7f 'E' 'L' 'F', 2 (64-bit), 1 (little-endian), 1 (version), …
 *	16      2     type: ET_EXEC, ET_DYN
 *	18      2     machine: EM_X86_64, EM_AARCH64
 *	32      8     offset of the program headers       54  2  size of one, 56    56  2  their number
 *	40      8     offset of the section headers       58  2  size of one, 64    60  2  their number
 *	62      2     the section that holds the sections' names
 *
 * Valid is a file
 *  1. that has a complete header of the kind above,
 *  2. whose program headers, at most ELF_SEGMENTS of them, lie within the file.
 * Section headers beyond the end of the file, or more than ELF_SECTIONS, are treated as if there were none: what a
 * process needs to run has no sections. Everything else is checked when it is read.
 */
#ifndef ELF_FILE_H
#define ELF_FILE_H

#include "err.h"
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_SEGMENTS	128u
#define ELF_SECTIONS	16384u
#define ELF_READ_MAX	((uint64_t)512 << 20)	/* bytes of one section, also once it is unpacked */
#define ELF_BUILD_ID	64u			/* bytes; linkers write 16 or 20 */

struct elf {
	char *name;			/* for sentences */
	int fd;				/* -1: `memory` */
	const uint8_t *memory;
	uint64_t size;
	uint16_t machine, type;
	Elf64_Phdr *segments;
	Elf64_Shdr *sections;
	unsigned segment_count, section_count;
	char *section_names;		/* ends with a NUL; NULL without sections */
	size_t section_names_size;
};

/* Bytes read from a file. */
struct elf_bytes {
	uint8_t *data;
	size_t size;
};

void elf_bytes_done(struct elf_bytes *b);

/* The descriptor stays the caller's and must stay open. -ENOEXEC if the file is not valid, -ENOTSUP if it is of
 * another word size or byte order. */
int elf_open(struct elf *e, int fd, const char *name, struct err *err);
int elf_open_memory(struct elf *e, const void *bytes, size_t n, const char *name, struct err *err);
void elf_close(struct elf *e);

/* Reads a part of the file; -ERANGE if it is not within. */
int elf_read(const struct elf *e, uint64_t offset, uint64_t size, struct elf_bytes *ret, struct err *err);

/* The first section of that name or (with NULL) type; NULL if there is none. */
const Elf64_Shdr *elf_section(const struct elf *e, const char *name, uint32_t type);

/* Its bytes, unpacked if they are compressed. */
int elf_read_section(const struct elf *e, const Elf64_Shdr *s, struct elf_bytes *ret, struct err *err);

/* The place of a program's address in the file; false if it is not loaded from there. `ret_size` (may be NULL) is how
 * many bytes follow in the segment. */
bool elf_offset_of(const struct elf *e, uint64_t address, uint64_t *ret_offset, uint64_t *ret_size);

/* The address that the byte at `offset` has in a process is this plus the load bias; only executable segments are
 * searched, with their edges rounded to pages as the kernel does. */
bool elf_address_of(const struct elf *e, uint64_t offset, uint64_t *ret_address);

/* The address of the first executable segment; false without one. */
bool elf_text_address(const struct elf *e, uint64_t *ret);

/* --- Symbols --- */

struct elf_symbols {
	struct elf_bytes entries;	/* Elf64_Sym */
	struct elf_bytes names;		/* ends with a NUL */
	size_t count;
};

enum elf_table {
	ELF_DYNAMIC,			/* .dynsym, found without sections, too */
	ELF_ALL,			/* .symtab */
};

/* -ENOENT without such a table. */
int elf_read_symbols(const struct elf *e, enum elf_table table, struct elf_symbols *ret, struct err *err);
void elf_symbols_done(struct elf_symbols *s);

Elf64_Sym elf_symbol(const struct elf_symbols *s, size_t i);

/* A C string; empty if the file has none there. */
const char *elf_symbol_name(const struct elf_symbols *s, size_t i);

/* Looks a defined symbol up in .dynsym, then in .symtab; false if there is none. */
bool elf_find_symbol(const struct elf *e, const char *name, Elf64_Sym *ret);
uint64_t elf_symbol_value(const struct elf *e, const char *name);	/* 0 without such a symbol */

/* --- Identity, and the place of the symbols --- */

/* Returns how many bytes the build id has, 0 without one. */
size_t elf_build_id(const struct elf *e, uint8_t ret_id[ELF_BUILD_ID]);

/* The name of the file of debug symbols, and the CRC-32 of its content; false without. The caller frees the name, which
 * has no slash in it. */
bool elf_debuglink(const struct elf *e, char **ret_name, uint32_t *ret_crc);

#endif
