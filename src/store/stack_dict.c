/* stack_dict.c: frames to numbers, stacks to nodes, and the records of those that are new.
 *
 * A new stack gets numbers in a row, so that the first child of a node is mostly the next number: it is looked for
 * there, in memory that was just read, and only the others are in a map. */
#include "stack_dict.h"
#include "frame_dict.h"
#include "mem.h"
#include "pack.h"
#include "strobe_wire.h"
#include <assert.h>
#include <string.h>

struct stack_dict {
	struct frame_dict frames;
	struct stack_link { uint32_t parent, place; } *links;	/* by node */
	size_t link_capacity;
	struct map places;		/* frame and line that ran → a number, for nodes with a line */
	struct map children;		/* parent and place → node, but for the node behind its parent */
	uint32_t node_count;
	struct buf new_frames, new_nodes, new_lines;	/* records since the last commit */
	uint32_t saved_frames, saved_nodes;
	uint32_t last_lined;		/* the last node with a line */
	uint32_t first_new_lined;	/* the first of them since the last commit */
	uint32_t *hashes, *numbers;	/* of one profile's strings and frames, while it is added */
	size_t hash_capacity, number_capacity;
};

static struct stack_dict *dict_new(void)
{
	struct stack_dict *d = xcalloc(1, sizeof(*d));

	frame_dict_init(&d->frames);
	map_init(&d->places);
	map_init(&d->children);
	buf_init(&d->new_frames);
	buf_init(&d->new_nodes);
	buf_init(&d->new_lines);
	return d;
}

struct stack_dict *stack_dict_free(struct stack_dict *d)
{
	if (!d)
		return NULL;
	frame_dict_done(&d->frames);
	map_done(&d->places);
	map_done(&d->children);
	free(d->links);
	buf_done(&d->new_frames);
	buf_done(&d->new_nodes);
	buf_done(&d->new_lines);
	free(d->hashes);
	free(d->numbers);
	free(d);
	return NULL;
}

DEFINE_FREEP(struct stack_dict, stack_dict_free)

/* Frames have 22 bits, and a place without a line is its frame. */
#define PLACE_WITH_LINE	0x80000000u

static_assert(STACK_TREE_FRAMES <= PLACE_WITH_LINE && STACK_TREE_NODES <= PLACE_WITH_LINE, "a place says whether it has a line");

static uint32_t place_of(struct stack_dict *d, uint32_t frame, uint32_t line)
{
	uint32_t *slot;

	assert(frame < d->frames.count);
	if (!line)
		return frame;
	slot = map_slot(&d->places, map_pair(frame, line));
	if (*slot == MAP_NONE)
		*slot = PLACE_WITH_LINE | (uint32_t)(d->places.count - 1);
	return *slot;
}

/* UINT32_MAX if there is none. A hole that the map still knows has another parent by now. */
static uint32_t find_node(const struct stack_dict *d, uint32_t parent, uint32_t place)
{
	uint32_t next = parent + 1, number;

	if (next < d->node_count && d->links[next].parent == parent && d->links[next].place == place)
		return next;
	number = map_get(&d->children, map_pair(parent, place));
	return number < d->node_count && d->links[number].parent == parent ? number : UINT32_MAX;
}

static void link_node(struct stack_dict *d, uint32_t parent, uint32_t place)
{
	assert(parent < d->node_count);
	GROW(&d->links, &d->link_capacity, d->node_count + 1);
	d->links[d->node_count] = (struct stack_link){ parent, place };
	if (d->node_count != parent + 1)
		map_set(&d->children, map_pair(parent, place), d->node_count);
	d->node_count++;
}

/* The root and holes have numbers, and nothing finds them. */
static const struct stack_link hidden = { UINT32_MAX - 1, UINT32_MAX };

static void link_hidden(struct stack_dict *d)
{
	GROW(&d->links, &d->link_capacity, d->node_count + 1);
	d->links[d->node_count++] = hidden;
}

int stack_dict_load(sqlite3 *db, const char *path, struct stack_dict **ret, struct err *err)
{
	_cleanup_(stack_dict_freep) struct stack_dict *d = NULL;
	_cleanup_(stack_tree_done) struct stack_tree t = { 0 };
	int rc;

	stack_tree_init(&t);
	rc = stack_tree_load(&t, db, path, err);
	if (rc < 0)
		return rc;
	d = dict_new();
	for (uint32_t i = 0; i < t.frame_count; i++)
		if (!frame_dict_load(&d->frames, t.records[i]))
			return err_set(err, -EBADMSG, "cannot read '%s': frame %u is there twice", path, i);
	link_hidden(d);
	for (uint32_t i = 1; i < t.node_count; i++) {
		if (stack_tree_is_hole(&t, i))
			link_hidden(d);
		else
			link_node(d, t.parents[i], place_of(d, t.node_frames[i], t.node_lines ? t.node_lines[i] : 0));
	}
	d->last_lined = t.last_lined;
	stack_dict_saved(d);
	*ret = TAKE_PTR(d);
	return 0;
}

#define FRAMES_AT_ONCE 64u

/* Frames of a profile, a few ahead of the one that is looked up. */
struct frames_ahead {
	uint32_t begin, end;
	struct frame_parts parts[FRAMES_AT_ONCE];
};

static struct frame_parts parts_of(const struct stack_dict *d, const struct profile *p, uint32_t frame)
{
	const struct profile_frame *f = &p->frames[frame];

	return (struct frame_parts){
		profile_name(p, frame), profile_file(p, frame), d->hashes[f->name], d->hashes[f->file], f->line,
	};
}

