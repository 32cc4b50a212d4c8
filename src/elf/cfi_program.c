/* cfi_program.c: executes the instructions one by one, with a stack of remembered states. */
#include "cfi_program.h"

#include "cfi_codes.h"

#include <string.h>

#define REMEMBERED	64u	/* nested states; compilers nest two */

uint64_t cfi_fixed(struct cfi_bytes *b, unsigned size)
{
	uint64_t v = 0;

	if ((size_t)(b->end - b->at) < size) {
		b->bad = true;
		return 0;
	}
	memcpy(&v, b->at, size);
	b->at += size;
	return v;
}

/* Reads all bytes of a number, even those beyond 64 bits. */
static uint64_t leb(struct cfi_bytes *b, unsigned *ret_shift, uint8_t *ret_last)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)cfi_fixed(b, 1);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift = shift < 64 ? shift + 7 : shift;
	} while (byte & 0x80);
	*ret_shift = shift;
	*ret_last = byte;
	return v;
}

uint64_t cfi_uleb(struct cfi_bytes *b)
{
	unsigned shift;
	uint8_t last;

	return leb(b, &shift, &last);
}

int64_t cfi_sleb(struct cfi_bytes *b)
{
	unsigned shift;
	uint8_t last;
	uint64_t v = leb(b, &shift, &last);

	if (shift < 64 && last & 0x40)
		v |= UINT64_MAX << shift;
	return (int64_t)v;
}

static struct cfi_bytes block(struct cfi_bytes *b)
{
	uint64_t n = cfi_uleb(b);
	struct cfi_bytes part = { b->at, b->at, false };

	if (n > (uint64_t)(b->end - b->at)) {
		b->bad = true;
		return part;
	}
	b->at += n;
	part.end = b->at;
	return part;
}

