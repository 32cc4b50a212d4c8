/* stack_filters.c: a pattern is tried once per name, and all stacks are copied once per filter. */

#include "stack_filters.h"

#include "mem.h"
#include "pattern.h"

/* Anywhere in the name, as searches of the page are. */
static int new_pattern(const struct view_stack_filter *f, struct pattern **ret, struct err *err)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	struct err why = { 0 };

	buf_init(&text);
	buf_printf(&text, "%s.*(?:%s).*", f->ignore_case ? "(?i)" : "", f->text);
	if (pattern_new(text.data, ret, &why) < 0)
		return err_set(err, -EINVAL, "%s%s=%.100s: %s", f->keep ? "keep" : "remove", f->ignore_case ? "-i" : "", f->text, why.text);
	return 0;
}

static bool *match(const struct pattern *pattern, const struct profile *p)
{
	_cleanup_(buf_done) struct buf name = { 0 };
	bool *of = report_no_frames(p);

	buf_init(&name);
	for (uint32_t f = 0; f < p->frame_count; f++) {
		struct str s = profile_name(p, f);

		buf_reset(&name);
		buf_put(&name, s.p, s.n);
		of[f] = pattern_matches(pattern, name.data ? name.data : "");
	}
	return of;
}

int stack_filters_apply(const struct view *v, struct profile **p, struct err *err)
{
	for (size_t i = 0; i < v->stack_filter_count; i++) {
		const struct view_stack_filter *f = &v->stack_filters[i];
		_cleanup_(freep) bool *of = NULL;
		struct pattern *pattern = NULL;
		struct profile *kept;
		int r = new_pattern(f, &pattern, err);

		if (r < 0)
			return r;
		of = match(pattern, *p);
		pattern_free(pattern);
		kept = report_filter(*p, f->keep ? of : NULL, f->keep ? NULL : of);
		profile_free(*p);
		*p = kept;
	}
	return 0;
}
