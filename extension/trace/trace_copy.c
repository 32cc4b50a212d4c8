/* trace_copy.c: copies everything that capture_project reads, and redirects its pointers to the copies. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "trace_copy.h"

#include "capture.h"
#include "copies.h"
#include "guarded_read.h"

#include <stdlib.h>

#define SESSIONS_MAX 64u

/* A state that never recurs, see trace_copy.h. */
struct state {
	struct capture capture;
	struct entry innermost;
	struct node node, ended;	/* copies of the nodes of the innermost call, and of the last to end in it */
};

/* Stored between inspections, after the state. */
struct seen {
	uint32_t sequence, checks;		/* number of consecutive inspections with the same sequence */
};

_Static_assert(sizeof(struct state) + sizeof(struct seen) <= WATCH_SEEN, "there is room for it");

/* A thread that reaches safe points hands over by itself, which changes `sequence`. One that keeps making calls
 * without a safe point is copied after this many inspections. */
#define CHECKS 3

/* An address in the PHP thread's memory, and the number of the object there. */
struct place {
	uintptr_t address;
	uint32_t number;
};

/* Nodes and functions are one array each, by number. */
struct trace_copy {
	const struct capture *of;
	struct state before;		/* state before copying */
	struct capture capture;		/* points to copies */
	struct copies strings;
	struct node *nodes, sink;
	struct node **chunks;
	struct place *chunk_places;	/* sorted by address, like those of functions */
	struct function *functions;
	struct place *function_places;
	struct node *below;		/* for folded nodes */
	uint32_t below_count, below_capacity;
	struct chart_call *calls;	/* calls of the chart */
	struct trace_session *sessions[SESSIONS_MAX];
	unsigned session_count;
};

const struct capture *trace_copy_source(void)
{
	return CAPTURE;
}

/* --- addresses */

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static struct place *sorted(void *const *pointers, uint32_t count)
{
	struct place *places = malloc(count * sizeof(*places));

	for (uint32_t i = 0; places && i < count; i++)
		places[i] = (struct place){ (uintptr_t)pointers[i], i };
	if (places)
		qsort(places, count, sizeof(*places), compare);
	return places;
}

/* Returns the last place that begins at or before the address. */
static const struct place *last_before(const struct place *places, uint32_t count, const void *p)
{
	const struct place *from = places;

	while (count > 1) {
		uint32_t half = count / 2;

		if (from[half].address <= (uintptr_t)p) {
			from += half;
			count -= half;
		} else {
			count = half;
		}
	}
	return count && from->address <= (uintptr_t)p ? from : NULL;
}

/* Returns NULL if there is no such node in the tree. */
static struct node *node_at(const struct trace_copy *c, const struct node *n)
{
	const struct place *place = last_before(c->chunk_places, c->before.capture.nodes.chunk_count, n);
	uint64_t number = place ? ((uintptr_t)n - place->address) / sizeof(*n) : 0;

	if (!place || number >= NODES_PER_CHUNK || ((uintptr_t)n - place->address) % sizeof(*n))
		return NULL;
	number += (uint64_t)place->number * NODES_PER_CHUNK;
	return number < c->before.capture.nodes.count ? &c->nodes[number] : NULL;
}

static struct function *function_at(const struct trace_copy *c, const struct function *f)
{
	const struct place *place = last_before(c->function_places, c->before.capture.nodes.functions.count, f);

	return place && place->address == (uintptr_t)f ? &c->functions[place->number] : NULL;
}

/* --- copying */

static bool copy_functions(struct trace_copy *c)
{
	uint32_t count = c->before.capture.nodes.functions.count;
	struct function **there = copies_array(&c->strings, c->before.capture.nodes.functions.all, count, sizeof(*there));
	bool ok = there && (c->function_places = sorted((void *const *)there, count)) &&
		  (c->functions = calloc(count, sizeof(*c->functions)));

	for (uint32_t i = 0; ok && i < count; i++)
		ok = guarded_read(&c->functions[i], there[i], sizeof(*c->functions)) && c->functions[i].number == i;
	for (uint32_t i = 0; ok && i < count; i++) {
		struct function *f = &c->functions[i];

		f->first = function_at(c, f->first);
		f->id.name = copies_string(&c->strings, f->id.name);
		f->id.class_name = copies_string(&c->strings, f->id.class_name);
		f->id.written_in = copies_string(&c->strings, f->id.written_in);
		f->id.file = copies_string(&c->strings, f->id.file);
		ok = f->first && !c->strings.failed;
	}
	free(there);
	return ok;
}

