/* wire_profile.c: adds received messages to profiles. */
#include "wire_profile.h"
#include "batch_rows.h"
#include "chart.h"
#include "edges.h"
#include "mem.h"
#include "saturate.h"
#include "wire_cut.h"
#include <assert.h>
#include <string.h>

/* The strings of a message's frames, looked up when a node needs them: strings used only by labels are not added. */
struct reader {
	struct str *strings;			/* by reference; 0 is "" */
	uint32_t *ids;				/* their ids in the profile; UINT32_MAX until a frame needs them */
	struct wire_frame {
		uint32_t name, file, line;	/* references */
		uint32_t number;		/* in the profile; UINT32_MAX until a node needs it */
	} *frames;
	uint32_t *nodes;			/* their numbers in the profile */
	uint32_t columns[STROBE_WIRE_COLUMNS];	/* their numbers in the profile */
	uint32_t pruned;			/* the frame for pruned parts, if there are any */
};

static void reader_init(struct reader *r, const struct strobe_wire_message *m)
{
	const uint8_t *p = m->at_strings;

	r->strings = xmalloc(((size_t)m->strings + 1) * sizeof(*r->strings));
	r->ids = xmalloc(((size_t)m->strings + 1) * sizeof(*r->ids));
	memset(r->ids, 0xff, ((size_t)m->strings + 1) * sizeof(*r->ids));
	r->frames = xmalloc((size_t)m->frames * sizeof(*r->frames));
	r->nodes = xmalloc(((size_t)m->nodes + 1) * sizeof(*r->nodes));
	r->strings[0] = (struct str){ "", 0 };
	for (uint32_t i = 1; i <= m->strings; i++)
		r->strings[i].p = strobe_wire_next_string(&p, &r->strings[i].n);
	p = m->at_frames;
	for (uint32_t i = 0; i < m->frames; i++) {
		struct wire_frame *f = &r->frames[i];

		f->name = (uint32_t)strobe_wire_next(&p);
		f->file = (uint32_t)strobe_wire_next(&p);
		f->line = (uint32_t)strobe_wire_next(&p);
		f->number = UINT32_MAX;
	}
}

static void reader_done(struct reader *r)
{
	free(r->strings);
	free(r->ids);
	free(r->frames);
	free(r->nodes);
}

/* Copies the message's name of a column as a C string; anything after a NUL is dropped, and an empty name is replaced
 * by `none`, since such a column could neither be requested nor written. */
static void copy_name(const struct strobe_wire_message *m, uint64_t reference, const char *none, char out[64])
{
	size_t n;
	const char *bytes = strobe_wire_find_string(m, reference, &n);

	n = strnlen(bytes, n < 63 ? n : 63);
	memcpy(out, bytes, n);
	out[n] = 0;
	if (!n)
		memcpy(out, none, strlen(none) + 1);
}

/* Tells whether the profile's first columns are those of the message, the usual case, and returns them. */
static bool has_columns(struct profile *p, const struct strobe_wire_message *m, uint32_t *numbers)
{
	const uint8_t *at = m->at_columns;

	if (m->columns > p->column_count)
		return false;
	for (uint32_t i = 0; i < m->columns; i++) {
		const char *known = p->columns[i].name;
		size_t n;
		const char *name = strobe_wire_find_string(m, strobe_wire_next(&at), &n);

		strobe_wire_next(&at);
		if (strlen(known) != n || memcmp(known, name, n))
			return false;
		numbers[i] = i;
	}
	p->named_columns |= (1u << m->columns) - 1;
	return true;
}

