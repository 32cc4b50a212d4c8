/* call_pairs.c: converts nodes to pairs of caller and callee.
 *
 * Functions are numbered by name, so that work per node needs only integers: recursion levels are counters per name,
 * incremented and decremented by a walk over the tree, and a pair is found by hashing two names and two levels.
 * Strings are created once per pair, together with the array.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "call_pairs.h"

#include <assert.h>
#include <stdlib.h>

#define HIDDEN	UINT32_MAX		/* name number of a function that is not shown */
#define NONE	0u			/* the root is neither a child nor a sibling */

struct edge {
	uint32_t caller, caller_level, callee, callee_level;	/* caller HIDDEN: the root's own entry */
	uint64_t resumptions;
	int64_t values[];		/* by column; as many as the format has */
};

struct name {
	zend_string *text;
	zend_string *file;		/* file of a function written in PHP, else NULL */
	uint32_t line;
	uint32_t running;		/* number of its calls on the path to the current node */
};

struct edges {
	const struct edge_format *format;

	struct name *names;
	uint32_t name_count, name_capacity;
	uint32_t *name_slots;		/* hash: index of a name + 1 */

	char *edges;			/* elements of edge_size() bytes */
	uint32_t edge_count, edge_capacity;
	uint32_t *edge_slots;		/* hash: index of an edge + 1 */
};

/* State while a tree is being added. */
struct walk {
	struct edges *edges;
	const struct call_tree *tree;
	bool last;
	uint32_t *name_of;		/* by function */
	uint32_t *child, *sibling;	/* by node */
	uint32_t *shown;		/* by node: itself, or the nearest caller that is shown */
	uint32_t *level;		/* by node */
};

/* --- names */

/* Returns "c/d.php" of "/a/b/c/d.php". */
static const char *last_two(const zend_string *path)
{
	const char *begin = ZSTR_VAL(path), *p = begin + ZSTR_LEN(path);
	int slashes = 0;

	while (p > begin)
		if (*--p == '/' && ++slashes == 2)
			return p + 1;
	return begin;
}

/* Joins up to three parts in the C library's memory. */
static zend_string *joined(const char *a, const char *b, const char *c, size_t n)
{
	size_t an = strlen(a), bn = strlen(b);
	zend_string *s = zend_string_alloc(an + bn + n, true);

	memcpy(ZSTR_VAL(s), a, an);
	memcpy(ZSTR_VAL(s) + an, b, bn);
	memcpy(ZSTR_VAL(s) + an + bn, c, n);
	ZSTR_VAL(s)[an + bn + n] = '\0';
	return s;
}

static zend_string *prefixed(const char *prefix, const char *name)
{
	return prefix ? joined(prefix, name, "", 0) : NULL;
}

/* Names of anonymous classes end at a NUL, followed by an address. */
static const char *class_of(const struct call_function *f)
{
	return f->class_name ? ZSTR_VAL(f->class_name) : NULL;
}

/* Samples do not know the last line of a closure. */
static zend_string *closure_with_lines(const struct call_function *f)
{
	char lines[32];
	int n;

	if (f->end_line)
		n = snprintf(lines, sizeof(lines), "/%u-%u", (unsigned)f->line, (unsigned)f->end_line);
	else
		n = snprintf(lines, sizeof(lines), "/%u", (unsigned)f->line);
	if (f->class_name)
		return joined(class_of(f), "::{closure}", lines, (size_t)n);
	return joined("{closure}::", f->file ? last_two(f->file) : "", lines, (size_t)n);
}

/* A method's own name may contain any bytes; it ends with its argument, if that was requested. */
static zend_string *function_name(const struct edge_names *names, const struct call_function *f)
{
	if (f->closure && names->closure_lines)
		return closure_with_lines(f);
	return f->class_name ? joined(class_of(f), "::", ZSTR_VAL(f->name), ZSTR_LEN(f->name)) : zend_string_copy(f->name);
}

zend_string *edge_name(const struct edge_names *names, const struct call_function *f)
{
	switch (f->kind) {
	case CALL_ROOT:
		return joined(EDGES_ROOT, "", "", 0);
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
		return joined("[folded]", "", "", 0);
	case CALL_ELIDED:
		return joined("[elided]", "", "", 0);
	}
	return NULL;
}

