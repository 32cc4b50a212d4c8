/* nodes.c: finds and creates nodes. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "nodes.h"

#include "grow.h"

#include <stdlib.h>

#define LIST_FIRST	4u		/* slots: one cache line */
#define LIST_MAX	8u
#define KEY_FOLDED	3u

static struct node *make_node(struct nodes *t, struct node *parent, uintptr_t key, uint32_t function)
{
	uint32_t chunk = t->count / NODES_PER_CHUNK;
	struct node *n;

	STROBE_ASSERT(chunk <= t->chunk_count);
	if (chunk == t->chunk_count) {
		if (chunk == t->chunk_capacity && !grow(&t->chunks, &t->chunk_capacity, sizeof(*t->chunks)))
			return NULL;
		t->chunks[chunk] = arena_alloc(&t->memory, NODES_PER_CHUNK * sizeof(struct node));
		if (!t->chunks[chunk])
			return NULL;
		t->chunk_count++;
	}
	n = nodes_at(t, t->count);
	/* The next node is usually created soon, and is not cached. */
	__builtin_prefetch(n + 1, 1);
	__builtin_prefetch((char *)(n + 1) + 64, 1);
	*n = (struct node){
		.key = key, .first = t->none, .after = t->none, 
		.parent = parent, .function = t->functions.all[function], .function_number = function, .number = t->count++,
	};
	STROBE_ASSERT(parent ? parent->number < n->number && nodes_at(t, parent->number) == parent : n->number == 0);
	return n;
}

/* Creates a node outside the tree, without a number. */
static struct node *make_outside(struct nodes *t, uintptr_t key)
{
	struct node *n = arena_calloc(&t->functions.memory, sizeof(*n));

	if (n) {
		n->key = key;
		n->first = n->after = n;
		n->parent = n;
	}
	return n;
}

static void put(struct slot *slots, uint32_t count, struct node *n)
{
	uint32_t i = function_slot_of(n->key, count);

	while (slots[i].node)
		i = (i + 1) & (count - 1);
	slots[i] = (struct slot){ n->key, n };
}

/* Makes room for one more child, filling in the existing ones. A hash stays at most half full. */
static bool grow_slots(struct nodes *t, struct node *p)
{
	uint32_t size = p->children < LIST_FIRST ? LIST_FIRST : p->children < LIST_MAX ? LIST_MAX : LIST_MAX * 4;
	struct slot *slots;

	STROBE_ASSERT(p->children > 0);
	while (size > LIST_MAX && (p->children + 1) * 2 > size)
		size *= 2;
	slots = arena_calloc(&t->memory, size * sizeof(*slots));
	if (!slots)
		return false;
	if (p->children == 1)
		slots[0] = (struct slot){ p->child->key, p->child };
	else if (size <= LIST_MAX)
		memcpy(slots, p->slots, p->children * sizeof(*slots));
	else
		for (uint32_t i = 0; i < p->slot_count; i++)
			if (p->slots[i].node)
				put(slots, size, p->slots[i].node);
	p->slots = slots;
	p->slot_count = size;
	STROBE_ASSERT(p->children < p->slot_count);
	return true;
}

struct node *nodes_find(struct node *p, uintptr_t key)
{
	uint32_t i;

	if (!p->slot_count)
		return p->children && p->child->key == key ? p->child : NULL;
	if (p->slot_count <= LIST_MAX) {
		for (i = 0; i < p->children; i++)
			if (p->slots[i].key == key)
				return p->slots[i].node;
		return NULL;
	}
	for (i = function_slot_of(key, p->slot_count); p->slots[i].node; i = (i + 1) & (p->slot_count - 1))
		if (p->slots[i].key == key)
			return p->slots[i].node;
	return NULL;
}

static bool add_child(struct nodes *t, struct node *p, struct node *n)
{
	bool full = p->slot_count <= LIST_MAX ? p->children >= p->slot_count : (p->children + 1) * 2 > p->slot_count;

	if (p->children > 0 && full && !grow_slots(t, p))
		return false;
	if (p->children == 0)
		p->child = n;
	else if (p->slot_count <= LIST_MAX)
		p->slots[p->children] = (struct slot){ n->key, n };
	else
		put(p->slots, p->slot_count, n);
	p->children++;
	STROBE_ASSERT(nodes_find(p, n->key) == n);	/* keys are unique */
	return true;
}

/* Creates a child. Without memory returns the sink. */
static struct node *new_child(struct nodes *t, struct node *parent, uintptr_t key, uint32_t function)
{
	struct node *n = make_node(t, parent, key, function);

	return n && add_child(t, parent, n) ? n : t->sink;
}

