/* pyroscope_stacks.c: stacks as flame graphs, trees, call graphs and pprof profiles, and comparisons. */
#include "pyroscope_calls.h"

#include "callgraph.h"
#include "flame_arrays.h"
#include "mem.h"
#include "messages.h"
#include "pprof.h"
#include "protobuf.h"
#include "text.h"

#include <string.h>

/* A query for stacks, and its result. */
struct stacks {
	struct pyroscope_selection selection;
	struct stack_values values;
	uint32_t nodes;
};

static void stacks_done(struct stacks *s)
{
	stack_values_done(&s->values);
	pyroscope_selection_done(&s->selection);
}

static int load(struct stacks *s, struct pyroscope_request *q, const struct pyroscope_query *query, bool lines, struct err *err)
{
	int r = pyroscope_selection_init(&s->selection, q->context, query, q->http->now_ns, &q->left_out, err);

	if (r >= 0)
		r = pyroscope_selection_type(&s->selection, err);
	if (r >= 0)
		r = pyroscope_selection_nodes(&s->selection, &s->nodes, err);
	return r < 0 ? r : pyroscope_values(&s->selection, lines, &s->values, err);
}

static struct name_tree_source source_of(const struct stacks *s)
{
	return (struct name_tree_source){
		&s->values,
		s->selection.query->call_site.items,
		s->selection.query->call_site.count,
	};
}

/* --- Flame graphs and trees --- */

static void put_flame_graph(const struct name_tree *left, const struct name_tree *right, uint32_t nodes, uint32_t number,
			    struct buf *out)
{
	_cleanup_(flame_arrays_done) struct flame_arrays f = { 0 };
	_cleanup_(buf_done) struct buf message = { 0 };

	buf_init(&message);
	flame_arrays_init(&f, left, right, nodes);
	flame_arrays_put(&f, &message);
	protobuf_put_bytes(out, number, message.data, message.size);
}

static void put_tree(const struct name_tree *t, uint32_t nodes, struct buf *out)
{
	_cleanup_(buf_done) struct buf tree = { 0 };

	buf_init(&tree);
	name_tree_put(t, nodes, &tree);
	protobuf_put_bytes(out, STACKTRACES_TREE, tree.data, tree.size);
}

/* --- The call site --- */

/* The stacks that begin with the call site, and the nodes on the way to it, which have no values of their own. Frames
 * and facts belong to the values they were selected from. */
struct site {
	struct stack_values values;
	uint32_t *parents, *frames, *lines;
	int64_t *self;
};

static void site_done(struct site *s)
{
	free(s->parents);
	free(s->frames);
	free(s->lines);
	free(s->self);
}

/* Compares the names that flame graphs show, since clients take the call site from there. */
static bool is_on_site(const struct pyroscope_texts *site, size_t depth, const struct stack_values *v, uint32_t node, struct buf *safe)
{
	return depth >= site->count ||
	       text_is(name_tree_name(stack_values_frame(v, v->node_frames[node]).name, safe), site->items[depth]);
}

static void site_add(struct site *s, const struct stack_values *v, uint32_t node, uint32_t parent, bool counts)
{
	uint32_t to = s->values.node_count++;

	s->parents[to] = parent;
	s->frames[to] = v->node_frames[node];
	if (s->lines)
		s->lines[to] = v->node_lines[node];
	s->self[to] = counts ? v->self[node] : 0;
}

