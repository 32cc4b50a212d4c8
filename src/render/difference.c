/* difference.c: draws changes: widths, colors and text. */

#include "difference.h"

#include "amount.h"
#include "diff.h"
#include "mem.h"
#include "saturate.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Minimum share of the strongest color: for the least certain change, and for one that may be noise. */
#define CERTAIN_STRENGTH	0.3
#define CHANCE_STRENGTH		0.12

const char *const flamegraph_width_names[] = {
	[WIDTH_OF_MAXIMUM] = "maximum", [WIDTH_OF_AFTER] = "after", [WIDTH_OF_BEFORE] = "before",
	[WIDTH_OF_DIFFERENCE] = "difference", NULL
};

const char *const flamegraph_delta_names[] = { [DELTA_INCLUSIVE] = "inclusive", [DELTA_SELF] = "self", NULL };

static int64_t above_zero(int64_t v)
{
	return v > 0 ? v : 0;
}

static int64_t self_of(const struct picture_difference *d, uint32_t column, uint32_t node)
{
	return d->p->columns[column].self[node];
}

static int64_t width_of(const struct picture_difference *d, uint32_t node)
{
	int64_t before = above_zero(self_of(d, d->o->before_column, node));
	int64_t after = above_zero(self_of(d, d->o->column, node));

	switch (d->o->width_of) {
	case WIDTH_OF_AFTER:
		return after;
	case WIDTH_OF_BEFORE:
		return before;
	case WIDTH_OF_DIFFERENCE:
		return after > before ? after - before : before - after;
	case WIDTH_OF_MAXIMUM:
		break;
	}
	return after > before ? after : before;
}

void difference_init(struct picture_difference *d)
{
	if (!d->o->compared)
		return;
	d->sigma = diff_usual_sigma(d->o->compared);
	d->whole_after = diff_total_after(d->o->compared);
}

struct picture_difference *difference_new(const struct profile *p, const struct flamegraph_options *o)
{
	struct picture_difference *d;

	if (o->before_column == UINT32_MAX || o->column == UINT32_MAX)
		return NULL;
	d = xcalloc(1, sizeof(*d));
	d->p = p;
	d->o = o;
	difference_init(d);
	d->before = profile_totals(p, o->before_column);
	d->measured = profile_totals(p, profile_measured(p, o->before_column));
	for (uint32_t n = 0; n < p->node_count && p->columns[o->before_column].scaling.denominator; n++)
		d->before[n] = profile_scaled(&p->columns[o->before_column].scaling, d->measured[n]);
	d->after = profile_totals(p, o->column);
	d->widths = xcalloc(p->node_count, sizeof(*d->widths));
	for (uint32_t n = 0; n < p->node_count; n++)
		d->widths[n] = width_of(d, n);
	return d;
}

struct picture_difference *difference_free(struct picture_difference *d)
{
	if (!d)
		return NULL;
	free(d->before);
	free(d->measured);
	free(d->after);
	free(d->widths);
	free(d);
	return NULL;
}

/* --- Colors --- */

struct sides {
	double before, after;
};

static struct sides sides_of(const struct picture_difference *d, uint32_t node)
{
	const struct profile_scaling *scaling = &d->p->columns[d->o->before_column].scaling;

	if (d->o->delta == DELTA_SELF)
		return (struct sides){ (double)profile_scaled(scaling, self_of(d, profile_measured(d->p, d->o->before_column), node)),
				       (double)self_of(d, d->o->column, node) };
	return (struct sides){ (double)d->before[node], (double)d->after[node] };
}

static bool is_chance(const struct picture_difference *d, double before, double after)
{
	return d->o->compared && fabs(after - before) <= diff_noise(d->o->compared, d->sigma, before, after, d->whole_after);
}

static double certain_change(const struct picture_difference *d, double before, double after)
{
	return is_chance(d, before, after) ? 0 : fabs(after - before);
}

void difference_note(struct picture_difference *d, double before, double after)
{
	d->most = fmax(d->most, certain_change(d, before, after));
}

void difference_put_chance(const struct diff *d, struct json *j)
{
	if (d->before_weight <= 0 && d->after_weight <= 0)
		return;
	json_key(j, "chance");
	json_open_array(j);
	json_double(j, diff_usual_sigma(d));
	json_double(j, d->before_weight);
	json_double(j, d->after_weight);
	json_double(j, d->shares ? diff_total_after(d) : 0);
	json_end(j);
}

void difference_scale(struct picture_difference *d, const struct layout *l)
{
	d->most = 0;
	for (size_t i = 0; i < l->count; i++) {
		struct sides s = sides_of(d, l->boxes[i].node);

		difference_note(d, s.before, s.after);
	}
}

/* Uses the square root of the share, so that a tenth of the largest change is visible, too. The page's script does
 * the same. */
static double strength_of(const struct picture_difference *d, double before, double after)
{
	double change = certain_change(d, before, after), strength = d->most > 0 ? fmin(1, sqrt(change / d->most)) : 0;

	if (before == after || (!d->o->compared && d->most <= 0))
		return 0;
	return !d->o->compared ? strength : change > 0 ? fmax(strength, CERTAIN_STRENGTH) : CHANCE_STRENGTH;
}

struct rgb difference_shade(const struct picture_difference *d, double before, double after, int gray)
{
	static const struct rgb more = { 230, 97, 1 }, less = { 43, 123, 186 };
	struct rgb end = (after > before) != d->o->negate ? more : less;
	double strength = strength_of(d, before, after);

