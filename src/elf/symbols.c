/* symbols.c: collects symbols of all tables, sorts them, and searches by address. */
#include "symbols.h"

#include "mem.h"

#include <string.h>

#define SYMBOLS_MAX	((size_t)4 << 20)	/* limit per file; the largest have about 700,000 */

struct symbol {
	uint64_t start, size;
	const char *name;
	uint8_t rank;			/* the lowest wins if several begin at one address */
};

static uint8_t rank_of(const Elf64_Sym *y)
{
	switch (ELF64_ST_BIND(y->st_info)) {
	case STB_GLOBAL: return 0;
	case STB_WEAK: return 1;
	default: return 2;
	}
}

static bool is_function(const Elf64_Sym *y)
{
	unsigned type = ELF64_ST_TYPE(y->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && y->st_shndx != SHN_UNDEF && y->st_value;
}

static size_t add_table(struct symbols *s, struct elf_symbols *table)
{
	size_t before = s->count;

	if (s->tables == ARRAY_SIZE(s->names))
		return 0;
	for (size_t i = 0; i < table->count && s->count < SYMBOLS_MAX; i++) {
		Elf64_Sym y = elf_symbol(table, i);
		const char *name = elf_symbol_name(table, i);

		if (!is_function(&y) || !*name)
			continue;
		GROW(&s->list, &s->capacity, s->count + 1);
		s->list[s->count++] = (struct symbol){ y.st_value, y.st_size, name, rank_of(&y) };
	}
	/* Names stay in the memory of the file's own table. */
	s->names[s->tables++] = table->names;
	table->names = (struct elf_bytes){ 0 };
	return s->count - before;
}

size_t symbols_add(struct symbols *s, const struct elf *e)
{
	_cleanup_(elf_symbols_done) struct elf_symbols all = { 0 }, dynamic = { 0 };
	size_t n = 0;

	/* .symtab includes the symbols of .dynsym. */
	if (elf_read_symbols(e, ELF_ALL, &all, NULL) >= 0)
		n = add_table(s, &all);
	if (n)
		s->all = true;
	else if (elf_read_symbols(e, ELF_DYNAMIC, &dynamic, NULL) >= 0)
		n = add_table(s, &dynamic);
	return n;
}

/* Compares names only up to some length: many symbols may share one long name. */
static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	size_t m, n;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank - y->rank;
	m = strnlen(x->name, 256);
	n = strnlen(y->name, 256);
	return m != n ? (m < n ? -1 : 1) : strncmp(x->name, y->name, 256);
}

void symbols_sort(struct symbols *s)
{
	size_t kept = 0;

	if (s->count)
		qsort(s->list, s->count, sizeof(*s->list), by_address);
	for (size_t i = 0; i < s->count; i++) {
		if (kept && s->list[kept - 1].start == s->list[i].start) {
			if (s->list[i].size > s->list[kept - 1].size)
				s->list[kept - 1].size = s->list[i].size;
			continue;
		}
		s->list[kept++] = s->list[i];
	}
	s->count = kept;
}

void symbols_done(struct symbols *s)
{
	free(s->list);
	for (unsigned i = 0; i < s->tables; i++)
		elf_bytes_done(&s->names[i]);
	*s = (struct symbols){ 0 };
}

static const struct symbol *last_before(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->list[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &s->list[low - 1] : NULL;
}

const char *symbols_find(const struct symbols *s, uint64_t address, uint64_t function)
{
	const struct symbol *y = last_before(s, address);

	/* Assembler often omits the size; such a function ends where the next one begins. */
	if (!y || (y->size ? address - y->start >= y->size : y->start < function))
		return NULL;
	return y->name;
}