bool edge_ignored(const HashTable *ignored, const zend_string *name)
{
	const char *arguments;

	if (!ignored || zend_string_equals_literal(name, EDGES_ROOT))
		return false;
	/* Names of functions do not contain '#', so it separates the argument. */
	arguments = memchr(ZSTR_VAL(name), '#', ZSTR_LEN(name));
	if (arguments && zend_hash_str_exists(ignored, ZSTR_VAL(name), arguments - ZSTR_VAL(name)))
		return true;
	return zend_hash_exists(ignored, (zend_string *)name);
}

/* Makes a hash with twice as many slots as entries. */
static uint32_t *make_slots(uint32_t capacity)
{
	return calloc((size_t)capacity * 2, sizeof(uint32_t));
}

static bool grow_names(struct edges *e)
{
	uint32_t capacity = e->name_capacity ? e->name_capacity * 2 : 256, mask = capacity * 2 - 1;
	struct name *names = realloc(e->names, capacity * sizeof(*names));
	uint32_t *slots;

	if (!names)
		return false;
	e->names = names;
	slots = make_slots(capacity);
	if (!slots)
		return false;
	free(e->name_slots);
	e->name_slots = slots;
	e->name_capacity = capacity;
	for (uint32_t i = 0; i < e->name_count; i++) {
		uint32_t s = (uint32_t)ZSTR_HASH(names[i].text) & mask;

		while (slots[s])
			s = (s + 1) & mask;
		slots[s] = i + 1;
	}
	return true;
}

/* Returns the number of a name. Different functions, such as closures, may share a name, which makes them one in the
 * array. HIDDEN without memory. */
static uint32_t number_name(struct edges *e, zend_string *text, const struct call_function *f)
{
	struct name *name;
	uint32_t s, mask;

	if (e->name_count == e->name_capacity && !grow_names(e))
		return HIDDEN;
	mask = e->name_capacity * 2 - 1;
	for (s = (uint32_t)ZSTR_HASH(text) & mask; e->name_slots[s]; s = (s + 1) & mask)
		if (zend_string_equals(e->names[e->name_slots[s] - 1].text, text))
			return e->name_slots[s] - 1;
	name = &e->names[e->name_count];
	*name = (struct name){ .text = zend_string_copy(text), .line = f->line };
	if (f->kind == CALL_FUNCTION && !f->internal && f->file)
		name->file = zend_string_copy(f->file);
	e->name_slots[s] = ++e->name_count;
	return e->name_count - 1;
}

static bool number_names(struct walk *w)
{
	const struct edge_format *format = w->edges->format;

	for (uint32_t i = 0; i < w->tree->function_count; i++) {
		const struct call_function *f = &w->tree->functions[i];
		zend_string *text = edge_name(format->names, f);
		bool shown = text && (f->kind == CALL_ROOT || !edge_ignored(format->ignored, text));

		w->name_of[i] = shown ? number_name(w->edges, text, f) : HIDDEN;
		if (text)
			zend_string_release(text);
		if (shown && w->name_of[i] == HIDDEN)
			return false;
	}
	return true;
}

/* --- pairs */

static size_t edge_size(const struct edges *e)
{
	return sizeof(struct edge) + e->format->column_count * sizeof(int64_t);
}

static struct edge *edge_at(const struct edges *e, uint32_t i)
{
	return (struct edge *)(e->edges + i * edge_size(e));
}

static uint32_t slot_of(const struct edges *e, const struct edge *edge)
{
	uint64_t h = ((uint64_t)edge->caller << 32 | edge->callee) * 0x9e3779b97f4a7c15ull;

	h = (h ^ ((uint64_t)edge->caller_level << 32 | edge->callee_level)) * 0xff51afd7ed558ccdull;
	return (uint32_t)(h >> 32) & (e->edge_capacity * 2 - 1);
}

static bool same_edge(const struct edge *a, const struct edge *b)
{
	return a->caller == b->caller && a->callee == b->callee && a->caller_level == b->caller_level &&
	       a->callee_level == b->callee_level;
}

static bool grow_edges(struct edges *e)
{
	uint32_t capacity = e->edge_capacity ? e->edge_capacity * 2 : 256;
	char *edges = realloc(e->edges, capacity * edge_size(e));
	uint32_t *slots;

	if (!edges)
		return false;
	e->edges = edges;
	slots = make_slots(capacity);
	if (!slots)
		return false;
	free(e->edge_slots);
	e->edge_slots = slots;
	e->edge_capacity = capacity;
	for (uint32_t i = 0; i < e->edge_count; i++) {
		uint32_t s = slot_of(e, edge_at(e, i));

		while (slots[s])
			s = (s + 1) & (capacity * 2 - 1);
		slots[s] = i + 1;
	}
	return true;
}

