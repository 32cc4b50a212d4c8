/* diff_report.c: sums a difference by function, and sorts by change. */

#include "diff_report.h"

#include "mem.h"
#include "report.h"

#include <math.h>
#include <string.h>

/* Rows of one column by frame; the caller frees. */
static struct flat_row *by_frame(const struct profile *p, uint32_t column)
{
	struct flat_row *rows = xcalloc((size_t)p->frame_count + 1, sizeof(*rows));
	_cleanup_(freep) struct flat_row *sorted = NULL;
	size_t count;

	sorted = report_flat(p, column, REPORT_SORT_SELF, &count);
	for (size_t i = 0; i < count; i++)
		rows[sorted[i].frame] = sorted[i];
	return rows;
}

static double base_of(const struct diff_report *r)
{
	double measured = (double)report_whole(r->diff->profile, r->diff->measured) * r->diff->factor;

	return measured > 0 ? measured : r->after > 0 ? (double)r->after : 1;
}

/* `exact` is `before` before rounding. */
static struct diff_cell cell_of(const struct diff_report *r, int64_t before, int64_t after, double exact)
{
	double base = r->base, delta = (double)after - exact;
	double noise = exact != 0 || after ? diff_noise(r->diff, r->sigma, exact, (double)after, (double)r->after) : 0;

	return (struct diff_cell){
		.before = before, .after = after,
		.before_percent = 100 * exact / base,
		.after_percent = r->after > 0 ? 100 * (double)after / (double)r->after : 0,
		.change = 100 * delta / base, .noise = 100 * noise / base,
		.changed = fabs(delta) > noise,
	};
}

/* Rounding along the tree moves fractions between functions, so the exact value is scaled here. Truncation stays if
 * it was requested. */
static int64_t before_of(const struct diff *d, int64_t before, int64_t measured)
{
	return d->truncated ? before : profile_scaled(&d->scaling, measured);
}

static void scale_rows(const struct diff *d, const struct flat_row *measured, struct flat_row *before)
{
	for (uint32_t i = 0; i < d->profile->frame_count; i++) {
		before[i].self = before_of(d, before[i].self, measured[i].self);
		before[i].total = before_of(d, before[i].total, measured[i].total);
	}
}

static void add_rows(struct diff_report *r)
{
	const struct diff *d = r->diff;
	const struct profile *p = d->profile;
	_cleanup_(freep) struct flat_row *before = by_frame(p, d->before), *after = by_frame(p, d->after);
	_cleanup_(freep) struct flat_row *measured = by_frame(p, d->measured);

	scale_rows(d, measured, before);
	for (uint32_t i = 0; i < p->frame_count; i++)
		r->compared += before[i].total || after[i].total || before[i].self || after[i].self ||
			measured[i].total;
	r->sigma = r->options->sigma > 0 ? r->options->sigma : diff_sigma(r->compared);
	r->all = cell_of(r, before_of(d, report_sum(p, d->before), report_sum(p, d->measured)), report_sum(p, d->after),
			 (double)report_sum(p, d->measured) * d->factor);
	for (uint32_t i = 0; i < p->frame_count; i++) {
		struct diff_row row = { .frame = i };

		if (!before[i].total && !after[i].total && !before[i].self && !after[i].self && !measured[i].total)
			continue;
		row.self_measured = measured[i].self;
		row.total_measured = measured[i].total;
		row.self = cell_of(r, before[i].self, after[i].self, (double)measured[i].self * d->factor);
		row.total = cell_of(r, before[i].total, after[i].total, (double)measured[i].total * d->factor);
		row.total.at_most = before[i].at_most || after[i].at_most || measured[i].at_most;
		if (!row.self.changed && !row.total.changed) {
			r->quiet++;
			if (!r->options->all)
				continue;
		}
		r->rows[r->count++] = row;
	}
}

static int compare(const void *a, const void *b, void *data)
{
	const struct diff_row *x = a, *y = b;
	const struct diff_report *r = data;
	bool by_total = r->options->sort == REPORT_SORT_TOTAL, by_name = r->options->sort == REPORT_SORT_NAME;
	double x1 = fabs(by_total ? x->total.change : x->self.change),
		x2 = fabs(by_total ? x->self.change : x->total.change);
	double y1 = fabs(by_total ? y->total.change : y->self.change),
		y2 = fabs(by_total ? y->self.change : y->total.change);

	if (!by_name && x1 != y1)
		return x1 > y1 ? -1 : 1;
	if (!by_name && x2 != y2)
		return x2 > y2 ? -1 : 1;
	return profile_compare_frames(r->diff->profile, x->frame, y->frame);
}

void diff_report_init(struct diff_report *r, const struct diff *d, const struct diff_report_options *o)
{
	*r = (struct diff_report){ .diff = d, .options = o };
	r->whole_measured = report_whole(d->profile, d->measured);
	r->before = before_of(d, report_whole(d->profile, d->before), r->whole_measured);
	r->after = report_whole(d->profile, d->after);
	r->base = base_of(r);
	r->rows = xcalloc((size_t)d->profile->frame_count + 1, sizeof(*r->rows));
	add_rows(r);
	qsort_r(r->rows, r->count, sizeof(*r->rows), compare, r);
}

void diff_report_done(struct diff_report *r)
{
	free(r->rows);
	*r = (struct diff_report){ 0 };
}

bool diff_report_grew(const struct diff_report *r, double percent, uint32_t *ret_frame, double *ret_change)
{
	bool grew = r->all.changed && r->all.change > percent;

	*ret_frame = UINT32_MAX;
	*ret_change = grew ? r->all.change : percent;
	for (size_t i = 0; i < r->count && !grew; i++) {
		const struct diff_row *row = &r->rows[i];
		const struct diff_cell *c = row->total.at_most ? &row->self : &row->total;

		if (!c->changed || c->change <= *ret_change)
			continue;
		*ret_frame = r->rows[i].frame;
		*ret_change = c->change;
	}
	return grew || *ret_frame != UINT32_MAX;
}
