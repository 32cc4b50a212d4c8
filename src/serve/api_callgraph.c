/* api_callgraph.c: the call graph, laid out by Graphviz, as a picture. */

#include "api.h"

#include "profile_query.h"
#include "callgraph_fit.h"
#include "clock.h"
#include "function_query.h"
#include "mem.h"
#include "text.h"

#include <string.h>

#define LAYOUT_SECONDS	1.5			/* a page waits for it; larger graphs are reduced to fewer functions */
#define LAYOUT_NS	((int64_t)(LAYOUT_SECONDS * NS_PER_SECOND))
#define NODES_MAX	200			/* can usually be laid out in that time, unless there are many edges */
#define MEMORY_MAX	((size_t)256 << 20)
#define PICTURE_MAX	((size_t)32 << 20)

/* Tells which functions above the threshold are missing, and whether edges lack labels. */
static void warn_left_out(const struct callgraph_fit *fit, double threshold, struct response *r)
{
	const struct callgraph_counts *c = &fit->counts;
	_cleanup_(buf_done) struct buf b = { 0 };

	if (!fit->reduced && c->shown == c->wanted)
		return;
	buf_init(&b);
	if (r->warning)
		buf_printf(&b, "%s; ", r->warning);
	if (fit->reduced)
		buf_printf(&b, "%s, so ", fit->why);
	buf_puts(&b, "the picture shows ");
	buf_put_grouped(&b, (int64_t)c->shown);
	buf_puts(&b, " of the ");
	buf_put_grouped(&b, (int64_t)c->wanted);
	buf_puts(&b, " functions");
	if (threshold > 0)
		buf_printf(&b, " with at least %g%%", threshold);
	buf_printf(&b, "%s; a higher threshold chooses fewer", fit->plain ? ", and arrows without words" : "");
	r->warning = arena_copy(&r->bytes, b.data, b.size);
}

/* `bare`: Graphviz's unmodified output, for a page with its own style and script. */
static int draw(const struct profile_query *a, struct graphviz *graphviz, bool bare, struct response *r, struct err *err)
{
	_cleanup_(callgraph_freep) struct callgraph *graph = NULL;
	_cleanup_(function_query_done) struct function_query f = { 0 };
	_cleanup_(buf_done) struct buf picture = { 0 };
	struct callgraph_options o;
	struct callgraph_fit fit;
	int code;

	callgraph_defaults(&o);
	o.max_nodes = NODES_MAX;
	o.column = a->column;
	o.before_column = a->before;
	o.compared = a->is_diff ? &a->diff : NULL;
	o.value_name = report_column_title(a->columns[a->chosen].name);
	if (a->view.threshold >= 0)
		o.threshold = a->view.threshold;
	if (a->view.function && (code = function_query(&f, a, err)) < 0)
		return code;
	o.focus = f.of;
	graph = callgraph_new(a->profile, &o, err);
	if (!graph)
		return -EINVAL;
	buf_init(&picture);
	code = callgraph_fit_draw(graphviz, graph, o.max_nodes, LAYOUT_SECONDS, clock_monotonic_ns() + LAYOUT_NS, &picture, &fit,
				  err);
	if (code < 0)
		return code;
	warn_left_out(&fit, o.threshold, r);
	if (bare)
		callgraph_bare_svg((struct str){ picture.data, picture.size }, &r->body);
	else
		callgraph_finish_svg((struct str){ picture.data, picture.size }, &r->body);
	return 0;
}

int api_callgraph_start(struct server_context *s, struct err *err)
{
	struct graphviz_limits limits = { (int)LAYOUT_SECONDS + 1, MEMORY_MAX, PICTURE_MAX };

	return graphviz_start("svg", &limits, &s->graphviz, err);
}

static void answer(struct server_context *s, struct graphviz *graphviz, const struct request *q, struct response *r)
{
	_cleanup_(profile_query_done) struct profile_query a = { 0 };
	struct err err = { 0 };
	int code = profile_query_parse(&a, q, &err);

	if (code < 0 || (code = profile_query_load(&a, s, &err)) < 0) {
		profile_query_refuse(r, q, code, &err);
		return;
	}
	profile_query_warn(&a, r);
	code = draw(&a, graphviz, !strncmp(q->path, "/api/", 5), r, &err);
	if (code < 0)
		profile_query_refuse(r, q, code, &err);
	else
		r->type = "image/svg+xml";
}

void api_callgraph(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(graphviz_freep) struct graphviz *graphviz = NULL;
	struct err err = { 0 };
	int code = s->graphviz ? 0 : api_callgraph_start(s, &err);

	graphviz = TAKE_PTR(s->graphviz);
	if (code < 0)
		response_error(r, q, 503, "%s", code == -ENOTSUP ? "this strobe was built without Graphviz, which lays call "
			       "graphs out" : err.text);
	else
		answer(s, graphviz, q, r);
}
