/* unwind.h: walks a native stack with tables (unwind_layout.h), without frame pointers.
 *
 * A walk goes from the interrupted instruction to the outermost frame, one unwind_step per frame. Searches have no
 * branches: they take the same time for each address, and the verifier sees one path through each.
 *
 * Compiled for BPF and as plain C (user_memory.h), where the including file defines the two lookups.
 */
#ifndef CAPTURE_BPF_UNWIND_H
#define CAPTURE_BPF_UNWIND_H

#include "unwind_layout.h"
#include "user_memory.h"

/* In most frames, return address and saved frame pointer are close below the CFA: one read instead of two. */
#define UNWIND_NEAR	64u

/* Code compiled by opcache runs in a frame of the interpreter, but may have moved the stack pointer by up to this
 * much: the first candidate that leads to a return address is used. PHP 8.4 has a frame pointer there. */
#define UNWIND_PADDING		16u
#define UNWIND_PADDINGS		5u

/* Returns NULL if the page does not exist. */
static __always_inline const struct unwind_page *unwind_find_page(u32 number);
static __always_inline const struct unwind_rule *unwind_find_rule(u32 number);

/* Most samples have the same callers, so their rules are cached: tables never change once written. Searching each
 * time took two thirds of the time of a walk. */
#define UNWIND_MEMOS		1024u	/* a power of 2 */

struct unwind_memo {
	u64 frame;
	struct unwind_rule rule;
};

/* Large: in BPF it is in a map. Must be zeroed before its first walk. */
struct unwind {
	u64 ip, sp, fp, bx;
	u64 link;			/* arm64's link register */
	u32 interrupted;		/* `ip` is the next instruction, not the one after a call */
	u32 range;			/* range of the last frame; the next one is often in the same */
	u64 near[UNWIND_NEAR / 8];
	struct native_stack_event stack;
	struct unwind_memo memos[UNWIND_MEMOS];
};

static __always_inline void unwind_start(struct unwind *u, u64 ip, u64 sp, u64 fp, u64 bx, u64 link)
{
	u->ip = ip;
	u->sp = sp;
	u->fp = fp;
	u->bx = bx;
	u->link = link;
	u->interrupted = 1;
	u->range = 0;
	u->stack.id = 0;
	u->stack.count = 0;
	u->stack.end = NATIVE_MORE;
}

/* Needed by the verifier; GCC may ignore it. */
#ifdef __clang__
#define UNWIND_UNROLL	_Pragma("clang loop unroll(full)")
#else
#define UNWIND_UNROLL
#endif

/* Returns 1 if a <= b, for numbers below 2^63. */
static __always_inline u32 not_above(u64 a, u64 b)
{
	return (u32)((a - b - 1) >> 63);
}

/* Returns the last row that does not begin after `pc`; the first one if all do. */
static __always_inline u32 unwind_row(const struct unwind_page *p, u32 pc)
{
	u32 at = 0;

	UNWIND_UNROLL
	for (u32 step = UNWIND_PAGE_ROWS / 2; step; step /= 2)
		at += step * not_above(p->pcs[(at + step) & (UNWIND_PAGE_ROWS - 1)], pc);
	return at & (UNWIND_PAGE_ROWS - 1);
}

/* Returns the range that may contain `ip`. */
static __always_inline u32 unwind_range_at(const struct unwind_layout *l, u64 ip)
{
	u32 at = 0;

	UNWIND_UNROLL
	for (u32 step = UNWIND_RANGES / 2; step; step /= 2)
		at += step * not_above(l->starts[(at + step) & (UNWIND_RANGES - 1)], ip);
	return at & (UNWIND_RANGES - 1);
}

static __always_inline bool unwind_is_in(const struct unwind_layout *l, u32 range, u64 ip)
{
	u64 start = l->starts[range & (UNWIND_RANGES - 1)];

	return ip >= start && ip - start < l->ranges[range & (UNWIND_RANGES - 1)].size;
}

/* Returns the rule for an address of a file, or NULL. */
static __always_inline const struct unwind_rule *unwind_rule_at(const struct unwind_range *r, u32 address)
{
	const struct unwind_page *p = unwind_find_page(r->page);
	u32 row;

	if (!p)
		return 0;
	row = unwind_row(p, address);
	if (p->pcs[row & (UNWIND_PAGE_ROWS - 1)] > address)
		return 0;
	if (r->pages > 1) {
		p = unwind_find_page(r->page + 1 + row);
		if (!p)
			return 0;
		row = unwind_row(p, address);
	}
	return unwind_find_rule(p->rules[row & (UNWIND_PAGE_ROWS - 1)]);
}

