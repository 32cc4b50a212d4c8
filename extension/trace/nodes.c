/* nodes.c: finds and makes nodes. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "nodes.h"

#include "blocks.h"
#include "closure_home.h"
#include "function_id.h"

#include <stdlib.h>

#define LIST_FIRST	4u		/* slots: one line of the cache */
#define LIST_MAX	8u
#define KEY_NOTHING	1u		/* no address */
#define KEY_FOLDED	3u
#define PINNED_MAX	(1u << 20)	/* bytes of closures' code, which memory_limit counts */

/* Memory that holds anything. */
static void *take(struct arena *a, size_t size)
{
	void *p;

	size = (size + 63) & ~(size_t)63;
	if (size > (size_t)(a->end - a->free)) {
		struct block *b = blocks_take(size, a->blocks != NULL);

		if (!b)
			return NULL;
		b->next = a->blocks;
		a->blocks = b;
		a->free = (char *)(b + 1);
		a->end = (char *)b + b->size;
	}
	p = a->free;
	a->free += size;
	return p;
}

static void *take_zeroed(struct arena *a, size_t size)
{
	void *p = take(a, size);

	return p ? memset(p, 0, size) : NULL;
}

static void give_back(struct arena *a)
{
	blocks_give_back(a->blocks);
	memset(a, 0, sizeof(*a));
}

/* Makes an array twice as large; what was there is copied, the rest is zero. */
static bool grow(void *array, uint32_t *capacity, size_t size)
{
	uint32_t wanted = *capacity ? *capacity * 2 : 64;
	void **p = array;
	void *bigger = realloc(*p, (size_t)wanted * size);

	if (!bigger)
		return false;
	*p = bigger;
	*capacity = wanted;
	return true;
}

static struct node *make_node(struct nodes *t, struct node *parent, uintptr_t key, struct function *f)
{
	uint32_t chunk = t->count / NODES_PER_CHUNK;
	struct node *n;

	if (chunk == t->chunk_count) {
		if (chunk == t->chunk_capacity && !grow(&t->chunks, &t->chunk_capacity, sizeof(*t->chunks)))
			return NULL;
		t->chunks[chunk] = take(&t->node_memory, NODES_PER_CHUNK * sizeof(struct node));
		if (!t->chunks[chunk])
			return NULL;
		t->chunk_count++;
	}
	n = nodes_at(t, t->count);
	/* The next one is mostly made soon, and cold. */
	__builtin_prefetch(n + 1, 1);
	__builtin_prefetch((char *)(n + 1) + 64, 1);
	*n = (struct node){
		.key = key, .first = t->none, .after = t->none, .parent = parent, .function = f, .number = t->count++,
	};
	return n;
}

/* A node outside the tree, without a number. */
static struct node *make_outside(struct nodes *t, uintptr_t key)
{
	struct node *n = take_zeroed(&t->memory, sizeof(*n));

	if (n) {
		n->key = key;
		n->first = n->after = n;
		n->parent = n;
	}
	return n;
}

static uint32_t slot_of(uint64_t h, uint32_t slots)
{
	return (uint32_t)((h * 0x9e3779b97f4a7c15ull) >> 32) & (slots - 1);
}

static void put(struct slot *slots, uint32_t count, struct node *n)
{
	uint32_t i = slot_of(n->key, count);

	while (slots[i].node)
		i = (i + 1) & (count - 1);
	slots[i] = (struct slot){ n->key, n };
}

/* Room for one more child than there are, those filled in. A hash stays at most half full. */
static bool grow_slots(struct nodes *t, struct node *p)
{
	uint32_t size = p->children < LIST_FIRST ? LIST_FIRST : p->children < LIST_MAX ? LIST_MAX : LIST_MAX * 4;
	struct slot *slots;

	while (size > LIST_MAX && (p->children + 1) * 2 > size)
		size *= 2;
	slots = take_zeroed(&t->node_memory, size * sizeof(*slots));
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
	for (i = slot_of(key, p->slot_count); p->slots[i].node; i = (i + 1) & (p->slot_count - 1))
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
	return true;
}

/* A child that is not there yet. Without memory the sink. */
static struct node *new_child(struct nodes *t, struct node *parent, uintptr_t key, struct function *f)
{
	struct node *n = make_node(t, parent, key, f);

