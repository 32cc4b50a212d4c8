/* edges.c: from nodes to pairs of caller and callee.
 *
 * Functions get numbers by name, so that all that is done per node is done with integers: recursion levels are counters
 * per name that a walk over the tree raises and lowers, and a pair is found by hashing two names and two levels.
 * Strings are made once per pair.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "edges.h"

#include <assert.h>
#include <stdlib.h>

#define HIDDEN	UINT32_MAX		/* number of the name of a function that is not shown */
#define NONE	0u			/* the root is nobody's child and nobody's sibling */

struct edge {
	uint32_t caller, caller_level, callee, callee_level;	/* caller HIDDEN: this is the root */
	zend_array *values;
};

struct name {
	zend_string *text;
	const struct call_function *function;
	uint32_t running;		/* calls of it on the path to the current node */
};

struct builder {
	const struct call_tree *tree;
	const struct edge_format *format;
	zend_array *result;
	zend_array blank;		/* what the values of a new pair are copied from */

	uint32_t *name_of;		/* by function */
	struct name *names;
	uint32_t name_count;

	uint32_t *child, *sibling;	/* by node */
	uint32_t *shown;		/* by node: itself or the nearest caller that is shown */
	uint32_t *level;		/* by node */

	struct edge *edges;
	uint32_t edge_count, edge_capacity;
	uint32_t *slots;		/* hash: index of an edge + 1 */
	uint32_t slot_count;
};

/* --- names */

/* "/a/b/c/d.php" is "c/d.php". */
static const char *last_two(const zend_string *path)
{
	const char *begin = ZSTR_VAL(path), *p = begin + ZSTR_LEN(path);
	int slashes = 0;

	while (p > begin)
		if (*--p == '/' && ++slashes == 2)
			return p + 1;
	return begin;
}

static zend_string *prefixed(const char *prefix, const char *name)
{
	return prefix ? strpprintf(0, "%s%s", prefix, name) : NULL;
}

/* Anonymous classes have a NUL and an address behind their name. */
static const char *class_of(const struct call_function *f)
{
	return f->class_name ? ZSTR_VAL(f->class_name) : NULL;
}

/* Samples do not know where a closure ends. */
static zend_string *closure_with_lines(const struct call_function *f)
{
	char lines[32];

	if (f->end_line)
		snprintf(lines, sizeof(lines), "%u-%u", (unsigned)f->line, (unsigned)f->end_line);
	else
		snprintf(lines, sizeof(lines), "%u", (unsigned)f->line);
	if (f->class_name)
		return strpprintf(0, "%s::{closure}/%s", class_of(f), lines);
	return strpprintf(0, "{closure}::%s/%s", f->file ? last_two(f->file) : "", lines);
}

/* The method's own name may hold any bytes: it ends with what it was called with, when that was asked for. */
static zend_string *method_name(const struct call_function *f)
{
	size_t n = strlen(class_of(f)), m = ZSTR_LEN(f->name);
	zend_string *s = zend_string_alloc(n + 2 + m, false);

	memcpy(ZSTR_VAL(s), class_of(f), n);
	memcpy(ZSTR_VAL(s) + n, "::", 2);
	memcpy(ZSTR_VAL(s) + n + 2, ZSTR_VAL(f->name), m + 1);
	return s;
}

static zend_string *function_name(const struct edge_names *names, const struct call_function *f)
{
	if (f->closure && names->closure_lines)
		return closure_with_lines(f);
	return f->class_name ? method_name(f) : zend_string_copy(f->name);
}

zend_string *edge_name(const struct edge_names *names, const struct call_function *f)
{
	switch (f->kind) {
	case CALL_ROOT:
		return ZSTR_INIT_LITERAL(EDGES_ROOT, false);
	case CALL_FUNCTION:
		return function_name(names, f);
	case CALL_FILE:
	case CALL_EVAL:
		return prefixed(names->file, last_two(f->file));
	case CALL_LOAD:
		return prefixed(names->load, last_two(f->file));
	case CALL_LOAD_EVAL:
		return prefixed(names->load_eval, ZSTR_VAL(f->file));
	case CALL_FOLDED:
		return ZSTR_INIT_LITERAL("[folded]", false);
	case CALL_ELIDED:
		return ZSTR_INIT_LITERAL("[elided]", false);
	}
	return NULL;
}

