/* stack_dict.c: maps frames to numbers and stacks to nodes, and encodes the records of new ones.
 *
 * A new stack gets consecutive numbers, so the first child of a node is mostly the next number: that is checked
 * first, in memory that was just read, and only the other children are in a map.
 *
 * Most stacks are known, so a node is guessed before its frame is looked up: the node after its parent, or the last
 * one found for a similar parent and name. A guess is right if the frame's record has the same bytes. This needs no
 * hashes of the names, so for most frames none are computed. */
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
	struct map places;		/* frame and executed line → number, for nodes with a line */
	struct lined { uint32_t frame, line; } *lined;	/* by these numbers */
	size_t lined_capacity;
	struct map children;		/* parent and place → node, except the node after its parent */
	uint32_t node_count;
	uint32_t *guesses;		/* by guess_of(): a node, or 0 */
	struct buf new_frames, new_nodes, new_lines;	/* records since the last commit */
	uint32_t saved_frames, saved_nodes;
	uint32_t last_lined;		/* the last node with a line */
	uint32_t first_new_lined;	/* the first such node since the last commit */
	uint32_t *hashes, *numbers;	/* one profile's strings and frames, while it is added */
	size_t hash_capacity, number_capacity;
};

#define GUESS_BITS	16u
#define GUESSES		((size_t)1 << GUESS_BITS)

static struct stack_dict *dict_new(void)
{
	struct stack_dict *d = xcalloc(1, sizeof(*d));

	frame_dict_init(&d->frames);
	map_init(&d->places);
	map_init(&d->children);
	d->guesses = xcalloc(GUESSES, sizeof(*d->guesses));
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
	free(d->lined);
	free(d->guesses);
	buf_done(&d->new_frames);
	buf_done(&d->new_nodes);
	buf_done(&d->new_lines);
	free(d->hashes);
	free(d->numbers);
	free(d);
	return NULL;
}

DEFINE_FREEP(struct stack_dict, stack_dict_free)

/* Frame numbers have 22 bits; the place of a node without a line is its frame. */
#define PLACE_WITH_LINE	0x80000000u

static_assert(STACK_TREE_FRAMES <= PLACE_WITH_LINE && STACK_TREE_NODES <= PLACE_WITH_LINE, "a place says whether it has a line");

static uint32_t place_of(struct stack_dict *d, uint32_t frame, uint32_t line)
{
	uint32_t *slot;

	assert(frame < d->frames.count);
	if (!line)
		return frame;
	slot = map_slot(&d->places, map_pair(frame, line));
	if (*slot == MAP_NONE) {
		uint32_t number = (uint32_t)(d->places.count - 1);

		GROW(&d->lined, &d->lined_capacity, (size_t)number + 1);
		d->lined[number] = (struct lined){ frame, line };
		*slot = PLACE_WITH_LINE | number;
	}
	return *slot;
}

static struct lined parts_of_place(const struct stack_dict *d, uint32_t place)
{
	return place & PLACE_WITH_LINE ? d->lined[place & ~PLACE_WITH_LINE] : (struct lined){ place, 0 };
}

/* Returns UINT32_MAX if there is none. A hole that is still in the map has another parent by now. */
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

/* The root and holes have numbers, but no lookup finds them. */
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
			return err_set(err, -EBADMSG, "cannot read '%s': frame %u is a duplicate", path, i);
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

/* Returns the parts of a frame, without hashes. */
static inline struct frame_parts parts_of(const struct profile *p, uint32_t frame)
{
	const struct profile_frame *f = &p->frames[frame];

	return (struct frame_parts){
		.name = intern_get(&p->strings, f->name), .file = intern_get(&p->strings, f->file), .line = f->line,
	};
}

/* --- Guessing nodes --- */

/* Hashes the length and the last bytes of a name, which differ between methods of one class. */
static inline uint32_t *guess_of(const struct stack_dict *d, uint32_t parent, struct str name, uint32_t line)
{
	uint64_t look = 0;

	if (name.n >= sizeof(look))
		memcpy(&look, name.p + name.n - sizeof(look), sizeof(look));
	else
		memcpy(&look, name.p, name.n);
	look ^= map_pair(parent, line) * 0xc2b2ae3d27d4eb4fu + name.n;
	look = (look ^ look >> 32) * 0x9e3779b97f4a7c15u;
	return &d->guesses[look >> (64 - GUESS_BITS)];
}

/* Returns the frame of node `number` if it is this child of `parent`, else FRAME_NONE. Holes and the root are not
 * children. */
static inline uint32_t check_guess(const struct stack_dict *d, uint32_t number, uint32_t parent, const struct frame_parts *f,
				   uint32_t line)
{
	struct lined place;

	if (number >= d->node_count || d->links[number].parent != parent)
		return FRAME_NONE;
	place = parts_of_place(d, d->links[number].place);
	return place.line == line && frame_dict_is(&d->frames, place.frame, f) ? place.frame : FRAME_NONE;
}

/* Returns the child of `parent` with that frame and line, and the number of the frame; UINT32_MAX if all guesses were
 * wrong. */
