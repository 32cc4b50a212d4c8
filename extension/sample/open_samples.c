/* open_samples.c: copies a trie, adds a stack to it, and sends it. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "open_samples.h"

#include "copies.h"
#include "guarded_read.h"
#include "jit.h"
#include "strobe_assert.h"

#include <stdlib.h>

/* Each frame of a stack takes a system call. A call with a deeper stack is not reported until it returns. */
#define FRAMES_MAX	65536u

/* The number of frames compared by one system call. */
#define FRAMES_AT_ONCE	64u

/* Attempts to read a stack that is changing. */
#define ATTEMPTS	4

struct frame {
	const zend_execute_data *at;
	const zend_function *function;	/* NULL: none */
	const zend_op *op;		/* as noted by PHP; undefined for internal functions */
};

/* A frame that is shown. */
struct entry {
	struct function_id function;
	uint32_t line;
};

/* Working memory of one report. */
struct report {
	struct copies copies;
	struct trie trie;
	struct label_sets *sets;
	struct message_scratch *scratch;
	struct request_labels base, own;
	struct frame *frames;		/* innermost first */
	size_t frame_count, capacity;
	struct entry *stack;		/* the frames that are shown; room for one more */
	size_t depth;
};

/* --- the stack */

/* Like function_is_missing, for a copy of a function. */
static bool is_missing(const zend_op_array *f)
{
	uint32_t flags;
	char type;

	if (f->fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE)
		return true;
	return !ZEND_USER_CODE(f->type) && f->scope && GUARDED_READ_MEMBER(&type, zend_class_entry, f->scope, type) &&
	       type == ZEND_USER_CLASS && GUARDED_READ_MEMBER(&flags, zend_class_entry, f->scope, ce_flags) &&
	       !(flags & ZEND_ACC_ENUM);
}

/* Gives a function, from its copy, the same identity as trie.c. False for frames that belong to no function. */
static bool identify(struct report *t, const struct closure_homes *homes, const zend_op_array *f, struct function_id *id)
{
	struct closure_home home = { .scope = f->scope };

	*id = (struct function_id){ .name = copies_string(&t->copies, f->function_name) };
	if (is_missing(f))
		return false;
	if (!ZEND_USER_CODE(f->type)) {
		id->scope = copies_class(&t->copies, f->scope);
		return id->name;
	}
	id->file = copies_string(&t->copies, f->filename);
	if (id->name) {
		id->line = f->line_start;
		id->closure = function_is_closure((const zend_function *)f);
		if (id->closure && closure_home_known(homes, f, guarded_read, &home))
			id->order = home.order;
		id->scope = copies_class(&t->copies, home.scope);
	}
	return id->file;
}

static bool read_function(const zend_function *f, zend_op_array *ret)
{
	memset(ret, 0, sizeof(*ret));
	return guarded_read(ret, f, sizeof(f->common)) &&
	       (!ZEND_USER_CODE(ret->type) || guarded_read(ret, f, sizeof(*ret)));
}

static bool make_room(struct report *t)
{
	size_t capacity = t->capacity ? t->capacity * 2 : 64;
	struct frame *bigger;

	if (t->frame_count < t->capacity)
		return true;
	bigger = realloc(t->frames, capacity * sizeof(*bigger));
	if (!bigger)
		return false;
	t->frames = bigger;
	t->capacity = capacity;
	return true;
}

static zend_execute_data *running(zend_execute_data *const *leaf)
{
	return __atomic_load_n(leaf, __ATOMIC_ACQUIRE);
}

/* Reads frames and their functions, innermost first. */
static bool read_frames(struct report *t, const zend_execute_data *frame)
{
	zend_execute_data copy;

	for (t->frame_count = 0; frame; frame = copy.prev_execute_data) {
		if (t->frame_count == FRAMES_MAX || !guarded_read(&copy, frame, sizeof(copy)) || !make_room(t))
			return false;
		t->frames[t->frame_count++] = (struct frame){ frame, copy.func, copy.opline };
	}
	return true;
}

/* An internal function may call others, so frames read first and last need not have existed at the same time. The
 * innermost frame continues; the others continue only when their callee returns. */
static bool are_still(const struct report *t, zend_execute_data *const *leaf)
{
	zend_execute_data copies[FRAMES_AT_ONCE];
	struct iovec pieces[FRAMES_AT_ONCE];
	unsigned n = 0;

	for (size_t i = 0; i < t->frame_count; i += n) {
		for (n = 0; n < FRAMES_AT_ONCE && i + n < t->frame_count; n++)
			pieces[n] = (struct iovec){ (void *)t->frames[i + n].at, sizeof(copies[0]) };
		if (guarded_read_pieces(copies, pieces, n, sizeof(copies[0])) != n)
			return false;
		for (unsigned k = 0; k < n; k++)
			if (copies[k].func != t->frames[i + k].function ||
			    (i + k > 0 && copies[k].opline != t->frames[i + k].op) ||
			    (i + k + 1 < t->frame_count && copies[k].prev_execute_data != t->frames[i + k + 1].at))
				return false;
	}
	return t->frame_count && running(leaf) == t->frames[0].at;
}

/* Same line as in stack.c and trie.c, from a copy of the function; 0: unknown. */
static uint32_t line_of(const zend_op_array *f, const zend_op *op)
{
	uintptr_t offset = (uintptr_t)op - (uintptr_t)f->opcodes;
	uint32_t line;

	if (!ZEND_USER_CODE(f->type) || !op || offset / sizeof(*op) >= f->last || offset % sizeof(*op))
		return 0;
	return GUARDED_READ_MEMBER(&line, zend_op, op, lineno) ? line : 0;
}