/* Finds or adds the message's columns. Returns -E2BIG, and adds nothing, if they do not all fit. */
static int map_columns(struct profile *p, const struct strobe_wire_message *m, uint32_t *numbers)
{
	char names[STROBE_WIRE_COLUMNS][64], units[STROBE_WIRE_COLUMNS][64];
	const uint8_t *at = m->at_columns;
	uint32_t added = 0;

	if (has_columns(p, m, numbers))
		return 0;
	for (uint32_t i = 0; i < m->columns; i++) {
		copy_name(m, strobe_wire_next(&at), "unnamed", names[i]);
		copy_name(m, strobe_wire_next(&at), "", units[i]);
		added += profile_find_column(p, names[i]) == UINT32_MAX;
	}
	/* Duplicate names count twice here; our senders make no such messages. */
	if (p->column_count + added > PROFILE_COLUMNS)
		return -E2BIG;
	for (uint32_t i = 0; i < m->columns; i++)
		numbers[i] = profile_column(p, names[i], units[i]);
	assert(p->column_count <= PROFILE_COLUMNS);
	return 0;
}

static uint32_t map_string(struct profile *p, const struct reader *r, uint32_t reference)
{
	if (r->ids[reference] == UINT32_MAX)
		r->ids[reference] = intern_add(&p->strings, r->strings[reference].p, r->strings[reference].n);
	return r->ids[reference];
}

static uint32_t map_frame(struct profile *p, const struct reader *r, struct wire_frame *f)
{
	if (f->number == UINT32_MAX) {
		uint32_t name = map_string(p, r, f->name);

		f->number = profile_frame_of(p, name, map_string(p, r, f->file), f->line);
	}
	return f->number;
}

/* Returns the node for a node of the message that may be cut, or below one that is. */
static inline uint32_t place_of(struct profile *p, struct reader *r, bool *cut, uint32_t i, uint32_t parent, uint32_t frame,
			 uint32_t line)
{
	if (cut && cut[parent]) {
		cut[i] = true;
		return r->nodes[parent];
	}
	if (cut && cut[i])
		return profile_child(p, r->nodes[parent], r->pruned);
	return profile_child_at(p, r->nodes[parent], map_frame(p, r, &r->frames[frame]), line);
}

/* Reads the message's node `i` up to its values; returns its node in the profile. */
static inline uint32_t next_node(struct profile *p, const struct strobe_wire_message *m, struct reader *r, bool *cut, uint32_t i,
			  const uint8_t **at)
{
	uint32_t parent = i - (uint32_t)strobe_wire_next(at);
	uint32_t frame = (uint32_t)strobe_wire_next(at);
	uint32_t line = m->info.flags & STROBE_WIRE_LINES ? (uint32_t)strobe_wire_next(at) : 0;

	return r->nodes[i] = place_of(p, r, cut, i, parent, frame, line);
}

/* Adds the tree. */
static void add_nodes(struct profile *p, const struct strobe_wire_message *m, struct reader *r, bool *cut)
{
	const uint8_t *at = m->at_nodes;

	r->nodes[0] = PROFILE_ROOT;
	for (uint32_t i = 1; i <= m->nodes; i++) {
		uint32_t node = next_node(p, m, r, cut, i, &at);

		for (uint32_t k = 0; k < m->columns; k++) {
			int64_t value = strobe_wire_unzigzag(strobe_wire_next(&at));

			if (value)
				profile_add(p, node, r->columns[k], value);
		}
	}
}

/* Adds the tree as nodes of `stacks`, and its values as rows. */
static void add_rows(struct profile *stacks, struct batch_rows *rows, uint32_t columns, const struct strobe_wire_message *m,
		     struct reader *r)
{
	const uint8_t *at = m->at_nodes;

	r->nodes[0] = PROFILE_ROOT;
	for (uint32_t i = 1; i <= m->nodes; i++) {
		uint32_t node = next_node(stacks, m, r, NULL, i, &at);
		int64_t *values = NULL;

		for (uint32_t k = 0; k < m->columns; k++) {
			int64_t value = strobe_wire_unzigzag(strobe_wire_next(&at));

			if (!value)
				continue;
			if (!values)
				values = batch_rows_add(rows, columns, node);
			saturating_add(&values[r->columns[k]], value);
		}
	}
}

static void add_values(const struct strobe_wire_message *m, const struct reader *r, const uint8_t **at, int64_t *sums)
{
	for (uint32_t k = 0; k < m->columns; k++)
		saturating_add(&sums[r->columns[k]], strobe_wire_unzigzag(strobe_wire_next(at)));
}

