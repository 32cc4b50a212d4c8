/* frames.c: writes frames as SVG elements, at flamegraph.pl's coordinates.
 *
 * Chromium takes 30 µs to read one frame's elements, which is 2.3 s for 76,000 of them. So in a large picture only
 * the widest are elements; the others, too narrow for a label, are paths: one for each color, and one for all frames
 * narrower than a pixel. The script gets their names from the table.
 */

#include "picture.h"

#include "groups.h"
#include "mem.h"
#include "palette_map.h"
#include "short_name.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS_MAX	10000	/* these take 0.3 s to open */

/* In a larger picture, only frames with room for a label are elements, within these bounds. */
#define ELEMENTS_FEWEST	600
#define ELEMENTS_MOST	2000

#define LABEL_LEAST	3	/* characters */

static int widest_first(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x > y ? -1 : x < y;
}

int64_t picture_element_min(const struct layout *l, double labeled)
{
	int64_t *values, min;
	size_t rank = 0;

	if (l->drawn <= ELEMENTS_MAX)
		return 0;
	values = xmalloc(l->count * sizeof(*values));
	for (size_t i = 0; i < l->count; i++)
		values[i] = l->boxes[i].value;		/* hidden ones are the narrowest */
	qsort(values, l->count, sizeof(*values), widest_first);
	while (rank < ELEMENTS_MOST && (rank < ELEMENTS_FEWEST || (double)values[rank] >= labeled))
		rank++;
	min = values[rank] + 1;
	free(values);
	return min;
}

bool picture_is_element(const struct picture *g, const struct layout_box *box)
{
	return !box->hidden && box->value >= g->element_min;
}

struct str picture_name(const struct picture *g, const struct layout_box *box)
{
	if (box->frame == UINT32_MAX)
		return (struct str){ "all", 3 };
	return picture_without_suffix(profile_name(g->p, box->frame));
}

struct str picture_without_suffix(struct str name)
{
	if (name.n >= 4 && !memcmp(name.p + name.n - 4, "_[", 2) && strchr("kwij", name.p[name.n - 2]) &&
	    name.p[name.n - 2] && name.p[name.n - 1] == ']')
		name.n -= 4;
	return name;
}

/* Returns the color of a function in the file of --cp, adding it with its usual color if it is new. */
static struct rgb kept_color(const struct picture *g, struct str name, struct rgb usual)
{
	const struct str *kept = palette_map_find(g->o->palette_map, name);
	_cleanup_(buf_done) struct buf text = { 0 };

	if (kept)
		return palette_parse(*kept, usual);
	buf_init(&text);
	palette_put(&text, usual);
	palette_map_set(g->o->palette_map, name, (struct str){ text.data, text.size });
	return usual;
}

struct rgb picture_color_of(const struct picture *g, struct str name)
{
	struct rgb usual;

	usual = g->o->random_seed ? palette_random(g->palette, name, g->o->random_seed) :
				    palette_color(g->palette, name, g->o->hash);
	return g->o->palette_map && !palette_is_separator(name) ? kept_color(g, name, usual) : usual;
}

static struct rgb function_color(const struct picture *g, uint32_t frame)
{
	if (g->fills)
		return g->fills[frame == UINT32_MAX ? 0 : frame + 1];
	return picture_color_of(g, frame == UINT32_MAX ? (struct str){ "", 0 } : profile_name(g->p, frame));
}

struct rgb picture_color_by(const struct picture *g, uint32_t frame, enum flamegraph_color_by by)
{
	struct str name, file;

	if (by == COLOR_BY_FUNCTION)
		return function_color(g, frame);
	if (frame == UINT32_MAX)
		return (struct rgb){ 200, 200, 200 };
	name = profile_name(g->p, frame);
	file = profile_file(g->p, frame);
	if (by == COLOR_BY_LAYER)
		return group_layer_color(group_is_script(name, file) ? g->scripts : group_layer(name, file), name);
	return group_package_color(group_package(name, file), name);
}

struct rgb picture_color(const struct picture *g, const struct layout_box *box)
{
	if (g->difference)
		return difference_color(g->difference, box);
	return picture_color_by(g, box->frame, g->o->color_by);
}

struct rgb picture_narrow_color(const struct picture *g)
{
	bool mixed = g->o->before_column != UINT32_MAX || g->o->color_by != COLOR_BY_FUNCTION;

	/* The color of one layer or package would be wrong for the others. */
	return mixed ? (struct rgb){ 195, 195, 195 } : palette_middle(g->palette);
}

void picture_put_number(struct buf *out, double v)
{
	if (v == floor(v) && fabs(v) < 1e15)
		buf_put_i64(out, (int64_t)v);
	else
		buf_printf(out, "%.15g", v);
}

