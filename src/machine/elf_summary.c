/* elf_summary.c: finds sections by name. */

#include "elf_summary.h"

#include <stdio.h>

/* Subtracts the table's first entry, which is always empty. */
static uint64_t count_symbols(const struct elf *e, uint32_t type)
{
	const Elf64_Shdr *s = elf_section(e, NULL, type);
	uint64_t n = s ? s->sh_size / sizeof(Elf64_Sym) : 0;

	return n ? n - 1 : 0;
}

void elf_summary_read(const struct elf *e, struct elf_summary *ret)
{
	uint8_t id[ELF_BUILD_ID];
	size_t n = elf_build_id(e, id);

	*ret = (struct elf_summary){
		.symtab = count_symbols(e, SHT_SYMTAB),
		.dynsym = count_symbols(e, SHT_DYNSYM),
		.eh_frame = elf_section(e, ".eh_frame", 0),
		.debug_info = elf_section(e, ".debug_info", 0) || elf_section(e, ".zdebug_info", 0),
	};
	for (size_t i = 0; i < n; i++)
		snprintf(ret->build_id + 2 * i, 3, "%02x", id[i]);
}
