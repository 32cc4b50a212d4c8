/* line_frames.c: writes the boxes of line_layout as SVG elements with exactly flamegraph.pl's numbers and texts.
 *
 * Every frame is an element with a label, even if it is empty, because programs that read such pictures rely on it.
 * The order of the elements is that of the table; in flamegraph.pl it is random.
 */

#include "picture.h"

#include "lines.h"
#include "mem.h"
#include "nameattr.h"
#include "palette.h"
#include "palette_map.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Text --- */

/* Returns the number of bytes at `p` that stay unchanged, though text_put_xml would change them: quotes outside
 * attributes, and valid but useless characters. */
static size_t plain_length(const char *p, const char *end, bool quoted)
{
	unsigned char c = (unsigned char)*p;

	if (c == '\'' || c == '\t' || c == 0x7f || (c == '"' && !quoted))
		return 1;
	return c == 0xc2 && end - p >= 2 && (unsigned char)p[1] >= 0x80 && (unsigned char)p[1] < 0xa0 ? 2 : 0;
}

static void put_escaped(struct buf *out, struct str s, bool quoted)
{
	const char *end = s.p + s.n, *run = s.p;

	for (const char *p = s.p; p < end;) {
		size_t n = plain_length(p, end, quoted);

		if (n == 0) {
			p++;
			continue;
		}
		text_put_xml(out, (struct str){ run, (size_t)(p - run) });
		buf_put(out, p, n);
		run = p += n;
	}
	text_put_xml(out, (struct str){ run, (size_t)(end - run) });
}

/* Puts a number like "%.0f", with commas. */
static void put_count(struct buf *out, double v)
{
	char text[352];
	size_t n, sign;

	if (fabs(v) < 9e18 && !(v == 0 && signbit(v))) {
		buf_put_grouped(out, (int64_t)v);
		return;
	}
	n = (size_t)snprintf(text, sizeof(text), "%.0f", v);
	sign = *text == '-';
	for (size_t i = 0; i < n; i++) {
		buf_putc(out, text[i]);
		if (i >= sign && i + 1 < n && (n - i - 1) % 3 == 0)
			buf_putc(out, ',');
	}
}

static bool is_root(const struct line_box *box)
{
	return box->depth == 0;
}

/* flamegraph.pl gives the root no label. */
static struct str label_of(const struct picture *g, const struct line_box *box)
{
	if (is_root(box) && !g->o->compat)
		return (struct str){ "all", 3 };
	return picture_without_suffix(box->name);
}

/* Returns a count times the factor, as the number that is printed. */
static double shown_count(const struct picture *g, double width)
{
	double v = width == 0 && g->o->factor == floor(g->o->factor) ? 0 : width * g->o->factor;

	return rint(v);
}

static void put_count_name(const struct picture *g, struct buf *out)
{
	struct str name = { g->count_name, strlen(g->count_name) };

	if (g->o->compat)
		nameattr_put_markup(out, name, true);
	else
		text_put_xml(out, name);
}

static double end_of(const struct picture *g, const struct line_box *box)
{
	return is_root(box) ? g->lines->total : box->end;
}

static void put_info(const struct picture *g, const struct line_box *box, struct buf *out)
{
	double whole = g->lines->total * g->o->factor;
	double count = shown_count(g, is_root(box) ? g->lines->total - box->start : box->width);

	if (is_root(box))
		buf_puts(out, "all");
	else
		put_escaped(out, picture_without_suffix(box->name), true);
	buf_puts(out, " (");
	put_count(out, count);
	buf_putc(out, ' ');
	put_count_name(g, out);
	buf_puts(out, ", ");
	if (is_root(box)) {
		buf_puts(out, "100%)");
		return;
	}
	buf_put_fixed(out, 100 * (count == 0 ? 0 : count) / whole, 2);
	if (box->has_delta) {
		double d = box->delta == 0 ? 0 : g->o->negate ? -box->delta : box->delta;

		buf_puts(out, d > 0 ? "%; +" : "%; ");
		buf_put_fixed(out, 100 * d / whole, 2);
	}
	buf_puts(out, "%)");
}

/* --- Colors --- */

