/* unwind_table.h: the rules for unwinding a program's native stack, written by user space and read by BPF.
 *
 * Fixed-size structs for both compilers. A program's table is a list of rows sorted by address, `{pc, rule}`: from
 * `pc` up to the next row, that rule applies. A file has only a few hundred different rules, so a row takes six bytes.
 *
 * Rules name three registers beside the return address: the stack pointer (rsp, sp), the frame pointer (rbp, x29),
 * and rbx, which x86-64's dynamic linker uses to find its frame while it binds a function at its first call.
 * The canonical frame address (CFA) is the value of the stack pointer in the caller.
 */
#ifndef ELF_UNWIND_TABLE_H
#define ELF_UNWIND_TABLE_H

#include <linux/types.h>

enum unwind_cfa {
	UNWIND_CFA_NONE,		/* no function */
	UNWIND_CFA_SP,			/* sp + cfa_offset */
	UNWIND_CFA_FP,			/* fp + cfa_offset */
	UNWIND_CFA_AT_SP,		/* *(sp + cfa_offset) + cfa_add: signal frames, hand-written assembler */
	UNWIND_CFA_AT_FP,		/* *(fp + cfa_offset) + cfa_add: functions that align their stack */
	UNWIND_CFA_BX,			/* rbx + cfa_offset */
	UNWIND_CFA_PLT,			/* sp + cfa_offset, + 8 from byte `cfa_add` of a 16-byte entry */
	UNWIND_CFA_UNSUPPORTED,		/* another register, another expression */
};

enum unwind_ra {
	UNWIND_RA_AT_CFA,		/* saved at cfa + ra_offset */
	UNWIND_RA_AT_SP,		/* saved at sp + ra_offset */
	UNWIND_RA_LINK,			/* still in the link register (arm64); only valid in the innermost frame */
	UNWIND_RA_END,			/* the outermost frame */
	UNWIND_RA_UNSUPPORTED,
};

/* The locations of the caller's frame pointer and rbx. */
enum unwind_reg {
	UNWIND_REG_SAME,
	UNWIND_REG_AT_CFA,		/* saved at cfa + fp_offset, cfa + bx_offset */
	UNWIND_REG_AT_SP,
	UNWIND_REG_AT_FP,
	UNWIND_REG_LOST,			/* callers that need it cannot be unwound */
};

#define UNWIND_SIGNAL	1u		/* a signal interrupted the caller anywhere, not after a call */

struct unwind_rule {
	__s32 cfa_offset;
	__s16 cfa_add, fp_offset, bx_offset, ra_offset;
	__u8 cfa, ra;
	__u8 fp : 4, bx : 4;
	__u8 flags;
};

#endif
