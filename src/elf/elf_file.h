/* elf_file.h: reads untrusted ELF files.
 *
 * 64-bit little-endian files of any machine: programs, libraries, files with debug symbols, and the vDSO's memory.
 * Every number in a file is checked against the file's size, and no work grows faster than the file. libelf could
 * read the same files, but maps them, and truncating a mapped file kills the process.
 *
 *	offset  size  ELF header
 *	0       16    7f 'E' 'L' 'F', 2 (64-bit), 1 (little-endian), 1 (version), …
 *	16      2     type: ET_EXEC, ET_DYN
 *	18      2     machine: EM_X86_64, EM_AARCH64
 *	32      8     offset of the program headers       54  2  size of one, 56    56  2  their number
 *	40      8     offset of the section headers       58  2  size of one, 64    60  2  their number
 *	62      2     the section with the sections' names
 *
 * A file is valid if
 *  1. it has a complete header as above,
 *  2. its program headers, at most ELF_SEGMENTS of them, are within the file.
 * Section headers beyond the end of the file, or more than ELF_SECTIONS, are ignored: running a program requires no
 * sections. Everything else is checked when it is read.
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
#define ELF_READ_MAX	((uint64_t)512 << 20)	/* limit of one section, also after decompression */
#define ELF_BUILD_ID	64u			/* bytes; linkers write 16 or 20 */

struct elf {
	char *name;			/* for errors */
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

/* The descriptor stays the caller's and must stay open. Returns -ENOEXEC if the file is invalid, -ENOTSUP for another
 * word size or byte order. */
int elf_open(struct elf *e, int fd, const char *name, struct err *err);
int elf_open_memory(struct elf *e, const void *bytes, size_t n, const char *name, struct err *err);
void elf_close(struct elf *e);

/* Reads a part of the file; returns -ERANGE if it is outside. */
int elf_read(const struct elf *e, uint64_t offset, uint64_t size, struct elf_bytes *ret, struct err *err);

/* Returns the first section with that name or (if NULL) type; NULL if there is none. */
const Elf64_Shdr *elf_section(const struct elf *e, const char *name, uint32_t type);

/* Reads the content of a section, decompressed if necessary. */
int elf_read_section(const struct elf *e, const Elf64_Shdr *s, struct elf_bytes *ret, struct err *err);

/* Returns the offset of a program's address in the file; false if it is not loaded from there. `ret_size` (may be
 * NULL) is the number of bytes from there to the end of the segment. */
bool elf_offset_of(const struct elf *e, uint64_t address, uint64_t *ret_offset, uint64_t *ret_size);

/* Returns the address of the byte at `offset`, without the load bias; only executable segments are searched, with
 * their edges rounded to pages like in the kernel. */
bool elf_address_of(const struct elf *e, uint64_t offset, uint64_t *ret_address);

/* Returns the address of the first executable segment; false without one. */
bool elf_text_address(const struct elf *e, uint64_t *ret);

/* --- Symbols --- */

struct elf_symbols {
	struct elf_bytes entries;	/* Elf64_Sym */
	struct elf_bytes names;		/* ends with a NUL */
	size_t count;
};

enum elf_table {
	ELF_DYNAMIC,			/* .dynsym, found even without sections */
	ELF_ALL,			/* .symtab */
};

/* Returns -ENOENT if there is no such table. */
int elf_read_symbols(const struct elf *e, enum elf_table table, struct elf_symbols *ret, struct err *err);
void elf_symbols_done(struct elf_symbols *s);

Elf64_Sym elf_symbol(const struct elf_symbols *s, size_t i);

/* Returns a C string; empty if there is none. */
const char *elf_symbol_name(const struct elf_symbols *s, size_t i);

/* Looks up a defined symbol in .dynsym, then in .symtab; returns false if there is none. */
bool elf_find_symbol(const struct elf *e, const char *name, Elf64_Sym *ret);
uint64_t elf_symbol_value(const struct elf *e, const char *name);	/* 0 if the symbol does not exist */

/* --- Identity, and files with debug symbols --- */

/* Returns the size of the build ID, 0 without one. */
size_t elf_build_id(const struct elf *e, uint8_t ret_id[ELF_BUILD_ID]);

/* Returns the name of the file with debug symbols, and the CRC-32 of its content; false without. The caller frees the
 * name, which contains no slash. */
bool elf_debuglink(const struct elf *e, char **ret_name, uint32_t *ret_crc);

#endif