bool edge_ignored(const HashTable *ignored, const zend_string *name)
{
	const char *arguments;

	if (!ignored || zend_string_equals_literal(name, EDGES_ROOT))
		return false;
	/* No name of a function has a '#' in it: what follows is what it was called with. */
	arguments = memchr(ZSTR_VAL(name), '#', ZSTR_LEN(name));
	if (arguments && zend_hash_str_exists(ignored, ZSTR_VAL(name), arguments - ZSTR_VAL(name)))
		return true;
	return zend_hash_exists(ignored, (zend_string *)name);
}

/* Different functions may have one name, as all closures do: to the array they are one. */
static void number_names(struct builder *b)
{
	HashTable numbers;

	zend_hash_init(&numbers, b->tree->function_count, NULL, NULL, false);
	for (uint32_t i = 0; i < b->tree->function_count; i++) {
		const struct call_function *f = &b->tree->functions[i];
		zend_string *text = edge_name(b->format->names, f);
		zval *known, number;

		b->name_of[i] = HIDDEN;
		if (!text)
			continue;
		if (!edge_ignored(b->format->ignored, text) || f->kind == CALL_ROOT) {
			known = zend_hash_find(&numbers, text);
			if (!known) {
				ZVAL_LONG(&number, b->name_count);
				known = zend_hash_add_new(&numbers, text, &number);
				b->names[b->name_count++] = (struct name){ .text = zend_string_copy(text),
									   .function = f };
			}
			b->name_of[i] = (uint32_t)Z_LVAL_P(known);
		}
		zend_string_release(text);
	}
	zend_hash_destroy(&numbers);
}

/* --- pairs */

static char *put(char *out, const zend_string *s)
{
	memcpy(out, ZSTR_VAL(s), ZSTR_LEN(s));
	return out + ZSTR_LEN(s);
}

/* Writes "@12", or nothing for the first call. Returns the end. */
static char *put_level(char *out, uint32_t level)
{
	char digits[10];
	size_t n = sizeof(digits);

	if (!level)
		return out;
	*out++ = '@';
	for (; level; level /= 10)
		digits[--n] = (char)('0' + level % 10);
	memcpy(out, digits + n, sizeof(digits) - n);
	return out + sizeof(digits) - n;
}

static zend_string *edge_key(const struct builder *b, const struct edge *e)
{
	const zend_string *callee = b->names[e->callee].text, *caller;
	zend_string *key;
	char *p;

	if (e->caller == HIDDEN)
		return zend_string_copy(b->names[e->callee].text);
	caller = b->names[e->caller].text;
	key = zend_string_alloc(ZSTR_LEN(caller) + ZSTR_LEN(callee) + 2 * sizeof("@4294967295") + 3, false);
	p = put_level(put(ZSTR_VAL(key), caller), e->caller_level);
	memcpy(p, "==>", 3);
	p = put_level(put(p + 3, callee), e->callee_level);
	*p = '\0';
	return zend_string_truncate(key, p - ZSTR_VAL(key), false);
}

static void add_function_info(zend_array *values, const struct call_function *f)
{
	zval v;

	if (f->kind != CALL_FUNCTION || f->internal || !f->file)
		return;
	ZVAL_STR_COPY(&v, f->file);
	zend_hash_str_add(values, ZEND_STRL("filename"), &v);
	ZVAL_LONG(&v, f->line);
	zend_hash_str_add(values, ZEND_STRL("lineno"), &v);
}

