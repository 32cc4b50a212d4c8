/* interpreter.h: finds the code of PHP's interpreter in a file, and the rule to unwind its frames.
 *
 * Compilers move rarely executed parts of a function elsewhere, under a separate symbol (execute_ex.cold) that
 * stripped files lack. Such a part is recognized by two properties: it begins in the middle of a frame, with the same
 * rule as most of the interpreter's code, and the interpreter jumps into it.
 */
#ifndef CAPTURE_INTERPRETER_H
#define CAPTURE_INTERPRETER_H

#include "cfi.h"

struct interpreter {
	uint32_t start, end;			/* execute_ex */
	uint32_t cold_start, cold_end;		/* both 0: not found */
	struct unwind_rule body;		/* rule for most of its code; UNWIND_CFA_NONE: none fits compiled code */
};

/* Returns false if the file has no interpreter. */
bool interpreter_find(const struct elf *e, const struct cfi_table *t, struct interpreter *ret);

static inline bool interpreter_has(const struct interpreter *i, uint32_t address)
{
	return (address >= i->start && address < i->end) || (address >= i->cold_start && address < i->cold_end);
}

#endif
