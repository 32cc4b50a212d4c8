/* wire_profile_write.c: writes profiles as messages, for files and stores. */
#include "chart.h"
#include "edges.h"
#include "mem.h"
#include "wire_profile.h"
#include <assert.h>
#include <string.h>

#define MEASURE_BYTES	((size_t)4 << 20)	/* potentially larger messages are measured before they are written */

/* A profile is treated as a sequence of items: the nodes of its tree except the root, the nodes of its edges, and the
 * pairs. */
struct range {
	uint32_t first, end;
};

/* The part of a profile that goes into one message: a range of each kind of items. Ancestors of nodes and the ends of
 * pairs are included without values, which are in another part. */
struct part {
	const struct profile *profile;
	enum strobe_wire_kind kind;
	bool continued;
	struct range tree, edges, pairs;
	bool has_chart;
	uint32_t *nodes;		/* number in the message by node; 0: not in it */
	uint32_t *edge_nodes;		/* number in the message + 1 by node of the edges, 0: not in it; NULL */
	uint32_t edge_node_count;
	uint32_t *frames;		/* index in the message + 1 by frame */
	uint32_t *strings;		/* reference by string */
	uint32_t string_count, frame_count, node_count;
	uint32_t *string_order, *frame_order;	/* content of the message, in its order */
};

static void add_string(struct part *t, uint32_t id)
{
	if (t->strings[id] || intern_get(&t->profile->strings, id).n == 0)
		return;
	t->string_order[t->string_count++] = id;
	t->strings[id] = t->string_count;
}

static void add_frame(struct part *t, uint32_t frame)
{
	if (t->frames[frame])
		return;
	t->frame_order[t->frame_count++] = frame;
	t->frames[frame] = t->frame_count;
	add_string(t, t->profile->frames[frame].name);
	add_string(t, t->profile->frames[frame].file);
}

/* Walks up from each node until one is already marked, so that every node is visited once. */
static void add_nodes(struct part *t)
{
	const struct profile *p = t->profile;

	for (uint32_t i = t->tree.first; i < t->tree.end; i++)
		for (uint32_t n = i; n != PROFILE_ROOT && !t->nodes[n]; n = p->parents[n])
			t->nodes[n] = 1;
	for (uint32_t i = 1; i < t->tree.end; i++)
		if (t->nodes[i]) {
			t->nodes[i] = ++t->node_count;
			add_frame(t, p->node_frames[i]);
		}
}

static void add_edges(struct part *t)
{
	const struct edges *e = t->profile->edges;

	t->edge_nodes = xcalloc(e->node_count, sizeof(*t->edge_nodes));
	for (uint32_t i = t->edges.first; i < t->edges.end; i++)
		t->edge_nodes[i] = 1;
	for (uint32_t i = t->pairs.first; i < t->pairs.end; i++)
		t->edge_nodes[e->pairs[i].caller] = t->edge_nodes[e->pairs[i].callee] = 1;
	for (uint32_t i = 0; i < e->node_count; i++)
		if (t->edge_nodes[i]) {
			t->edge_nodes[i] = ++t->edge_node_count;
			if (i != EDGES_ROOT)
				add_frame(t, e->nodes[i].frame);
		}
}

static void part_init(struct part *t)
{
	const struct profile *p = t->profile;

	t->nodes = xcalloc(p->node_count, sizeof(*t->nodes));
	t->frames = xcalloc(p->frame_count, sizeof(*t->frames));
	t->strings = xcalloc(p->strings.count, sizeof(*t->strings));
	t->frame_order = xmalloc(p->frame_count * sizeof(*t->frame_order));
	t->string_order = xmalloc(p->strings.count * sizeof(*t->string_order));
	assert(t->tree.end <= p->node_count && (!p->edges || (t->edges.end <= p->edges->node_count &&
							     t->pairs.end <= p->edges->pair_count)));
	add_nodes(t);
	if (p->edges)
		add_edges(t);
}

static void part_done(struct part *t)
{
	free(t->nodes);
	free(t->edge_nodes);
	free(t->frames);
	free(t->strings);
	free(t->frame_order);
	free(t->string_order);
}

