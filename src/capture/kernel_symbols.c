/* kernel_symbols.c: reads and searches /proc/kallsyms. */

#include "kernel_symbols.h"

#include "io.h"
#include "mem.h"

#include <ctype.h>
#include <string.h>

#define KALLSYMS_MAX	((size_t)64 << 20)

static int by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct kernel_symbol *)a)->address, y = ((const struct kernel_symbol *)b)->address;

	return (x > y) - (x < y);
}

static void add_line(struct kernel_symbols *k, const char *p, const char *end)
{
	uint64_t address = 0;
	const char *name;
	char type;

	for (; p < end && isxdigit((unsigned char)*p); p++)
		address = address << 4 | (unsigned)(isdigit((unsigned char)*p) ? *p - '0' : (*p | 32) - 'a' + 10);
	if (!address || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return;
	type = (char)(p[1] | 32);
	if (type != 't' && type != 'w')
		return;
	name = p += 3;
	while (p < end && !isspace((unsigned char)*p))
		p++;
	GROW(&k->symbols, &k->capacity, k->count + 1);
	k->symbols[k->count].address = address;
	k->symbols[k->count++].name = arena_copy(&k->names, name, (size_t)(p - name));
}

void kernel_symbols_init(struct kernel_symbols *k, const char *text, size_t n)
{
	const char *p = text, *end = text + n;

	*k = (struct kernel_symbols){ 0 };
	arena_init(&k->names);
	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline ? newline : end;

		add_line(k, p, stop);
		p = stop + 1;
	}
	if (k->count)
		qsort(k->symbols, k->count, sizeof(*k->symbols), by_address);
}

void kernel_symbols_load(struct kernel_symbols *k)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	io_read_file("/proc/kallsyms", &b, KALLSYMS_MAX, NULL);
	kernel_symbols_init(k, b.data, b.size);
}

void kernel_symbols_done(struct kernel_symbols *k)
{
	free(k->symbols);
	arena_done(&k->names);
	*k = (struct kernel_symbols){ 0 };
}

const char *kernel_symbols_find(const struct kernel_symbols *k, uint64_t address)
{
	size_t low = 0, high = k->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? k->symbols[low - 1].name : NULL;
}