	return n && add_child(t, parent, n) ? n : t->sink;
}

/* Where calls go that have no node of their own: the folded child of `parent`. */
static struct node *folded_child(struct nodes *t, struct node *parent)
{
	static const struct call_function folded = { .kind = CALL_FOLDED };
	struct node *n = nodes_find(parent, KEY_FOLDED);
	struct function *f;

	if (n)
		return n;
	f = nodes_identity(t, &folded);
	return f ? new_child(t, parent, KEY_FOLDED, f) : t->sink;
}

/* Where the calls below a folded one go; NULL if `parent` is in the tree and not folded. */
static struct node *below(struct nodes *t, struct node *parent)
{
	struct node *n;

	if (parent->below || parent->key != KEY_FOLDED)
		return parent->below;
	n = take_zeroed(&t->node_memory, sizeof(*n));
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
	return f && !nodes_full(t) ? new_child(t, parent, key, f) : folded_child(t, parent);
}

struct node *nodes_marker(struct nodes *t, struct node *parent, uintptr_t key, struct function *f)
{
	struct node *n;

	if (parent == t->sink || !f)
		return NULL;
	if (parent->below == parent)
		parent = parent->parent;
	n = nodes_find(parent, key);
	if (!n) {
		n = new_child(t, parent, key, f);
		t->markers++;
	}
	return n == t->sink ? NULL : n;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdull;
	return h ^ (h >> 33);
}

static uint64_t string_hash(zend_string *s)
{
	return s ? zend_string_hash_val(s) : 0;
}

static uint64_t identity_hash(const struct call_function *f)
{
	uint64_t h = mix(f->kind, f->line);

	h = mix(h, string_hash(f->name));
	h = mix(h, string_hash(f->class_name));
	h = mix(h, string_hash(f->written_in) + f->order);
	return mix(h, string_hash(f->file));
}

static bool strings_equal(const zend_string *a, const zend_string *b)
{
	return a == b || (a && b && zend_string_equal_content(a, b));
}

static bool same_identity(const struct call_function *a, const struct call_function *b)
{
	return a->kind == b->kind && a->line == b->line && a->internal == b->internal && a->closure == b->closure &&
	       a->order == b->order && strings_equal(a->name, b->name) &&
	       strings_equal(a->class_name, b->class_name) && strings_equal(a->written_in, b->written_in) &&
	       strings_equal(a->file, b->file);
}

static void insert(struct nodes *t, struct function *f)
{
	uint32_t i;

	for (i = slot_of(f->identity_hash, t->slots); t->by_identity[i]; i = (i + 1) & (t->slots - 1))
		;
	t->by_identity[i] = f;
	if (f->key == KEY_NOTHING)
		return;
	for (i = slot_of(f->key, t->slots); t->by_key[i].function; i = (i + 1) & (t->slots - 1))
		;
	t->by_key[i] = (struct function_slot){ f->key, f };
}

/* Both tables stay at most half full, so that a search always ends. */
static bool make_room(struct nodes *t)
{
	uint32_t slots = t->slots ? t->slots * 4 : 256;
	void *tables;

	if (t->function_count == t->function_capacity && !grow(&t->functions, &t->function_capacity, sizeof(*t->functions)))
		return false;
	if ((t->function_count + 1) * 2 <= t->slots)
		return true;
	tables = take_zeroed(&t->memory, (size_t)slots * (sizeof(*t->by_key) + sizeof(*t->by_identity)));
	if (!tables)
		return false;
	t->slots = slots;
	t->by_key = tables;
	t->by_identity = (struct function **)(t->by_key + slots);
	for (uint32_t i = 0; i < t->function_count; i++)
		insert(t, t->functions[i]);
	return true;
}

/* The first record made with that identity, or NULL. */
static struct function *find_identity(const struct nodes *t, const struct call_function *id, uint64_t hash)
{
	if (t->slots)
		for (uint32_t i = slot_of(hash, t->slots); t->by_identity[i]; i = (i + 1) & (t->slots - 1))
			if (t->by_identity[i]->identity_hash == hash && same_identity(&t->by_identity[i]->id, id))
				return t->by_identity[i];
	return NULL;
}

