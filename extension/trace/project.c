/* project.c: what one session has seen, as a finished tree. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "capture.h"
#include "realtime.h"

#include <stdlib.h>

#define NOWHERE UINT32_MAX

/* While a tree is built: where each node of the capture went, and hashes for both kinds of numbers. */
struct projection {
	const struct capture *capture;
	const struct trace_session *session;
	struct call_tree *tree;
	uint32_t *place;		/* by node: index in the tree, or NOWHERE */
	uint32_t *function;		/* by function: index in the tree + 1, 0 not yet used */
	uint8_t *hidden;		/* by function, with a filter: 1 shown, 2 not, 0 not yet asked */
	uint32_t *slots;		/* (parent, function) to index + 1 */
	uint32_t slot_count;
	bool direct;			/* each node has a place of its own, but for those below an ambiguous function */
	uint8_t *merged;		/* by place: several nodes may share it, so that its children are in the hash */
	bool in_ticks;			/* wall and CPU time, until all are there */
	uint64_t now;			/* in ticks: when calls end that still run */
	bool *shown;			/* by node, with a chart: its calls are those of its place */
};

static bool is_left_out(const struct trace_session *s, const struct call_function *f)
{
	switch (f->kind) {
	case CALL_FUNCTION:
		return f->internal && s->options.no_internals;
	case CALL_FILE:
	case CALL_EVAL:
		return !s->options.files;
	case CALL_LOAD:
	case CALL_LOAD_EVAL:
		return !s->options.loads;
	default:
		return false;
	}
}

static bool is_filtered(struct projection *p, const struct function *f)
{
	const struct name_filter *filter = p->session->options.filter;

	if (!filter || f->id.kind == CALL_ROOT || f->id.kind == CALL_FOLDED)
		return false;
	if (!p->hidden[f->number])
		p->hidden[f->number] = name_filter_shows(filter, &f->id) ? 1 : 2;
	return p->hidden[f->number] == 2;
}

/* Functions with one identity (a file that was included twice, a method of PHP's own that subclasses have copies of) are one
 * function of the tree. */
static uint32_t number_function(struct projection *p, const struct function *f)
{
	const struct function *first = f->first;
	struct call_tree *t = p->tree;
	struct call_function *copy;

	if (p->function[first->number])
		return p->function[first->number] - 1;
	STROBE_ASSERT(t->function_count < p->capture->nodes.functions.count && first->first == first);
	copy = &t->functions[t->function_count++];
	*copy = first->id;
	if (copy->name)
		zend_string_addref(copy->name);
	if (copy->class_name)
		zend_string_addref(copy->class_name);
	if (copy->written_in)
		zend_string_addref(copy->written_in);
	if (copy->file)
		zend_string_addref(copy->file);
	p->function[first->number] = t->function_count;
	return t->function_count - 1;
}

static uint32_t new_place(struct projection *p, uint32_t parent, uint32_t function, bool merged)
{
	struct call_tree *t = p->tree;

	STROBE_ASSERT(t->node_count < p->capture->nodes.count && (parent < t->node_count || !t->node_count));
	t->nodes[t->node_count] = (struct call_node){ .parent = parent, .function = function };
	p->merged[t->node_count] = merged;
	return t->node_count++;
}

