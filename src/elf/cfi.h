/* cfi.h: call frame information (.eh_frame, .debug_frame) as a sorted list of rows.
 *
 * Compilers describe for each instruction how to unwind its function, as bytecode that debuggers run while they
 * unwind. A BPF program cannot do that, so the bytecode is run here once per file, and its results are stored as rows
 * (unwind_table.h). Only the registers that a stack walk needs are kept: CFA, return address, frame pointer, rbx.
 *
 * .eh_frame is part of executables, stripped or not; if it is missing (Go), .debug_frame is used. Both consist of
 * consecutive records:
 *
 *	offset  size  record
 *	0       4     bytes that follow; 0 ends .eh_frame; ffffffff (64-bit DWARF) is not supported
 *	4       4     CIE: 0 (.eh_frame), ffffffff (.debug_frame)
 *	              FDE: where its CIE is: bytes back from here (.eh_frame), offset in the section (.debug_frame)
 *	8       …     CIE: version, augmentation, alignment factors, return address' register, instructions
 *	              FDE: first address, bytes of code, augmentation's data, instructions
 *
 * An FDE is used if its CIE is a record of the same section and its first address is below 4 GB. If two overlap, the
 * one that begins later takes effect from its start. Time and memory are proportional to the section, whose size is
 * bounded, as is the number of rows.
 */
#ifndef ELF_CFI_H
#define ELF_CFI_H

#include "unwind_table.h"
#include "elf_file.h"

/* Limits per file. The largest libraries have about 400,000 rows, from 20 MB. */
#define CFI_SECTION_MAX	((uint64_t)64 << 20)
#define CFI_ROWS_MAX	((size_t)1 << 20)

struct cfi_table {
	uint32_t *pcs;			/* ascending, without duplicates */
	uint16_t *row_rules;		/* for each row: an index of `rules` */
	size_t rows, rows_capacity, row_rules_capacity;

	struct unwind_rule *rules;
	size_t rule_count;

	uint32_t *functions;		/* ascending first addresses of functions, including unnamed ones */
	size_t function_count;

	uint32_t damaged;		/* records that could not be read */
	uint32_t unsupported;		/* rows with a rule that BPF does not support */
	uint32_t left_out;		/* rows beyond CFI_ROWS_MAX */
};

/* Returns -ENOENT if the file has neither section; -ENOTSUP for architectures other than x86-64 and arm64. */
int cfi_read(const struct elf *e, struct cfi_table *ret, struct err *err);
void cfi_done(struct cfi_table *t);

/* Returns the rule at an address, UNWIND_CFA_NONE outside all functions. */
struct unwind_rule cfi_rule(const struct cfi_table *t, uint64_t pc);

/* Returns the start of the function that contains this address; false if unknown. */
bool cfi_function(const struct cfi_table *t, uint64_t pc, uint32_t *ret_start);

#endif