/* Call site_done in any case. */
static void site_init(struct site *s, const struct pyroscope_texts *site, const struct stack_values *v)
{
	_cleanup_(freep) uint32_t *nodes = xcalloc(v->node_count, sizeof(*nodes)), *depths = xcalloc(v->node_count, sizeof(*depths));
	_cleanup_(buf_done) struct buf safe = { 0 };

	*s = (struct site){ .values = *v };
	s->values.release = NULL;
	if (!site->count || !v->self)
		return;
	buf_init(&safe);
	s->values.parents = s->parents = xcalloc(v->node_count, sizeof(*s->parents));
	s->values.node_frames = s->frames = xcalloc(v->node_count, sizeof(*s->frames));
	if (v->node_lines)
		s->values.node_lines = s->lines = xcalloc(v->node_count, sizeof(*s->lines));
	s->values.self = s->self = xcalloc(v->node_count, sizeof(*s->self));
	s->values.node_count = 1;
	for (uint32_t i = 1; i < v->node_count; i++) {
		uint32_t parent = v->parents[i];

		nodes[i] = UINT32_MAX;
		if (nodes[parent] == UINT32_MAX || !is_on_site(site, depths[parent], v, i, &safe))
			continue;
		depths[i] = depths[parent] + 1;
		nodes[i] = s->values.node_count;
		site_add(s, v, i, nodes[parent], depths[i] >= site->count);
	}
}

/* --- pprof --- */

/* Returns the stacks that have a value, with the names that flame graphs show, in a column named after the type. The
 * caller frees. */
static struct profile *one_column(const struct pyroscope_selection *a, const struct profile *facts, const struct stack_values *v)
{
	_cleanup_(freep) uint32_t *nodes = xcalloc(v->node_count, sizeof(*nodes));
	_cleanup_(buf_done) struct buf safe = { 0 };
	struct profile *to = profile_new();
	uint32_t c = profile_column(to, a->type.sample, a->type.unit);

	buf_init(&safe);
	profile_keep_lines(to, true);
	profile_describe(to, facts->period_ns, facts->mixed_periods, &facts->labels);
	profile_cover(to, a->from_ns, a->to_ns);
	for (uint32_t i = 1; i < v->node_count && v->self; i++) {
		struct stack_frame f = stack_values_frame(v, v->node_frames[i]);

		f.name = name_tree_name(f.name, &safe);
		nodes[i] = profile_child_at(to, nodes[v->parents[i]], profile_frame(to, f.name, f.file, f.line),
					    v->node_lines ? v->node_lines[i] : 0);
		if (v->self[i] > 0)
			profile_add(to, nodes[i], c, v->self[i]);
	}
	profile_drop_unused_lines(to);
	return to;
}

/* Prunes the call site only, because its stacks may be small in the whole. */
static int put_pprof(const struct stacks *s, struct buf *out, struct err *err)
{
	_cleanup_(profile_freep) struct profile *pruned = NULL, *p = NULL;
	_cleanup_(site_done) struct site site = { 0 };
	struct stack_values of;
	int r;

	site_init(&site, &s->selection.query->call_site, &s->values);
	of = site.values;
	if (of.self && of.node_count > s->nodes) {
		pruned = stack_values_prune(&site.values, s->nodes);
		of = stack_values_of(pruned, 0);
	}
	p = one_column(&s->selection, s->values.facts, &of);
	r = pprof_write_plain(p, 0, out, err);
	return r < 0 ? r : 0;
}

/* --- Call graphs --- */

int pyroscope_put_dot(const struct pyroscope_selection *a, const struct stack_values *v, struct buf *out, struct err *err)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_(site_done) struct site site = { 0 };
	int64_t most = a->query->max_nodes;
	struct callgraph_options o;

	site_init(&site, &a->query->call_site, v);
	p = one_column(a, v->facts, &site.values);
	callgraph_defaults(&o);
	o.max_nodes = !most ? CALLGRAPH_NODES : most < CALLGRAPH_NODES_MAX ? (size_t)most : CALLGRAPH_NODES_MAX;
	return callgraph_dot(p, &o, out, NULL, err);
}

static int put_dot(const struct stacks *s, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf dot = { 0 };
	int r;

	buf_init(&dot);
	r = pyroscope_put_dot(&s->selection, &s->values, &dot, err);
	if (r >= 0)
		protobuf_put_bytes(out, STACKTRACES_DOT, dot.data, dot.size);
	return r;
}

/* --- The calls --- */

