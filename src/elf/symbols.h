/* symbols.h: maps addresses in an ELF file to the names of their functions.
 *
 * Names come from .dynsym, .symtab, and the .symtab of a file with debug symbols. If an address has several names,
 * global functions are preferred, then the shortest name, then the first alphabetically, so that the result is always
 * the same.
 */
#ifndef ELF_SYMBOLS_H
#define ELF_SYMBOLS_H

#include "elf_file.h"

struct symbols {
	struct symbol *list;		/* ascending by address */
	size_t count, capacity;
	struct elf_bytes names[3];	/* from the tables that were read */
	unsigned tables;
	bool all;			/* a .symtab was found, so a function without a name has none anywhere */
};

/* Adds the functions of a file. Returns their number. */
size_t symbols_add(struct symbols *s, const struct elf *e);

/* Call after the last symbols_add. */
void symbols_sort(struct symbols *s);
void symbols_done(struct symbols *s);

/* Returns the function at an address; NULL if no named one contains it. `function` is the start of the function there
 * according to call frame information, 0 if unknown: a symbol without a size that begins before that is not used. The
 * result lives as long as `s`. */
const char *symbols_find(const struct symbols *s, uint64_t address, uint64_t function);

/* --- Files with debug symbols --- */

/* Opens the file with the symbols of a stripped one, below the directory `root`, in the same places as debuggers: by
 * build ID in /usr/lib/debug/.build-id, then by its debuglink next to `path`, in .debug/ there, and in /usr/lib/debug
 * with the same directories. Only a file with the same build ID, or otherwise the right CRC, is accepted. Returns a
 * descriptor, or -ENOENT. */
int symbols_open_debug(const struct elf *e, int root, const char *path);

#endif
