/* diff_check.c: checks that two profiles are comparable, and estimates the noise of a difference.
 *
 * If n of N samples hit a function, another N samples would hit it a different number of times: the standard error of
 * n is sqrt(n (1 - n/N)). This assumes that samples are independent. If one slow request has many, they are not, so
 * the estimate is a lower limit.
 */

#include "diff.h"

#include "amount.h"
#include "mem.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define FEW_SAMPLES	200	/* the error of a share of one half is then 3.5 points */

static bool has_both(const struct profile *a, const struct profile *b, const char *name, uint32_t *ret_a,
		     uint32_t *ret_b)
{
	uint32_t in_a = profile_find_column(a, name), in_b = profile_find_column(b, name);

	if (in_a == UINT32_MAX || in_b == UINT32_MAX)
		return false;
	*ret_a = in_a;
	*ret_b = in_b;
	return true;
}

void diff_columns(const struct profile *a, const struct profile *b, const char *wanted, uint32_t *ret_a,
		  uint32_t *ret_b)
{
	*ret_a = profile_pick_column(a, wanted);
	*ret_b = profile_pick_column(b, wanted);
	if (wanted || *ret_a == UINT32_MAX || *ret_b == UINT32_MAX ||
	    !strcmp(a->columns[*ret_a].name, b->columns[*ret_b].name))
		return;
	if (has_both(a, b, a->columns[*ret_a].name, ret_a, ret_b) ||
	    has_both(a, b, b->columns[*ret_b].name, ret_a, ret_b))
		return;
	for (uint32_t i = 0; i < a->column_count; i++)
		if (has_both(a, b, a->columns[i].name, ret_a, ret_b))
			return;
}

/* Tells whether this is the first of two counts of a difference. */
static bool is_before(const char *name)
{
	return !strcmp(name, "before") || !strcmp(name, "before_measured");
}

/* Columns of samples have weight 1, times made of samples the time of one sample. The two counts of a folded
 * difference are also treated as samples, which they mostly are. */
double diff_sample_weight(const struct profile *p, uint32_t column)
{
	const struct profile_column *c = &p->columns[column];
	uint32_t samples = profile_find_column(p, "samples");
	int64_t count;

	if (column == samples || is_before(c->name) || !strcmp(c->name, "after"))
		return !strcmp(c->unit, "count") || profile_scale(p, column) != 1 ? (double)profile_scale(p, column) : 0;
	if (samples == UINT32_MAX || strcmp(c->unit, "nanoseconds"))
		return 0;
	count = profile_sum(p, samples);
	return count > 0 ? (double)profile_sum(p, column) / (double)count * (double)profile_scale(p, samples) : 0;
}

double diff_error(const struct diff *d, double before, double after, double whole_after)
{
	double wa = d->before_weight, wb = d->after_weight, expected, variance, apart;

	if (d->unfiltered_after > 0)
		whole_after = d->unfiltered_after;
	before = before > 0 ? before : 0;
	after = after > 0 ? after : 0;
	if (wa <= 0 && wb <= 0)
		return 0;
	/* The share that both would have if nothing had changed, estimated from both together. */
	if (wa <= 0)
		expected = before;
	else if (wb <= 0)
		expected = after;
	else
		expected = (before / wa + after / wb) / (1 / wa + 1 / wb);
	variance = expected * (wa + wb);
	/* With few samples on one side, this is too optimistic. */
	apart = before * wa + after * wb;
	variance = apart > variance ? apart : variance;
	if (d->shares && whole_after > 0)
		variance *= expected < whole_after ? 1 - expected / whole_after : 0;
	return sqrt(variance);
}

double diff_noise(const struct diff *d, double sigma, double before, double after, double whole_after)
{
	return sigma * diff_error(d, before, after, whole_after) + (d->before_weight + d->after_weight) / 2;
}

double diff_sigma(size_t count)
{
	double sigma = 1.96;

	while (sigma < 8 && erfc(sigma / sqrt(2)) * (double)count > 0.05)
		sigma += 0.01;
	return sigma;
}

double diff_usual_sigma(const struct diff *d)
{
	const struct profile *p = d->profile;
	const int64_t *values[] = { p->columns[d->before].self, p->columns[d->after].self, p->columns[d->measured].self };
	_cleanup_(freep) bool *nodes = xcalloc((size_t)p->node_count + 1, sizeof(*nodes)), *frames = xcalloc((size_t)p->frame_count + 1, sizeof(*frames));
	size_t count = 0;

	for (uint32_t n = p->node_count; n-- > 1;) {
		nodes[n] |= values[0][n] || values[1][n] || values[2][n];
		nodes[p->parents[n]] |= nodes[n];
		count += nodes[n] && !frames[p->node_frames[n]];
		frames[p->node_frames[n]] |= nodes[n];
	}
	return diff_sigma(count);
}