static bool read_stack(struct report *t, const struct open_samples *o, zend_execute_data *const *leaf)
{
	const zend_function *last = NULL;
	const zend_op *last_op = NULL;
	bool shown = false, whole = false;
	uint32_t line = 0;
	zend_op_array f;

	for (int i = 0; i < ATTEMPTS && !whole; i++)
		whole = read_frames(t, running(leaf)) && are_still(t, leaf);
	t->stack = whole ? malloc((t->frame_count + 1) * sizeof(*t->stack)) : NULL;
	if (!t->stack)
		return false;
	for (size_t i = 0; i < t->frame_count; i++) {
		const zend_function *function = t->frames[i].function;
		const zend_op *op = o->lines && (i || !jit_may_run()) ? t->frames[i].op : NULL;

		if (!function)
			continue;
		if (function != last) {
			if (!read_function(function, &f))
				return false;
			shown = identify(t, o->homes, &f, &t->stack[t->depth].function);
		} else if (shown) {		/* calls itself */
			t->stack[t->depth] = t->stack[t->depth - 1];
		}
		if (shown && (function != last || op != last_op))
			line = line_of(&f, op);
		t->stack[t->depth].line = line;
		t->depth += shown;
		last = function;
		last_op = op;
	}
	STROBE_ASSERT(t->depth <= t->frame_count);
	return t->depth;
}

/* Truncates a stack that is too deep, like stack.c. */
static void cut_stack(struct report *t, size_t max_depth)
{
	size_t half = max_depth / 2, rest = max_depth - half;

	if (t->depth <= max_depth)
		return;
	STROBE_ASSERT(half && rest <= t->depth - half);
	t->stack[half] = (struct entry){ 0 };
	memmove(t->stack + half + 1, t->stack + t->depth - rest, rest * sizeof(*t->stack));
	t->depth = max_depth + 1;
}

/* --- the trie */

static bool copy_trie(struct report *t, const struct trie *from)
{
	if (!trie_map(&t->trie))
		return false;
	if (!from->samples)
		return true;
	if (from->count < TRIE_ROOTS || from->count > TRIE_NODES ||
	    !guarded_read(t->trie.nodes, from->nodes, from->count * sizeof(*from->nodes)))
		return false;
	t->trie.count = from->count;
	t->trie.samples = from->samples;
	for (uint32_t n = TRIE_ROOTS; n < t->trie.count; n++) {
		struct trie_node *node = &t->trie.nodes[n];

		if (node->parent >= n)
			return false;
		node->function.name = copies_string(&t->copies, node->function.name);
		node->function.file = copies_string(&t->copies, node->function.file);
		node->function.scope = copies_class(&t->copies, node->function.scope);
	}
	return true;
}

/* Equal stacks are merged by readers of the message. */
static void add_stack(struct report *t, unsigned root, uint64_t periods)
{
	uint32_t parent = root;

	STROBE_ASSERT(root < TRIE_ROOTS && trie_has_space(&t->trie, t->depth));
	for (size_t i = t->depth; i-- > 0; parent = t->trie.count++)
		t->trie.nodes[t->trie.count] = (struct trie_node){ .function = t->stack[i].function, .parent = parent, .line = t->stack[i].line };
	t->trie.nodes[parent].samples += MIN(periods, UINT32_MAX);
	t->trie.samples += periods;
}

/* --- all of it */

static bool init(struct report *t)
{
	t->sets = label_sets_map();
	t->scratch = message_map();
	return t->sets && t->scratch;
}

static void done(struct report *t)
{
	copies_done(&t->copies);
	trie_unmap(&t->trie);
	label_sets_unmap(t->sets);
	message_unmap(t->scratch);
	free(t->frames);
	free(t->stack);
	free(t);
}

static bool copy_labels(struct report *t, const struct open_samples *o)
{
	if (o->trie->samples && !label_sets_copy(t->sets, o->sets))
		return false;
	return request_labels_copy(&t->base, o->base) && (!o->own_labels || request_labels_copy(&t->own, o->own_labels));
}

static void send_all(struct report *t, const struct open_samples *o)
{
	unsigned root = label_sets_number(t->sets, o->own_labels ? &t->own : NULL);
	struct sender sender;

	sender_init(&sender);
	if (t->depth && (root == LABEL_SETS || !trie_has_space(&t->trie, t->depth))) {
		message_send(t->scratch, &sender, o->path, &t->trie, &t->base, t->sets, &o->info);
		t->trie.count = TRIE_ROOTS;
		memset(t->trie.nodes, 0, TRIE_ROOTS * sizeof(*t->trie.nodes));
		label_sets_empty(t->sets);
		root = label_sets_number(t->sets, o->own_labels ? &t->own : NULL);
	}
	if (t->depth)
		add_stack(t, root, o->periods);
	message_send(t->scratch, &sender, o->path, &t->trie, &t->base, t->sets, &o->info);
	sender_close(&sender);
}

/* The stack is checked separately, since calls may end before the PHP thread reaches a safe point. */
static bool is_still_valid(const struct report *t, const struct open_samples *o, const struct watch_context *context)
{
	return watch_settles(context) && o->holds(o->owner) && (!t->depth || are_still(t, context->frames));
}

void open_samples_send(const struct open_samples *o, const struct watch_context *context)
{
	struct report *t;

	if ((!o->trie->samples && !o->periods) || !(t = calloc(1, sizeof(*t))))
		return;
	if (init(t) && copy_trie(t, o->trie) && copy_labels(t, o)) {
		if (o->periods && read_stack(t, o, context->frames))
			cut_stack(t, o->max_depth);
		else
			t->depth = 0;
		if (!t->copies.failed && is_still_valid(t, o, context))
			send_all(t, o);
	}
	done(t);
}
