/* stack_dict.c: a frame's record is its own key, so frames need no map beside the one that interns bytes.
 *
 * A new stack gets numbers in a row, so that the first child of a node is mostly the next number: it is looked for
 * there, in memory that was just read, and only the others are in a map. */
#include "stack_dict.h"
#include "mem.h"
#include "pack.h"
#include <assert.h>
#include <string.h>

struct stack_dict {
	struct intern frames;		/* records; the number of a string is the number of the frame */
	struct stack_link { uint32_t parent, frame; } *links;	/* by node */
	size_t link_capacity;
	struct map children;		/* parent and frame → node, but for the node behind its parent */
	uint32_t node_count;
	struct buf new_frames, new_nodes;	/* records since the last commit */
	uint32_t saved_frames, saved_nodes;
	struct buf record;
};

static struct stack_dict *dict_new(void)
{
	struct stack_dict *d = xcalloc(1, sizeof(*d));

	intern_init(&d->frames);
	map_init(&d->children);
	buf_init(&d->new_frames);
	buf_init(&d->new_nodes);
	buf_init(&d->record);
	return d;
}

struct stack_dict *stack_dict_free(struct stack_dict *d)
{
	if (!d)
		return NULL;
	intern_done(&d->frames);
	map_done(&d->children);
	free(d->links);
	buf_done(&d->new_frames);
	buf_done(&d->new_nodes);
	buf_done(&d->record);
	free(d);
	return NULL;
}

DEFINE_FREEP(struct stack_dict, stack_dict_free)

/* UINT32_MAX if there is none. */
static uint32_t find_node(const struct stack_dict *d, uint32_t parent, uint32_t frame)
{
	uint32_t next = parent + 1;

	if (next < d->node_count && d->links[next].parent == parent && d->links[next].frame == frame)
		return next;
	return map_get(&d->children, map_pair(parent, frame));
}

static void link_node(struct stack_dict *d, uint32_t parent, uint32_t frame)
{
	GROW(&d->links, &d->link_capacity, d->node_count + 1);
	d->links[d->node_count] = (struct stack_link){ parent, frame };
	if (d->node_count != parent + 1)
		map_set(&d->children, map_pair(parent, frame), d->node_count);
	d->node_count++;
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
		if (intern_add(&d->frames, t.records[i].p, t.records[i].n) != i)
			return err_set(err, -EBADMSG, "cannot read '%s': frame %u is there twice", path, i);
	link_node(d, UINT32_MAX - 1, UINT32_MAX);		/* the root, which nothing can find */
	for (uint32_t i = 1; i < t.node_count; i++)
		link_node(d, t.parents[i], t.node_frames[i]);
	stack_dict_saved(d);
	*ret = TAKE_PTR(d);
	return 0;
}

static uint32_t add_frame(struct stack_dict *d, const struct profile *p, uint32_t frame)
{
	struct str name = profile_name(p, frame), file = profile_file(p, frame);
	uint32_t count = (uint32_t)d->frames.count, number;

	buf_reset(&d->record);
	buf_put_varint(&d->record, name.n);
	buf_put(&d->record, name.p, name.n);
	buf_put_varint(&d->record, file.n);
	buf_put(&d->record, file.p, file.n);
	buf_put_varint(&d->record, p->frames[frame].line);
	if (count == STACK_TREE_FRAMES)
		return intern_find(&d->frames, d->record.data, d->record.size);
	number = intern_add(&d->frames, d->record.data, d->record.size);
	if (number == count)
		buf_put(&d->new_frames, d->record.data, d->record.size);
	return number;
}

/* UINT32_MAX if the dictionary is full and has no such node. */
static uint32_t add_node(struct stack_dict *d, uint32_t parent, uint32_t frame)
{
	uint32_t number = find_node(d, parent, frame);

	if (number != UINT32_MAX || d->node_count == STACK_TREE_NODES)
		return number;
	number = d->node_count;
	link_node(d, parent, frame);
	buf_put_varint(&d->new_nodes, number - parent);
	buf_put_varint(&d->new_nodes, frame);
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
	_cleanup_(freep) uint32_t *frames = xmalloc((p->frame_count + 1) * sizeof(*frames));
	size_t cut = 0;

	/* Frames that no node uses are not worth a place, so each is looked up when a node first needs it. */
	memset(frames, 0xff, (p->frame_count + 1) * sizeof(*frames));
	nodes[PROFILE_ROOT] = 0;
	for (uint32_t i = 1; i < p->node_count; i++) {
		uint32_t parent = p->parents[i], *frame = &frames[p->node_frames[i]];

		assert(parent < i);
		nodes[i] = UINT32_MAX;
		if (*frame == UINT32_MAX)
			*frame = add_frame(d, p, p->node_frames[i]);
		if (*frame != UINT32_MAX && !is_cut(p, nodes, parent))
			nodes[i] = add_node(d, nodes[parent], *frame);
		if (nodes[i] == UINT32_MAX) {
			nodes[i] = nodes[parent];
			cut++;
		}
	}
	return cut;
}

void stack_dict_new(struct stack_dict *d, struct buf *ret_frames, uint32_t *ret_first_frame, struct buf *ret_nodes,
		    uint32_t *ret_first_node)
{
	*ret_first_frame = d->saved_frames;
	*ret_first_node = d->saved_nodes;
	if (d->new_frames.size)
		pack_put(ret_frames, d->new_frames.data, d->new_frames.size);
	if (d->new_nodes.size)
		pack_put(ret_nodes, d->new_nodes.data, d->new_nodes.size);
}

void stack_dict_saved(struct stack_dict *d)
{
	d->saved_frames = (uint32_t)d->frames.count;
	d->saved_nodes = d->node_count;
	buf_reset(&d->new_frames);
	buf_reset(&d->new_nodes);
}
