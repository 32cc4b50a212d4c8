/* push_text.c: parses stacks of frames separated by semicolons, and trees in preorder. */
#include "push_text.h"

#include "folded_line.h"
#include "mem.h"

#include <string.h>

#define TRIE_DEPTH_MAX	65536u			/* nodes; each adds a piece of any size to the stack */
#define STACK_MAX	((size_t)1 << 20)	/* bytes of a stack */

static int child(struct pushed *p, struct profile *to, uint32_t *node, struct str name, struct err *err)
{
	int r;

	if (name.n > PUSHED_NAME_MAX)
		return err_set(err, -E2BIG, "a frame's name exceeds the limit of %u bytes", PUSHED_NAME_MAX);
	if ((r = pushed_node(p, name.n, err)) < 0)
		return r;
	*node = profile_child(to, *node, profile_frame(to, name, (struct str){ "", 0 }, 0));
	return 0;
}

/* "root;…;leaf" */
static int add_stack(struct pushed *p, struct profile *to, uint32_t column, struct str stack, int64_t value, struct err *err)
{
	uint32_t node = PROFILE_ROOT, depth = 0;
	int r;

	for (const char *at = stack.p, *end = at + stack.n; at <= end;) {
		const char *semicolon = memchr(at, ';', (size_t)(end - at)), *stop = semicolon ? semicolon : end;

		if (++depth > PUSHED_DEPTH_MAX)
			return err_set(err, -E2BIG, "a stack exceeds the limit of %u frames", PUSHED_DEPTH_MAX);
		if (stop > at && (r = child(p, to, &node, (struct str){ at, (size_t)(stop - at) }, err)) < 0)
			return r;
		at = stop + 1;
	}
	profile_add(to, pushed_leaf(to, node), column, value);
	return 0;
}

/* --- Lines --- */

static int add_line(struct pushed *p, struct profile *to, uint32_t column, struct str line, uint64_t number, bool counted,
		    struct err *err)
{
	struct folded_line l = { .stack = line, .count = { 1, 0 } };
	enum folded_line_kind kind = FOLDED_STACK;

	while (line.n && (line.p[line.n - 1] == '\r' || line.p[line.n - 1] == ' '))
		line.n--;
	if (!line.n)
		return 0;
	l.stack = line;
	if (counted)
		kind = folded_line_parse(line.p, line.n, false, &l);
	if (kind != FOLDED_STACK || l.count.whole < 0 || l.count.fraction != 0)
		return err_set(err, -EINVAL, "line %llu is not a folded stack with a count, as in main;work 12",
			       (unsigned long long)number);
	return l.count.whole ? add_stack(p, to, column, l.stack, l.count.whole, err) : 0;
}

int push_folded(struct pushed *p, struct profile *to, const struct push_type *t, struct str text, bool counted, struct err *err)
{
	uint32_t column = profile_column(to, t->column, t->unit);
	uint64_t number = 0;
	int r = 0;

	while (text.n && r >= 0) {
		const char *newline = memchr(text.p, '\n', text.n);
		size_t n = newline ? (size_t)(newline - text.p) : text.n;

		r = add_line(p, to, column, (struct str){ text.p, n }, ++number, counted, err);
		text.p += n + (newline != NULL);
		text.n -= n + (newline != NULL);
	}
	return r;
}

/* --- Trees --- */

struct node {
	struct str name;
	uint64_t value, children;
};

static bool take_varint(struct str *s, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; s->n && shift < 64; shift += 7) {
		uint8_t byte = (uint8_t)*s->p++;

		s->n--;
		if (shift == 63 && byte > 1)
			return false;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = v;
			return true;
		}
	}
	return false;
}

static int take_node(struct str *s, struct node *ret, struct err *err)
{
	uint64_t n = 0;

	if (!take_varint(s, &n) || n > s->n)
		return err_set(err, -EINVAL, "its tree is damaged or truncated: a name has no end");
	ret->name = (struct str){ s->p, (size_t)n };
	s->p += n;
	s->n -= (size_t)n;
	if (!take_varint(s, &ret->value) || !take_varint(s, &ret->children) || ret->value > INT64_MAX)
		return err_set(err, -EINVAL, "its tree is damaged or truncated: a node lacks its value or the "
					     "number of its children");
	return 0;
}

/* A node on the path to the one being read. */
struct open {
	uint64_t left;			/* children that are still unread */
	uint32_t node;			/* in the profile; trees only */
	size_t size;			/* length of the stack's text up to this node; tries only */
};

struct walk {
	struct pushed *pushed;
	struct profile *to;
	uint32_t column;
	struct open *open;
	size_t depth, capacity;
	struct buf stack;
};

static int enter_trie(struct walk *w, const struct node *n, struct open *o, struct err *err)
{
	w->stack.size = w->depth ? w->open[w->depth - 1].size : 0;
	if (w->stack.size + n->name.n > STACK_MAX)
		return err_set(err, -E2BIG, "a stack exceeds the limit of %zu bytes", STACK_MAX);
	buf_put(&w->stack, n->name.p, n->name.n);
	o->size = w->stack.size;
	if (!n->value)
		return 0;
	return add_stack(w->pushed, w->to, w->column, (struct str){ w->stack.data, w->stack.size }, (int64_t)n->value, err);
}

static int enter_tree(struct walk *w, const struct node *n, struct open *o, struct err *err)
{
	int r;

	o->node = w->depth ? w->open[w->depth - 1].node : PROFILE_ROOT;
	if (n->name.n && (r = child(w->pushed, w->to, &o->node, n->name, err)) < 0)
		return r;
	if (n->value)
		profile_add(w->to, pushed_leaf(w->to, o->node), w->column, (int64_t)n->value);
	return 0;
}

static int walk(struct pushed *p, struct profile *to, const struct push_type *t, struct str bytes, size_t depth_max,
		int (*enter)(struct walk *w, const struct node *n, struct open *o, struct err *err), struct err *err)
{
	struct walk w = { .pushed = p, .to = to, .column = profile_column(to, t->column, t->unit) };
	struct node n;
	int r = 0;

	buf_init(&w.stack);
	do {
		struct open o = { 0 };

		if ((r = take_node(&bytes, &n, err)) < 0 || (r = enter(&w, &n, &o, err)) < 0)
			break;
		o.left = n.children;
		if (w.depth >= depth_max) {
			r = err_set(err, -E2BIG, "its tree exceeds the limit of %zu levels", depth_max);
			break;
		}
		GROW(&w.open, &w.capacity, w.depth + 1);
		w.open[w.depth++] = o;
		while (w.depth && !w.open[w.depth - 1].left)
			w.depth--;
		if (w.depth)
			w.open[w.depth - 1].left--;
	} while (w.depth);
	if (r >= 0 && bytes.n)
		r = err_set(err, -EINVAL, "it has %zu byte%s after the end of its tree", bytes.n, bytes.n == 1 ? "" : "s");
	buf_done(&w.stack);
	free(w.open);
	return r;
}

int push_trie(struct pushed *p, struct profile *to, const struct push_type *t, struct str bytes, struct err *err)
{
	return walk(p, to, t, bytes, TRIE_DEPTH_MAX, enter_trie, err);
}

int push_tree(struct pushed *p, struct profile *to, const struct push_type *t, struct str bytes, struct err *err)
{
	return walk(p, to, t, bytes, PUSHED_DEPTH_MAX + 1, enter_tree, err);
}