static bool read_nodes(struct trace_copy *c)
{
	uint32_t count = c->before.capture.nodes.count, chunks = c->before.capture.nodes.chunk_count;
	struct node **there = copies_array(&c->strings, c->before.capture.nodes.chunks, chunks, sizeof(*there));
	bool ok = there && count && (count + NODES_PER_CHUNK - 1) / NODES_PER_CHUNK <= chunks &&
		  (c->chunk_places = sorted((void *const *)there, chunks)) &&
		  (c->chunks = calloc(chunks, sizeof(*c->chunks))) &&
		  (c->nodes = aligned_alloc(64, count * sizeof(*c->nodes)));

	for (uint32_t i = 0, from = 0; ok && from < count; i++, from += NODES_PER_CHUNK) {
		c->chunks[i] = c->nodes + from;
		ok = guarded_read(c->chunks[i], there[i], MIN(count - from, NODES_PER_CHUNK) * sizeof(*c->nodes));
	}
	free(there);
	return ok;
}

/* Copies counts of calls below folded calls. Pointers to them are set when all have been copied. */
static bool copy_below(struct trace_copy *c, const struct node *there)
{
	if (c->below_count == c->below_capacity) {
		uint32_t capacity = c->below_capacity ? c->below_capacity * 2 : 16;
		struct node *bigger = aligned_alloc(64, capacity * sizeof(*bigger));

		if (!bigger)
			return false;
		if (c->below)
			memcpy(bigger, c->below, c->below_count * sizeof(*bigger));
		free(c->below);
		c->below = bigger;
		c->below_capacity = capacity;
	}
	return guarded_read(&c->below[c->below_count++], there, sizeof(*there));
}

static bool copy_nodes(struct trace_copy *c)
{
	uint32_t below = 0;

	if (!read_nodes(c))
		return false;
	for (uint32_t i = 0; i < c->before.capture.nodes.count; i++) {
		struct node *n = &c->nodes[i];

		n->function = function_at(c, n->function);
		if (n->parent && (!(n->parent = node_at(c, n->parent)) || n->parent >= n))
			return false;
		if (!n->function || n->number != i || (n->below && !copy_below(c, n->below)))
			return false;
		n->function_number = n->function->number;
		n->allocations = NULL;
	}
	for (uint32_t i = 0; i < c->before.capture.nodes.count; i++)
		if (c->nodes[i].below)
			c->nodes[i].below = &c->below[below++];
	return guarded_read(&c->sink, c->before.capture.nodes.sink, sizeof(c->sink));
}

static bool copy_chart(struct trace_copy *c)
{
	const struct chart *there = &c->before.capture.chart;
	size_t count = (size_t)(there->next - there->calls);

	if (there->next < there->calls || there->next > there->limit)
		return false;
	if (!count)
		return true;
	c->calls = copies_array(&c->strings, there->calls, count, sizeof(*c->calls));
	for (size_t i = 0; c->calls && i < count; i++) {
		struct node *n = node_at(c, chart_node(&c->calls[i]));

		c->calls[i].node = (uintptr_t)n | (c->calls[i].node & CHART_RESUMED);
	}
	return c->calls != NULL;
}

static bool copy_sessions(struct trace_copy *c)
{
	for (const struct trace_session *s = c->before.capture.sessions; s; s = c->sessions[c->session_count - 1]->next) {
		if (c->session_count == SESSIONS_MAX)
			return false;
		c->sessions[c->session_count] = copies_array(&c->strings, s, 1, sizeof(*s));
		if (!c->sessions[c->session_count++])
			return false;
	}
	return c->session_count > 0;
}

/* --- running calls */

/* Computes the values that a call beginning now would store. */
static bool values_now(const struct trace_copy *c, const struct entry *top, int64_t cpu_ns, struct entry *ret)
{
	const struct capture *k = &c->before.capture;
	struct heap_use heap;
	uint64_t cpu = k->cpu.offset + (uint64_t)((double)cpu_ns * k->cpu.ticks_per_ns);

	*ret = *top;
	/* The CPUs' counters agree; otherwise they would not be used. */
	if (k->metrics & TRACE_WALL)
		ret->wall = clock_ticks();
	/* No call uses more CPU time than it takes. */
	if ((k->metrics & TRACE_CPU) && (int64_t)(cpu - top->cpu) > 0)
		ret->cpu = top->cpu + MIN(cpu - top->cpu, ret->wall - top->wall);
	if (!(k->metrics & TRACE_MEMORY) || !k->heap)
		return true;
	if (!guarded_read(&heap, k->heap, sizeof(heap)))
		return false;
	ret->memory = (int64_t)heap.now;
	ret->peak = (int64_t)heap.peak;
	return true;
}