/* Finds or adds the pair equal to `like`; NULL without memory. */
static struct edge *find_edge(struct edges *e, const struct edge *like)
{
	struct edge *edge;
	uint32_t s;

	if (e->edge_count == e->edge_capacity && !grow_edges(e))
		return NULL;
	for (s = slot_of(e, like); e->edge_slots[s]; s = (s + 1) & (e->edge_capacity * 2 - 1)) {
		edge = edge_at(e, e->edge_slots[s] - 1);
		if (same_edge(edge, like))
			return edge;
	}
	e->edge_slots[s] = ++e->edge_count;
	edge = edge_at(e, e->edge_count - 1);
	memset(edge, 0, edge_size(e));
	*edge = *like;
	return edge;
}

/* --- the walk */

/* Links children to their parents, in the order of their indices, and determines which are shown. Parents have
 * smaller indices. */
static void link_nodes(struct walk *w)
{
	const struct call_tree *t = w->tree;

	for (uint32_t i = t->node_count - 1; i > 0; i--) {
		uint32_t parent = t->nodes[i].parent;

		w->sibling[i] = w->child[parent];
		w->child[parent] = i;
	}
	for (uint32_t i = 0; i < t->node_count; i++)
		w->shown[i] = w->name_of[t->nodes[i].function] == HIDDEN && i ? w->shown[t->nodes[i].parent] : i;
}

static struct name *name_of_node(const struct walk *w, uint32_t node)
{
	uint32_t name = w->name_of[w->tree->nodes[node].function];

	return name == HIDDEN ? NULL : &w->edges->names[name];
}

static void enter(struct walk *w, uint32_t node)
{
	struct name *name = name_of_node(w, node);

	if (name)
		w->level[node] = name->running++;
}

static bool leave(struct walk *w, uint32_t node)
{
	const struct edge_format *format = w->edges->format;
	const struct call_node *n = &w->tree->nodes[node];
	struct name *name = name_of_node(w, node);
	struct edge like = { .caller = HIDDEN }, *e;

	if (!name)
		return true;
	name->running--;
	like.callee = w->name_of[n->function];
	like.callee_level = w->level[node];
	if (node) {
		uint32_t caller = w->shown[n->parent];

		like.caller = w->name_of[w->tree->nodes[caller].function];
		like.caller_level = w->level[caller];
	}
	e = find_edge(w->edges, &like);
	if (!e)
		return false;
	if (w->tree->resumptions)
		e->resumptions += w->tree->resumptions[node];
	for (unsigned i = 0; i < format->column_count; i++)
		if (node || w->last || format->columns[i].column != TREE_CALLS)
			e->values[i] += call_tree_value(w->tree, node, format->columns[i].column);
	return true;
}

/* Visits callees before their callers, in the order in which they end. It is iterative, so no tree is too deep. */
static bool walk(struct walk *w)
{
	uint32_t node = 0;

	for (;;) {
		enter(w, node);
		if (w->child[node] != NONE) {
			node = w->child[node];
			continue;
		}
		for (;;) {
			if (!leave(w, node))
				return false;
			if (node == 0)
				return true;
			if (w->sibling[node] != NONE)
				break;
			node = w->tree->nodes[node].parent;
		}
		node = w->sibling[node];
	}
}

static bool allocate(struct walk *w)
{
	size_t nodes = w->tree->node_count;

	w->name_of = malloc(w->tree->function_count * sizeof(*w->name_of));
	w->child = calloc(nodes, sizeof(*w->child));
	w->sibling = calloc(nodes, sizeof(*w->sibling));
	w->shown = malloc(nodes * sizeof(*w->shown));
	w->level = malloc(nodes * sizeof(*w->level));
	return w->name_of && w->child && w->sibling && w->shown && w->level;
}

bool edges_add(struct edges *e, const struct call_tree *t, bool last)
{
	struct walk w = { .edges = e, .tree = t, .last = last };
	bool complete = false;

	if (allocate(&w) && number_names(&w)) {
		link_nodes(&w);
		complete = walk(&w);
	}
	free(w.name_of);
	free(w.child);
	free(w.sibling);
	free(w.shown);
	free(w.level);
	return complete;
}

