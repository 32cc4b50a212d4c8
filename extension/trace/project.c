/* project.c: builds the finished tree of one session. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "capture.h"
#include "realtime.h"

#include <stdlib.h>

#define NOWHERE UINT32_MAX

#define FIRST_SLOTS 1024u

/* A function of the capture as seen by this session. Together they fit into the CPU's first-level cache. */
struct seen_function {
	uint32_t index;			/* in the tree + 1; 0: not used yet */
	uint8_t kind;
	bool asked;			/* the following fields are known */
	bool hidden;			/* not shown by the session */
	bool ambiguous;
};

/* State while a tree is built: the place of each node of the capture, and a hash of places. */
struct projection {
	const struct capture *capture;
	const struct trace_session *session;
	struct call_tree *tree;
	uint32_t *place;		/* by node: index in the tree, or NOWHERE */
	struct seen_function *functions;	/* by number */
	uint32_t *slots;		/* maps (parent, function) to index + 1; at most half full */
	uint32_t slot_count, slots_used;
	bool direct;			/* each node has its own place, except those below an ambiguous function */
	uint8_t *merged;		/* by place: several nodes may share it, so its children are in the hash */
	bool failed;			/* no memory for the hash */
	uint64_t now;			/* in ticks: end of calls that are still running */
	bool *shown;			/* by node, with a chart: its calls are shown as calls of its place */
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

static bool is_hidden(const struct trace_session *s, const struct call_function *f)
{
	const struct name_filter *filter = s->options.filter;

	if (f->kind == CALL_ROOT || f->kind == CALL_FOLDED)
		return false;
	return is_left_out(s, f) || (filter && !name_filter_shows(filter, f));
}

static const struct seen_function *classify_function(struct projection *p, const struct node *n)
{
	struct seen_function *f = &p->functions[n->function_number];

	if (UNEXPECTED(!f->asked)) {
		f->asked = true;
		f->kind = (uint8_t)n->function->id.kind;
		f->hidden = is_hidden(p->session, &n->function->id);
		f->ambiguous = n->function->ambiguous;
	}
	return f;
}

static void hold(zend_string *s)
{
	if (s)
		zend_string_addref(s);
}

/* Functions with the same identity (a file included twice, an internal method with copies in subclasses) are one
 * function of the tree. */
static uint32_t number_function(struct projection *p, const struct function *f)
{
	uint32_t *index = &p->functions[f->first->number].index;
	const struct call_function *id = &f->first->id;
	struct call_tree *t = p->tree;

	if (*index)
		return *index - 1;
	STROBE_ASSERT(t->function_count < p->capture->nodes.functions.count);
	hold(id->name);
	hold(id->class_name);
	hold(id->written_in);
	hold(id->file);
	t->functions[t->function_count++] = *id;
	*index = t->function_count;
	return t->function_count - 1;
}

static uint32_t new_place(struct projection *p, uint32_t parent, uint32_t function, bool merged)
{
	struct call_tree *t = p->tree;
	uint32_t place = t->node_count++;

	STROBE_ASSERT(place < p->capture->nodes.count && (parent < place || !place));
	t->nodes[place] = (struct call_node){ .parent = parent, .function = function };
	memset(call_tree_row(t, place), 0, t->width * sizeof(*t->values));
	if (t->resumptions)
		t->resumptions[place] = 0;
	p->merged[place] = merged;
	return place;
}

/* Returns the slot of a place, or the free one for it. */
static uint32_t *slot_of(const struct projection *p, uint32_t parent, uint32_t function)
{
	uint64_t h = ((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15ull;
	const struct call_node *n;
	uint32_t i;

	for (i = (uint32_t)(h >> 32) & (p->slot_count - 1); p->slots[i]; i = (i + 1) & (p->slot_count - 1)) {
		n = &p->tree->nodes[p->slots[i] - 1];
		if (n->parent == parent && n->function == function)
			break;
	}
	return &p->slots[i];
}

static bool grow_slots(struct projection *p)
{
	uint32_t old_count = p->slot_count, *old = p->slots;
	uint32_t count = old_count ? old_count * 4 : FIRST_SLOTS;
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return false;
	p->slots = slots;
	p->slot_count = count;
	for (uint32_t i = 0; i < old_count; i++)
		if (old[i])
			*slot_of(p, p->tree->nodes[old[i] - 1].parent, p->tree->nodes[old[i] - 1].function) = old[i];
	free(old);
	return true;
}

/* Returns the place shared by nodes with this function below a parent. Without memory returns the parent, and no tree
 * will result. */
static uint32_t shared_place(struct projection *p, uint32_t parent, uint32_t function)
{
	uint32_t *slot;

	if ((p->slots_used + 1) * 2 > p->slot_count && !grow_slots(p)) {
		p->failed = true;
		return parent;
	}
	slot = slot_of(p, parent, function);
	if (!*slot) {
		p->slots_used++;
		*slot = new_place(p, parent, function, true) + 1;
	}
	return *slot - 1;
}

static uint32_t find_or_add(struct projection *p, uint32_t parent, const struct node *n)
{
	const struct seen_function *seen = classify_function(p, n);
	uint32_t function;

	if (!seen->ambiguous && seen->index)
		function = seen->index - 1;
	else
		function = number_function(p, n->function);
	if (p->direct && !seen->ambiguous && !p->merged[parent])
		return new_place(p, parent, function, false);
	return shared_place(p, parent, function);
}

static int64_t nanoseconds(const struct capture *c, uint64_t ticks)
{
	double ns = (double)(int64_t)ticks * c->ns_per_tick;

	return (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

/* Adds a node's inclusive values, in ticks, to its place, and subtracts them from the parent's place, so that each
 * place ends up with exclusive values. Calls, and periods of sampled time, are exclusive already. */
static zend_always_inline void add(struct projection *p, uint32_t place, const struct node *n)
{
	const uint64_t period_ns = p->capture->timer.period_ns;
	struct call_tree *t = p->tree;
	int64_t none[TREE_COLUMNS] = { 0 }, *v = call_tree_row(t, place);
	int64_t *from = place ? call_tree_row(t, t->nodes[place].parent) : none;

	STROBE_ASSERT(place < t->node_count);
	*v++ += (int64_t)n->calls;
	from++;
#define MOVE(value)	(*v++ += (int64_t)(value), *from++ -= (int64_t)(value))
	if (UNEXPECTED(period_ns) && (t->columns & TREE_HAS(TREE_WALL_NS)))
		*v++ += (int64_t)(n->wall * period_ns), from++;
	else if (t->columns & TREE_HAS(TREE_WALL_NS))
		MOVE(n->wall);
	if (t->columns & TREE_HAS(TREE_CPU_NS))
		MOVE(n->cpu);
	if (t->columns & TREE_HAS(TREE_MEMORY_BYTES))
		MOVE(n->memory);
	if (t->columns & TREE_HAS(TREE_PEAK_BYTES))
		MOVE(n->peak);
	if ((t->columns & TREE_HAS(TREE_ALLOCATIONS)) && n->allocations) {
		MOVE(n->allocations->allocations);
		MOVE(n->allocations->frees);
		MOVE(n->allocations->bytes);
	}
#undef MOVE
	if (UNEXPECTED(t->resumptions))
		t->resumptions[place] += n->resumptions;
}

static int64_t *value_at(const struct call_tree *t, uint32_t place, enum tree_column column)
{
	return &call_tree_row(t, place)[t->at[column]];
}

/* Sampled time counts only where it was spent. */
static void add_sampled_time(struct projection *p, uint32_t place, const struct node *n)
{
	STROBE_ASSERT(place == NOWHERE || place < p->tree->node_count);
	if (p->capture->timer.period_ns && place != NOWHERE && (p->tree->columns & TREE_HAS(TREE_WALL_NS)))
		*value_at(p->tree, place, TREE_WALL_NS) += (int64_t)n->wall * (int64_t)p->capture->timer.period_ns;
}

static void show(struct projection *p, uint32_t i)
{
	if (p->shown)
		p->shown[i] = true;
}

/* Calls within a folded call are folded, too; their values are already included in it. */
static void add_folded(struct projection *p, uint32_t i, uint32_t parent, const struct node *n)
{
	struct call_tree *t = p->tree;
	uint64_t calls = n->calls + (n->below ? n->below->calls : 0);

	STROBE_ASSERT(parent < t->node_count);
	if (t->functions[t->nodes[parent].function].kind == CALL_FOLDED) {
		p->place[i] = parent;
		*value_at(t, parent, TREE_CALLS) += (int64_t)n->calls;
		add_sampled_time(p, parent, n);
	} else {
		p->place[i] = find_or_add(p, parent, n);
		add(p, p->place[i], n);
		show(p, i);
	}
	if (n->below) {
		*value_at(t, p->place[i], TREE_CALLS) += (int64_t)n->below->calls;
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
	const struct seen_function *f;
	uint32_t parent = n->parent ? p->place[n->parent->number] : NOWHERE;

	STROBE_ASSERT(n->number == i && (!n->parent || n->parent->number < i));
	/* The nodes of a chunk are contiguous, which the CPU cannot predict here. */
	__builtin_prefetch(n + 4);
	__builtin_prefetch((const char *)(n + 4) + 64);
	f = classify_function(p, n);
	if (UNEXPECTED(f->kind == CALL_ROOT)) {
		if (n->key == p->session->key) {
			p->place[i] = 0;
			add(p, 0, n);
			show(p, i);
		} else {
			p->place[i] = parent;
			add_sampled_time(p, parent, n);
		}
	} else if (parent == NOWHERE || f->hidden || (!has_values(n) && !n->children && !n->below)) {
		p->place[i] = parent;
		add_sampled_time(p, parent, n);
	} else if (UNEXPECTED(f->kind == CALL_FOLDED)) {
		add_folded(p, i, parent, n);
	} else {
		p->place[i] = find_or_add(p, parent, n);
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

/* Converts ticks. Self times are rounded so that no CPU time exceeds its wall time, since off-CPU time is the
 * difference. Rounding inclusive values could be off by a nanosecond per child. */
static void make_nanoseconds(const struct capture *c, struct call_tree *t, enum tree_column column)
{
	int64_t *v = t->values + t->at[column];

	if (!(t->columns & TREE_HAS(column)))
		return;
	for (uint32_t i = 0; i < t->node_count; i++, v += t->width)
		*v = nanoseconds(c, (uint64_t)*v);
}

static bool allocate(struct projection *p)
{
	const struct nodes *from = &p->capture->nodes;
	struct call_tree *t = p->tree = calloc(1, sizeof(*t));

	if (!t)
		return false;
	p->place = malloc(from->count * sizeof(*p->place));
	p->functions = calloc(from->functions.count, sizeof(*p->functions));
	p->merged = malloc(from->count);
	if (p->session->options.metrics & TRACE_CHART) {
		p->shown = calloc(from->count, sizeof(*p->shown));
		if (!p->shown)
			return false;
	}
	if (from->resumptions) {
		t->resumptions = malloc(from->count * sizeof(*t->resumptions));
		if (!t->resumptions)
			return false;
	}
	t->functions = calloc(from->functions.count, sizeof(*t->functions));
	return p->place && p->functions && p->merged && t->functions &&
	       call_tree_reserve(t, columns_of(p->session->options.metrics), from->count);
}

/* Whether the record is that of a call shown by the session: not another session's, and not within a folded call,
 * whose nodes are outside the tree. */
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
		sum += (uint64_t)*value_at(t, i, TREE_CALLS);
	return sum;
}

/* The marker of a session that begins within a call is pushed again when that call ends, but it is still one span. */
static bool continues_session(const struct projection *p, const struct chart_call *call)
{
	return call > p->capture->chart.calls && chart_node(call)->key == p->session->key && chart_node(call - 1) &&
	       chart_node(call - 1)->key == p->session->key;
}

/* Running calls last until now. */
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
		if (t->call_count && continues_session(p, call)) {
			r--;
		} else {
			/* The counters of two CPUs may differ. */
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

/* Children of hidden nodes go to the caller, and a session with several markers sees one tree below them, so nodes
 * may be merged. */
static bool is_direct(const struct capture *c, const struct trace_session *s)
{
	return c->nodes.markers == 1 && s->options.files && s->options.loads && !s->options.no_internals && !s->options.filter;
}

struct call_tree *capture_project_own(struct capture *c, const struct trace_session *s)
{
	/* The time at which values of running calls were just read; the time taken by the projection is not part of
	 * the trace. */
	struct projection p = { .capture = c, .session = s, .now = clock_ticks() };
	uint64_t end_ns = realtime_ns();
	struct call_tree *t = NULL;

	if (allocate(&p)) {
		t = p.tree;
		p.direct = is_direct(c, s);
		new_place(&p, 0, number_function(&p, c->nodes.root->function), false);
		for (uint32_t i = 0; i < c->nodes.count; i++)
			place_node(&p, i);
		t->folded_calls += c->nodes.sink->calls;
		*value_at(t, 0, TREE_CALLS) = 1;
		t->start_ns = s->start_ns;
		t->end_ns = end_ns;
		if (t->end_ns < t->start_ns)
			t->end_ns = t->start_ns;
		t->own_values = true;
		if (!c->timer.period_ns) {
			make_nanoseconds(c, t, TREE_WALL_NS);
			make_nanoseconds(c, t, TREE_CPU_NS);
		}
		if (p.failed || (p.shown && !add_chart(&p))) {
			call_tree_free(t);
			t = NULL;
		}
	} else if (p.tree) {
		call_tree_free(p.tree);
	}
	free(p.place);
	free(p.functions);
	free(p.slots);
	free(p.merged);
	free(p.shown);
	return t;
}

struct call_tree *capture_project(struct capture *c, const struct trace_session *s)
{
	struct call_tree *t = capture_project_own(c, s);

	if (t) {
		call_tree_include(t);
		call_tree_shrink(t);
	}
	return t;
}
