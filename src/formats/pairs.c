/* pairs.c: one walk finds function and level of each node, then each column is added up. */
#include "pairs.h"
#include "mem.h"
#include "preorder.h"
#include "saturate.h"
#include <string.h>

struct walk {
	const struct profile *profile;
	struct pairs *pairs;
	struct map functions, pairs_known;
	uint32_t *identities;	/* by frame: the first frame that is the same function */
	uint32_t *active;	/* by frame: how often it is on the stack */
	uint32_t *function_of, *pair_of;	/* by node */
};

/* Frames that are one function: by name, or by name and file. */
static uint32_t *find_identities(const struct profile *p, bool by_file)
{
	uint32_t *identities = xmalloc((p->frame_count + 1) * sizeof(*identities));
	struct map known;

	map_init(&known);
	for (uint32_t f = 0; f < p->frame_count; f++) {
		uint32_t *slot = map_slot(&known, map_pair(p->frames[f].name, by_file ? p->frames[f].file : 0));

		if (*slot == MAP_NONE)
			*slot = f;
		identities[f] = *slot;
	}
	map_done(&known);
	return identities;
}

static uint32_t function_of(struct walk *w, uint32_t frame, uint32_t level)
{
	struct pairs *t = w->pairs;
	uint32_t *slot = map_slot(&w->functions, map_pair(frame, level));

	if (*slot == MAP_NONE) {
		*slot = t->function_count;
		GROW(&t->functions, &t->function_capacity, (size_t)t->function_count + 1);
		t->functions[t->function_count++] = (struct pairs_function){ frame, level };
	}
	return *slot;
}

static uint32_t pair_of(struct walk *w, uint32_t caller, uint32_t callee)
{
	struct pairs *t = w->pairs;
	uint32_t *slot = map_slot(&w->pairs_known, map_pair(caller, callee));

	if (*slot == MAP_NONE) {
		*slot = t->count;
		GROW(&t->items, &t->capacity, (size_t)t->count + 1);
		t->items[t->count++] = (struct pairs_pair){ caller, callee, 0 };
	}
	t->items[*slot].nodes++;
	return *slot;
}

/* A function of the root's name is the root itself, once more. */
static void start_with_root(struct walk *w, const char *root)
{
	function_of(w, UINT32_MAX, 0);
	for (uint32_t f = 0; root && f < w->profile->frame_count; f++) {
		struct str name = profile_name(w->profile, f);

		if (name.n == strlen(root) && !memcmp(name.p, root, name.n))
			w->active[w->identities[f]] = 1;
	}
}

static void walk_tree(struct walk *w)
{
	const struct profile *p = w->profile;
	_cleanup_(freep) uint32_t *order = preorder_new(p);
	uint32_t at = PROFILE_ROOT;

	w->function_of[PROFILE_ROOT] = PAIRS_ROOT;
	for (uint32_t i = 1; i < p->node_count; i++) {
		uint32_t n = order[i], frame = w->identities[p->node_frames[n]];

		for (; at != p->parents[n]; at = p->parents[at])
			w->active[w->identities[p->node_frames[at]]]--;
		w->function_of[n] = function_of(w, frame, w->active[frame]++);
		w->pair_of[n] = pair_of(w, w->function_of[p->parents[n]], w->function_of[n]);
		at = n;
	}
}

static void add_column(struct walk *w, uint32_t column, bool above_zero)
{
	const struct profile *p = w->profile;
	bool inclusive = strcmp(p->columns[column].name, "calls");
	int64_t *by_function = xcalloc(w->pairs->function_count, sizeof(*by_function));
	int64_t *by_pair = xcalloc(w->pairs->count, sizeof(*by_pair));
	_cleanup_(freep) int64_t *total = xmalloc(p->node_count * sizeof(*total));

	memcpy(total, p->columns[column].self, p->node_count * sizeof(*total));
	for (uint32_t n = 0; n < p->node_count; n++) {
		if (above_zero && total[n] < 0)
			total[n] = 0;
		saturating_add(&by_function[w->function_of[n]], total[n]);
	}
	for (uint32_t n = p->node_count - 1; n > 0; n--) {
		if (inclusive)
			saturating_add(&total[p->parents[n]], total[n]);
		saturating_add(&by_pair[w->pair_of[n]], total[n]);
	}
	w->pairs->self[column] = by_function;
	w->pairs->inclusive[column] = by_pair;
}

struct pairs *pairs_new(const struct profile *p, const struct pairs_options *o)
{
	struct walk w = { .profile = p, .pairs = xcalloc(1, sizeof(*w.pairs)) };

	map_init(&w.functions);
	map_init(&w.pairs_known);
	w.identities = find_identities(p, o->by_file);
	w.active = xcalloc((size_t)p->frame_count + 1, sizeof(*w.active));
	w.function_of = xmalloc(p->node_count * sizeof(*w.function_of));
	w.pair_of = xmalloc(p->node_count * sizeof(*w.pair_of));
	start_with_root(&w, o->root);
	walk_tree(&w);
	for (uint32_t c = 0; c < p->column_count; c++)
		if (o->column == UINT32_MAX || o->column == c || !strcmp(p->columns[c].name, "calls"))
			add_column(&w, c, o->above_zero);
	map_done(&w.functions);
	map_done(&w.pairs_known);
	free(w.identities);
	free(w.active);
	free(w.function_of);
	free(w.pair_of);
	return w.pairs;
}

struct pairs *pairs_free(struct pairs *t)
{
	if (!t)
		return NULL;
	for (uint32_t c = 0; c < PROFILE_COLUMNS; c++) {
		free(t->self[c]);
		free(t->inclusive[c]);
	}
	free(t->functions);
	free(t->items);
	free(t);
	return NULL;
}