	return (struct rgb){
		(int)floor(gray + (end.r - gray) * strength + 0.5),
		(int)floor(gray + (end.g - gray) * strength + 0.5),
		(int)floor(gray + (end.b - gray) * strength + 0.5),
	};
}

struct rgb difference_color(const struct picture_difference *d, const struct layout_box *box)
{
	struct sides s = sides_of(d, box->node);

	if (strength_of(d, s.before, s.after) == 0)
		return (struct rgb){ 240, 240, 240 };
	return difference_shade(d, s.before, s.after, 245);
}

/* --- Text --- */

static int64_t shown(int64_t v, double factor)
{
	double product = rint((double)v * factor);

	if (factor == 1)
		return v;
	return product >= 9e18 ? INT64_MAX : product <= -9e18 ? INT64_MIN : (int64_t)product;
}

static void put_amount(const struct picture_difference *d, int64_t v, const char *count_name, struct buf *out)
{
	enum amount_unit unit = amount_unit(d->p->columns[d->o->column].unit);

	amount_put(out, shown(v, d->o->factor), count_name && unit != AMOUNT_MILLIONTHS ? AMOUNT_COUNT : unit);
}

static void put_signed(double v, const char *unit, struct buf *out)
{
	buf_putc(out, v < 0 ? '-' : '+');
	buf_put_fixed(out, fabs(v), 2);
	buf_puts(out, unit);
}

/* Puts "+405, +81.82%, +24.55 points", or "+405, new, …". */
static void put_delta(const struct picture_difference *d, const struct picture_change *c, bool self,
		      const char *count_name, struct buf *out)
{
	int64_t before = self ? c->self_before : c->before;
	int64_t delta = saturating_difference(self ? c->self_after : c->after, before);
	double base = (double)(c->whole_before > 0 ? c->whole_before : c->whole_after);

	if (delta == 0) {
		buf_puts(out, "no change");
		return;
	}
	buf_puts(out, delta > 0 ? "+" : "");
	put_amount(d, delta, count_name, out);
	buf_puts(out, ", ");
	if (before == 0)
		buf_puts(out, "new");
	else
		put_signed(100 * (double)delta / (double)before, "%", out);
	if (base <= 0)
		return;
	buf_puts(out, ", ");
	put_signed(100 * (double)delta / base, " points", out);
}

static void put_side(const struct picture_difference *d, int64_t v, double share, bool at_most,
		     const char *count_name, struct buf *out)
{
	buf_puts(out, at_most ? RENDER_AT_MOST : "");
	put_amount(d, v, count_name, out);
	if (count_name) {
		buf_putc(out, ' ');
		text_put_xml(out, (struct str){ count_name, strlen(count_name) });
	}
	buf_puts(out, at_most ? ", " RENDER_AT_MOST : ", ");
	buf_put_fixed(out, 100 * share, 2);
	buf_putc(out, '%');
}

double difference_share(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

struct picture_change difference_of(const struct picture_difference *d, uint32_t node)
{
	const struct profile_scaling *scaling = &d->p->columns[d->o->before_column].scaling;
	int64_t self = self_of(d, profile_measured(d->p, d->o->before_column), node), whole = d->measured[PROFILE_ROOT];

	return (struct picture_change){
		.before = d->before[node], .after = d->after[node],
		.self_before = profile_scaled(scaling, self), .self_after = self_of(d, d->o->column, node),
		.share_before = difference_share(d->measured[node], whole), .self_share_before = difference_share(self, whole),
		.whole_before = d->before[PROFILE_ROOT], .whole_after = d->after[PROFILE_ROOT],
	};
}

void difference_put_words(const struct picture_difference *d, const struct picture_change *c, const char *count_name,
			  struct buf *out)
{
	buf_puts(out, "before ");
	put_side(d, c->before, c->share_before, c->at_most, count_name, out);
	buf_puts(out, "; after ");
	put_side(d, c->after, difference_share(c->after, c->whole_after), c->at_most, count_name, out);
	buf_puts(out, "; ");
	put_delta(d, c, false, count_name, out);
	if (!c->self_before && !c->self_after)
		return;
	if (c->self_before == c->before && c->self_after == c->after) {
		buf_puts(out, "; all of it self");
		return;
	}
	buf_puts(out, "; self before ");
	put_side(d, c->self_before, c->self_share_before, false, NULL, out);
	buf_puts(out, ", after ");
	put_side(d, c->self_after, difference_share(c->self_after, c->whole_after), false, NULL, out);
	buf_puts(out, ": ");
	put_delta(d, c, true, count_name, out);
}

void difference_put_note(const struct picture_difference *d, struct buf *out)
{
	static const char *const widths[] = {
		[WIDTH_OF_MAXIMUM] = "the larger of before and after", [WIDTH_OF_AFTER] = "after",
		[WIDTH_OF_BEFORE] = "before", [WIDTH_OF_DIFFERENCE] = "how much changed",
	};

	buf_puts(out, d->o->negate ? "Blue" : "Orange");
	buf_puts(out, d->o->delta == DELTA_SELF ? " took more itself than before, " : " is more than before, ");
	buf_puts(out, d->o->negate ? "orange" : "blue");
	buf_puts(out, d->o->delta == DELTA_SELF ? " less" : " is less");
	buf_puts(out, "; widths are ");
	buf_puts(out, widths[d->o->width_of]);
	if (d->p && d->p->columns[d->o->before_column].scaling.denominator) {
		const struct profile_scaling *s = &d->p->columns[d->o->before_column].scaling;

		buf_printf(out, "; before is multiplied by %.4g", (double)s->numerator / (double)s->denominator);
	}
}
