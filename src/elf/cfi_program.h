/* cfi_program.h: runs the instructions of call frame information.
 *
 * An instruction has at least one byte, and generates at most one row.
 */
#ifndef ELF_CFI_PROGRAM_H
#define ELF_CFI_PROGRAM_H

#include "unwind_table.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes read from the front. A read beyond the end sets `bad` and returns 0. */
struct cfi_bytes {
	const uint8_t *at, *end;
	bool bad;
};

uint64_t cfi_fixed(struct cfi_bytes *b, unsigned size);		/* 1, 2, 4 or 8 bytes */
uint64_t cfi_uleb(struct cfi_bytes *b);
int64_t cfi_sleb(struct cfi_bytes *b);

/* DWARF's register numbers. No row uses CFI_NO_REGISTER, for any number in a file. */
#define CFI_NO_REGISTER	UINT64_MAX

struct cfi_registers {
	uint64_t sp, fp, bx, ra;
	bool link;			/* calls leave the return address in register `ra` */
};

/* The location of a register of the caller. */
struct cfi_saved {
	enum { CFI_SAME, CFI_UNDEFINED, CFI_AT_CFA, CFI_AT_SP, CFI_AT_FP, CFI_ELSEWHERE } kind;
	int64_t offset;
};

struct cfi_state {
	struct unwind_rule by_expression;	/* its CFA, if `expression` */
	bool expression;
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct cfi_saved fp, bx, ra;
};

struct cfi_program {
	const struct cfi_registers *registers;
	uint64_t code_align;
	int64_t data_align;
	bool signal;
	const struct cfi_state *initial;	/* restored by DW_CFA_restore */
	struct cfi_state state;
	/* Called with each row. */
	void (*row)(void *arg, uint64_t pc, const struct unwind_rule *rule);
	void *arg;
};

/* Runs the instructions of a function that begins at `pc`. Returns false if they are damaged; rows before the damage
 * have been reported. */
bool cfi_run(struct cfi_program *p, uint64_t pc, struct cfi_bytes instructions);

struct unwind_rule cfi_rule_of(const struct cfi_program *p);

#endif