/* Does the same as capture_flush. Calls below folded ones are part of those. */
static bool update_running_calls(struct trace_copy *c, int64_t cpu_ns)
{
	const struct capture *k = &c->before.capture;
	size_t count = (size_t)(k->top - k->stack) + 1;
	struct entry *stack = k->top >= k->stack && count <= k->capacity ?
		copies_array(&c->strings, k->stack, count, sizeof(*stack)) : NULL;
	struct entry now;
	bool ok = stack && values_now(c, &stack[count - 1], cpu_ns, &now);

	for (size_t i = 1; ok && i < count; i++) {
		struct node *n = node_at(c, stack[i].node);

		if (!n)
			continue;
		if (k->metrics & TRACE_WALL)
			n->wall += now.wall - stack[i].wall;
		if (k->metrics & TRACE_CPU)
			n->cpu += now.cpu - stack[i].cpu;
		if (k->metrics & TRACE_MEMORY)
			n->memory += now.memory - stack[i].memory;
		if (k->metrics & TRACE_PEAK)
			n->peak += now.peak - stack[i].peak;
	}
	free(stack);
	return ok;
}

/* --- all of it */

static bool copy_all(struct trace_copy *c, int64_t cpu_ns)
{
	if (!copy_functions(c) || !copy_nodes(c) || !copy_chart(c) || !copy_sessions(c) || !update_running_calls(c, cpu_ns))
		return false;
	c->capture = c->before.capture;
	c->capture.nodes.chunks = c->chunks;
	c->capture.nodes.sink = &c->sink;
	c->capture.chart.calls = c->calls;
	c->capture.chart.next = c->calls + (c->before.capture.chart.next - c->before.capture.chart.calls);
	c->capture.nodes.root = node_at(c, c->before.capture.nodes.root);
	return c->capture.nodes.root;
}

static bool read_state(struct state *s, const struct capture *of)
{
	const char *guess;

	memset(s, 0, sizeof(*s));
	if (!guarded_read(&s->capture, of, sizeof(s->capture)))
		return false;
	memset(&s->capture.counts, 0, sizeof(s->capture.counts));
	guess = (const char *)s->capture.guess;
	return s->capture.active && guarded_read(&s->innermost, s->capture.top, sizeof(s->innermost)) &&
	       guarded_read(&s->node, s->innermost.node, sizeof(s->node)) &&
	       (guess == (const char *)s->innermost.node + offsetof(struct node, first) ||
		guarded_read(&s->ended, guess - offsetof(struct node, after), sizeof(s->ended)));
}

/* Sampled time is not stored per call. */
static bool can_be_copied(const struct capture *k)
{
	return !(atomic_load(&k->sequence) & 1) && !k->forked && !k->timer.period_ns && (k->metrics & TRACE_WALL) &&
	       !(k->metrics & TRACE_ALLOCATIONS);
}

/* Whether to report the PHP thread, which may just be making calls. */
static bool may_be_waiting(char *seen, const struct state *now)
{
	uint32_t sequence = atomic_load(&now->capture.sequence);
	bool same = memcmp(seen, now, sizeof(*now)) == 0;
	struct seen s;

	memcpy(&s, seen + sizeof(*now), sizeof(s));
	s = (struct seen){ sequence, s.sequence == sequence ? s.checks + 1 : 0 };
	memcpy(seen, now, sizeof(*now));
	memcpy(seen + sizeof(*now), &s, sizeof(s));
	return same || s.checks >= CHECKS;
}

struct trace_copy *trace_copy_make(const struct capture *of, const struct watch_context *context)
{
	struct trace_copy *c = aligned_alloc(64, sizeof(*c));

	if (!c)
		return NULL;
	memset(c, 0, sizeof(*c));
	c->of = of;
	if (read_state(&c->before, of) && may_be_waiting(context->seen, &c->before) && can_be_copied(&c->before.capture) &&
	    copy_all(c, context->cpu_ns))
		return c;
	trace_copy_free(c);
	return NULL;
}

bool trace_copy_holds(const struct trace_copy *c, const struct watch_context *context)
{
	struct state *now = watch_settles(context) ? aligned_alloc(64, sizeof(*now)) : NULL;
	bool holds = now && read_state(now, c->of) && memcmp(now, &c->before, sizeof(*now)) == 0;

	free(now);
	return holds;
}

const struct trace_options *trace_copy_session(const struct trace_copy *c, unsigned i)
{
	return i < c->session_count ? &c->sessions[i]->options : NULL;
}

struct call_tree *trace_copy_tree(struct trace_copy *c, unsigned i)
{
	STROBE_ASSERT(i < c->session_count);
	return c->sessions[i]->options.filter ? NULL : capture_project(&c->capture, c->sessions[i]);
}

void trace_copy_free(struct trace_copy *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->session_count; i++)
		free(c->sessions[i]);
	free(c->nodes);
	free(c->chunks);
	free(c->chunk_places);
	free(c->functions);
	free(c->function_places);
	free(c->below);
	free(c->calls);
	copies_done(&c->strings);
	free(c);
}