static bool part_fits(const struct part *t)
{
	return t->node_count <= STROBE_WIRE_NODES && t->frame_count <= STROBE_WIRE_FRAMES &&
	       t->edge_node_count <= STROBE_WIRE_EDGE_NODES &&
	       t->pairs.end - t->pairs.first <= STROBE_WIRE_EDGE_PAIRS &&
	       (!t->has_chart || t->profile->chart->count <= STROBE_WIRE_CALLS) &&
	       t->string_count <= STROBE_WIRE_STRINGS - 2 * (STROBE_WIRE_LABELS + STROBE_WIRE_COLUMNS);
}

/* Labels and columns refer to the first strings, a separate pair each, so that readers find them near the start. */
static void put_named(struct strobe_wire_writer *w, const struct profile *p)
{
	for (size_t i = 0; i < p->labels.count; i++) {
		const struct label *l = &p->labels.items[i];

		strobe_wire_string(w, l->key, strlen(l->key));
		strobe_wire_string(w, l->value, strlen(l->value));
	}
	for (uint32_t i = 0; i < p->column_count; i++) {
		strobe_wire_string(w, p->columns[i].name, strlen(p->columns[i].name));
		strobe_wire_string(w, p->columns[i].unit, strlen(p->columns[i].unit));
	}
}

static void put_nodes(struct strobe_wire_writer *w, const struct part *t)
{
	const struct profile *p = t->profile;

	for (uint32_t i = 1; i < t->tree.end; i++) {
		int64_t values[PROFILE_COLUMNS] = { 0 };

		if (!t->nodes[i])
			continue;
		for (uint32_t k = 0; k < p->column_count && i >= t->tree.first; k++)
			values[k] = p->columns[k].self[i];
		assert((p->parents[i] == PROFILE_ROOT || t->nodes[p->parents[i]]) && t->frames[p->node_frames[i]]);
		strobe_wire_node_at(w, t->nodes[p->parents[i]], t->frames[p->node_frames[i]] - 1, profile_line(p, i), values);
	}
}

static void put_edges(struct strobe_wire_writer *w, const struct part *t)
{
	static const int64_t nothing[PROFILE_COLUMNS];
	const struct edges *e = t->profile->edges;

	for (uint32_t i = 0; i < e->node_count; i++) {
		const struct edges_node *n = &e->nodes[i];
		bool is_here = i >= t->edges.first && i < t->edges.end;

		if (t->edge_nodes[i])
			strobe_wire_edge_node(w, i == EDGES_ROOT ? 0 : t->frames[n->frame], n->level, n->once,
					      is_here ? n->self : nothing);
	}
	for (uint32_t i = t->pairs.first; i < t->pairs.end; i++) {
		const struct edges_pair *pair = &e->pairs[i];

		assert(t->edge_nodes[pair->caller] && t->edge_nodes[pair->callee]);
		strobe_wire_edge_pair(w, t->edge_nodes[pair->caller] - 1, t->edge_nodes[pair->callee] - 1, pair->value);
	}
}

/* Times are relative to the start of the profile, which may begin before its chart. */
static void put_calls(struct strobe_wire_writer *w, const struct part *t)
{
	const struct chart *c = t->profile->chart;
	int64_t before = c->start_ns - (t->profile->start_ns > 0 ? t->profile->start_ns : 0), end;
	uint64_t last = 0;

	/* Calls are sorted by start, so the last one has the latest start. */
	if (before < 0 || (c->count && __builtin_add_overflow(c->calls[c->count - 1].start_ns, before, &end)))
		before = 0;
	for (uint32_t i = 0; i < c->count; i++) {
		const struct chart_call *call = &c->calls[i];
		uint64_t start = (uint64_t)(call->start_ns + before);

		assert(call->end_ns >= call->start_ns && t->nodes[call->node]);
		strobe_wire_call(w, t->nodes[call->node], start - last, (uint64_t)(call->end_ns - call->start_ns));
		last = start;
	}
}

static uint32_t reference_to(const struct part *t, uint32_t string, uint32_t named)
{
	return t->strings[string] ? named + t->strings[string] : 0;
}