double diff_total_after(const struct diff *d)
{
	return d->unfiltered_after > 0 ? d->unfiltered_after : (double)profile_sum(d->profile, d->after);
}

/* --- Warnings --- */

static void _printf_(3, 4) warn(struct diff_warnings *all, bool fatal, const char *format, ...)
{
	struct diff_warning *d = &all->items[all->count];
	va_list arguments;

	if (all->count == ARRAY_SIZE(all->items))
		return;
	all->count++;
	d->fatal = fatal;
	va_start(arguments, format);
	vsnprintf(d->text, sizeof(d->text), format, arguments);
	va_end(arguments);
}

static const char *clock_of(const struct profile *p)
{
	const char *clock = labels_get(&p->labels, "clock");

	return !clock ? NULL : !strcmp(clock, "cpu") ? "CPU time" : !strcmp(clock, "wall") ? "the wall clock" : clock;
}

static void check_columns(const struct profile_column *a, const char *name_a, const struct profile_column *b,
			  const char *name_b, struct diff_warnings *all)
{
	if (strcmp(a->unit, b->unit))
		warn(all, true, "'%s' counts %s (%s) and '%s' %s (%s)", name_a, a->name, a->unit, name_b, b->name,
		     b->unit);
	else if (strcmp(a->name, b->name) && !(is_before(a->name) && !strcmp(b->name, "after")))
		warn(all, true, "'%s' counts %s and '%s' %s", name_a, a->name, name_b, b->name);
}

static void check_periods(const struct profile *a, const char *name_a, const struct profile *b, const char *name_b,
			  enum diff_scale scale, struct diff_warnings *all)
{
	_cleanup_(buf_done) struct buf period_a = { 0 }, period_b = { 0 };
	bool fatal = scale != DIFF_BY_TOTAL;

	if (a->mixed_periods || b->mixed_periods) {
		warn(all, fatal, "'%s' has samples of several periods, which do not weigh the same",
		     a->mixed_periods ? name_a : name_b);
		return;
	}
	if (!a->period_ns || !b->period_ns || a->period_ns == b->period_ns)
		return;
	buf_init(&period_a);
	buf_init(&period_b);
	amount_put(&period_a, a->period_ns, AMOUNT_TIME);
	amount_put(&period_b, b->period_ns, AMOUNT_TIME);
	warn(all, fatal, "'%s' was sampled every %s and '%s' every %s: %s", name_a, period_a.data, name_b,
	     period_b.data,
	     fatal ? "their sample counts are not comparable; compare shares by --normalize total, or time by --column" :
		     "only shares are compared");
}

static void check_size(const struct profile *p, uint32_t column, const char *name, struct diff_warnings *all)
{
	double weight = diff_sample_weight(p, column), samples;

	if (weight <= 0)
		return;
	samples = (double)profile_sum(p, column) / weight;
	if (samples >= 1 && samples < FEW_SAMPLES)
		warn(all, false, "'%s' has only %.0f sample%s: a share of one half may be off by %.0f points by chance",
		     name, samples, samples < 1.5 ? "" : "s", 100 * 1.96 * sqrt(0.25 / samples));
}

void diff_check(const struct profile *a, uint32_t column_a, const char *name_a, const struct profile *b,
		uint32_t column_b, const char *name_b, enum diff_scale scale, struct diff_warnings *ret)
{
	const char *clock_a = clock_of(a), *clock_b = clock_of(b);
	double weight_a = diff_sample_weight(a, column_a), weight_b = diff_sample_weight(b, column_b);
	bool are_samples = !strcmp(a->columns[column_a].name, "samples");

	ret->count = 0;
	check_columns(&a->columns[column_a], name_a, &b->columns[column_b], name_b, ret);
	if (clock_a && clock_b && are_samples && strcmp(clock_a, clock_b))
		warn(ret, true, "'%s' was sampled by %s and '%s' by %s", name_a, clock_a, name_b, clock_b);
	if (are_samples)
		check_periods(a, name_a, b, name_b, scale, ret);
	if ((weight_a > 0) != (weight_b > 0))
		warn(ret, false, "'%s' was sampled and '%s' was not: the difference includes the overhead of measuring "
		      "each call", weight_a > 0 ? name_a : name_b, weight_a > 0 ? name_b : name_a);
	check_size(a, column_a, name_a, ret);
	check_size(b, column_b, name_b, ret);
}
