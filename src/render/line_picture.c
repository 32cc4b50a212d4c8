/* line_picture.c: draws lines: the same picture as flamegraph.pl, in a document like that of any profile. */

#include "picture.h"

#include "mem.h"
#include "text.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Uses the same order of operations as flamegraph.pl. With the root at the top there is no room for a subtitle. */
static void measure(struct picture *g)
{
	const struct flamegraph_options *o = g->o;
	bool subtitle = o->subtitle && *o->subtitle;

	g->top = 3 * o->font_size;
	g->bottom = 2 * o->font_size + 10;
	g->scale = g->lines->total > 0 ? (o->width - 2 * PICTURE_MARGIN) / g->lines->total : 0;
	g->height = g->lines->count ? (g->lines->depth + 1) * o->frame_height + g->top + g->bottom :
				      5 * o->font_size + g->top;
	if (subtitle)
		g->height += 2 * o->font_size;
	if (subtitle && (!o->inverted || !o->compat))
		g->top += 2 * o->font_size;
}

/* --- The table for the script --- */

/* The script counts in integers: fractional counts become thousandths, if they fit. */
static double fineness(const struct line_layout *l)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->boxes[i].start != floor(l->boxes[i].start) || l->boxes[i].end != floor(l->boxes[i].end))
			return l->total < 1e12 ? 1000 : 1;
	return 1;
}

static int64_t to_integer(double v)
{
	return v >= 9e18 ? (int64_t)9e18 : (int64_t)rint(v);
}

/* A function with several colors gets several entries: its number in the table stands for name and color. */
static uint32_t frame_of(struct profile *names, struct str name, struct rgb fill)
{
	return profile_frame(names, name, (struct str){ "", 0 }, (uint32_t)(fill.r << 16 | fill.g << 8 | fill.b) + 1);
}

static void fill_table(struct picture *g, struct profile *names, const struct rgb *fills)
{
	const struct line_layout *l = g->lines;
	double scale = fineness(l);
	struct rgb *by_frame;

	g->factor = g->o->factor / scale;
	g->layout.boxes = xcalloc(l->count, sizeof(*g->layout.boxes));
	for (size_t i = 0; i < l->count; i++) {
		const struct line_box *box = &l->boxes[i];
		struct layout_box *to = &g->layout.boxes[i];

		to->frame = box->depth ? frame_of(names, box->name, fills[i]) : UINT32_MAX;
		to->depth = box->depth;
		to->start = to_integer(box->start * scale);
		to->value = to_integer((box->depth ? box->end : l->total) * scale) - to->start;
	}
	g->layout.count = l->count;
	g->layout.drawn = l->count;
	g->layout.depth = g->layout.depth_boxes = l->depth;
	g->layout.total = g->layout.boxes[0].value;
	by_frame = xcalloc((size_t)names->frame_count + 1, sizeof(*by_frame));
	by_frame[0] = fills[0];
	for (uint32_t i = 0; i < names->frame_count; i++) {
		uint32_t c = names->frames[i].line - 1;

		by_frame[i + 1] = (struct rgb){ (int)(c >> 16), (int)(c >> 8 & 255), (int)(c & 255) };
	}
	g->fills = by_frame;
	g->p = names;
}

static void table_done(struct picture *g)
{
	free((struct rgb *)g->fills);
	layout_done(&g->layout);
}

/* --- The document --- */

static void put_note(const struct picture *g, struct buf *out)
{
	const struct line_layout *l = g->lines;

	if (l->narrow) {
		buf_put_grouped(out, (int64_t)l->narrow);
		buf_puts(out, l->narrow == 1 ? " frame narrower than " : " frames narrower than ");
		picture_put_number(out, g->o->min_width);
		buf_puts(out, g->o->min_width_percent ? "%" : " px");
		buf_puts(out, l->narrow == 1 ? " is not drawn (" : " are not drawn (");
		buf_put_fixed(out, 100 * l->narrow_value / l->total, 2);
		buf_puts(out, "% of the total)");
	}
	if (l->ignored) {
		buf_puts(out, out->size ? "; " : "");
		buf_put_grouped(out, (int64_t)l->ignored);
		buf_puts(out, l->ignored == 1 ? " line without a count is left out" : " lines without a count are "
			 "left out");
	}
}

static void put_picture(struct picture *g, struct buf *out)
{
	_cleanup_(profile_freep) struct profile *names = profile_new();
	_cleanup_(buf_done) struct buf note = { 0 };
	struct rgb *fills = xcalloc(g->lines->count, sizeof(*fills));

	buf_init(&note);
	put_note(g, &note);
	picture_put_head(g, out);
	buf_puts(out, "<g id=\"frames\">\n");
	picture_put_line_frames(g, fills, out);
	buf_puts(out, "</g>\n");
	fill_table(g, names, fills);
	picture_put_foot(g, note.data, out);
	table_done(g);
	free(fills);
}

static int put_nothing(const struct picture *g, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	uint64_t lines = g->lines->stacks + g->lines->ignored;

	buf_init(&text);
	if (g->lines->total > 0) {
		put_note(g, &text);
		picture_put_empty(g, text.data, out);
		return 0;
	}
	buf_puts(&text, "Nothing was sampled: ");
	buf_put_grouped(&text, (int64_t)lines);
	buf_puts(&text, lines == 1 ? " line, without a count above zero" : " lines, none with a count above zero");
	picture_put_empty(g, text.data, out);
	*text.data = 'n';
	return err_set(err, -ENODATA, "%s", text.data);
}

/* Returns the number of lines left out, and the first of them in the error. */
static int report_ignored(const struct line_layout *l, struct err *err)
{
	const struct flamegraph_line *first = l->first_ignored;
	size_t shown;

	if (!first)
		return 0;
	shown = text_cut(first->text, 60);
	err_set(err, -EINVAL, "%llu %s without a count left out, such as line %llu: '%.*s%s'",
		(unsigned long long)l->ignored, l->ignored == 1 ? "line was" : "lines were",
		(unsigned long long)first->number, (int)shown, first->text.p, shown < first->text.n ? "…" : "");
	return l->ignored < INT_MAX ? (int)l->ignored : INT_MAX;
}

int flamegraph_svg_lines(const struct flamegraph_line *lines, size_t count, const struct flamegraph_options *o,
			 struct buf *out, struct err *err)
{
	struct line_layout layout;
	struct picture g = { .o = o, .lines = &layout, .count_name = o->count_name ? o->count_name : "samples" };
	size_t start = out->size;
	int e, finished = 0;

	if ((e = picture_check(&g, err)) < 0)
		return e;
	e = line_layout_init(&layout, lines, count, o, err);
	if (e == 0) {
		measure(&g);
		e = layout.count ? report_ignored(&layout, err) : 0;
		if (layout.count)
			put_picture(&g, out);
		else
			e = put_nothing(&g, out, err);
		finished = picture_finish(o, out, start, err);
	}
	line_layout_done(&layout);
	return finished < 0 ? finished : e;
}