static uint32_t find_or_add(struct projection *p, uint32_t parent, const struct function *f)
{
	const struct call_tree *t = p->tree;
	uint32_t function = number_function(p, f), i;
	uint64_t h;

	if (p->direct && !f->ambiguous && !p->merged[parent])
		return new_place(p, parent, function, false);
	h = ((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15ull;
	for (i = (uint32_t)(h >> 32) & (p->slot_count - 1); p->slots[i]; i = (i + 1) & (p->slot_count - 1)) {
		const struct call_node *n = &t->nodes[p->slots[i] - 1];

		if (n->parent == parent && n->function == function)
			return p->slots[i] - 1;
	}
	p->slots[i] = t->node_count + 1;
	return new_place(p, parent, function, true);
}

static int64_t nanoseconds(const struct capture *c, uint64_t ticks)
{
	double ns = (double)(int64_t)ticks * c->ns_per_tick;

	return (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

static void add(struct projection *p, uint32_t place, const struct node *n)
{
	int64_t *v = p->tree->nodes[place].value;
	const struct capture *c = p->capture;

	STROBE_ASSERT(place < p->tree->node_count);
	p->tree->nodes[place].resumptions += n->resumptions;
	v[TREE_CALLS] += (int64_t)n->calls;
	v[TREE_WALL_NS] += c->timer.period_ns ? (int64_t)n->wall * c->timer.period_ns :
			   p->in_ticks ? (int64_t)n->wall : nanoseconds(c, n->wall);
	v[TREE_CPU_NS] += p->in_ticks ? (int64_t)n->cpu : nanoseconds(c, n->cpu);
	v[TREE_MEMORY_BYTES] += n->memory;
	v[TREE_PEAK_BYTES] += n->peak;
	if (n->allocations) {
		v[TREE_ALLOCATIONS] += (int64_t)n->allocations->allocations;
		v[TREE_FREES] += (int64_t)n->allocations->frees;
		v[TREE_ALLOCATED_BYTES] += (int64_t)n->allocations->bytes;
	}
}

/* Time that is sampled is only where it was spent. */
static void add_sampled_time(struct projection *p, uint32_t place, const struct node *n)
{
	STROBE_ASSERT(place == NOWHERE || place < p->tree->node_count);
	if (p->capture->timer.period_ns && place != NOWHERE)
		p->tree->nodes[place].value[TREE_WALL_NS] += (int64_t)n->wall * (int64_t)p->capture->timer.period_ns;
}

static void show(struct projection *p, uint32_t i)
{
	if (p->shown)
		p->shown[i] = true;
}

/* Calls within a folded call are folded too; what they took is in it already. */
static void add_folded(struct projection *p, uint32_t i, uint32_t parent, const struct node *n)
{
	struct call_tree *t = p->tree;
	uint64_t calls = n->calls + (n->below ? n->below->calls : 0);

	STROBE_ASSERT(parent < t->node_count);
	if (t->functions[t->nodes[parent].function].kind == CALL_FOLDED) {
		p->place[i] = parent;
		t->nodes[parent].value[TREE_CALLS] += (int64_t)n->calls;
		add_sampled_time(p, parent, n);
	} else {
		p->place[i] = find_or_add(p, parent, n->function);
		add(p, p->place[i], n);
		show(p, i);
	}
	if (n->below) {
		t->nodes[p->place[i]].value[TREE_CALLS] += (int64_t)n->below->calls;
		add_sampled_time(p, p->place[i], n->below);
	}
	t->folded_calls += calls;
}

static bool has_values(const struct node *n)
{
	return n->calls || n->wall || n->cpu || n->memory ||
	       (n->allocations && (n->allocations->allocations || n->allocations->frees));
}

static void place_node(struct projection *p, uint32_t i)
{
	const struct node *n = nodes_at(&p->capture->nodes, i);
	const struct call_function *f = &n->function->id;
	uint32_t parent = n->parent ? p->place[n->parent->number] : NOWHERE;

	STROBE_ASSERT(n->number == i && (!n->parent || n->parent->number < i));
	if (f->kind == CALL_ROOT) {
		if (n->key == p->session->key) {
			p->place[i] = 0;
			add(p, 0, n);
			show(p, i);
		} else {
			p->place[i] = parent;
			add_sampled_time(p, parent, n);
		}
	} else if (parent == NOWHERE || is_left_out(p->session, f) ||
		   is_filtered(p, n->function) || (!has_values(n) && !n->children && !n->below)) {
		p->place[i] = parent;
		add_sampled_time(p, parent, n);
	} else if (f->kind == CALL_FOLDED) {
		add_folded(p, i, parent, n);
	} else {
		p->place[i] = find_or_add(p, parent, n->function);
		add(p, p->place[i], n);
		show(p, i);
	}
}

static unsigned columns_of(unsigned metrics)
{
	unsigned columns = TREE_HAS(TREE_CALLS);

	if (metrics & (TRACE_WALL | TRACE_SAMPLED_WALL))
		columns |= TREE_HAS(TREE_WALL_NS);
	if (metrics & TRACE_CPU)
		columns |= TREE_HAS(TREE_CPU_NS);
	if (metrics & TRACE_MEMORY)
		columns |= TREE_HAS(TREE_MEMORY_BYTES);
	if (metrics & TRACE_PEAK)
		columns |= TREE_HAS(TREE_PEAK_BYTES);
	if (metrics & TRACE_ALLOCATIONS)
		columns |= TREE_HAS(TREE_ALLOCATIONS) | TREE_HAS(TREE_FREES) | TREE_HAS(TREE_ALLOCATED_BYTES);
	return columns;
}

/* Sampled time was given to the node that ran. */
static void make_inclusive(struct call_tree *t, enum tree_column column)
{
	for (uint32_t i = t->node_count - 1; i > 0; i--) {
		STROBE_ASSERT(t->nodes[i].parent < i);
		t->nodes[t->nodes[i].parent].value[column] += t->nodes[i].value[column];
	}
}

/* Self times are rounded, so that the CPU time of none is above its wall time: time off the CPU is the
 * difference. Rounded with what is below them, both could be off by a nanosecond per child. */
static void make_nanoseconds(const struct capture *c, struct call_tree *t, enum tree_column column)
{
	for (uint32_t i = 1; i < t->node_count; i++)
		t->nodes[t->nodes[i].parent].value[column] -= t->nodes[i].value[column];
	for (uint32_t i = 0; i < t->node_count; i++)
		t->nodes[i].value[column] = nanoseconds(c, (uint64_t)t->nodes[i].value[column]);
	make_inclusive(t, column);
}

static bool allocate(struct projection *p)
{
	const struct nodes *from = &p->capture->nodes;

	for (p->slot_count = 64; p->slot_count < from->count * 2; p->slot_count *= 2)
		;
	p->tree = calloc(1, sizeof(*p->tree));
	p->place = malloc(from->count * sizeof(*p->place));
	p->function = calloc(from->functions.count, sizeof(*p->function));
	p->slots = calloc(p->slot_count, sizeof(*p->slots));
	p->hidden = calloc(from->functions.count, sizeof(*p->hidden));
	p->merged = malloc(from->count);
	if (p->session->options.metrics & TRACE_CHART) {
		p->shown = calloc(from->count, sizeof(*p->shown));
		if (!p->shown)
			return false;
	}
	if (!p->tree || !p->place || !p->function || !p->slots || !p->hidden || !p->merged)
		return false;
	p->tree->nodes = malloc((size_t)from->count * sizeof(*p->tree->nodes));
	p->tree->functions = calloc(from->functions.count, sizeof(*p->tree->functions));
	return p->tree->nodes && p->tree->functions;
}

/* Whether the record is of a call that the session shows: neither those of others, nor those within folded calls, whose nodes
 * are outside the tree. */
static bool is_shown(const struct projection *p, const struct chart_call *call)
{
	const struct nodes *nodes = &p->capture->nodes;
	const struct node *n = chart_node(call);

	return n && n->number < nodes->count && nodes_at(nodes, n->number) == n && p->shown[n->number];
}

static uint64_t since_start(const struct projection *p, uint64_t ticks)
{
	uint64_t start = p->session->start_ticks;

	return ticks > start ? (uint64_t)nanoseconds(p->capture, ticks - start) : 0;
}

static uint64_t calls_in(const struct call_tree *t)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i < t->node_count; i++)
		sum += (uint64_t)t->nodes[i].value[TREE_CALLS];
	return sum;
}

/* The marker of a session that begins within a call is put on the stack again when that call ends: one span all the same. */
static bool goes_on(const struct projection *p, const struct chart_call *call)
{
	return call > p->capture->chart.calls && chart_node(call)->key == p->session->key && chart_node(call - 1) &&
	       chart_node(call - 1)->key == p->session->key;
}

/* Calls that run last until now. */
static bool add_chart(struct projection *p)
{
	const struct chart *h = &p->capture->chart;
	uint64_t counted = 0, in_tree = calls_in(p->tree), last = 0;
	struct call_tree *t = p->tree;
	uint32_t count = 0;

	for (const struct chart_call *call = h->calls; call < h->next; call++)
		count += is_shown(p, call);
	t->charted = true;
	t->calls = malloc(((size_t)count + 1) * sizeof(*t->calls));
	if (!t->calls)
		return false;
	for (const struct chart_call *call = h->calls; call < h->next; call++) {
		struct call_record *r = &t->calls[t->call_count];
		uint64_t start = since_start(p, call->start), end = since_start(p, call->end ? call->end : p->now);

		if (!is_shown(p, call))
			continue;
		if (t->call_count && goes_on(p, call)) {
			r--;
		} else {
			/* Where the counters of two processors differ. */
			last = start > last ? start : last;
			STROBE_ASSERT(t->call_count < count && p->place[chart_node(call)->number] < t->node_count);
			*r = (struct call_record){ .node = p->place[chart_node(call)->number], .start_ns = last };
			counted += r->node && !(call->node & CHART_RESUMED);
			t->call_count++;
		}
		r->duration_ns = end > r->start_ns ? end - r->start_ns : 0;
	}
	t->uncharted_calls = in_tree > counted ? in_tree - counted : 0;
	return true;
}

/* Children of what is left out go to its caller, and a session that has several markers sees one tree of what lies below
 * them: nodes come together. */
static bool is_direct(const struct capture *c, const struct trace_session *s)
{
	return c->nodes.markers == 1 && s->options.files && s->options.loads && !s->options.no_internals && !s->options.filter;
}

/* Most of what was reserved is often not needed: another session's nodes, copies of functions. */
static void shrink(struct call_tree *t)
{
	void *smaller = realloc(t->nodes, (size_t)t->node_count * sizeof(*t->nodes));

	if (smaller)
		t->nodes = smaller;
	STROBE_ASSERT(t->node_count > 0 && t->function_count > 0);
	smaller = realloc(t->functions, (size_t)t->function_count * sizeof(*t->functions));
	if (smaller)
		t->functions = smaller;
}

struct call_tree *capture_project(struct capture *c, const struct trace_session *s)
{
	/* When the values of running calls were read, just now: what the projection takes is no part of the trace. */
	struct projection p = { .capture = c, .session = s, .now = clock_ticks() };
	uint64_t end_ns = realtime_ns();
	struct call_tree *t = NULL;

	if (allocate(&p)) {
		t = p.tree;
		p.direct = is_direct(c, s);
		p.in_ticks = (s->options.metrics & TRACE_CPU) && !c->timer.period_ns;
		new_place(&p, 0, number_function(&p, c->nodes.root->function), false);
		for (uint32_t i = 0; i < c->nodes.count; i++)
			place_node(&p, i);
		t->folded_calls += c->nodes.sink->calls;
		t->nodes[0].value[TREE_CALLS] = 1;
		t->columns = columns_of(s->options.metrics);
		t->start_ns = s->start_ns;
		t->end_ns = end_ns;
		if (t->end_ns < t->start_ns)
			t->end_ns = t->start_ns;
		if (c->timer.period_ns)
			make_inclusive(t, TREE_WALL_NS);
		if (p.in_ticks) {
			make_nanoseconds(c, t, TREE_WALL_NS);
			make_nanoseconds(c, t, TREE_CPU_NS);
		}
		if (p.shown && !add_chart(&p)) {
			call_tree_free(t);
			t = NULL;
		} else {
			shrink(t);
		}
	} else if (p.tree) {
		call_tree_free(p.tree);
	}
	free(p.place);
	free(p.function);
	free(p.hidden);
	free(p.slots);
	free(p.merged);
	free(p.shown);
	return t;
}
