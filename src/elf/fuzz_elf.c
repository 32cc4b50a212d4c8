/* fuzz_elf.c: reads any bytes as an ELF file: rows must be sorted and refer to existing rules, and symbols must end. */
#include "cfi.h"
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rows(const struct elf *e)
{
	struct cfi_table t;
	uint32_t start;

	if (cfi_read(e, &t, NULL) < 0)
		return;
	for (size_t i = 0; i < t.rows; i++) {
		if (t.row_rules[i] >= t.rule_count || (i && t.pcs[i] <= t.pcs[i - 1]))
			abort();
		if (cfi_function(&t, t.pcs[i], &start) && start > t.pcs[i])
			abort();
	}
	cfi_done(&t);
}

static void check_symbols(const struct elf *e)
{
	struct symbols s = { 0 };
	const char *name;

	symbols_add(&s, e);
	symbols_sort(&s);
	name = symbols_find(&s, e->size, 0);
	if (name && strlen(name) > e->size)
		abort();
	symbols_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf e;
	uint8_t id[ELF_BUILD_ID];
	uint64_t address, offset;
	uint32_t crc;
	char *name = NULL;

	if (elf_open_memory(&e, data, size, "fuzz", NULL) < 0)
		return 0;
	check_rows(&e);
	check_symbols(&e);
	if (elf_build_id(&e, id) > sizeof(id))
		abort();
	if (elf_debuglink(&e, &name, &crc) && strchr(name, '/'))
		abort();
	if (elf_address_of(&e, 16, &address) && elf_offset_of(&e, address, &offset, NULL) && offset > size + 4096)
		abort();
	free(name);
	elf_close(&e);
	return 0;
}