static void skip_values(const struct strobe_wire_message *m, const uint8_t **at)
{
	for (uint32_t k = 0; k < m->columns; k++)
		strobe_wire_next(at);
}

/* All functions that are cut become one, which may call itself. */
static uint32_t edge_node_of(struct profile *p, struct reader *r, const bool *cut, uint32_t frame, uint32_t level)
{
	if (cut && cut[frame])
		return edges_node(p->edges, r->pruned, 0);
	return edges_node(p->edges, map_frame(p, r, &r->frames[frame]), level);
}

static void add_edges(struct profile *p, const struct strobe_wire_message *m, struct reader *r, const bool *cut)
{
	_cleanup_(freep) uint32_t *nodes = xmalloc((size_t)m->edge_nodes * sizeof(*nodes));
	_cleanup_(freep) bool *is_taken = NULL;
	const uint8_t *at = m->at_edge_nodes;

	if (!p->edges)
		p->edges = edges_new();
	is_taken = xcalloc((size_t)p->edges->node_count + m->edge_nodes, sizeof(*is_taken));
	for (uint32_t i = 0; i < m->edge_nodes; i++) {
		uint32_t frame = (uint32_t)strobe_wire_next(&at);
		uint64_t level = strobe_wire_next(&at);

		nodes[i] = frame ? edge_node_of(p, r, cut, frame - 1, (uint32_t)(level / 2)) : EDGES_ROOT;
		/* Two nodes that are merged, since their frames are, may have called each other. */
		if (level % 2 || is_taken[nodes[i]] || (frame && cut && cut[frame - 1]))
			edges_not_once(p->edges, nodes[i]);
		is_taken[nodes[i]] = true;
		add_values(m, r, &at, p->edges->nodes[nodes[i]].self);
	}
	for (uint32_t i = 0; i < m->edge_pairs; i++) {
		uint32_t caller = nodes[strobe_wire_next(&at)], callee = nodes[strobe_wire_next(&at)];
		uint32_t pair;

		/* Both were cut: their values are self values, and a call between them does not count. */
		if (caller == callee && cut && p->edges->nodes[caller].frame == r->pruned) {
			skip_values(m, &at);
			continue;
		}
		pair = edges_pair(p->edges, caller, callee);
		add_values(m, r, &at, p->edges->pairs[pair].value);
	}
}

/* Marks the nodes of the message that are merged with their parent because they were cut. */
static bool *merged_nodes(const struct strobe_wire_message *m, const struct reader *r)
{
	bool *merged = xcalloc((size_t)m->nodes + 1, sizeof(*merged));
	const uint8_t *at = m->at_nodes;

	for (uint32_t i = 1; i <= m->nodes; i++) {
		merged[i] = r->nodes[i] == r->nodes[i - (uint32_t)strobe_wire_next(&at)];
		strobe_wire_next(&at);
		if (m->info.flags & STROBE_WIRE_LINES)
			strobe_wire_next(&at);
		skip_values(m, &at);
	}
	return merged;
}

static void set_chart(struct profile *p, const struct strobe_wire_message *m, const struct reader *r, uint32_t most)
{
	_cleanup_(freep) bool *merged = merged_nodes(m, r);
	const uint8_t *at = m->at_calls;
	int64_t start = 0;

	chart_free(p->chart);
	p->chart = chart_new((int64_t)m->info.start_ns);
	for (uint32_t i = 0; i < m->calls && p->chart->count < most; i++) {
		uint32_t node = (uint32_t)strobe_wire_next(&at);
		int64_t duration;

		start += (int64_t)strobe_wire_next(&at);
		duration = (int64_t)strobe_wire_next(&at);
		if (!merged[node])
			chart_add(p->chart, p, r->nodes[node], start, duration);
	}
}