/* Returns the folded child of `parent`, for calls without a node of their own. */
static struct node *folded_child(struct nodes *t, struct node *parent)
{
	static const struct call_function folded = { .kind = CALL_FOLDED };
	struct node *n = nodes_find(parent, KEY_FOLDED);
	struct function *f;

	if (n)
		return n;
	f = function_table_identity(&t->functions, &folded);
	return f ? new_child(t, parent, KEY_FOLDED, f->number) : t->sink;
}

/* Returns the node for calls below a folded one; NULL if `parent` is in the tree and not folded. */
static struct node *below(struct nodes *t, struct node *parent)
{
	struct node *n;

	if (parent->below || parent->key != KEY_FOLDED)
		return parent->below;
	n = arena_calloc(&t->memory, sizeof(*n));
	if (!n)
		return t->sink;
	n->key = KEY_FOLDED;
	n->first = n->after = t->none;
	n->parent = parent;
	n->function = parent->function;
	n->below = n;
	return parent->below = n;
}

struct node *nodes_child_of(struct nodes *t, struct node *parent, uintptr_t key, struct function *f)
{
	struct node *n = below(t, parent);

	if (n)
		return n;
	n = nodes_find(parent, key);
	if (n)
		return n;
	return f && !nodes_full(t) ? new_child(t, parent, key, f->number) : folded_child(t, parent);
}

struct node *nodes_marker(struct nodes *t, struct node *parent, uintptr_t key, struct function *f)
{
	struct node *n;

	STROBE_ASSERT(key & 1);		/* functions have even keys */
	if (parent == t->sink || !f)
		return NULL;
	if (parent->below == parent)
		parent = parent->parent;
	n = nodes_find(parent, key);
	if (!n) {
		n = new_child(t, parent, key, f->number);
		t->markers++;
	}
	return n == t->sink ? NULL : n;
}

struct node *nodes_make(struct nodes *t, struct node *parent, zend_execute_data *frame)
{
	const zend_function *code = frame->func;
	struct node *folded = below(t, parent);
	struct call_function id;
	struct function *f;
	uint32_t number;

	if (folded)
		return folded;
	if (EXPECTED(code->common.function_name)) {
		if (nodes_full(t) && !t->functions.annotation)
			return folded_child(t, parent);
		number = function_table_lasting(&t->functions, code);
		if (number != FUNCTION_NONE &&
		    EXPECTED(!t->functions.annotation || !t->functions.all[number]->annotated))
			return nodes_full(t) ? folded_child(t, parent) : new_child(t, parent, function_key(code), number);
		if (number != FUNCTION_NONE) {
			f = function_table_annotated(&t->functions, t->functions.all[number], frame);
			return nodes_child_of(t, parent, (uintptr_t)f, f);
		}
	}
	function_describe(code, &id);
	f = function_table_identity(&t->functions, &id);
	return nodes_child_of(t, parent, (uintptr_t)f, f);
}

struct allocation_counts *nodes_allocations(struct nodes *t, struct node *n)
{
	if (!n->allocations)
		n->allocations = arena_calloc(&t->memory, sizeof(*n->allocations));
	return n->allocations;
}

static bool make_root(struct nodes *t)
{
	static const struct call_function root = { .kind = CALL_ROOT };
	struct function *f = function_table_identity(&t->functions, &root);

	t->root = f ? make_node(t, NULL, FUNCTION_NO_KEY, f->number) : NULL;
	return t->root != NULL;
}

bool nodes_init(struct nodes *t, uint32_t max)
{
	memset(t, 0, sizeof(*t));
	STROBE_ASSERT(max > 0);
	t->max = max;
	t->none = make_outside(t, FUNCTION_NO_KEY);
	t->sink = make_outside(t, FUNCTION_NO_KEY);
	if (!t->none || !t->sink || !make_root(t)) {
		nodes_done(t);
		return false;
	}
	t->sink->below = t->sink;
	return true;
}

bool nodes_reset(struct nodes *t)
{
	struct arena old = t->memory;
	uint32_t count = t->count, chunks = t->chunk_count, markers = t->markers;
	struct node *first = t->chunks[0], *root = t->root;

	STROBE_ASSERT(chunks > 0 && root == nodes_at(t, 0));
	memset(&t->memory, 0, sizeof(t->memory));
	t->count = t->chunk_count = t->markers = 0;
	if (!make_root(t)) {
		arena_release(&t->memory);
		t->memory = old;
		t->count = count;
		t->chunk_count = chunks;
		t->markers = markers;
		t->chunks[0] = first;
		t->root = root;
		return false;
	}
	arena_release(&old);
	return true;
}

void nodes_done(struct nodes *t)
{
	function_table_done(&t->functions);
	free(t->chunks);
	arena_release(&t->memory);
	memset(t, 0, sizeof(*t));
}