/* `alike` is the first record with that identity, if there is one. */
static struct function *make_function(struct nodes *t, uintptr_t key, const struct call_function *id, uint64_t hash,
				      struct function *alike)
{
	struct function *f;

	if (!make_room(t))
		return NULL;
	f = take_zeroed(&t->memory, sizeof(*f));
	if (!f)
		return NULL;
	f->id = *id;
	f->key = key;
	f->identity_hash = hash;
	f->first = alike ? alike : f;
	if (alike)
		f->ambiguous = alike->ambiguous = true;
	if (id->name)
		zend_string_addref(id->name);
	if (id->class_name)
		zend_string_addref(id->class_name);
	if (id->written_in)
		zend_string_addref(id->written_in);
	if (id->file)
		zend_string_addref(id->file);
	f->number = t->function_count;
	t->functions[t->function_count++] = f;
	insert(t, f);
	return f;
}

struct function *nodes_identity(struct nodes *t, const struct call_function *id)
{
	uint64_t hash = identity_hash(id);
	struct function *f = find_identity(t, id, hash);

	if (!f)
		return make_function(t, KEY_NOTHING, id, hash, NULL);
	if (f->key != KEY_NOTHING)
		f->ambiguous = true;
	return f;
}

void nodes_describe(const zend_function *f, struct call_function *id)
{
	*id = (struct call_function){ .kind = CALL_FUNCTION, .name = f->common.function_name };
	if (id->name && f->common.scope)
		id->class_name = f->common.scope->name;
	if (!ZEND_USER_CODE(f->type)) {
		id->internal = true;
		return;
	}
	id->file = f->op_array.filename;
	if (!id->name) {
		id->kind = f->type == ZEND_EVAL_CODE ? CALL_EVAL : CALL_FILE;
		return;
	}
	id->closure = function_is_closure(f);
	id->line = f->op_array.line_start;
	id->end_line = f->op_array.line_end;
	if (id->closure) {
		struct closure_home home = closure_home(f);

		id->written_in = home.scope ? home.scope->name : NULL;
		id->order = home.order;
	}
}

/* About what the code of a function takes, with that of the closures in it. */
static size_t code_bytes(const zend_op_array *code)
{
	size_t bytes = sizeof(*code) + code->last * sizeof(zend_op) + (size_t)code->last_literal * sizeof(zval) +
		(size_t)code->last_var * sizeof(zend_string *);

	for (uint32_t i = 0; i < code->num_dynamic_func_defs; i++)
		bytes += code_bytes(code->dynamic_func_defs[i]);
	return bytes;
}

/* One more user of the code of a closure: a copy that counts as one. */
static bool pin(struct nodes *t, struct function *f, const zend_op_array *code)
{
	zend_op_array *copy = malloc(sizeof(*copy));

	if (!copy)
		return false;
	memcpy(copy, code, sizeof(*copy));
	/* These are of the closure object itself, and go with it. */
	copy->fn_flags &= ~ZEND_ACC_HEAP_RT_CACHE;
	copy->static_variables = NULL;
	function_add_ref((zend_function *)copy);
	f->pinned = copy;
	t->pinned += code_bytes(code);
	return true;
}

/* Its key may come to mean something else: it is not found by it again. */
static void forget_key(struct nodes *t, struct function *f)
{
	uint32_t i = slot_of(f->key, t->slots);

	while (t->by_key[i].function != f)
		i = (i + 1) & (t->slots - 1);
	t->by_key[i].key = f->key = KEY_NOTHING;
}

/* The record of a function whose key means it until the tree is done; NULL if there is none and none can be made. */
static struct function *lasting_function(struct nodes *t, const zend_function *code)
{
	uintptr_t key = function_key(code);
	bool may_go = ZEND_USER_CODE(code->type) && (code->common.fn_flags & ZEND_ACC_CLOSURE) && code->op_array.refcount;
	struct call_function id;
	struct function *f;
	uint64_t hash;