/* --- the array */

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

static zend_string *edge_key(const struct edges *e, const struct edge *edge)
{
	const zend_string *callee = e->names[edge->callee].text, *caller;
	zend_string *key;
	char *p;

	if (edge->caller == HIDDEN)
		return zend_string_init(ZSTR_VAL(callee), ZSTR_LEN(callee), false);
	caller = e->names[edge->caller].text;
	key = zend_string_alloc(ZSTR_LEN(caller) + ZSTR_LEN(callee) + 2 * sizeof("@4294967295") + 3, false);
	p = put_level(put(ZSTR_VAL(key), caller), edge->caller_level);
	memcpy(p, "==>", 3);
	p = put_level(put(p + 3, callee), edge->callee_level);
	*p = '\0';
	return zend_string_truncate(key, p - ZSTR_VAL(key), false);
}

static void add_function_info(zend_array *values, const struct name *name)
{
	zval v;

	if (!name->file)
		return;
	ZVAL_STR_COPY(&v, name->file);
	zend_hash_str_add(values, ZEND_STRL("filename"), &v);
	ZVAL_LONG(&v, name->line);
	zend_hash_str_add(values, ZEND_STRL("lineno"), &v);
}

/* Returns the array of a pair. Two pairs can only have the same text if a path looks like a recursion suffix. */
static zend_array *values_of(zend_array *result, const zend_array *blank, const struct edges *e, const struct edge *edge)
{
	zend_string *key = edge_key(e, edge);
	zval *there = zend_hash_find(result, key), v;

	if (!there) {
		ZVAL_ARR(&v, zend_array_dup((zend_array *)blank));
		if (e->format->function_info)
			add_function_info(Z_ARR(v), &e->names[edge->callee]);
		there = zend_hash_add_new(result, key, &v);
	}
	zend_string_release(key);
	return Z_ARR_P(there);
}

static int64_t shown_value(const struct edge *edge, unsigned i, enum tree_column column)
{
	if (column == TREE_WALL_NS || column == TREE_CPU_NS)
		return edge->values[i] / 1000;
	return column == TREE_CALLS && !edge->values[i] ? (int64_t)edge->resumptions : edge->values[i];
}

void edges_export(const struct edges *e, zval *ret)
{
	const struct edge_format *format = e->format;
	zend_array blank;
	zval zero;

	ZVAL_LONG(&zero, 0);
	zend_hash_init(&blank, format->column_count, NULL, NULL, false);
	zend_hash_real_init_mixed(&blank);
	for (unsigned i = 0; i < format->column_count; i++)
		zend_hash_str_add_new(&blank, format->columns[i].key, strlen(format->columns[i].key), &zero);
	for (uint32_t i = 0; i < e->edge_count; i++) {
		const struct edge *edge = edge_at(e, i);
		zend_array *values = values_of(Z_ARR_P(ret), &blank, e, edge);

		for (unsigned k = 0; k < format->column_count; k++)
			Z_LVAL(values->arData[k].val) += shown_value(edge, k, format->columns[k].column);
	}
	zend_hash_destroy(&blank);
}

/* --- the whole */

struct edges *edges_new(const struct edge_format *format)
{
	struct edges *e = calloc(1, sizeof(*e));

	assert(format->column_count <= EDGE_COLUMNS_MAX);
	if (e)
		e->format = format;
	return e;
}

void edges_free(struct edges *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; i < e->name_count; i++) {
		zend_string_release(e->names[i].text);
		if (e->names[i].file)
			zend_string_release(e->names[i].file);
	}
	free(e->names);
	free(e->name_slots);
	free(e->edges);
	free(e->edge_slots);
	free(e);
}

bool edges_build(zval *ret, const struct call_tree *t, const struct edge_format *format)
{
	struct edges *e = edges_new(format);
	bool complete;

	array_init(ret);
	complete = e && edges_add(e, t, true);
	/* The array belongs to the request and counts against memory_limit, which ends the request by longjmp.
	 * Shutdown functions still run after that, and need the remaining memory. */
	zend_try {
		if (complete)
			edges_export(e, ret);
	} zend_catch {
		edges_free(e);
		zend_array_destroy(Z_ARR_P(ret));
		ZVAL_NULL(ret);
		zend_bailout();
	} zend_end_try();
	edges_free(e);
	return complete;
}
