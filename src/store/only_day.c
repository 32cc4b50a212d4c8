/* only_day.c: provides the functions of stack_values.h for the tree of a day file. */
#include "only_day.h"
#include "mem.h"

struct only_day {
	struct stack_tree tree;
	struct profile *facts;
	int64_t *self;
};

static void release(void *owner)
{
	struct only_day *d = owner;

	stack_tree_done(&d->tree);
	profile_free(d->facts);
	free(d->self);
	free(d);
}

static void frame_of(const void *owner, uint32_t frame, struct stack_frame *ret)
{
	const struct only_day *d = owner;

	stack_tree_frame(&d->tree, frame, &ret->name, &ret->file, &ret->line);
}

void only_day_take(struct stack_tree *tree, int64_t *self, struct profile *facts, bool lines, struct stack_values *ret)
{
	struct only_day *d = xmalloc(sizeof(*d));

	*d = (struct only_day){ *tree, facts, self };
	stack_tree_init(tree);
	*ret = (struct stack_values){
		.node_count = d->tree.node_count,
		.parents = d->tree.parents,
		.node_frames = d->tree.node_frames,
		.node_lines = lines ? d->tree.node_lines : NULL,
		.self = self,
		.frame_count = d->tree.frame_count,
		.facts = facts,
		.frame = frame_of,
		.owner = d,
		.release = release,
	};
}