	if (t->slots)
		for (uint32_t i = slot_of(key, t->slots); t->by_key[i].function; i = (i + 1) & (t->slots - 1))
			if (t->by_key[i].key == key)
				return t->by_key[i].function;
	/* What a preload script has run is taken apart when it has ended, whoever else has a use for it. */
	if (may_go && (t->pinned + code_bytes(&code->op_array) > PINNED_MAX || (CG(compiler_options) & ZEND_COMPILE_PRELOAD)))
		return NULL;
	nodes_describe(code, &id);
	hash = identity_hash(&id);
	f = make_function(t, key, &id, hash, find_identity(t, &id, hash));
	if (f && may_go && !pin(t, f, &code->op_array)) {
		forget_key(t, f);
		return NULL;
	}
	if (f && id.internal && t->annotation && t->annotation->applies(code))
		f->annotated = f->ambiguous = true;
	return f;
}

/* The record of a function as it is called: with the suffix that this call has, if it has one. */
static struct function *annotated_function(struct nodes *t, struct function *f, zend_execute_data *frame)
{
	zend_string *suffix = t->annotation->suffix(frame), *name;
	struct call_function id = f->id;

	if (!suffix)
		return f;
	name = zend_string_concat2(ZSTR_VAL(id.name), ZSTR_LEN(id.name), ZSTR_VAL(suffix), ZSTR_LEN(suffix));
	id.name = name;
	f = nodes_identity(t, &id);
	zend_string_release(name);
	zend_string_release(suffix);
	return f;
}

struct node *nodes_make(struct nodes *t, struct node *parent, zend_execute_data *frame)
{
	const zend_function *code = frame->func;
	struct node *folded = below(t, parent);
	struct call_function id;
	struct function *f;

	if (folded)
		return folded;
	if (EXPECTED(code->common.function_name)) {
		if (nodes_full(t) && !t->annotation)
			return folded_child(t, parent);
		f = lasting_function(t, code);
		if (f && EXPECTED(!t->annotation || !f->annotated))
			return nodes_full(t) ? folded_child(t, parent) : new_child(t, parent, function_key(code), f);
		if (f) {
			f = annotated_function(t, f, frame);
			return nodes_child_of(t, parent, (uintptr_t)f, f);
		}
	}
	nodes_describe(code, &id);
	f = nodes_identity(t, &id);
	return nodes_child_of(t, parent, (uintptr_t)f, f);
}

struct allocation_counts *nodes_allocations(struct nodes *t, struct node *n)
{
	if (!n->allocations)
		n->allocations = take_zeroed(&t->node_memory, sizeof(*n->allocations));
	return n->allocations;
}

static bool make_root(struct nodes *t)
{
	static const struct call_function root = { .kind = CALL_ROOT };
	struct function *f = nodes_identity(t, &root);

	t->root = f ? make_node(t, NULL, KEY_NOTHING, f) : NULL;
	return t->root != NULL;
}

bool nodes_init(struct nodes *t, uint32_t max)
{
	memset(t, 0, sizeof(*t));
	t->max = max;
	t->none = make_outside(t, KEY_NOTHING);
	t->sink = make_outside(t, KEY_NOTHING);
	if (!t->none || !t->sink || !make_root(t)) {
		nodes_done(t);
		return false;
	}
	t->sink->below = t->sink;
	return true;
}

bool nodes_reset(struct nodes *t)
{
	struct arena old = t->node_memory;
	uint32_t count = t->count, chunks = t->chunk_count, markers = t->markers;
	struct node *first = t->chunks[0], *root = t->root;

	memset(&t->node_memory, 0, sizeof(t->node_memory));
	t->count = t->chunk_count = t->markers = 0;
	if (!make_root(t)) {
		give_back(&t->node_memory);
		t->node_memory = old;
		t->count = count;
		t->chunk_count = chunks;
		t->markers = markers;
		t->chunks[0] = first;
		t->root = root;
		return false;
	}
	give_back(&old);
	return true;
}

static void forget_function(struct function *f)
{
	if (f->id.name)
		zend_string_release(f->id.name);
	if (f->id.class_name)
		zend_string_release(f->id.class_name);
	if (f->id.written_in)
		zend_string_release(f->id.written_in);
	if (f->id.file)
		zend_string_release(f->id.file);
	if (f->pinned) {
		destroy_op_array(f->pinned);
		free(f->pinned);
	}
}

void nodes_done(struct nodes *t)
{
	for (uint32_t i = 0; i < t->function_count; i++)
		forget_function(t->functions[i]);
	free(t->functions);
	free(t->chunks);
	give_back(&t->memory);
	give_back(&t->node_memory);
	memset(t, 0, sizeof(*t));
}
