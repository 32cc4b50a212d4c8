/* demangle_profile.c: replaces the names of frames, and merges those that have become equal. */
#include "demangle_profile.h"

#include "chart.h"
#include "demangle.h"
#include "mem.h"

void demangle_profile(struct profile *p)
{
	_cleanup_(freep) uint32_t *frames = xcalloc((size_t)p->frame_count + 1, sizeof(*frames)), *nodes = NULL;
	_cleanup_(buf_done) struct buf name = { 0 };
	struct profile *q = NULL, old;

	buf_init(&name);
	for (uint32_t i = 0, count = p->frame_count; i < count; i++) {
		frames[i] = i;
		buf_reset(&name);
		if (!demangle_put(&name, profile_name(p, i)))
			continue;
		q = q ? q : profile_new_like(p);
		frames[i] = profile_frame(q, (struct str){ name.data, name.size }, profile_file(p, i), p->frames[i].line);
	}
	if (!q)
		return;
	nodes = xcalloc(p->node_count, sizeof(*nodes));
	profile_add_node(q, PROFILE_ROOT, p, PROFILE_ROOT);
	for (uint32_t n = 1; n < p->node_count; n++) {
		nodes[n] = profile_child_at(q, nodes[p->parents[n]], frames[p->node_frames[n]], profile_line(p, n));
		profile_add_node(q, nodes[n], p, n);
	}
	q->named_columns = p->named_columns;
	q->chart = p->chart ? chart_copy(p->chart, q, nodes) : NULL;
	old = *p;
	*p = *q;
	*q = old;
	profile_free(q);
}
