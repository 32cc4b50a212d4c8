/* layers.c: merges the groups of PHP frames into the native stack. */
#include "layers.h"

#include <assert.h>

#define NONE	UINT32_MAX

/* The frames of one group, root first: from `first` down to `last`, since PHP frames are numbered leaf first. */
struct group {
	u32 first, last;
	bool in_c;			/* whether its outermost function is written in C */
};

struct merger {
	const struct layers *l;
	struct group groups[PHP_DEPTH];	/* root first */
	u32 group_count;
	u32 first_group;		/* first group on this native stack; earlier ones are on the stacks of other fibers */
	u32 group_of[NATIVE_DEPTH];	/* the group that replaces a native frame, or follows it; NONE */
	struct layer_frame *out;
	size_t out_count;
};

/* --- Groups */

static bool begins_group(const struct layers *l, u32 i)
{
	/* Generators that wait in `yield from` come before the running one, which was called by C code. */
	bool behind_delegate = i + 1 < l->php_count && l->php[i + 1].flags & FRAME_DELEGATE;

	return l->php[i].flags & (FRAME_TOP | FRAME_DELEGATE) && !behind_delegate;
}

static void find_groups(struct merger *m)
{
	const struct layers *l = m->l;

	for (u32 i = l->php_count; i-- > 0;) {
		if (i + 1 == l->php_count || begins_group(l, i))
			m->groups[m->group_count++] = (struct group){ .first = i, .in_c = !l->php[i].line };
		m->groups[m->group_count - 1].last = i;
		if (l->php[i].flags & FRAME_RESUMES)
			m->first_group = m->group_count;
	}
}

/* --- Native frames that groups belong to */

enum place { PLACE_NONE, PLACE_INTERPRETER, PLACE_CALLER };

/* A caller of the interpreter counts by itself only if no interpreter follows it: it called a function in C. */
static void find_places(const struct layers *l, enum place places[NATIVE_DEPTH])
{
	u32 caller = NONE;

	for (u32 i = l->native_count; i-- > 0;) {
		places[i] = PLACE_NONE;
		if (l->native[i] == MARK_CALLER) {
			if (caller != NONE)
				places[caller] = PLACE_CALLER;
			caller = i;
		} else if (l->native[i] == MARK_INTERPRETER || l->native[i] == MARK_COMPILED) {
			places[i] = PLACE_INTERPRETER;
			caller = NONE;
		}
	}
	if (caller != NONE)
		places[caller] = PLACE_CALLER;
}

/* Callers may also call other code than PHP functions, such as the autoloader while they look for one. So only a
 * function in C is expected after them; an interpreter runs the next group that is not in C. */
static bool fits(const struct group *g, enum place p)
{
	return p == (g->in_c ? PLACE_CALLER : PLACE_INTERPRETER);
}

/* Matches from the root: anything missing at the leaf has not begun, or has just ended. */
static void match_from_root(struct merger *m, const enum place *places)
{
	u32 g = m->first_group;

	for (u32 i = m->l->native_count; i-- > 0 && g < m->group_count;) {
		if (places[i] == PLACE_INTERPRETER)
			while (g + 1 < m->group_count && m->groups[g].in_c)
				g++;
		if (places[i] != PLACE_NONE && fits(&m->groups[g], places[i]))
			m->group_of[i] = g++;
	}
}

/* Matches from the leaf, if the root's side is missing. */
static void match_from_leaf(struct merger *m, const enum place *places)
{
	u32 g = m->group_count;

	for (u32 i = 0; i < m->l->native_count && g > m->first_group; i++) {
		if (places[i] == PLACE_INTERPRETER)
			while (g - 1 > m->first_group && m->groups[g - 1].in_c)
				g--;
		if (places[i] != PLACE_NONE && fits(&m->groups[g - 1], places[i]))
			m->group_of[i] = --g;
	}
}

/* --- The stack */

static void put(struct merger *m, enum layer layer, u32 index)
{
	assert(m->out_count < LAYERS_MAX);
	m->out[m->out_count++] = (struct layer_frame){ layer, index };
}

static void put_groups(struct merger *m, u32 *next, u32 end)
{
	for (; *next < end; ++*next)
		for (u32 i = m->groups[*next].first + 1; i-- > m->groups[*next].last;)
			put(m, LAYER_OF_PHP, i);
}

static u32 first_matched(const struct merger *m)
{
	u32 g = m->group_count;

	for (u32 i = 0; i < m->l->native_count; i++)
		if (m->group_of[i] < g)
			g = m->group_of[i];
	return g;
}

static void put_native(struct merger *m, u32 *next, u32 i)
{
	enum module_mark mark = m->l->native[i];
	u32 g = m->group_of[i];

	if (g == NONE) {
		put(m, LAYER_OF_NATIVE, i);
		return;
	}
	if (mark == MARK_CALLER)
		put(m, LAYER_OF_NATIVE, i);
	put_groups(m, next, g + 1);
	if (mark == MARK_COMPILED && i == 0)
		put(m, LAYER_OF_NATIVE, i);
}

size_t layers_merge(const struct layers *l, struct layer_frame ret[LAYERS_MAX])
{
	struct merger m = { .l = l, .out = ret };
	enum place places[NATIVE_DEPTH];
	bool whole, php_whole = !l->php_count || l->php[l->php_count - 1].function != FUNCTION_TRUNCATED;
	u32 next = 0;

	assert(l->php_count <= PHP_DEPTH && l->native_count <= NATIVE_DEPTH);
	for (u32 i = 0; i < NATIVE_DEPTH; i++)
		m.group_of[i] = NONE;
	find_groups(&m);
	find_places(l, places);
	/* The stack of a fiber ends in assembler without call frame information. */
	whole = l->end == NATIVE_OUTERMOST || (m.first_group && l->end == NATIVE_NO_RULE);
	if (whole && (php_whole || m.first_group))
		match_from_root(&m, places);
	else
		match_from_leaf(&m, places);

	put_groups(&m, &next, m.first_group);
	if (!whole) {
		/* The outermost native frame was called by PHP functions whose interpreter is unknown. */
		put_groups(&m, &next, first_matched(&m));
		if (l->native_count)
			put(&m, LAYER_GAP, 0);
	}
	for (u32 i = l->native_count; i-- > 0;)
		put_native(&m, &next, i);
	put_groups(&m, &next, m.group_count);
	return m.out_count;
}