static struct strobe_wire_info info_of(const struct part *t)
{
	const struct profile *p = t->profile;
	const char *clock = labels_get(&p->labels, "clock");
	int64_t start = p->start_ns > 0 ? p->start_ns : 0;
	bool is_estimate = p->edges || p->estimated;

	return (struct strobe_wire_info){
		.kind = t->kind,
		.version = is_estimate || p->node_lines || t->has_chart ? 2 : 1,
		.flags = (uint16_t)((p->node_lines ? STROBE_WIRE_LINES : 0) | (is_estimate ? STROBE_WIRE_ESTIMATE : 0) |
				    (is_estimate && t->continued ? STROBE_WIRE_CONTINUED : 0)),
		.clock = !clock ? STROBE_CLOCK_NONE :
			 !strcmp(clock, "wall") ? STROBE_CLOCK_WALL :
			 !strcmp(clock, "cpu") ? STROBE_CLOCK_CPU : STROBE_CLOCK_NONE,
		.start_ns = (uint64_t)start,
		.end_ns = (uint64_t)(p->end_ns > start ? p->end_ns : start),
		.period_ns = (uint64_t)(p->period_ns > 0 ? p->period_ns : 0),
	};
}

/* Writes the part to `buffer`, or measures it if `buffer` is NULL and `capacity` 0. Returns the size. */
static size_t part_write(const struct part *t, void *buffer, size_t capacity)
{
	const struct profile *p = t->profile;
	const struct strobe_wire_info info = info_of(t);
	uint32_t labels = (uint32_t)p->labels.count, named = 2 * (labels + p->column_count);
	struct strobe_wire_writer w;

	strobe_wire_begin(&w, buffer, capacity, &info);
	put_named(&w, p);
	for (uint32_t i = 0; i < t->string_count; i++) {
		struct str s = intern_get(&p->strings, t->string_order[i]);

		strobe_wire_string(&w, s.p, s.n);
	}
	for (uint32_t i = 0; i < labels; i++)
		strobe_wire_label(&w, 1 + 2 * i, 2 + 2 * i);
	for (uint32_t i = labels; i < labels + p->column_count; i++)
		strobe_wire_column(&w, 1 + 2 * i, 2 + 2 * i);
	for (uint32_t i = 0; i < t->frame_count; i++) {
		const struct profile_frame *f = &p->frames[t->frame_order[i]];

		strobe_wire_frame(&w, reference_to(t, f->name, named), reference_to(t, f->file, named), f->line);
	}
	put_nodes(&w, t);
	if (p->edges)
		put_edges(&w, t);
	if (t->has_chart)
		put_calls(&w, t);
	return strobe_wire_end(&w);
}

/* An upper limit of the part's size: varints of 32 bits have at most 5 bytes, others 10. */
static size_t part_bound(const struct part *t)
{
	const struct profile *p = t->profile;
	size_t n = STROBE_WIRE_HEADER_2, values = (size_t)10 * p->column_count;

	for (uint32_t i = 0; i < t->string_count; i++)
		n += 5 + intern_get(&p->strings, t->string_order[i]).n;
	n += p->labels.count * (10 + 10 + STROBE_WIRE_LABEL_KEY + STROBE_WIRE_LABEL_VALUE);
	n += p->column_count * (10 + 10 + 2 * sizeof(p->columns[0].name));
	n += t->has_chart ? p->chart->count * (size_t)25 : 0;
	return n + t->frame_count * (size_t)15 + t->node_count * (15 + values) + t->edge_node_count * (15 + values) +
	       (t->pairs.end - t->pairs.first) * (10 + values);
}

/* Returns the part of the items [first, end) that belongs to one kind, which has `count` items after the `before`
 * items of other kinds. */
static struct range part_of(struct range items, uint32_t before, uint32_t count, uint32_t lowest)
{
	uint32_t first = items.first > before ? items.first - before : 0;
	uint32_t end = items.end > before ? items.end - before : 0;

	return (struct range){ lowest + (first < count ? first : count), lowest + (end < count ? end : count) };
}

/* Appends some items as one message, all of them with the chart if `charted`. Returns 0, and appends nothing, if they
 * are too large for one. */