/* For millionths, the factor includes the scale, so that whole units would be shown; decimals are kept. */
static void put_value(const struct picture *g, int64_t value, struct buf *out)
{
	enum amount_unit unit = g->o->column == UINT32_MAX ? AMOUNT_COUNT :
				amount_unit(g->p->columns[g->o->column].unit);
	double factor = unit == AMOUNT_MILLIONTHS ? g->o->factor : g->factor, v = rint((double)value * factor);

	if (factor != 1)
		value = v >= 9e18 ? INT64_MAX : v <= -9e18 ? INT64_MIN : (int64_t)v;
	if (!g->count_name) {
		amount_put(out, value, g->unit);
		return;
	}
	amount_put(out, value, unit == AMOUNT_MILLIONTHS ? unit : AMOUNT_COUNT);
	buf_putc(out, ' ');
	text_put_xml(out, (struct str){ g->count_name, strlen(g->count_name) });
}

static void put_value_and_share(const struct picture *g, int64_t value, int64_t whole, bool at_most, struct buf *out)
{
	buf_puts(out, at_most ? RENDER_AT_MOST : "");
	put_value(g, value, out);
	buf_puts(out, at_most ? ", " RENDER_AT_MOST : ", ");
	amount_put_percent(out, value, whole);
	buf_putc(out, '%');
}

/* Puts the values of the function, over all its frames. Frames that exist only in the estimate, such as "[folded]",
 * have no values. */
static void put_exact(const struct picture *g, uint32_t frame, struct buf *out)
{
	const struct exact *x = g->exact;
	int64_t self = x->sums.self[frame][x->column], total = x->sums.total[frame][x->column];

	buf_puts(out, x->of_calls ? "" : "total ");
	put_value_and_share(g, total, x->whole, exact_is_at_most(x, frame), out);
	if (!x->of_calls && self == total) {
		buf_puts(out, "; all of it self");
	} else if (!x->of_calls && self) {
		buf_puts(out, "; self ");
		put_value_and_share(g, self, x->whole, false, out);
	}
	buf_puts(out, "; ");
}

static void put_exact_change(const struct picture *g, uint32_t frame, struct buf *out)
{
	const struct exact *x = g->exact;
	int64_t (*self)[PROFILE_COLUMNS] = x->sums.self, (*total)[PROFILE_COLUMNS] = x->sums.total;

	buf_puts(out, "total ");
	difference_put_words(g->difference, &(struct picture_change){
		.before = profile_scaled(&x->scaling, total[frame][x->before]), .after = total[frame][x->column],
		.self_before = profile_scaled(&x->scaling, self[frame][x->before]), .self_after = self[frame][x->column],
		.share_before = difference_share(total[frame][x->before], x->whole_before),
		.self_share_before = difference_share(self[frame][x->before], x->whole_before),
		.whole_before = profile_scaled(&x->scaling, x->whole_before), .whole_after = x->whole, .at_most = exact_is_at_most(x, frame),
	}, g->count_name, out);
	buf_puts(out, "; ");
}

static void put_change(const struct picture *g, const struct layout_box *box, struct buf *out)
{
	struct picture_change change = difference_of(g->difference, box->node);

	/* Only functions have a known self value. */
	if (g->exact && box->frame != UINT32_MAX) {
		change.self_before = change.self_after = 0;
	} else if (g->exact) {
		change.before = change.whole_before = profile_scaled(&g->exact->scaling, g->exact->whole_before);
		change.share_before = 1;
		change.after = change.whole_after = g->exact->whole;
	}
	difference_put_words(g->difference, &change, g->count_name, out);
}

void picture_put_title(const struct picture *g, const struct layout_box *box, struct buf *out)
{
	text_put_xml(out, picture_name(g, box));
	buf_puts(out, " (");
	if (g->exact && box->frame != UINT32_MAX && g->exact->sums.known[box->frame])
		(g->difference ? put_exact_change : put_exact)(g, box->frame, out);
	if (g->exact && box->frame != UINT32_MAX)
		buf_puts(out, "estimated here ");
	if (g->difference) {
		put_change(g, box, out);
	} else if (box->frame == UINT32_MAX) {
		put_value(g, g->exact ? g->exact->whole : box->value, out);
		buf_puts(out, ", 100%");
	} else {
		put_value_and_share(g, box->value, g->layout.total, false, out);
	}
	buf_putc(out, ')');
}

/* Returns tenths of a pixel, rounded like printf's "%.1f": ten times a double is exact in a long double, so that only
 * true ties are treated as ties. */
static int64_t tenths(double px)
{
	return (int64_t)rintl((long double)px * 10);
}

static void put_tenths(struct buf *out, int64_t v)
{
	buf_put_i64(out, v / 10);
	buf_putc(out, '.');
	buf_putc(out, (char)('0' + v % 10));
}

