/* sampled_tree.c: merges tries by comparing functions and nodes by content. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "sampled_tree.h"

#include "function_name.h"

#include <stdlib.h>

struct builder {
	struct call_tree *tree;
	uint32_t *function_slots, *node_slots;	/* hashes to index + 1 */
	uint32_t slot_count;
	uint32_t *place;		/* by node of the trie that is being merged */
};

static bool is_eval(const zend_string *file)
{
	static const char end[] = " : eval()'d code";
	const size_t n = sizeof(end) - 1;

	return ZSTR_LEN(file) > n && memcmp(ZSTR_VAL(file) + ZSTR_LEN(file) - n, end, n) == 0;
}

/* Converts a function of a trie to one of a tree; references are borrowed. */
static struct call_function describe(const struct function_id *id)
{
	struct call_function f = {
		.kind = CALL_FUNCTION,
		.internal = id->name && !id->file,
		.closure = id->closure,
		.name = id->name,
		.class_name = id->scope ? id->scope->name : NULL,
		.written_in = id->closure && id->scope ? id->scope->name : NULL,
		.order = id->order,
		.file = id->file,
		.line = id->line,
	};

	if (!id->name)
		f.kind = !id->file ? CALL_ELIDED : is_eval(id->file) ? CALL_EVAL : CALL_FILE;
	return f;
}

static bool equal_strings(const zend_string *a, const zend_string *b)
{
	return a == b || (a && b && zend_string_equal_content(a, b));
}

static bool equal_functions(const struct call_function *a, const struct call_function *b)
{
	return a->kind == b->kind && a->line == b->line && a->closure == b->closure && a->order == b->order &&
	       equal_strings(a->name, b->name) &&
	       equal_strings(a->class_name, b->class_name) && equal_strings(a->file, b->file);
}

static uint32_t hash_function(const struct call_function *f)
{
	zend_ulong h = f->line * 31u + f->kind;

	if (f->name)
		h = h * 33 + zend_string_hash_val(f->name);
	if (f->class_name)
		h = h * 33 + zend_string_hash_val(f->class_name);
	if (f->file)
		h = h * 33 + zend_string_hash_val(f->file);
	return (uint32_t)(h ^ h >> 29);
}

static void hold(zend_string *s)
{
	if (s)
		zend_string_addref(s);
}

static uint32_t number_function(struct builder *b, struct call_function f)
{
	struct call_tree *t = b->tree;
	uint32_t i = hash_function(&f) & (b->slot_count - 1);

	for (; b->function_slots[i]; i = (i + 1) & (b->slot_count - 1))
		if (equal_functions(&t->functions[b->function_slots[i] - 1], &f))
			return b->function_slots[i] - 1;
	hold(f.name);
	hold(f.class_name);
	hold(f.written_in);
	hold(f.file);
	t->functions[t->function_count++] = f;
	b->function_slots[i] = t->function_count;
	return t->function_count - 1;
}

static int64_t *samples_of(const struct call_tree *t, uint32_t node)
{
	return &call_tree_row(t, node)[t->at[TREE_SAMPLES]];
}

static uint32_t number_node(struct builder *b, uint32_t parent, uint32_t function)
{
	struct call_tree *t = b->tree;
	uint64_t h = ((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15ull;
	uint32_t i = (uint32_t)(h >> 32) & (b->slot_count - 1);

	for (; b->node_slots[i]; i = (i + 1) & (b->slot_count - 1)) {
		const struct call_node *n = &t->nodes[b->node_slots[i] - 1];

		if (n->parent == parent && n->function == function)
			return b->node_slots[i] - 1;
	}
	t->nodes[t->node_count] = (struct call_node){ .parent = parent, .function = function };
	*samples_of(t, t->node_count) = 0;
	b->node_slots[i] = ++t->node_count;
	return t->node_count - 1;
}

static void add_trie(struct builder *b, const struct trie *t)
{
	memset(b->place, 0, TRIE_ROOTS * sizeof(*b->place));
	for (uint32_t i = TRIE_ROOTS; i < t->count; i++) {
		const struct trie_node *n = &t->nodes[i];

		b->place[i] = number_node(b, b->place[n->parent], number_function(b, describe(&n->function)));
		*samples_of(b->tree, b->place[i]) += n->samples;
	}
}

static enum tree_column time_column(const struct call_tree *t)
{
	return t->cpu_clock ? TREE_CPU_NS : TREE_WALL_NS;
}

static void fill_in_values(struct call_tree *t)
{
	for (uint32_t i = t->node_count; i-- > 1;)
		*samples_of(t, t->nodes[i].parent) += *samples_of(t, i);
	for (uint32_t i = 0; i < t->node_count; i++)
		call_tree_row(t, i)[t->at[time_column(t)]] = *samples_of(t, i) * (int64_t)t->period_ns;
}

static bool allocate(struct builder *b, size_t nodes, uint64_t period_ns, bool cpu)
{
	for (b->slot_count = 64; b->slot_count < 2 * nodes; b->slot_count *= 2)
		;
	b->tree = calloc(1, sizeof(*b->tree));
	b->function_slots = calloc(b->slot_count, sizeof(*b->function_slots));
	b->node_slots = calloc(b->slot_count, sizeof(*b->node_slots));
	b->place = malloc(nodes * sizeof(*b->place));
	if (!b->tree || !b->function_slots || !b->node_slots || !b->place)
		return false;
	b->tree->functions = malloc(nodes * sizeof(*b->tree->functions));
	b->tree->period_ns = period_ns;
	b->tree->cpu_clock = cpu;
	return b->tree->functions &&
	       call_tree_reserve(b->tree, TREE_HAS(TREE_SAMPLES) | TREE_HAS(time_column(b->tree)), nodes);
}

struct call_tree *sampled_tree(const struct trie *tries, unsigned count, uint64_t lost, uint64_t period_ns, bool cpu)
{
	struct builder b = { 0 };
	size_t nodes = 2;		/* the root and "[folded]" */

	for (unsigned i = 0; i < count; i++)
		nodes += tries[i].count;
	if (allocate(&b, nodes, period_ns, cpu)) {
		b.tree->node_count = 1;
		*samples_of(b.tree, 0) = 0;
		b.tree->nodes[0] = (struct call_node){
			.function = number_function(&b, (struct call_function){ .kind = CALL_ROOT }),
		};
		for (unsigned i = 0; i < count; i++)
			add_trie(&b, &tries[i]);
		if (lost) {
			uint32_t folded = number_function(&b, (struct call_function){ .kind = CALL_FOLDED });

			*samples_of(b.tree, number_node(&b, 0, folded)) = (int64_t)lost;
			b.tree->folded_calls = lost;
		}
		fill_in_values(b.tree);
		call_tree_shrink(b.tree);
	} else {
		call_tree_free(b.tree);
		b.tree = NULL;
	}
	free(b.function_slots);
	free(b.node_slots);
	free(b.place);
	return b.tree;
}