/* Multiplies with wrap-around: an out-of-range number is refused when it is used in a rule. */
static int64_t times(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* --- Expressions --- */

/* Parses "reg + offset": DW_OP_breg. */
static bool base_register(struct cfi_bytes *e, const struct cfi_registers *r, bool *ret_fp, int64_t *ret_offset)
{
	uint8_t op = (uint8_t)cfi_fixed(e, 1);
	uint64_t number = op - DW_OP_breg0;

	if (op == DW_OP_bregx)
		number = cfi_uleb(e);
	else if (op < DW_OP_breg0 || op > DW_OP_breg31)
		return false;
	*ret_offset = cfi_sleb(e);
	*ret_fp = number == r->fp;
	return !e->bad && (number == r->fp || number == r->sp);
}

/* Matches the expression that linkers use for entries of the procedure linkage table, which push one word: sp + 8 +
 * ((rip & 15) >= N) * 8. */
static bool is_plt(struct cfi_bytes e, uint8_t *ret_from)
{
	static const uint8_t before[] = { DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and };
	static const uint8_t after[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };

	if (e.end - e.at != sizeof(before) + 1 + sizeof(after) || memcmp(e.at, before, sizeof(before)) ||
	    memcmp(e.at + sizeof(before) + 1, after, sizeof(after)) || e.at[sizeof(before)] < DW_OP_lit0 ||
	    e.at[sizeof(before)] > DW_OP_lit15)
		return false;
	*ret_from = e.at[sizeof(before)] - DW_OP_lit0;
	return true;
}

static bool fits16(int64_t v)
{
	return v >= INT16_MIN && v <= INT16_MAX;
}

static bool fits32(int64_t v)
{
	return v >= INT32_MIN && v <= INT32_MAX;
}

static struct unwind_rule cfa_expression(const struct cfi_registers *r, struct cfi_bytes e)
{
	struct unwind_rule rule = { .cfa = UNWIND_CFA_UNSUPPORTED };
	int64_t offset, add = 0;
	uint8_t from;
	bool fp;

	if (!base_register(&e, r, &fp, &offset) || !fits32(offset))
		return rule;
	if (e.at == e.end) {
		rule.cfa = fp ? UNWIND_CFA_FP : UNWIND_CFA_SP;
	} else if (!fp && is_plt(e, &from)) {
		rule.cfa = UNWIND_CFA_PLT;
		rule.cfa_add = from;
	} else if (*e.at == DW_OP_deref) {
		e.at++;
		if (e.at < e.end && *e.at == DW_OP_plus_uconst) {
			e.at++;
			add = (int64_t)cfi_uleb(&e);
		}
		if (e.at != e.end || e.bad || !fits16(add))
			return rule;
		rule.cfa = fp ? UNWIND_CFA_AT_FP : UNWIND_CFA_AT_SP;
		rule.cfa_add = (int16_t)add;
	} else {
		return rule;
	}
	rule.cfa_offset = (int32_t)offset;
	return rule;
}

static struct cfi_saved saved_expression(const struct cfi_registers *r, struct cfi_bytes e)
{
	struct cfi_saved s = { .kind = CFI_ELSEWHERE };
	bool fp;

	if (base_register(&e, r, &fp, &s.offset) && e.at == e.end)
		s.kind = fp ? CFI_AT_FP : CFI_AT_SP;
	return s;
}

/* --- Rules --- */

static bool is_bx(const struct cfi_registers *r, uint64_t number)
{
	return r->bx != CFI_NO_REGISTER && number == r->bx;
}

static enum unwind_reg place_of(const struct cfi_saved *s, int16_t *ret_offset)
{
	if (s->kind == CFI_SAME || s->kind == CFI_UNDEFINED)
		return UNWIND_REG_SAME;
	if (s->kind == CFI_ELSEWHERE || !fits16(s->offset))
		return UNWIND_REG_LOST;
	*ret_offset = (int16_t)s->offset;
	return s->kind == CFI_AT_CFA ? UNWIND_REG_AT_CFA : s->kind == CFI_AT_SP ? UNWIND_REG_AT_SP : UNWIND_REG_AT_FP;
}

struct unwind_rule cfi_rule_of(const struct cfi_program *p)
{
	const struct cfi_state *s = &p->state;
	const struct cfi_registers *r = p->registers;
	struct unwind_rule rule = { 0 };

	if (s->expression) {
		rule = s->by_expression;
	} else if ((s->cfa_register == r->sp || s->cfa_register == r->fp || is_bx(r, s->cfa_register)) && fits32(s->cfa_offset)) {
		rule.cfa = s->cfa_register == r->sp ? UNWIND_CFA_SP : s->cfa_register == r->fp ? UNWIND_CFA_FP : UNWIND_CFA_BX;
		rule.cfa_offset = (int32_t)s->cfa_offset;
	} else {
		rule.cfa = UNWIND_CFA_UNSUPPORTED;
	}

	if (s->ra.kind == CFI_UNDEFINED)
		rule.ra = UNWIND_RA_END;
	else if (s->ra.kind == CFI_SAME && r->link)
		rule.ra = UNWIND_RA_LINK;
	else if (s->ra.kind == CFI_AT_CFA && fits16(s->ra.offset))
		rule.ra = UNWIND_RA_AT_CFA;
	else if (s->ra.kind == CFI_AT_SP && fits16(s->ra.offset))
		rule.ra = UNWIND_RA_AT_SP;
	else
		rule.ra = UNWIND_RA_UNSUPPORTED;
	if (rule.ra == UNWIND_RA_AT_CFA || rule.ra == UNWIND_RA_AT_SP)
		rule.ra_offset = (int16_t)s->ra.offset;

	rule.fp = place_of(&s->fp, &rule.fp_offset);
	rule.bx = place_of(&s->bx, &rule.bx_offset);

	/* One rule for all frames that cannot be unwound, or need not be. */
	if (rule.cfa == UNWIND_CFA_UNSUPPORTED || rule.ra == UNWIND_RA_UNSUPPORTED)
		rule = (struct unwind_rule){ .cfa = UNWIND_CFA_UNSUPPORTED, .ra = UNWIND_RA_UNSUPPORTED };
	else if (rule.ra == UNWIND_RA_END)
		rule = (struct unwind_rule){ .cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_END };
	rule.flags = p->signal ? UNWIND_SIGNAL : 0;
	return rule;
}

/* --- Instructions --- */

static void save(struct cfi_program *p, uint64_t number, struct cfi_saved where)
{
	if (number == p->registers->fp)
		p->state.fp = where;
	else if (is_bx(p->registers, number))
		p->state.bx = where;
	else if (number == p->registers->ra)
		p->state.ra = where;
}

static void restore(struct cfi_program *p, uint64_t number)
{
	if (number == p->registers->fp)
		p->state.fp = p->initial ? p->initial->fp : (struct cfi_saved){ 0 };
	else if (is_bx(p->registers, number))
		p->state.bx = p->initial ? p->initial->bx : (struct cfi_saved){ 0 };
	else if (number == p->registers->ra)
		p->state.ra = p->initial ? p->initial->ra : (struct cfi_saved){ 0 };
}

static void save_at(struct cfi_program *p, uint64_t number, int64_t factored)
{
	save(p, number, (struct cfi_saved){ CFI_AT_CFA, times(factored, p->data_align) });
}

static void set_cfa(struct cfi_program *p, uint64_t number, int64_t offset)
{
	p->state.expression = false;
	p->state.cfa_register = number;
	p->state.cfa_offset = offset;
}

static void advance(struct cfi_program *p, uint64_t *pc, uint64_t units)
{
	struct unwind_rule rule = cfi_rule_of(p);

	p->row(p->arg, *pc, &rule);
	*pc += units * p->code_align;
}

/* States saved by DW_CFA_remember_state, innermost last. */
struct cfi_remembered {
	struct cfi_state states[REMEMBERED];
	unsigned depth;
};

/* Each of the following runs the instructions of one group in DWARF 5, 6.4.2, and returns false for all others. */

static bool run_row_creation(struct cfi_program *p, uint8_t op, struct cfi_bytes *b, uint64_t *pc)
{
	switch (op) {
	case DW_CFA_advance_loc1:
		advance(p, pc, cfi_fixed(b, 1));
		return true;
	case DW_CFA_advance_loc2:
		advance(p, pc, cfi_fixed(b, 2));
		return true;
	case DW_CFA_advance_loc4:
		advance(p, pc, cfi_fixed(b, 4));
		return true;
	default:
		return false;
	}
}

static bool run_cfa_definition(struct cfi_program *p, uint8_t op, struct cfi_bytes *b)
{
	struct cfi_state *s = &p->state;
	uint64_t number;

	switch (op) {
	case DW_CFA_def_cfa:
		number = cfi_uleb(b);
		set_cfa(p, number, (int64_t)cfi_uleb(b));
		return true;
	case DW_CFA_def_cfa_sf:
		number = cfi_uleb(b);
		set_cfa(p, number, times(cfi_sleb(b), p->data_align));
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa(p, cfi_uleb(b), s->cfa_offset);
		return true;
	case DW_CFA_def_cfa_offset:
		set_cfa(p, s->cfa_register, (int64_t)cfi_uleb(b));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa(p, s->cfa_register, times(cfi_sleb(b), p->data_align));
		return true;
	case DW_CFA_def_cfa_expression:
		s->by_expression = cfa_expression(p->registers, block(b));
		s->expression = true;
		return true;
	default:
		return false;
	}
}

static bool run_register_rule(struct cfi_program *p, uint8_t op, struct cfi_bytes *b)
{
	const struct cfi_saved elsewhere = { CFI_ELSEWHERE, 0 };
	uint64_t number;

	switch (op) {
	case DW_CFA_offset_extended:
		number = cfi_uleb(b);
		save_at(p, number, (int64_t)cfi_uleb(b));
		return true;
	case DW_CFA_offset_extended_sf:
		number = cfi_uleb(b);
		save_at(p, number, cfi_sleb(b));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		number = cfi_uleb(b);
		save_at(p, number, times(-1, (int64_t)cfi_uleb(b)));
		return true;
	case DW_CFA_restore_extended:
		restore(p, cfi_uleb(b));
		return true;
	case DW_CFA_undefined:
		save(p, cfi_uleb(b), (struct cfi_saved){ CFI_UNDEFINED, 0 });
		return true;
	case DW_CFA_same_value:
		save(p, cfi_uleb(b), (struct cfi_saved){ CFI_SAME, 0 });
		return true;
	case DW_CFA_register:
	case DW_CFA_val_offset:
		number = cfi_uleb(b);
		cfi_uleb(b);
		save(p, number, elsewhere);
		return true;
	case DW_CFA_val_offset_sf:
		number = cfi_uleb(b);
		cfi_sleb(b);
		save(p, number, elsewhere);
		return true;
	case DW_CFA_expression:
		number = cfi_uleb(b);
		save(p, number, saved_expression(p->registers, block(b)));
		return true;
	case DW_CFA_val_expression:
		number = cfi_uleb(b);
		block(b);
		save(p, number, elsewhere);
		return true;
	default:
		return false;
	}
}

static bool run_row_state(struct cfi_program *p, uint8_t op, struct cfi_remembered *r)
{
	switch (op) {
	case DW_CFA_remember_state:
		if (r->depth == REMEMBERED)
			return false;
		r->states[r->depth++] = p->state;
		return true;
	case DW_CFA_restore_state:
		if (r->depth == 0)
			return false;
		p->state = r->states[--r->depth];
		return true;
	default:
		return false;
	}
}

/* Runs instructions that do not change rules. */
static bool run_padding(const struct cfi_program *p, uint8_t op, struct cfi_bytes *b)
{
	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_GNU_args_size:
		cfi_uleb(b);
		return true;
	/* arm64: signed return addresses; their upper bits are masked when they are read. */
	case DW_CFA_GNU_window_save:
		return p->registers->link;
	default:
		return false;
	}
}

bool cfi_run(struct cfi_program *p, uint64_t pc, struct cfi_bytes b)
{
	struct cfi_remembered remembered;
	struct unwind_rule rule;

	remembered.depth = 0;	/* only this: the states are large, and written before they are read */
	while (b.at < b.end && !b.bad) {
		uint8_t op = *b.at++, low = op & 0x3f;

		switch (op & 0xc0) {
		case DW_CFA_advance_loc: advance(p, &pc, low); continue;
		case DW_CFA_offset: save_at(p, low, (int64_t)cfi_uleb(&b)); continue;
		case DW_CFA_restore: restore(p, low); continue;
		}
		if (!run_row_creation(p, op, &b, &pc) && !run_cfa_definition(p, op, &b) && !run_register_rule(p, op, &b) &&
		    !run_row_state(p, op, &remembered) && !run_padding(p, op, &b))
			return false;
	}
	if (b.bad)
		return false;
	rule = cfi_rule_of(p);
	p->row(p->arg, pc, &rule);
	return true;
}
