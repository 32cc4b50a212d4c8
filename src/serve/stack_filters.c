/* stack_filters.c: a pattern is tried once per name, and all stacks are copied once per filter.
 *
 * Stacks are filtered before they are grouped, since source lines belong to functions in any view. */

#include "stack_filters.h"

#include "mem.h"
#include "pattern.h"

static int new_pattern(const struct view_stack_filter *f, struct pattern **ret, struct err *err)
{
	struct err why = { 0 };

	if (pattern_new_search(f->text, f->ignore_case, ret, &why) < 0)
		return err_set(err, -EINVAL, "the filter %s%s=%.100s: %s", f->keep ? "keep" : "remove", f->ignore_case ? "-i" : "", f->text, why.text);
	return 0;
}

static bool matches(const struct pattern *pattern, const struct buf *name)
{
	return pattern_matches(pattern, name->data ? name->data : "");
}

/* Matches by node, using the names of frames. */
static bool *match_frames(const struct pattern *pattern, const struct profile *p, enum report_by by)
{
	_cleanup_(freep) bool *shown = by == REPORT_BY_OWN ? report_own_frames(p) : NULL;
	_cleanup_(freep) bool *of = report_no_frames(p);
	_cleanup_(buf_done) struct buf name = { 0 };

	buf_init(&name);
	for (uint32_t f = 0; f < p->frame_count; f++) {
		buf_reset(&name);
		report_group_name(p, f, by, &name);
		of[f] = (!shown || shown[f]) && matches(pattern, &name);
	}
	return report_nodes_of(p, of);
}

/* Matches by node, using the names of executed lines, each of which is tried once. */
static bool *match_lines(const struct pattern *pattern, const struct profile *p)
{
	_cleanup_(profile_freep) struct profile *lines = report_group(p, REPORT_BY_LINE);
	_cleanup_(freep) bool *of_line = report_no_frames(lines), *of_caller = report_lines_of_callers(p);
	_cleanup_(buf_done) struct buf name = { 0 };
	bool *of = xcalloc(p->node_count, sizeof(*of));

	buf_init(&name);
	for (uint32_t f = 0; f < lines->frame_count; f++) {
		buf_reset(&name);
		report_group_name(lines, f, REPORT_BY_FUNCTION, &name);
		of_line[f] = matches(pattern, &name);
	}
	for (uint32_t n = 1; n < p->node_count; n++) {
		if (of_caller[n])
			continue;
		buf_reset(&name);
		report_put_line(profile_file(p, p->node_frames[n]), profile_line(p, n), &name);
		of[n] = of_line[profile_frame(lines, (struct str){ name.data, name.size }, (struct str){ "", 0 }, 0)];
	}
	return of;
}

static bool *match(const struct pattern *pattern, const struct profile *p, enum report_by by)
{
	return by == REPORT_BY_LINE && report_has_lines(p) ? match_lines(pattern, p) : match_frames(pattern, p, by);
}

static bool has_any(const struct profile *p, const bool *of)
{
	for (uint32_t n = 0; n < p->node_count; n++)
		if (of[n])
			return true;
	return false;
}

static void replace(struct profile **p, bool keep, const bool *of)
{
	struct profile *kept = report_filter_nodes(*p, keep ? of : NULL, keep ? NULL : of);

	profile_free(*p);
	*p = kept;
}

/* Chooses one kind of name for both sides of a comparison: functions if the pattern matches no name that the view
 * shows. */
static enum report_by choose_names(const struct pattern *pattern, enum report_by by, struct profile **sides[2])
{
	bool any = by == REPORT_BY_FUNCTION;

	for (int i = 0; i < 2 && !any; i++) {
		_cleanup_(freep) bool *of = *sides[i] ? match(pattern, *sides[i], by) : NULL;

		any = of && has_any(*sides[i], of);
	}
	return any ? by : REPORT_BY_FUNCTION;
}

static void apply(const struct pattern *pattern, bool keep, enum report_by by, struct profile **sides[2])
{
	for (int i = 0; i < 2; i++) {
		_cleanup_(freep) bool *of = *sides[i] ? match(pattern, *sides[i], by) : NULL;

		if (of)
			replace(sides[i], keep, of);
	}
}

int stack_filters_apply(const struct view *v, struct profile **p, struct profile **before, struct err *err)
{
	struct pattern *patterns[VIEW_STACK_FILTERS] = { NULL };
	enum report_by names[VIEW_STACK_FILTERS];
	struct profile **sides[2] = { p, before };
	int r = 0;

	/* Chosen before the first filter is applied, since its result may have no name for the next. */
	for (size_t i = 0; i < v->stack_filter_count && r >= 0; i++)
		if ((r = new_pattern(&v->stack_filters[i], &patterns[i], err)) >= 0)
			names[i] = choose_names(patterns[i], v->by, sides);
	for (size_t i = 0; i < v->stack_filter_count; i++) {
		if (r >= 0)
			apply(patterns[i], v->stack_filters[i].keep, names[i], sides);
		pattern_free(patterns[i]);
	}
	return r;
}