void picture_put_tenths(struct buf *out, double to, double from)
{
	put_tenths(out, tenths(to) - tenths(from));
}

void picture_edges(const struct picture *g, uint32_t depth, double *ret_y1, double *ret_y2)
{
	double h = g->o->frame_height;

	if (g->o->inverted) {
		*ret_y1 = g->top + depth * h;
		*ret_y2 = g->top + (depth + 1) * h - PICTURE_FRAME_GAP;
	} else {
		*ret_y1 = g->height - g->bottom - (depth + 1) * h + PICTURE_FRAME_GAP;
		*ret_y2 = g->height - g->bottom - depth * h;
	}
}

void picture_put_drawn(struct buf *out, struct str s, void (*put)(struct buf *out, struct str s))
{
	size_t from = 0;

	for (size_t i = 0; i + 2 < s.n; i++) {
		const unsigned char *c = (const unsigned char *)s.p + i;

		if (c[0] != 0xe2 || !((c[1] == 0x80 && c[2] >= 0xaa && c[2] <= 0xae) || (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9)))
			continue;
		put(out, (struct str){ s.p + from, i - from });
		buf_puts(out, "\xef\xbf\xbd");
		from = i + 3;
		i += 2;
	}
	put(out, (struct str){ s.p + from, s.n - from });
}

/* Puts the longest form of the name that fits. If none does, as many characters of the shortest one as fit, the last
 * two replaced by dots. */
static void put_label(const struct picture *g, struct str name, double width, struct buf *out)
{
	_cleanup_(buf_done) struct buf form = { 0 };
	double fit = width / (g->o->font_size * g->o->font_width);
	size_t characters = fit < 1e9 ? (size_t)fit : (size_t)1e9, shortest = 0;

	if (text_columns(name) <= characters) {
		picture_put_drawn(out, name, text_put_xml);
		return;
	}
	buf_init(&form);
	for (size_t i = 1, start = 0; short_name_put(name, (unsigned)i, &form); i++, start = form.size) {
		struct str s = { form.data + start, form.size - start };

		if (s.n && text_columns(s) <= characters) {
			picture_put_drawn(out, s, text_put_xml);
			return;
		}
		shortest = s.n ? start : shortest;
	}
	name = (struct str){ form.data + shortest, form.size - shortest };
	name.n = text_cut(name, characters - 2);
	picture_put_drawn(out, name, text_put_xml);
	buf_puts(out, "..");
}

static bool has_room(const struct picture *g, double width)
{
	return width / (g->o->font_size * g->o->font_width) >= LABEL_LEAST;
}

double picture_least_label(const struct picture *g)
{
	return LABEL_LEAST * g->o->font_size * g->o->font_width;
}

void picture_open_frame(const struct nameattr_frame *extra, struct buf *out)
{
	buf_puts(out, "<g");
	buf_puts(out, extra ? extra->group : "");
	buf_putc(out, '>');
	if (!extra || !*extra->link)
		return;
	buf_puts(out, "<a");
	buf_puts(out, extra->link);
	buf_putc(out, '>');
}

void picture_close_frame(const struct nameattr_frame *extra, struct buf *out)
{
	buf_puts(out, extra && *extra->link ? "</a></g>\n" : "</g>\n");
}

/* Looks attributes up by the full name, including the hidden suffix. */
static const struct nameattr_frame *extra_of(const struct picture *g, const struct layout_box *box)
{
	if (!g->o->nameattr)
		return NULL;
	return nameattr_find(g->o->nameattr, box->frame == UINT32_MAX ? (struct str){ "", 0 } :
								       profile_name(g->p, box->frame));
}

static void put_element(const struct picture *g, const struct layout_box *box, struct buf *out)
{
	const struct nameattr_frame *extra = extra_of(g, box);
	double x1 = PICTURE_MARGIN + (double)box->start * g->scale;
	double x2 = PICTURE_MARGIN + (double)(box->start + box->value) * g->scale;
	double y1, y2;

	picture_edges(g, box->depth, &y1, &y2);
	picture_open_frame(extra, out);
	buf_puts(out, "<title>");
	if (extra && *extra->title)
		buf_puts(out, extra->title);
	else
		picture_put_title(g, box, out);
	buf_puts(out, "</title><rect x=\"");
	put_tenths(out, tenths(x1));
	buf_puts(out, "\" y=\"");
	picture_put_number(out, y1);
	buf_puts(out, "\" width=\"");
	put_tenths(out, tenths(x2) - tenths(x1));
	buf_puts(out, "\" height=\"");
	buf_put_fixed(out, y2 - y1, 1);
	buf_puts(out, "\" fill=\"");
	palette_put(out, picture_color(g, box));
	buf_puts(out, "\"/>");
	if (has_room(g, x2 - x1)) {
		buf_puts(out, "<text x=\"");
		buf_put_fixed(out, x1 + 3, 2);
		buf_puts(out, "\" y=\"");
		picture_put_number(out, 3 + (y1 + y2) / 2);
		buf_puts(out, "\">");
		put_label(g, picture_name(g, box), x2 - x1, out);
		buf_puts(out, "</text>");
	}
	picture_close_frame(extra, out);
}

