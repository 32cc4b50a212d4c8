/* sides.c: loads both profiles, and selects the columns to compare. */

#include "sides.h"

#include "mem.h"

#include <string.h>

const char *const sides_scale_names[] = {
	[DIFF_AS_IT_IS] = "none", [DIFF_BY_TOTAL] = "total", [DIFF_BY_RATE] = "rate", [DIFF_BY_REQUESTS] = "requests", NULL
};

static const char *name_of(const char *file)
{
	return strcmp(file, "-") ? file : "standard input";
}

int sides_load(struct sides *s, const struct command_spec *spec, const struct format_options *o, char **files, bool keep_names)
{
	int code;

	if (!strcmp(files[0], "-") && !strcmp(files[1], "-"))
		return command_usage(spec, "only one of A and B can be standard input");
	if ((code = inputs_load_as(&s->a, spec, o, files, 1)) || (code = inputs_load_as(&s->b, spec, o, files + 1, 1)))
		return code;
	if (!keep_names) {
		inputs_show_names(&s->a);
		inputs_show_names(&s->b);
	}
	s->before = s->a.profile;
	s->after = s->b.profile;
	snprintf(s->name_before, sizeof(s->name_before), "%.199s", name_of(files[0]));
	snprintf(s->name_after, sizeof(s->name_after), "%.199s", name_of(files[1]));
	return 0;
}

static void name_side(const char *url, bool is_before, const struct profile *p, char *ret, size_t size)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	profile_url_name_side(url, is_before, p, &b);
	if (b.size)
		snprintf(ret, size, "%.190s", b.data);
	else
		snprintf(ret, size, "%.180s, %s", url, is_before ? "before" : "after");
}

int sides_load_address(struct sides *s, const struct command_spec *spec, const struct format_options *o, const char *url, bool keep_names)
{
	_cleanup_(freep) char *whole = profile_url_without_filters(url);
	int code;

	s->urls[0] = profile_url_side(url, "before");
	s->urls[1] = profile_url_side(url, "after");
	code = sides_load(s, spec, o, s->urls, keep_names);
	if (!code && whole) {
		s->unfiltered = xcalloc(1, sizeof(*s->unfiltered));
		code = sides_load_address(s->unfiltered, spec, o, whole, keep_names);
		s->whole_before = s->unfiltered->before;
		s->whole_after = s->unfiltered->after;
	}
	if (code)
		return code;
	name_side(url, true, s->before, s->name_before, sizeof(s->name_before));
	name_side(url, false, s->after, s->name_after, sizeof(s->name_after));
	return 0;
}

/* A difference scaled by the page or the API also contains the measured values: those are compared, and scaled again
 * in the same way. */
static void take_measured(struct sides *s)
{
	uint32_t measured = profile_find_column(s->before, "before_measured");
	struct profile *like;

	if (measured == UINT32_MAX || profile_sum(s->before, s->column_before) <= 0)
		return;
	like = diff_outline(s->before);		/* its first node has the totals of the outermost functions */
	profile_add(like, PROFILE_ROOT + 1, s->column_after, profile_sum(s->before, s->column_before) - profile_sum(s->before, s->column_after));
	s->unfiltered = xcalloc(1, sizeof(*s->unfiltered));
	s->unfiltered->a.profile = like;
	s->whole_after = like;
	s->column_before = measured;
	s->is_scaled = true;
}

bool sides_take_difference(struct sides *s, const char *file)
{
	const struct profile *p = s->a.profile;
	uint32_t before = profile_find_column(p, "before"), after = profile_find_column(p, "after");

	if (before == UINT32_MAX || after == UINT32_MAX)
		return false;
	s->before = s->after = p;
	s->column_before = before;
	s->column_after = after;
	snprintf(s->name_before, sizeof(s->name_before), "%.180s, first count", name_of(file));
	snprintf(s->name_after, sizeof(s->name_after), "%.180s, second count", name_of(file));
	s->is_difference = true;
	take_measured(s);
	return true;
}

int sides_columns(struct sides *s, const struct command_spec *spec, const char *wanted)
{
	uint32_t unused;
	int code;

	if (!wanted && *s->a.column && !strcmp(s->a.column, s->b.column))
		wanted = s->a.column;
	diff_columns(s->before, s->after, wanted, &s->column_before, &s->column_after);
	if (s->column_before != UINT32_MAX && s->column_after != UINT32_MAX)
		diff_align(s->a.profile, s->column_before, s->b.profile, s->column_after);
	if (wanted && ((s->before->column_count && (code = inputs_column(&s->a, spec, wanted, &unused))) ||
		       (s->after->column_count && (code = inputs_column(&s->b, spec, wanted, &unused)))))
		return code;
	return 0;
}

bool sides_are_sampled(const struct sides *s)
{
	return diff_sample_weight(s->before, s->column_before) > 0 && diff_sample_weight(s->after, s->column_after) > 0;
}

int sides_check(const struct sides *s, const struct command_spec *spec, enum diff_scale scale, bool force, bool quiet)
{
	struct diff_warnings doubts;
	struct err err = { 0 };

	diff_check(s->before, s->column_before, s->name_before, s->after, s->column_after, s->name_after, scale, &doubts);
	for (size_t i = 0; i < doubts.count; i++) {
		if (doubts.items[i].fatal && !force) {
			err_set(&err, -EINVAL, "the profiles cannot be compared: %s; `strobe diff --force` compares them anyway",
				doubts.items[i].text);
			return command_fail(spec, &err);
		}
		if (!quiet || doubts.items[i].fatal)
			fprintf(stderr, "strobe %s: %s\n", spec->name, doubts.items[i].text);
	}
	return 0;
}

const char *sides_metric(const struct sides *s)
{
	const struct profile_column *c = &s->after->columns[s->column_after];

	if (!s->is_difference && strcmp(c->name, "after") && strcmp(c->name, "before"))
		return c->name;
	return !strcmp(c->unit, "nanoseconds") ? "time" : !strcmp(c->unit, "bytes") ? "memory" : "samples";
}

size_t sides_metrics(const struct sides *s, const struct diff *first, const struct diff_options *o, struct diff *ret, struct page_metric *metrics)
{
	size_t n = 0;

	metrics[n++] = (struct page_metric){ first, s->after->columns[s->column_after].name };
	for (uint32_t c = 0; c < s->after->column_count && n < SIDES_METRICS; c++) {
		uint32_t before = profile_find_column(s->before, s->after->columns[c].name);
		struct err err = { 0 };

		if (c == s->column_after || before == UINT32_MAX ||
		    profile_diff(s->before, before, s->after, c, o, &ret[n], &err) < 0)
			continue;
		metrics[n] = (struct page_metric){ &ret[n], s->after->columns[c].name };
		n++;
	}
	return n;
}

void sides_done(struct sides *s)
{
	inputs_done(&s->a);
	inputs_done(&s->b);
	if (s->unfiltered)
		sides_done(s->unfiltered);
	free(s->unfiltered);
	free(s->urls[0]);
	free(s->urls[1]);
}