static uint32_t guess_node(const struct stack_dict *d, uint32_t parent, const struct frame_parts *f, uint32_t line,
			   uint32_t *ret_frame)
{
	uint32_t number = parent + 1;

	*ret_frame = check_guess(d, number, parent, f, line);
	if (*ret_frame != FRAME_NONE)
		return number;
	number = *guess_of(d, parent, f->name, line);
	*ret_frame = check_guess(d, number, parent, f, line);
	return *ret_frame != FRAME_NONE ? number : UINT32_MAX;
}

/* --- Looking frames up --- */

#define FRAMES_AT_ONCE 64u

/* State while one profile is added. If guesses fail repeatedly, as for a new stack, frames are looked up in
 * groups. */
struct addition {
	const struct profile *p;
	uint32_t failed;		/* wrong guesses since the last right one */
	bool hashed;			/* d->hashes is filled */
	uint32_t begin, end;		/* frames that were looked up in advance */
	struct frame_parts parts[FRAMES_AT_ONCE];
};

static struct frame_parts hashed_parts(const struct stack_dict *d, const struct profile *p, uint32_t frame)
{
	struct frame_parts parts = parts_of(p, frame);

	parts.name_hash = d->hashes[p->frames[frame].name];
	parts.file_hash = d->hashes[p->frames[frame].file];
	return parts;
}

static void prefetch_parts(struct addition *a, struct stack_dict *d, uint32_t frame)
{
	const struct profile *p = a->p;

	if (!a->hashed) {
		GROW(&d->hashes, &d->hash_capacity, p->strings.count + 1);
		intern_hashes(&p->strings, d->hashes);
		a->hashed = true;
	}
	a->begin = frame;
	for (a->end = frame; a->end < p->frame_count && a->end - frame < FRAMES_AT_ONCE; a->end++)
		a->parts[a->end - frame] = hashed_parts(d, p, a->end);
	frame_dict_prefetch(&d->frames, a->parts, a->end - frame);
}

static struct frame_parts find_parts(struct addition *a, struct stack_dict *d, uint32_t frame)
{
	struct frame_parts parts;

	/* Frames are mostly numbered in the order in which nodes use them. Groups never go back, or a profile in
	 * another order would cost 64 times as much. */
	if (frame >= a->end && a->failed > 1)
		prefetch_parts(a, d, frame);
	if (frame >= a->begin && frame < a->end)
		return a->parts[frame - a->begin];
	if (a->hashed)
		return hashed_parts(d, a->p, frame);
	parts = parts_of(a->p, frame);
	parts.name_hash = intern_hash(parts.name);
	parts.file_hash = intern_hash(parts.file);
	return parts;
}

static uint32_t add_frame(struct stack_dict *d, struct addition *a, uint32_t frame)
{
	struct frame_parts f = find_parts(a, d, frame);

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

/* Returns UINT32_MAX if the dictionary is full and does not have the node. `start` is the first line of the frame's
 * function. */
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

/* The same for a frame that no node of the profile has used before. */
static uint32_t add_node_of_new_frame(struct stack_dict *d, struct addition *a, uint32_t parent, uint32_t frame, uint32_t line)
{
	struct frame_parts parts = parts_of(a->p, frame);
	uint32_t number = guess_node(d, parent, &parts, line, &d->numbers[frame]);

	if (number != UINT32_MAX) {
		a->failed = 0;
		return number;
	}
	a->failed++;
	d->numbers[frame] = add_frame(d, a, frame);
	if (d->numbers[frame] == FRAME_NONE)
		return UINT32_MAX;
	number = add_node(d, parent, d->numbers[frame], line, parts.line);
	if (number != UINT32_MAX && number != parent + 1)
		*guess_of(d, parent, parts.name, line) = number;
	return number;
}

/* Tells whether the node was cut; it then has its parent's number, and nodes below it are cut, too. */
static bool is_cut(const struct profile *p, const uint32_t *nodes, uint32_t node)
{
	return node != PROFILE_ROOT && nodes[node] == nodes[p->parents[node]];
}

static_assert(MAP_NONE == UINT32_MAX, "a full dictionary and an unknown node look the same");

size_t stack_dict_add(struct stack_dict *d, const struct profile *p, const bool *needed, uint32_t *nodes)
{
	struct addition a;
	size_t cut = 0;

	a.p = p;
	a.failed = a.begin = a.end = 0;
	a.hashed = false;
	/* Frames that no node uses should not be stored, so each is looked up when a node first uses it. */
	GROW(&d->numbers, &d->number_capacity, p->frame_count + 1);
	memset(d->numbers, 0xff, (p->frame_count + 1) * sizeof(*d->numbers));
	nodes[PROFILE_ROOT] = 0;
	for (uint32_t i = 1; i < p->node_count; i++) {
		uint32_t parent = p->parents[i], frame = p->node_frames[i], line = profile_line(p, i);

		assert(parent < i);
		nodes[i] = UINT32_MAX;
		if (needed && !needed[i])
			continue;
		assert(!needed || parent == PROFILE_ROOT || needed[parent]);
		if (!is_cut(p, nodes, parent))
			nodes[i] = d->numbers[frame] == FRAME_NONE ?
				   add_node_of_new_frame(d, &a, nodes[parent], frame, line) :
				   add_node(d, nodes[parent], d->numbers[frame], line, p->frames[frame].line);
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