/* The same, using the cached rules. */
static __always_inline const struct unwind_rule *unwind_rule_of(struct unwind *u, const struct unwind_range *r, u64 frame)
{
	struct unwind_memo *m = &u->memos[(frame * 0x9E3779B97F4A7C15ull >> 54) & (UNWIND_MEMOS - 1)];
	const struct unwind_rule *rule;

	if (m->frame == frame)
		return &m->rule;
	rule = unwind_rule_at(r, NATIVE_FRAME_ADDRESS(frame));
	if (!rule)
		return 0;
	m->rule = *rule;
	m->frame = frame;
	return &m->rule;
}

static __always_inline void unwind_push(struct unwind *u, u64 frame)
{
	u32 at = u->stack.count & (NATIVE_DEPTH - 1);
	u64 h = (u->stack.id ^ frame) + 1;

	u->stack.frames[at] = frame;
	h *= 0x9E3779B97F4A7C15ull;
	u->stack.id = h ^ h >> 32;
	u->stack.count = at + 1;
}

/* Reads the word saved at `address`, which may be near the CFA. */
static __always_inline bool unwind_saved(struct unwind *u, u64 cfa, u64 address, bool have_near, u64 *ret)
{
	u64 below = cfa - address;

	if (have_near && below - 8 <= UNWIND_NEAR - 8 && !(below & 7)) {
		*ret = u->near[((UNWIND_NEAR - below) / 8) & (UNWIND_NEAR / 8 - 1)];
		return true;
	}
	return read_user(ret, 8, address);
}

static __always_inline bool unwind_cfa(const struct unwind *u, const struct unwind_rule *r, u64 *ret)
{
	u64 base = (r->cfa == UNWIND_CFA_FP || r->cfa == UNWIND_CFA_AT_FP ? u->fp : r->cfa == UNWIND_CFA_BX ? u->bx : u->sp) +
		   (s64)r->cfa_offset;

	if (r->cfa == UNWIND_CFA_AT_SP || r->cfa == UNWIND_CFA_AT_FP) {
		if (!read_user(&base, 8, base))
			return false;
		base += (s64)r->cfa_add;
	} else if (r->cfa == UNWIND_CFA_PLT) {
		base += (u->ip & 15) >= (u64)r->cfa_add ? 8 : 0;
	}
	*ret = base;
	return true;
}

/* Restores a register of the caller. */
static __always_inline bool unwind_restore(struct unwind *u, u64 cfa, u32 place, s64 offset, bool have_near, u64 *reg)
{
	if (place == UNWIND_REG_SAME)
		return true;
	if (place == UNWIND_REG_LOST) {
		*reg = 0;
		return true;
	}
	return unwind_saved(u, cfa, (place == UNWIND_REG_AT_CFA ? cfa : place == UNWIND_REG_AT_SP ? u->sp : u->fp) + offset, have_near, reg);
}

/* Computes the caller's registers from those of a frame. */
static __always_inline u32 unwind_leave(struct unwind *u, const struct unwind_rule *r)
{
	u64 cfa, ra = 0, fp = u->fp, bx = u->bx;
	bool have_near;

	if (!unwind_cfa(u, r, &cfa))
		return NATIVE_UNREADABLE;
	have_near = read_user(u->near, UNWIND_NEAR, cfa - UNWIND_NEAR);

	if (r->ra == UNWIND_RA_LINK)
		ra = u->link;
	else if (!unwind_saved(u, cfa, (r->ra == UNWIND_RA_AT_SP ? u->sp : cfa) + (s64)r->ra_offset, have_near, &ra))
		return NATIVE_UNREADABLE;
	if (!unwind_restore(u, cfa, r->fp, r->fp_offset, have_near, &fp) || !unwind_restore(u, cfa, r->bx, r->bx_offset, have_near, &bx))
		return NATIVE_UNREADABLE;
#ifdef __TARGET_ARCH_arm64
	ra &= 0x0000ffffffffffffull;		/* clears the signature of signed return addresses */
#endif
	u->interrupted = r->flags & UNWIND_SIGNAL;
	u->ip = ra;
	u->sp = cfa;
	u->fp = fp;
	u->bx = bx;
	u->link = 0;				/* the caller's is on the stack */
	return ra ? NATIVE_MORE : NATIVE_OUTERMOST;
}

