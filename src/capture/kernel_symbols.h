/* kernel_symbols.h: names of kernel functions, from /proc/kallsyms. */
#ifndef CAPTURE_KERNEL_SYMBOLS_H
#define CAPTURE_KERNEL_SYMBOLS_H

#include "arena.h"
#include <stddef.h>
#include <stdint.h>

struct kernel_symbols {
	struct kernel_symbol { uint64_t address; const char *name; } *symbols;	/* functions, by address */
	size_t count, capacity;
	struct arena names;
};

/* Parses the text of kallsyms ("ffffffff81000000 T _text"); hidden addresses are skipped. */
void kernel_symbols_init(struct kernel_symbols *k, const char *text, size_t n);
void kernel_symbols_load(struct kernel_symbols *k);
void kernel_symbols_done(struct kernel_symbols *k);

/* Returns the function that contains the address, or NULL if unknown. */
const char *kernel_symbols_find(const struct kernel_symbols *k, uint64_t address);

#endif