int wire_profile_add(struct profile *p, const struct strobe_wire_message *m)
{
	struct reader r;

	if (map_columns(p, m, r.columns) < 0)
		return -E2BIG;
	reader_init(&r, m);
	add_nodes(p, m, &r, NULL);
	reader_done(&r);
	return 0;
}

int wire_profile_add_rows(struct profile *p, struct profile *stacks, struct batch_rows *rows, const struct strobe_wire_message *m)
{
	struct reader r;

	assert(!stacks->column_count);
	if (map_columns(p, m, r.columns) < 0)
		return -E2BIG;
	reader_init(&r, m);
	add_rows(stacks, rows, p->column_count, m, &r);
	reader_done(&r);
	return 0;
}

int wire_profile_add_charted(struct profile *p, const struct strobe_wire_message *m)
{
	struct reader r;

	if (map_columns(p, m, r.columns) < 0)
		return -E2BIG;
	reader_init(&r, m);
	add_nodes(p, m, &r, NULL);
	set_chart(p, m, &r, UINT32_MAX);
	reader_done(&r);
	return 0;
}

/* Returns the message's default column for pictures. */
static uint32_t weighing_column(const struct profile *p, const struct strobe_wire_message *m, const struct reader *r,
				const char *wanted)
{
	uint32_t column = wanted ? profile_find_column(p, wanted) : UINT32_MAX, k = 0;

	if (column == UINT32_MAX)
		column = profile_pick_column(p, NULL);
	while (k < m->columns && r->columns[k] != column)
		k++;
	return k;
}

int wire_profile_add_whole(struct profile *p, const struct strobe_wire_message *m, const struct wire_capacity *capacity)
{
	bool is_first = p->node_count == 1;
	struct wire_cut cut = { 0 };
	struct reader r;
	int is_cut;

	if (map_columns(p, m, r.columns) < 0)
		return -E2BIG;
	if (capacity)
		wire_cut_find(&cut, m, weighing_column(p, m, &r, capacity->column), capacity);
	reader_init(&r, m);
	if (cut.nodes || cut.frames)
		r.pruned = profile_pruned_frame(p);
	add_nodes(p, m, &r, cut.nodes);
	if (m->edge_nodes)
		add_edges(p, m, &r, cut.frames);
	if (m->nodes) {
		p->chart = chart_free(p->chart);
		p->charted_calls = is_first ? m->calls : 0;
	}
	if (m->calls && is_first && p->keeps_chart)
		set_chart(p, m, &r, capacity ? capacity->calls : UINT32_MAX);
	p->estimated |= m->edge_nodes || m->info.flags & STROBE_WIRE_ESTIMATE;
	reader_done(&r);
	is_cut = cut.nodes || cut.frames;
	wire_cut_done(&cut);
	return is_cut;
}

struct strobe_wire_message wire_message_at(const struct strobe_wire_message *m, const void *bytes)
{
	const uint8_t *from = wire_message_bytes(m), *to = bytes;
	struct strobe_wire_message copy = *m;

	copy.at_strings = to + (m->at_strings - from);
	copy.at_labels = to + (m->at_labels - from);
	copy.at_columns = to + (m->at_columns - from);
	copy.at_drops = to + (m->at_drops - from);
	copy.at_frames = to + (m->at_frames - from);
	copy.at_nodes = to + (m->at_nodes - from);
	copy.at_edge_nodes = to + (m->at_edge_nodes - from);
	copy.at_edge_pairs = to + (m->at_edge_pairs - from);
	copy.at_calls = to + (m->at_calls - from);
	return copy;
}

void wire_profile_labels(const struct strobe_wire_message *m, struct labels *ret)
{
	const uint8_t *at = m->at_labels;

	labels_done(ret);
	labels_init(ret);
	for (uint32_t i = 0; i < m->labels; i++) {
		size_t key_size, value_size;
		const char *key = strobe_wire_find_string(m, strobe_wire_next(&at), &key_size);
		const char *value = strobe_wire_find_string(m, strobe_wire_next(&at), &value_size);

		labels_set(ret, key, key_size, value, value_size);
	}
}