/* A run of pixels in one row, in tenths of a pixel. */
struct run {
	int color;		/* rrggbb, or NARROW */
	uint32_t depth;
	int64_t from, to;
};

#define NARROW	-1
#define PIXEL	10	/* tenths */

static struct run run_of(const struct picture *g, const struct layout_box *box)
{
	struct run r = {
		.color = NARROW,
		.depth = box->depth,
		.from = tenths(PICTURE_MARGIN + (double)box->start * g->scale),
		.to = tenths(PICTURE_MARGIN + (double)(box->start + box->value) * g->scale),
	};

	if (r.to - r.from >= PIXEL) {
		struct rgb c = picture_color(g, box);

		r.color = c.r << 16 | c.g << 8 | c.b;
	}
	return r;
}

static int by_color_and_row(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->color != y->color)
		return x->color < y->color ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* Collects boxes that are not elements, in drawing order. Boxes below a pixel merge with those less than a pixel
 * away: there may be tens of thousands, and a browser needs 5 us for each. Boxes of one row come from left to right,
 * so one open run per row is enough. */
static struct run *collect_runs(const struct picture *g, size_t *ret_count)
{
	struct run *runs = xcalloc(g->layout.count, sizeof(*runs));
	struct run **open = xcalloc((size_t)g->layout.depth + 1, sizeof(*open));
	size_t n = 0;

	for (size_t i = 0; i < g->layout.count; i++) {
		const struct layout_box *box = &g->layout.boxes[i];
		struct run r, *last;

		if (box->hidden || picture_is_element(g, box))
			continue;
		r = run_of(g, box);
		last = open[box->depth];
		if (r.color == NARROW && last && r.from - last->to < PIXEL) {
			last->to = r.to;
			continue;
		}
		runs[n] = r;
		if (r.color == NARROW)
			open[box->depth] = &runs[n];
		n++;
	}
	free(open);
	qsort(runs, n, sizeof(*runs), by_color_and_row);
	*ret_count = n;
	return runs;
}

static void put_length(struct buf *out, int64_t v)
{
	if (v % 10)
		put_tenths(out, v);
	else
		buf_put_i64(out, v / 10);
}

/* `before` is the previous run in the same path, or NULL: after closing it, the path is back at its upper left corner. */
static void put_run(const struct picture *g, const struct run *r, const struct run *before, struct buf *out)
{
	double y1, y2;

	picture_edges(g, r->depth, &y1, &y2);
	if (before && before->depth == r->depth) {
		buf_putc(out, 'm');
		put_length(out, r->from - before->from);
		buf_puts(out, " 0");
	} else {
		buf_puts(out, before ? "\nM" : "M");
		put_length(out, r->from);
		buf_putc(out, ' ');
		picture_put_number(out, y1);
	}
	buf_putc(out, 'h');
	put_length(out, r->to - r->from);
	buf_putc(out, 'v');
	picture_put_number(out, y2 - y1);
	buf_puts(out, "h-");
	put_length(out, r->to - r->from);
	buf_putc(out, 'z');
}

static void open_path(const struct picture *g, int color, struct buf *out)
{
	buf_puts(out, "<path class=\"narrow\" fill=\"");
	palette_put(out, color == NARROW ? picture_narrow_color(g) : (struct rgb){ color >> 16, color >> 8 & 255,
										   color & 255 });
	buf_puts(out, "\" d=\"");
}

/* Puts one path for each color. */
static void put_paths(const struct picture *g, struct buf *out)
{
	size_t n;
	struct run *runs = collect_runs(g, &n), *before = NULL;

	for (size_t i = 0; i < n; i++) {
		if (runs[i].to == runs[i].from)
			continue;
		if (!before || before->color != runs[i].color) {
			buf_puts(out, before ? "\"/>\n" : "");
			open_path(g, runs[i].color, out);
			before = NULL;
		}
		put_run(g, &runs[i], before, out);
		before = &runs[i];
	}
	buf_puts(out, before ? "\"/>\n" : "");
	free(runs);
}

void picture_put_frames(const struct picture *g, struct buf *out)
{
	buf_puts(out, "<g id=\"frames\">\n");
	if (g->element_min > 0)
		put_paths(g, out);
	for (size_t i = 0; i < g->layout.count; i++)
		if (picture_is_element(g, &g->layout.boxes[i]))
			put_element(g, &g->layout.boxes[i], out);
	buf_puts(out, "</g>\n");
}
