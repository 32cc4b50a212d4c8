/* symbols.h: from an address in an ELF file to the name of its function.
 *
 * Names come from .dynsym, .symtab, and the .symtab of a file of debug symbols. Where several names have one address, that
 * of a global function is taken, of those the shortest, then the first by letters: the same in each run.
 */
#ifndef ELF_SYMBOLS_H
#define ELF_SYMBOLS_H

#include "elf_file.h"

struct symbols {
	struct symbol *list;		/* ascending by address */
	size_t count, capacity;
	struct elf_bytes names[3];	/* from the tables that were read */
	unsigned tables;
	bool all;			/* there was a .symtab, so what has no name has none anywhere */
};

/* Adds the functions of a file. Returns how many it has; 0 if there are none. */
size_t symbols_add(struct symbols *s, const struct elf *e);

/* After the last symbols_add. */
void symbols_sort(struct symbols *s);
void symbols_done(struct symbols *s);

/* The function at an address; NULL if it is in none that has a name. `function` is where a function begins there by call
 * frame information, 0 if that is not known: a symbol without a size that begins before does not reach it. Lives as long
 * as `s`. */
const char *symbols_find(const struct symbols *s, uint64_t address, uint64_t function);

/* --- Files of debug symbols --- */

/* Opens the file with the symbols that this one was stripped of, looked for below the directory `root`, where debuggers
 * look for it: by build id in /usr/lib/debug/.build-id, then by its debuglink beside `path`, in .debug/ there, and in
 * /usr/lib/debug with the same directories. Only one with the same build id, or else the right CRC, will do. Returns a
 * descriptor, or -ENOENT. */
int symbols_open_debug(const struct elf *e, int root, const char *path);

#endif