/* Returns a color from white, which is no change, to red for increases and blue for decreases. */
static struct rgb color_of_change(const struct picture *g, double delta)
{
	double max = g->lines->max_delta, value = g->o->negate ? -delta : delta;
	struct rgb c = { 255, 255, 255 };

	if (value > 0)
		c.g = c.b = (int)(210 * (max - value) / max);
	else if (value < 0)
		c.r = c.g = (int)(210 * (max + value) / max);
	return c;
}

/* Puts the color; `ret` is the same for the table. */
static void put_color(const struct picture *g, const struct line_box *box, struct rgb *ret, struct buf *out)
{
	bool changes = box->has_delta && !palette_is_separator(box->name);

	*ret = changes ? color_of_change(g, box->delta) : picture_color_of(g, box->name);
	if (!changes && g->o->palette_map && !palette_is_separator(box->name)) {
		const struct str *kept = palette_map_find(g->o->palette_map, box->name);

		put_escaped(out, *kept, true);
		return;
	}
	palette_put(out, *ret);
}

/* --- Elements --- */

/* Rows have the same numbers for all frames in them. */
struct row {
	char y[32], height[32], text_y[32];
	bool filled;
};

static void fill_row(const struct picture *g, uint32_t depth, struct row *row)
{
	struct buf b;
	double y1, y2;

	picture_edges(g, depth, &y1, &y2);
	buf_init(&b);
	picture_put_number(&b, y1);
	snprintf(row->y, sizeof(row->y), "%s", b.data);
	buf_reset(&b);
	picture_put_number(&b, 3 + (y1 + y2) / 2);
	snprintf(row->text_y, sizeof(row->text_y), "%s", b.data);
	snprintf(row->height, sizeof(row->height), "%.1f", y2 - y1);
	buf_done(&b);
	row->filled = true;
}

static void put_text(struct buf *out, struct str s)
{
	put_escaped(out, s, false);
}

static void put_label(const struct picture *g, struct str name, double width, struct buf *out)
{
	double fit = width / (g->o->font_size * g->o->font_width);
	size_t characters = fit < 1e9 ? (size_t)fit : (size_t)1e9;

	if (fit < 3)
		return;
	if (name.n <= characters || text_columns(name) <= characters) {
		picture_put_drawn(out, name, put_text);
		return;
	}
	name.n = text_cut(name, characters - 2);
	picture_put_drawn(out, name, put_text);
	buf_puts(out, "..");
}

static void put_element(const struct picture *g, const struct line_box *box, const struct row *row, struct rgb *fill,
			struct buf *out)
{
	double x1 = PICTURE_MARGIN + box->start * g->scale, x2 = PICTURE_MARGIN + end_of(g, box) * g->scale;
	const struct nameattr_frame *extra = nameattr_find(g->o->nameattr, box->name);

	picture_open_frame(extra, out);
	buf_puts(out, "<title>");
	if (extra && *extra->title)
		buf_puts(out, extra->title);
	else
		put_info(g, box, out);
	buf_puts(out, "</title><rect x=\"");
	picture_put_tenths(out, x1, 0);
	buf_puts(out, "\" y=\"");
	buf_puts(out, row->y);
	buf_puts(out, "\" width=\"");
	picture_put_tenths(out, x2, x1);
	buf_puts(out, "\" height=\"");
	buf_puts(out, row->height);
	buf_puts(out, "\" fill=\"");
	put_color(g, box, fill, out);
	buf_puts(out, "\" rx=\"2\" ry=\"2\"/>\n<text x=\"");
	buf_put_fixed(out, x1 + 3, 2);
	buf_puts(out, "\" y=\"");
	buf_puts(out, row->text_y);
	buf_puts(out, "\">");
	put_label(g, label_of(g, box), x2 - x1, out);
	buf_puts(out, "</text>");
	picture_close_frame(extra, out);
}

void picture_put_line_frames(const struct picture *g, struct rgb *fills, struct buf *out)
{
	struct row *rows = xcalloc((size_t)g->lines->depth + 1, sizeof(*rows));

	for (size_t i = 0; i < g->lines->count; i++) {
		const struct line_box *box = &g->lines->boxes[i];
		struct row *row = &rows[box->depth];

		if (!row->filled)
			fill_row(g, box->depth, row);
		put_element(g, box, row, &fills[i], out);
	}
	free(rows);
}
