/* trie.c: merges stacks. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "trie.h"

#include "closure_home.h"
#include "strobe_assert.h"

#include <sys/mman.h>

#define SLOTS		(TRIE_NODES * 2)
#define NODES_BYTES	(TRIE_NODES * sizeof(struct trie_node))
#define SLOTS_BYTES	(SLOTS * sizeof(uint32_t))

bool trie_map(struct trie *t)
{
	char *p;

	if (t->nodes)
		return true;
	/* Zeroed; only touched pages take memory. */
	p = mmap(NULL, NODES_BYTES + SLOTS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return false;
	memset(t, 0, sizeof(*t));
	t->nodes = (struct trie_node *)p;
	t->slots = (uint32_t *)(p + NODES_BYTES);
	t->count = TRIE_ROOTS;
	return true;
}

void trie_unmap(struct trie *t)
{
	if (t->nodes)
		munmap(t->nodes, NODES_BYTES + SLOTS_BYTES);
	memset(t, 0, sizeof(*t));
}

/* At most 64 bytes, so that a node is one cache line. */
_Static_assert(sizeof(struct trie_node) <= 64, "a node is a cache line");

/* Distinguishes opcodes of one function without reading them. Arrays of opcodes are shorter than the range of tags. */
static inline uint32_t op_tag(const zend_op *op)
{
	return (uint32_t)((uintptr_t)op >> 4);
}

static uint32_t hash(uint32_t parent, const struct function_id *f, uint32_t line)
{
	uint64_t h = (parent ^ (uint64_t)line << 32) * 0x9e3779b97f4a7c15ull;

	h = (h ^ (uintptr_t)f->name) * 0xff51afd7ed558ccdull;
	h = (h ^ (h >> 32) ^ (uintptr_t)f->file) * 0xff51afd7ed558ccdull;
	h = (h ^ (h >> 32) ^ (uintptr_t)f->scope ^ f->line) * 0xc4ceb9fe1a85ec53ull;
	return (uint32_t)(h >> 40) % SLOTS;
}

/* Identifies `f`; NULL means omitted frames. Returns false for internal frames that belong to no function. */
static bool identify(const zend_function *f, struct function_id *id)
{
	*id = (struct function_id){ 0 };
	if (!f)
		return true;
	id->name = f->common.function_name;
	if (!ZEND_USER_CODE(f->type)) {
		id->scope = f->common.scope;
		return id->name != NULL;
	}
	id->file = f->op_array.filename;
	if (id->name) {
		id->scope = f->op_array.scope;
		id->line = f->op_array.line_start;
		id->closure = function_is_closure(f);
	}
	if (id->closure) {
		struct closure_home home = closure_home(f);

		id->scope = home.scope;
		id->order = home.order;
	}
	return id->file != NULL;
}

static zend_never_inline bool is_closure(const struct function_id *id, const zend_function *f)
{
	struct closure_home home = closure_home(f);

	return id->scope == home.scope && id->order == home.order;
}

/* Whether identify would return `id` for `f`, without building it: this is called for every frame of every sample. */
static inline bool is_function(const struct function_id *id, const zend_function *f)
{
	if (!f || id->name != f->common.function_name)
		return !f && !id->name && !id->file;
	if (!ZEND_USER_CODE(f->type))
		return !id->file && id->scope == f->common.scope && id->name;
	if (id->file != f->op_array.filename)
		return false;
	if (!id->name)
		return true;
	if (id->line != f->op_array.line_start)
		return false;
	return UNEXPECTED(id->closure) ? is_closure(id, f) : id->scope == f->op_array.scope;
}

static uint32_t find_or_add(struct trie *t, uint32_t parent, const zend_function *f, uint32_t line)
{
	struct function_id id;
	uint32_t slot, n;

	STROBE_ASSERT(parent < t->count && t->count <= TRIE_NODES);
	if (!identify(f, &id))
		return parent;
	for (slot = hash(parent, &id, line); (n = t->slots[slot]); slot = (slot + 1) % SLOTS)
		if (t->nodes[n].parent == parent && t->nodes[n].line == line && is_function(&t->nodes[n].function, f))
			break;
	if (!n) {
		STROBE_ASSERT(t->count < TRIE_NODES);
		n = t->count++;
		t->slots[slot] = n;
		t->nodes[n] = (struct trie_node){ .function = id, .parent = parent, .slot = slot, .line = line };
		if (id.name)
			zend_string_addref(id.name);
		if (id.file)
			zend_string_addref(id.file);
	}
	t->nodes[parent].last_child = n;
	return n;
}

/* Called if the opcode differs from last time; usually it is on the same line. */
static zend_never_inline uint32_t child_at(struct trie *t, uint32_t parent, const zend_function *f, const zend_op *seen)
{
	const zend_op *op = stack_op(f, seen);
	uint32_t n = t->nodes[parent].last_child, line = op ? op->lineno : 0;

	if (!n || t->nodes[n].line != line || !is_function(&t->nodes[n].function, f))
		n = find_or_add(t, parent, f, line);
	if (n != parent)
		t->nodes[n].op = op_tag(op);
	return n;
}

static inline uint32_t child(struct trie *t, uint32_t parent, const struct stack *s, size_t i)
{
	struct stack_frame f = s->frames[i];
	uint32_t n = t->nodes[parent].last_child;

	if (!t->lines)
		f.op = NULL;
	if (EXPECTED(n && t->nodes[n].op == op_tag(f.op) && is_function(&t->nodes[n].function, f.function)))
		return n;
	return child_at(t, parent, f.function, f.op);
}

void trie_add(struct trie *t, uint32_t root, const struct stack *s, uint32_t samples)
{
	uint32_t n = root;
	size_t i = s->depth;

	STROBE_ASSERT(root < TRIE_ROOTS && t->count && trie_has_space(t, s->depth));
	if (s->rootless) {
		STROBE_ASSERT(trie_knows_root_half(t, root));
		n = t->deep_node;
	} else if (s->elided_at) {
		while (i > s->elided_at + 1)
			n = child(t, n, s, --i);
		t->deep_node = n < TRIE_ROOTS ? 0 : n;
		t->deep_root = root;
	} else {
		t->deep_node = 0;
	}
	while (i > 0)
		n = child(t, n, s, --i);
	STROBE_ASSERT(n < t->count);
	t->nodes[n].samples += samples;
	t->samples += samples;
}

void trie_empty(struct trie *t)
{
	for (uint32_t n = TRIE_ROOTS; n < t->count; n++) {
		struct trie_node *node = &t->nodes[n];

		STROBE_ASSERT(t->slots[node->slot] == n && node->parent < n);
		t->slots[node->slot] = 0;
		if (node->function.name)
			zend_string_release(node->function.name);
		if (node->function.file)
			zend_string_release(node->function.file);
	}
	if (t->count) {
		t->count = TRIE_ROOTS;
		memset(t->nodes, 0, TRIE_ROOTS * sizeof(*t->nodes));
	}
	t->deep_node = 0;
	t->samples = 0;
}
