/* interpreter.c: finds the interpreter's code and its cold part, and the rule for its frames. */
#include "interpreter.h"

#include "mem.h"

#include <string.h>

#define CODE_MAX	((uint64_t)4 << 20)
#define PARTS_MAX	64u
#define JUMPS_MIN	3u		/* fewer may be other bytes that look like jumps */

/* Rules have no padding, so they are compared as bytes. */
static bool same_rule(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* Finds the rule for most of the bytes: those where PHP code runs, rather than where the function begins or ends. */
static void find_body(const struct cfi_table *t, struct interpreter *i)
{
	_cleanup_(freep) uint64_t *bytes = xcalloc(t->rule_count + 1, sizeof(*bytes));
	size_t best = 0;

	for (size_t k = 0; k < t->rows; k++) {
		uint32_t from = t->pcs[k] > i->start ? t->pcs[k] : i->start, to = k + 1 < t->rows ? t->pcs[k + 1] : i->end;

		if (to > i->end)
			to = i->end;
		if (to > from)
			bytes[t->row_rules[k]] += to - from;
	}
	for (size_t k = 1; k < t->rule_count; k++)
		if (bytes[k] > bytes[best])
			best = k;
	if (bytes[best] && (t->rules[best].cfa == UNWIND_CFA_SP || t->rules[best].cfa == UNWIND_CFA_FP) &&
	    t->rules[best].ra == UNWIND_RA_AT_CFA)
		i->body = t->rules[best];
}

/* Another function that begins with the rule of the interpreter's body. */
struct part {
	uint32_t start;
	unsigned jumps;
};

static void note_jump(const struct cfi_table *t, const struct interpreter *i, uint64_t target, struct part parts[PARTS_MAX])
{
	struct unwind_rule rule;
	uint32_t start;

	if (target > UINT32_MAX || (target >= i->start && target < i->end) || !cfi_function(t, target, &start) || start == i->start)
		return;
	rule = cfi_rule(t, start);
	if (!same_rule(&rule, &i->body))
		return;
	for (unsigned k = 0; k < PARTS_MAX; k++) {
		if (parts[k].start != start && parts[k].jumps)
			continue;
		parts[k].start = start;
		parts[k].jumps++;
		return;
	}
}

/* Searches for jmp and conditional jumps with 32-bit distances. Any offset may be the start of one; false matches
 * rarely lead to a candidate. */
static void find_cold_part(const struct elf *e, const struct cfi_table *t, struct interpreter *i)
{
	_cleanup_(elf_bytes_done) struct elf_bytes code = { 0 };
	struct part parts[PARTS_MAX] = { { 0 } }, best = { 0 };
	uint64_t offset, available, size = i->end - i->start;
	size_t end;

	if (e->machine != EM_X86_64 || size > CODE_MAX || !elf_offset_of(e, i->start, &offset, &available) || available < size ||
	    elf_read(e, offset, size, &code, NULL) < 0)
		return;
	for (size_t k = 1; k + 5 <= code.size; k++) {
		bool conditional = code.data[k - 1] == 0x0f && (code.data[k] & 0xf0) == 0x80;
		int32_t distance;

		if (!conditional && code.data[k] != 0xe9)
			continue;
		memcpy(&distance, code.data + k + 1, sizeof(distance));
		note_jump(t, i, i->start + k + 5 + (uint64_t)(int64_t)distance, parts);
	}
	for (unsigned k = 0; k < PARTS_MAX; k++)
		if (parts[k].jumps > best.jumps)
			best = parts[k];
	if (best.jumps < JUMPS_MIN)
		return;
	i->cold_start = best.start;
	i->cold_end = UINT32_MAX;
	for (size_t k = 0; k < t->function_count && i->cold_end == UINT32_MAX; k++)
		if (t->functions[k] > best.start)
			i->cold_end = t->functions[k];
	for (end = 0; end < t->rows; end++)
		if (t->pcs[end] > best.start && t->rules[t->row_rules[end]].cfa == UNWIND_CFA_NONE)
			break;
	if (end < t->rows && t->pcs[end] < i->cold_end)
		i->cold_end = t->pcs[end];
}

bool interpreter_find(const struct elf *e, const struct cfi_table *t, struct interpreter *ret)
{
	Elf64_Sym s;

	*ret = (struct interpreter){ 0 };
	if (!elf_find_symbol(e, "execute_ex", &s) || s.st_value > UINT32_MAX || s.st_size > UINT32_MAX - s.st_value)
		return false;
	ret->start = (uint32_t)s.st_value;
	ret->end = (uint32_t)(s.st_value + s.st_size);
	find_body(t, ret);
	if (ret->body.cfa != UNWIND_CFA_NONE)
		find_cold_part(e, t, ret);
	return true;
}
