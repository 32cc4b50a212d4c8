/* elf_summary.h: counts a program's symbols, and finds its unwind and debug information. */
#ifndef MACHINE_ELF_SUMMARY_H
#define MACHINE_ELF_SUMMARY_H

#include "elf_file.h"

struct elf_summary {
	uint64_t symtab, dynsym;	/* number of symbols in each table */
	bool eh_frame;			/* has call frame information, used to unwind stacks */
	bool debug_info;		/* DWARF */
	char build_id[2 * ELF_BUILD_ID + 1];	/* hexadecimal, "" if missing */
};

void elf_summary_read(const struct elf *e, struct elf_summary *ret);

#endif