static int append_part(const struct profile *p, enum strobe_wire_kind kind, struct range items, bool charted, struct buf *out,
		       struct err *err)
{
	uint32_t nodes = p->node_count - 1, edge_nodes = p->edges ? p->edges->node_count : 0;
	uint32_t pairs = p->edges ? p->edges->pair_count : 0;
	struct part t = { .profile = p, .kind = kind,
			  .has_chart = charted,
			  .continued = items.end < nodes + edge_nodes + pairs,
			  .tree = part_of(items, 0, nodes, 1),
			  .edges = part_of(items, nodes, edge_nodes, 0),
			  .pairs = part_of(items, nodes + edge_nodes, pairs, 0) };
	size_t size = 0;
	char *room = NULL;
	bool fits;

	part_init(&t);
	/* Measuring takes as long as writing, so small ones are not measured. */
	fits = part_fits(&t) && ((size = part_bound(&t)) <= MEASURE_BYTES ||
				 (size = part_write(&t, NULL, 0)) <= STROBE_WIRE_MAX);
	if (fits && (room = buf_reserve(out, size))) {
		size_t written = part_write(&t, room, size);

		assert(written <= size);
		buf_wrote(out, written);
	}
	part_done(&t);
	if (fits && !room)
		return err_set(err, -EFBIG, "cannot write a profile above %zu bytes", out->limit);
	return fits;
}

/* Checks limits that splitting cannot help with. */
static int check_caps(const struct profile *p, struct err *err)
{
	if (p->labels.count > STROBE_WIRE_LABELS)
		return err_set(err, -E2BIG, "cannot write a profile with %zu labels: the format allows at most %u", p->labels.count, STROBE_WIRE_LABELS);
	for (size_t i = 0; i < p->labels.count; i++)
		if (strlen(p->labels.items[i].key) > STROBE_WIRE_LABEL_KEY ||
		    strlen(p->labels.items[i].value) > STROBE_WIRE_LABEL_VALUE)
			return err_set(err, -E2BIG, "cannot write the label '%.64s': it is longer than the "
				       "format allows", p->labels.items[i].key);
	for (size_t i = 0; i < p->strings.count; i++)
		if (p->strings.strings[i].n > STROBE_WIRE_STRING)
			return err_set(err, -E2BIG, "cannot write a frame whose name has %zu bytes: at most %u fit",
				       p->strings.strings[i].n, STROBE_WIRE_STRING);
	return 0;
}

static int write_as(enum strobe_wire_kind kind, const struct profile *p, struct buf *out, struct err *err)
{
	size_t before = out->size;
	uint32_t items = p->node_count - 1 + (p->edges ? p->edges->node_count + p->edges->pair_count : 0);
	uint32_t first = 0, count = items;
	int r = check_caps(p, err);

	if (r < 0)
		return r;
	if (p->chart && p->chart->count && (r = append_part(p, kind, (struct range){ 0, items }, true, out, err)))
		return r < 0 ? r : 0;
	/* Writes consecutive pieces, which are halved until they fit; nearly always, one piece is enough. */
	do {
		count = count < items - first ? count : items - first;
		r = append_part(p, kind, (struct range){ first, first + count }, false, out, err);
		if (r == 0 && count <= 1)
			r = err_set(err, -E2BIG, "cannot write a stack of %u frames: one message cannot hold it",
				    profile_depth(p));
		if (r < 0)
			goto fail;
		if (r > 0)
			first += count;
		else
			count = (count + 1) / 2;
	} while (first < items);
	return 0;

fail:
	out->size = before;
	if (out->capacity)
		out->data[before] = 0;
	return r;
}

int wire_profile_write(const struct profile *p, struct buf *out, struct err *err)
{
	return write_as(STROBE_WIRE_SAMPLES, p, out, err);
}

int wire_profile_write_run(const struct profile *p, struct buf *out, struct err *err)
{
	static const char *const keys[] = { "source", "id" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *value = labels_get(&p->labels, keys[i]);

		if (value && !strobe_wire_is_run_key(value, strlen(value)))
			return err_set(err, -EINVAL, "'%.80s' is not a valid %s of a run: 1 to %u letters, "
						     "digits, '.', "
				       "'_' or '-'", value, keys[i], STROBE_WIRE_RUN_KEY);
	}
	return write_as(STROBE_WIRE_RUN, p, out, err);
}