/* Puts a new pair into the result. Two pairs can only have the same text if a path looks like a recursion. */
static zend_array *add_values(const struct builder *b, const struct edge *e)
{
	zend_string *key = edge_key(b, e);
	zval *there = zend_hash_find(b->result, key), v;

	if (!there) {
		ZVAL_ARR(&v, zend_array_dup((zend_array *)&b->blank));
		if (b->format->function_info)
			add_function_info(Z_ARR(v), b->names[e->callee].function);
		there = zend_hash_add_new(b->result, key, &v);
	}
	zend_string_release(key);
	return Z_ARR_P(there);
}

static uint32_t slot_of(const struct builder *b, const struct edge *e)
{
	uint64_t h = ((uint64_t)e->caller << 32 | e->callee) * 0x9e3779b97f4a7c15ull;

	h = (h ^ ((uint64_t)e->caller_level << 32 | e->callee_level)) * 0xff51afd7ed558ccdull;
	return (uint32_t)(h >> 32) & (b->slot_count - 1);
}

static bool same_edge(const struct edge *a, const struct edge *b)
{
	return a->caller == b->caller && a->callee == b->callee && a->caller_level == b->caller_level &&
	       a->callee_level == b->callee_level;
}

static bool grow(struct builder *b)
{
	uint32_t capacity = b->edge_capacity ? b->edge_capacity * 2 : 256;
	struct edge *edges = realloc(b->edges, capacity * sizeof(*edges));
	uint32_t *slots;

	if (!edges)
		return false;
	b->edges = edges;
	slots = calloc((size_t)capacity * 2, sizeof(*slots));
	if (!slots)
		return false;
	free(b->slots);
	b->slots = slots;
	b->edge_capacity = capacity;
	b->slot_count = capacity * 2;
	for (uint32_t i = 0; i < b->edge_count; i++) {
		uint32_t s = slot_of(b, &edges[i]);

		while (slots[s])
			s = (s + 1) & (b->slot_count - 1);
		slots[s] = i + 1;
	}
	return true;
}

/* The values of a pair, made if need be; NULL without memory. */
static zend_array *values_of(struct builder *b, struct edge *e)
{
	uint32_t s;

	if (b->edge_count == b->edge_capacity && !grow(b))
		return NULL;
	for (s = slot_of(b, e); b->slots[s]; s = (s + 1) & (b->slot_count - 1))
		if (same_edge(&b->edges[b->slots[s] - 1], e))
			return b->edges[b->slots[s] - 1].values;
	e->values = add_values(b, e);
	b->edges[b->edge_count++] = *e;
	b->slots[s] = b->edge_count;
	return e->values;
}

/* --- the walk */

/* Whose children are whose, in the order of their numbers, and who is shown. A parent has a smaller number. */
static void link_nodes(struct builder *b)
{
	const struct call_tree *t = b->tree;

	for (uint32_t i = t->node_count - 1; i > 0; i--) {
		uint32_t parent = t->nodes[i].parent;

		b->sibling[i] = b->child[parent];
		b->child[parent] = i;
	}
	for (uint32_t i = 0; i < t->node_count; i++)
		b->shown[i] = b->name_of[t->nodes[i].function] == HIDDEN && i ? b->shown[t->nodes[i].parent] : i;
}

static struct name *name_of_node(const struct builder *b, uint32_t node)
{
	uint32_t name = b->name_of[b->tree->nodes[node].function];

	return name == HIDDEN ? NULL : &b->names[name];
}

static void enter(struct builder *b, uint32_t node)
{
	struct name *name = name_of_node(b, node);

	if (name)
		b->level[node] = name->running++;
}