/* Leaves compiled PHP code, and returns to the caller of the interpreter. */
static __always_inline u32 unwind_leave_compiled(struct unwind *u, const struct unwind_layout *l, const struct unwind_rule *r)
{
	u64 cfa = (r->cfa == UNWIND_CFA_FP ? u->fp : u->sp) + (s64)r->cfa_offset, ra = 0;

	for (u32 i = 0; i < UNWIND_PADDINGS; i++, cfa += UNWIND_PADDING) {
		u32 range;

		/* A frame pointer is not affected. */
		if (i && r->cfa == UNWIND_CFA_FP)
			break;
		if (!read_user(&ra, 8, cfa + (s64)r->ra_offset))
			return NATIVE_UNREADABLE;
		range = unwind_range_at(l, ra);
		if (!unwind_is_in(l, range, ra) || !l->ranges[range & (UNWIND_RANGES - 1)].pages)
			continue;
		u->interrupted = 0;
		u->ip = ra;
		u->sp = cfa;
		if ((r->fp == UNWIND_REG_AT_CFA && !read_user(&u->fp, 8, cfa + (s64)r->fp_offset)) ||
		    (r->bx == UNWIND_REG_AT_CFA && !read_user(&u->bx, 8, cfa + (s64)r->bx_offset)))
			return NATIVE_UNREADABLE;
		return NATIVE_MORE;
	}
	return NATIVE_NO_RULE;
}

static __always_inline u32 unwind_one(struct unwind *u, const struct unwind_layout *l)
{
	u64 at = u->interrupted ? u->ip : u->ip - 1;
	const struct unwind_range *range;
	const struct unwind_rule *r;
	u64 frame;

	if (!unwind_is_in(l, u->range, at))
		u->range = unwind_range_at(l, at);
	if (!unwind_is_in(l, u->range, at)) {
		unwind_push(u, 0);
		return NATIVE_NO_RANGE;
	}
	range = &l->ranges[u->range & (UNWIND_RANGES - 1)];
	frame = NATIVE_FRAME(range->module, at - l->starts[u->range & (UNWIND_RANGES - 1)] + range->address);
	unwind_push(u, frame);
	if (!range->pages) {
		r = range->rule ? unwind_find_rule(range->rule) : 0;
		return r ? unwind_leave_compiled(u, l, r) : NATIVE_NO_TABLE;
	}
	r = unwind_rule_of(u, range, frame);
	if (!r || r->cfa == UNWIND_CFA_NONE)
		return NATIVE_NO_RULE;
	if (r->ra == UNWIND_RA_END)
		return NATIVE_OUTERMOST;
	if (r->cfa == UNWIND_CFA_UNSUPPORTED || (r->ra == UNWIND_RA_LINK && !u->link))
		return NATIVE_UNSUPPORTED;
	return unwind_leave(u, r);
}

/* Handles one frame. Returns whether there is another one. */
static __always_inline bool unwind_step(struct unwind *u, const struct unwind_layout *l)
{
	if (u->stack.count >= NATIVE_DEPTH) {
		u->stack.end = NATIVE_TOO_DEEP;
		return false;
	}
	u->stack.end = unwind_one(u, l);
	return u->stack.end == NATIVE_MORE;
}

/* Returns the id under which the stack is reported. */
static __always_inline u64 unwind_id(const struct unwind *u)
{
	return (u->stack.id ^ u->stack.end) | 1;
}

/* Returns the counter for a walk that ended before the outermost frame; COUNTERS if it is complete. A fiber's stack
 * begins in assembler without call frame information. */
static __always_inline u32 unwind_end_counter(const struct unwind *u, bool fiber)
{
	u32 end = u->stack.end;

	if (end == NATIVE_TOO_DEEP)
		return COUNTER_NATIVE_TRUNCATED;
	return end == NATIVE_OUTERMOST || (fiber && end == NATIVE_NO_RULE) ? COUNTERS : COUNTER_NATIVE_INCOMPLETE;
}

#endif
