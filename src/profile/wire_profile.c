/* wire_profile.c: messages into profiles, for every message that arrives, and profiles into messages, for files. */
#include "wire_profile.h"
#include "edges.h"
#include "mem.h"
#include <assert.h>
#include <string.h>

/* --- Reading --- */

/* What the frames of a message refer to, found as nodes ask for it: strings that only labels use stay out. */
struct reader {
	struct str *strings;			/* by reference; 0 is "" */
	uint32_t *ids;				/* of them in the profile; UINT32_MAX while no frame has asked */
	struct wire_frame {
		uint32_t name, file, line;	/* references */
		uint32_t number;		/* in the profile; UINT32_MAX while no node has asked */
	} *frames;
	uint32_t *nodes;			/* numbers in the profile */
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

/* The message's name of a column as a C string; what stands behind a NUL byte is dropped, and none at all would be
 * a column that cannot be asked for, nor written. */
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

/* Whether the profile's first columns are those of the message, as mostly, and which. */
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

/* Finds or adds the message's columns. -E2BIG with nothing added when they do not all fit. */
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
	/* One name twice among them counts twice here, and is no message that a sender of ours makes. */
	if (p->column_count + added > PROFILE_COLUMNS)
		return -E2BIG;
	for (uint32_t i = 0; i < m->columns; i++)
		numbers[i] = profile_column(p, names[i], units[i]);
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

int wire_profile_add(struct profile *p, const struct strobe_wire_message *m)
{
	uint32_t columns[STROBE_WIRE_COLUMNS];
	const uint8_t *at = m->at_nodes;
	struct reader r;

	if (map_columns(p, m, columns) < 0)
		return -E2BIG;
	reader_init(&r, m);
	r.nodes[0] = PROFILE_ROOT;
	for (uint32_t i = 1; i <= m->nodes; i++) {
		uint32_t parent = i - (uint32_t)strobe_wire_next(&at);
		uint32_t frame = (uint32_t)strobe_wire_next(&at);
		uint32_t node = profile_child(p, r.nodes[parent], map_frame(p, &r, &r.frames[frame]));

		r.nodes[i] = node;
		for (uint32_t k = 0; k < m->columns; k++) {
			int64_t value = strobe_wire_unzigzag(strobe_wire_next(&at));

			if (value)
				profile_add(p, node, columns[k], value);
		}
	}
	reader_done(&r);
	return 0;
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

/* --- Writing --- */

#define MEASURE_BYTES	((size_t)4 << 20)	/* of messages that may be larger it is known before they are written */

/* The part of a profile that goes into one message: nodes [first, end) with their ancestors, which are there for
 * their place only and have their values elsewhere. */
struct part {
	const struct profile *profile;
	enum strobe_wire_kind kind;
	uint32_t first, end;
	uint32_t *nodes;		/* number in the message by node; 0 is not in it */
	uint32_t *frames;		/* index in the message + 1 by frame */
	uint32_t *strings;		/* reference by string */
	uint32_t string_count, frame_count, node_count;
	uint32_t *string_order, *frame_order;	/* what the message holds, in its order */
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

static void part_init(struct part *t, const struct profile *p, enum strobe_wire_kind kind, uint32_t first, uint32_t end)
{
	*t = (struct part){ .profile = p, .kind = kind, .first = first, .end = end };
	t->nodes = xcalloc(p->node_count, sizeof(*t->nodes));
	t->frames = xcalloc(p->frame_count, sizeof(*t->frames));
	t->strings = xcalloc(p->strings.count, sizeof(*t->strings));
	t->frame_order = xmalloc(p->frame_count * sizeof(*t->frame_order));
	t->string_order = xmalloc(p->strings.count * sizeof(*t->string_order));
	/* Up from each node until one is marked already, so that every node is visited once. */
	for (uint32_t i = first; i < end; i++)
		for (uint32_t n = i; n != PROFILE_ROOT && !t->nodes[n]; n = p->parents[n])
			t->nodes[n] = 1;
	for (uint32_t i = 1; i < end; i++)
		if (t->nodes[i]) {
			t->nodes[i] = ++t->node_count;
			add_frame(t, p->node_frames[i]);
		}
}

static void part_done(struct part *t)
{
	free(t->nodes);
	free(t->frames);
	free(t->strings);
	free(t->frame_order);
	free(t->string_order);
}

static bool part_fits(const struct part *t)
{
	return t->node_count <= STROBE_WIRE_NODES && t->frame_count <= STROBE_WIRE_FRAMES &&
	       t->string_count <= STROBE_WIRE_STRINGS - 2 * (STROBE_WIRE_LABELS + STROBE_WIRE_COLUMNS);
}

/* Labels and columns name the first strings, each its own pair, so that readers find them near the start. */
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

	for (uint32_t i = 1; i < t->end; i++) {
		int64_t values[PROFILE_COLUMNS] = { 0 };

		if (!t->nodes[i])
			continue;
		for (uint32_t k = 0; k < p->column_count && i >= t->first; k++)
			values[k] = p->columns[k].self[i];
		strobe_wire_node(w, t->nodes[p->parents[i]], t->frames[p->node_frames[i]] - 1, values);
	}
}

static uint32_t reference_to(const struct part *t, uint32_t string, uint32_t named)
{
	return t->strings[string] ? named + t->strings[string] : 0;
}

static struct strobe_wire_info info_of(const struct profile *p, enum strobe_wire_kind kind)
{
	const char *clock = labels_get(&p->labels, "clock");
	int64_t start = p->start_ns > 0 ? p->start_ns : 0;

	return (struct strobe_wire_info){
		.kind = kind,
		.clock = !clock ? STROBE_CLOCK_NONE :
			 !strcmp(clock, "wall") ? STROBE_CLOCK_WALL :
			 !strcmp(clock, "cpu") ? STROBE_CLOCK_CPU : STROBE_CLOCK_NONE,
		.start_ns = (uint64_t)start,
		.end_ns = (uint64_t)(p->end_ns > start ? p->end_ns : start),
		.period_ns = (uint64_t)(p->period_ns > 0 ? p->period_ns : 0),
	};
}

/* Writes the part into `buffer`, or measures it with NULL and 0. Returns the size. */
static size_t part_write(const struct part *t, void *buffer, size_t capacity)
{
	const struct profile *p = t->profile;
	const struct strobe_wire_info info = info_of(p, t->kind);
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
	return strobe_wire_end(&w);
}

/* No message of the part is larger: varints of 32 bits have 5 bytes, others 10. */
static size_t part_bound(const struct part *t)
{
	const struct profile *p = t->profile;
	size_t n = STROBE_WIRE_HEADER;

	for (uint32_t i = 0; i < t->string_count; i++)
		n += 5 + intern_get(&p->strings, t->string_order[i]).n;
	n += p->labels.count * (10 + 10 + STROBE_WIRE_LABEL_KEY + STROBE_WIRE_LABEL_VALUE);
	n += p->column_count * (10 + 10 + 2 * sizeof(p->columns[0].name));
	return n + t->frame_count * (size_t)15 + t->node_count * (10 + (size_t)10 * p->column_count);
}

/* Appends nodes [first, end) as one message. 0 if it was too large for one, and nothing was appended. */
static int append_part(const struct profile *p, enum strobe_wire_kind kind, uint32_t first, uint32_t end,
		       struct buf *out, struct err *err)
{
	size_t size = 0;
	char *room = NULL;
	struct part t;
	bool fits;

	part_init(&t, p, kind, first, end);
	/* Measuring takes as long as writing, so a small one is not measured. */
	fits = part_fits(&t) && ((size = part_bound(&t)) <= MEASURE_BYTES ||
				 (size = part_write(&t, NULL, 0)) <= STROBE_WIRE_MAX);
	if (fits && (room = buf_reserve(out, size)))
		buf_wrote(out, part_write(&t, room, size));
	part_done(&t);
	if (fits && !room)
		return err_set(err, -EFBIG, "cannot write a profile above %zu bytes", out->limit);
	return fits;
}

/* What no splitting helps against. */
static int check_caps(const struct profile *p, struct err *err)
{
	if (p->labels.count > STROBE_WIRE_LABELS)
		return err_set(err, -E2BIG, "cannot write a profile with %zu labels: at most %u are known to "
			       "the format", p->labels.count, STROBE_WIRE_LABELS);
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
	uint32_t first = 1, count = p->node_count - 1, messages = 0;
	int r = check_caps(p, err);

	if (r < 0)
		return r;
	if (p->edges || p->estimated)
		edges_block_put(p, out);
	/* Goes on from node to node with pieces that are halved until they fit; nearly always one piece is enough. */
	do {
		uint32_t left = p->node_count - first;

		count = count < left ? count : left;
		r = append_part(p, kind, first, first + count, out, err);
		if (r == 0 && count <= 1)
			r = err_set(err, -E2BIG, "cannot write a stack of %u frames: one message cannot hold it",
				    profile_depth(p));
		if (r < 0)
			goto fail;
		if (r > 0)
			first += count;
		else
			count = (count + 1) / 2;
		messages += r > 0;
	} while (first < p->node_count);
	if ((p->edges || p->estimated) && !out->overflow)
		edges_block_set_messages(out->data + before, messages);
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
			return err_set(err, -EINVAL, "'%.80s' cannot be the %s of a run: 1 to %u letters, digits, '.', "
				       "'_' or '-'", value, keys[i], STROBE_WIRE_RUN_KEY);
	}
	return write_as(STROBE_WIRE_RUN, p, out, err);
}