static void look_ahead(struct frames_ahead *a, const struct stack_dict *d, const struct profile *p, uint32_t frame)
{
	a->begin = frame;
	for (a->end = frame; a->end < p->frame_count && a->end - frame < FRAMES_AT_ONCE; a->end++)
		a->parts[a->end - frame] = parts_of(d, p, a->end);
	frame_dict_prefetch(&d->frames, a->parts, a->end - frame);
}

static uint32_t add_frame(struct stack_dict *d, struct frames_ahead *a, const struct profile *p, uint32_t frame)
{
	struct frame_parts f;

	/* They are mostly numbered as nodes first need them. Never back, or a profile in another order would cost 64 times as much. */
	if (frame >= a->end)
		look_ahead(a, d, p, frame);
	f = frame >= a->begin ? a->parts[frame - a->begin] : parts_of(d, p, frame);
	if (d->frames.count == STACK_TREE_FRAMES)
		return frame_dict_find(&d->frames, &f);
	return frame_dict_add(&d->frames, &f, &d->new_frames);
}

static void note_line(struct stack_dict *d, uint32_t node, uint32_t line, uint32_t start)
{
	assert(node > d->last_lined);
	if (!d->new_lines.size)
		d->first_new_lined = node;
	buf_put_varint(&d->new_lines, node - d->last_lined);
	buf_put_varint(&d->new_lines, strobe_wire_zigzag((int64_t)line - start));
	d->last_lined = node;
}

/* UINT32_MAX if the dictionary is full and has no such node. `start` is where the frame's function begins. */
static uint32_t add_node(struct stack_dict *d, uint32_t parent, uint32_t frame, uint32_t line, uint32_t start)
{
	uint32_t place = place_of(d, frame, line), number = find_node(d, parent, place);

	if (number != UINT32_MAX || d->node_count == STACK_TREE_NODES)
		return number;
	number = d->node_count;
	link_node(d, parent, place);
	buf_put_varint(&d->new_nodes, number - parent);
	buf_put_varint(&d->new_nodes, frame);
	if (line)
		note_line(d, number, line, start);
	return number;
}

/* A node that was cut has its parent's number, and what is below it cannot be known either. */
static bool is_cut(const struct profile *p, const uint32_t *nodes, uint32_t node)
{
	return node != PROFILE_ROOT && nodes[node] == nodes[p->parents[node]];
}

static_assert(MAP_NONE == UINT32_MAX, "a full dictionary and an unknown node look the same");

size_t stack_dict_add(struct stack_dict *d, const struct profile *p, uint32_t *nodes)
{
	struct frames_ahead ahead;
	size_t cut = 0;

	ahead.begin = ahead.end = 0;
	GROW(&d->hashes, &d->hash_capacity, p->strings.count + 1);
	intern_hashes(&p->strings, d->hashes);
	/* Frames that no node uses are not worth a place, so each is looked up when a node first needs it. */
	GROW(&d->numbers, &d->number_capacity, p->frame_count + 1);
	memset(d->numbers, 0xff, (p->frame_count + 1) * sizeof(*d->numbers));
	nodes[PROFILE_ROOT] = 0;
	for (uint32_t i = 1; i < p->node_count; i++) {
		uint32_t parent = p->parents[i], *frame = &d->numbers[p->node_frames[i]];

		assert(parent < i);
		nodes[i] = UINT32_MAX;
		if (*frame == UINT32_MAX)
			*frame = add_frame(d, &ahead, p, p->node_frames[i]);
		if (*frame != UINT32_MAX && !is_cut(p, nodes, parent))
			nodes[i] = add_node(d, nodes[parent], *frame, profile_line(p, i), p->frames[p->node_frames[i]].line);
		if (nodes[i] == UINT32_MAX) {
			nodes[i] = nodes[parent];
			cut++;
		}
		assert(nodes[i] < d->node_count);
	}
	return cut;
}

static void take_block(struct stack_dict_block *ret, const struct buf *records, uint32_t first)
{
	ret->first = first;
	buf_init(&ret->data);
	if (records->size)
		pack_put(&ret->data, records->data, records->size);
}

void stack_dict_new(struct stack_dict *d, struct stack_dict_blocks *ret)
{
	assert((d->new_frames.size > 0) == (d->frames.count > d->saved_frames));
	assert((d->new_nodes.size > 0) == (d->node_count > d->saved_nodes));
	take_block(&ret->frames, &d->new_frames, d->saved_frames);
	take_block(&ret->nodes, &d->new_nodes, d->saved_nodes);
	take_block(&ret->lines, &d->new_lines, d->first_new_lined);
}

void stack_dict_blocks_done(struct stack_dict_blocks *b)
{
	buf_done(&b->frames.data);
	buf_done(&b->nodes.data);
	buf_done(&b->lines.data);
}

void stack_dict_saved(struct stack_dict *d)
{
	d->saved_frames = d->frames.count;
	d->saved_nodes = d->node_count;
	buf_reset(&d->new_frames);
	buf_reset(&d->new_nodes);
	buf_reset(&d->new_lines);
}

void stack_dict_make_holes(struct stack_dict *d, const uint8_t *nodes, const uint8_t *frames)
{
	assert(d->saved_nodes == d->node_count && d->saved_frames == d->frames.count);
	for (uint32_t i = 1; i < d->node_count; i++)
		if (!nodes[i])
			d->links[i] = hidden;
	frame_dict_make_holes(&d->frames, frames);
}