static int put_answer(struct stacks *s, struct buf *out, struct err *err)
{
	_cleanup_(name_tree_done) struct name_tree t = { 0 };
	_cleanup_(buf_done) struct buf profile = { 0 }, answer = { 0 };
	struct name_tree_source of = source_of(s);
	int r;

	if (s->selection.query->format == FORMAT_PPROF) {
		buf_init(&profile);
		buf_init(&answer);
		r = put_pprof(s, &profile, err);
		protobuf_put_bytes(&answer, PPROF_ANSWER_PROFILE, profile.data, profile.size);
		protobuf_put_bytes(out, STACKTRACES_PPROF, answer.data, answer.size);
		return r;
	}
	if (s->selection.query->format == FORMAT_DOT)
		return put_dot(s, out, err);
	name_tree_init(&t, &of, s->nodes);
	if (s->selection.query->format == FORMAT_TREE)
		put_tree(&t, s->nodes, out);
	else
		put_flame_graph(&t, NULL, s->nodes, STACKTRACES_FLAMEGRAPH, out);
	return 0;
}

int pyroscope_stacktraces(struct pyroscope_request *q, struct buf *out, struct err *err)
{
	_cleanup_(stacks_done) struct stacks s = { 0 };
	int r = load(&s, q, q->query, q->query->format == FORMAT_PPROF, err);

	return r < 0 ? r : put_answer(&s, out, err);
}

/* The older call for spans; its answer has the same fields. */
int pyroscope_span_profile(struct pyroscope_request *q, struct buf *out, struct err *err)
{
	if (!q->query->spans.count)
		return err_set(err, -EINVAL, "the ids of the spans are missing");
	return pyroscope_stacktraces(q, out, err);
}

int pyroscope_merge_profile(struct pyroscope_request *q, struct buf *out, struct err *err)
{
	_cleanup_(stacks_done) struct stacks s = { 0 };
	int r = load(&s, q, q->query, true, err);

	return r < 0 ? r : put_pprof(&s, out, err);
}

static int load_side(struct pyroscope_request *q, struct protobuf bytes, struct pyroscope_query *query, struct stacks *s,
		     struct err *err)
{
	int r = pyroscope_query_read(query, &message_stacktraces_request, bytes.p, (size_t)(bytes.end - bytes.p), err);

	return r < 0 ? r : load(s, q, query, false, err);
}

int pyroscope_diff(struct pyroscope_request *q, struct buf *out, struct err *err)
{
	_cleanup_(stacks_done) struct stacks left = { 0 }, right = { 0 };
	_cleanup_(pyroscope_query_done) struct pyroscope_query of_left = { 0 }, of_right = { 0 };
	struct name_tree trees[2];
	struct protobuf in = { (const uint8_t *)q->message->data, (const uint8_t *)q->message->data + q->message->size };
	struct protobuf sides[2] = { { 0 } };
	struct protobuf_field f;
	uint32_t most;
	int r;

	while (protobuf_next(&in, &f))
		if (f.number == DIFF_LEFT || f.number == DIFF_RIGHT)
			sides[f.number - DIFF_LEFT] = f.bytes;
	if (!sides[0].p || !sides[1].p)
		return err_set(err, -EINVAL, "a comparison needs both sides");
	if ((r = load_side(q, sides[0], &of_left, &left, err)) < 0 || (r = load_side(q, sides[1], &of_right, &right, err)) < 0)
		return r;
	if (!profile_type_is(&left.selection.type, &right.selection.type))
		return err_set(err, -EINVAL, "both sides of a comparison must have the same profile type");
	most = left.nodes > right.nodes ? left.nodes : right.nodes;
	name_tree_init_pair(trees, (struct name_tree_source[]){ source_of(&left), source_of(&right) }, most);
	put_flame_graph(&trees[0], &trees[1], most, DIFF_FLAMEGRAPH, out);
	name_tree_done(&trees[0]);
	name_tree_done(&trees[1]);
	return 0;
}
