/* lines.c: regroups stacks by executed line.
 *
 * PHP's own functions and native code have no source to show: their values belong to the line that called them.
 * Callers of the first line, such as C code before main, stay unchanged. */

#include "report.h"

#include "mem.h"
#include "same_kind.h"

#include <string.h>

/* A function of PHP or Perl with an unknown line still has a definition. */
static bool belongs_to_caller(const struct profile *p, uint32_t node, const bool *in_source)
{
	return !profile_line(p, node) && !p->frames[p->node_frames[node]].line && in_source[p->parents[node]];
}

bool *report_lines_of_callers(const struct profile *p)
{
	_cleanup_(freep) bool *in_source = xcalloc(p->node_count, sizeof(*in_source));
	bool *ret = xcalloc(p->node_count, sizeof(*ret));

	for (uint32_t n = 1; n < p->node_count; n++) {
		ret[n] = belongs_to_caller(p, n, in_source);
		in_source[n] = in_source[p->parents[n]] || profile_line(p, n) || p->frames[p->node_frames[n]].line;
	}
	return ret;
}

struct profile *report_lines(const struct profile *p, bool functions)
{
	_cleanup_(freep) uint32_t *nodes = xcalloc(p->node_count, sizeof(*nodes));
	_cleanup_(freep) bool *in_source = xcalloc(p->node_count, sizeof(*in_source));
	struct profile *r = same_kind(p);

	copy_values(r, PROFILE_ROOT, p, PROFILE_ROOT);
	for (uint32_t n = 1; n < p->node_count; n++) {
		uint32_t f = p->node_frames[n], parent = p->parents[n];

		if (belongs_to_caller(p, n, in_source)) {
			nodes[n] = nodes[parent];
			in_source[n] = true;
		} else {
			struct str name = functions ? profile_name(p, f) : (struct str){ "", 0 };

			in_source[n] = in_source[parent] || profile_line(p, n) || p->frames[f].line;
			nodes[n] = profile_child(r, nodes[parent],
						 profile_frame(r, name, profile_file(p, f), profile_line(p, n)));
		}
		copy_values(r, nodes[n], p, n);
	}
	return r;
}