static bool leave(struct builder *b, uint32_t node)
{
	const struct call_node *n = &b->tree->nodes[node];
	struct name *name = name_of_node(b, node);
	struct edge e = { .caller = HIDDEN };
	zend_array *values;

	if (!name)
		return true;
	name->running--;
	e.callee = b->name_of[n->function];
	e.callee_level = b->level[node];
	if (node) {
		uint32_t caller = b->shown[n->parent];

		e.caller = b->name_of[b->tree->nodes[caller].function];
		e.caller_level = b->level[caller];
	}
	values = values_of(b, &e);
	if (!values)
		return false;
	for (unsigned i = 0; i < b->format->column_count; i++)
		Z_LVAL(values->arData[i].val) += n->value[b->format->columns[i].column];
	return true;
}

/* Callees come before their callers, as they end. Without a stack: no depth is too deep. */
static bool walk(struct builder *b)
{
	uint32_t node = 0;

	for (;;) {
		enter(b, node);
		if (b->child[node] != NONE) {
			node = b->child[node];
			continue;
		}
		for (;;) {
			if (!leave(b, node))
				return false;
			if (node == 0)
				return true;
			if (b->sibling[node] != NONE)
				break;
			node = b->tree->nodes[node].parent;
		}
		node = b->sibling[node];
	}
}

static bool is_time(enum tree_column c)
{
	return c == TREE_WALL_NS || c == TREE_CPU_NS;
}

static void show_microseconds(struct builder *b)
{
	for (unsigned i = 0; i < b->format->column_count; i++) {
		zval *entry;

		if (!is_time(b->format->columns[i].column))
			continue;
		ZEND_HASH_FOREACH_VAL(b->result, entry) {
			Z_LVAL(Z_ARR_P(entry)->arData[i].val) /= 1000;
		} ZEND_HASH_FOREACH_END();
	}
}

/* --- the whole */

static void make_blank(struct builder *b)
{
	zval zero;

	ZVAL_LONG(&zero, 0);
	zend_hash_init(&b->blank, b->format->column_count, NULL, NULL, false);
	zend_hash_real_init_mixed(&b->blank);
	for (unsigned i = 0; i < b->format->column_count; i++)
		zend_hash_str_add_new(&b->blank, b->format->columns[i].key, strlen(b->format->columns[i].key), &zero);
}

static bool allocate(struct builder *b)
{
	size_t nodes = b->tree->node_count, functions = b->tree->function_count;

	b->name_of = malloc(functions * sizeof(*b->name_of));
	b->names = malloc(functions * sizeof(*b->names));
	b->child = calloc(nodes, sizeof(*b->child));
	b->sibling = calloc(nodes, sizeof(*b->sibling));
	b->shown = malloc(nodes * sizeof(*b->shown));
	b->level = malloc(nodes * sizeof(*b->level));
	return b->name_of && b->names && b->child && b->sibling && b->shown && b->level;
}

static void release(struct builder *b)
{
	free(b->name_of);
	free(b->names);
	free(b->child);
	free(b->sibling);
	free(b->shown);
	free(b->level);
	free(b->edges);
	free(b->slots);
}

static bool fill(struct builder *b)
{
	bool complete;

	make_blank(b);
	number_names(b);
	link_nodes(b);
	complete = walk(b);
	if (complete)
		show_microseconds(b);
	else
		zend_hash_clean(b->result);
	for (uint32_t i = 0; i < b->name_count; i++)
		zend_string_release(b->names[i].text);
	zend_hash_destroy(&b->blank);
	return complete;
}

bool edges_build(zval *ret, const struct call_tree *t, const struct edge_format *format)
{
	struct builder b = { .tree = t, .format = format };
	volatile bool complete = false;

	assert(format->column_count <= EDGE_COLUMNS_MAX);
	array_init(ret);
	b.result = Z_ARR_P(ret);
	if (!allocate(&b)) {
		release(&b);
		return false;
	}
	/* The array is the request's and counts against memory_limit, which ends the request by a jump. Shutdown
	 * functions still run after it and need what there is of memory. */
	zend_try {
		complete = fill(&b);
	} zend_catch {
		release(&b);
		zend_array_destroy(b.result);
		ZVAL_NULL(ret);
		zend_bailout();
	} zend_end_try();
	release(&b);
	return complete;
}
