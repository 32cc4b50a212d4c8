/* flamegraph.c: writes a complete SVG document: interprets the options, and writes the head, the foot, and the parts
 * in between.
 *
 * The document is complete without its script: programs, mail readers and `<img>` show every frame that is wide
 * enough to be visible. The script (web/src/picture) adds zoom, search and the rest; it makes no requests.
 */

#include "render.h"

#include "assets.h"
#include "mem.h"
#include "options.h"
#include "picture.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of a picture, 32,768 px by default: browsers and viewers fail on much higher pictures. */
#define DEPTH_MAX	2047u

#define SIZE_MAX_PX	100000.0

/* Frames that are not drawn, but included for the script's table and search: about 6 bytes each. */
#define HIDDEN_MAX	20000u

/* Larger profiles are reversed only as far as they are drawn. */
#define TURNED_WHOLE_MAX	20000u

const char *const flamegraph_color_by_names[] = { "function", "layer", "package", NULL };

void flamegraph_defaults(struct flamegraph_options *o)
{
	*o = (struct flamegraph_options){
		.width = FLAMEGRAPH_WIDTH,
		.frame_height = 16,
		.min_width = 0.1,
		.font_type = "Verdana",
		.font_size = 12,
		.font_width = 0.59,
		.name_type = "Function:",
		.factor = 1,
		.colors = "hot",
		.column = UINT32_MAX,
		.before_column = UINT32_MAX,
	};
}

void flamegraph_suit(struct flamegraph_options *o, const struct profile *p)
{
	const char *sampler = labels_get(&p->labels, "sampler");

	if (sampler && !strcmp(sampler, "record"))
		o->color_by = COLOR_BY_LAYER;
}

static int check_range(const char *name, double v, double min, double max, struct err *err)
{
	if (v >= min && v <= max)
		return 0;
	return err_set(err, -EINVAL, "invalid --%s '%g'; use %g to %g", name, v, min, max);
}

/* Tells whether the encoding is compatible with ASCII: all other characters become character references. */
static bool is_known_encoding(const char *name)
{
	static const char *const families[] = {
		"UTF-8", "US-ASCII", "ASCII", "ISO-8859-", "windows-125", "KOI8-", "GB2312", "GBK", "GB18030", "Big5",
		"Shift_JIS", "EUC-",
	};

	if (name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")])
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (!strncasecmp(name, families[i], strlen(families[i])))
			return true;
	return false;
}

static int check_encoding(const char *name, struct err *err)
{
	if (!name || is_known_encoding(name))
		return 0;
	return err_set(err, -EINVAL, "invalid --encoding '%s'; use UTF-8 (default), ISO-8859-1 or another superset "
		       "of ASCII", name);
}

static int check_sizes(const struct flamegraph_options *o, struct err *err)
{
	int e;

	if ((e = check_range("width", o->width, 30, SIZE_MAX_PX, err)) < 0 ||
	    (e = check_range("height", o->frame_height, 2, 1000, err)) < 0 ||
	    (e = check_range("minwidth", o->min_width, 0, o->min_width_percent ? 100 : SIZE_MAX_PX, err)) < 0 ||
	    (e = check_range("fontsize", o->font_size, 1, 200, err)) < 0)
		return e;
	if ((e = check_range("fontwidth", o->font_width, 0.01, 10, err)) < 0 ||
	    (e = check_range("total", o->total, 0, 1e300, err)) < 0)
		return e;
	if (o->factor == 0 || !isfinite(o->factor))
		return err_set(err, -EINVAL, "invalid --factor '%g'; use a number other than 0", o->factor);
	return check_encoding(o->encoding, err);
}

/* The background of blue and orange is neutral, and darker than unchanged frames. */
static const char *picture_background(const struct flamegraph_options *o)
{
	return o->bg_colors || o->before_column == UINT32_MAX ? o->bg_colors : "#d6d6d6";
}

static int find_palette(struct picture *g, struct err *err)
{
	char top[8], bottom[8];
	const char *nearest;

	g->palette = palette_find(g->o->colors);
	nearest = g->palette ? NULL : options_nearest(g->o->colors, palette_names);
	if (nearest)
		return err_set(err, -EINVAL, "invalid --colors '%s'; did you mean '%s'?", g->o->colors, nearest);
	if (!g->palette)
		return err_set(err, -EINVAL, "invalid --colors '%s'; use hot, mem, io, wakeup, chain, "
					     "java, js, perl, red, green, blue, aqua, yellow, purple or orange",
			       g->o->colors);
	if (!palette_background(g->palette, picture_background(g->o), top, bottom))
		return err_set(err, -EINVAL, "invalid --bgcolors '%s'; use yellow, blue, green, grey or "
					     "#rrggbb",
			       g->o->bg_colors);
	return 0;
}

/* "samples" and "calls" are counts named after the column; for time and bytes, the unit is enough. */
static void name_values(struct picture *g)
{
	const struct profile_column *c;

	g->count_name = g->o->count_name;
	if (g->o->column == UINT32_MAX) {
		g->count_name = g->count_name ? g->count_name : "samples";
		return;
	}
	c = &g->p->columns[g->o->column];
	if (!g->count_name && !amount_is_count(amount_unit(c->unit)))
		g->unit = amount_unit(c->unit);
	else if (!g->count_name)
		g->count_name = g->o->before_column == UINT32_MAX ? c->name : "samples";
}

static struct layout_limits limits_of(const struct flamegraph_options *o)
{
	return (struct layout_limits){
		.min_width = o->min_width, .width = o->width - 2 * PICTURE_MARGIN, .percent = o->min_width_percent,
		.depth_max = DEPTH_MAX, .total = o->total < 9e18 ? (int64_t)o->total : INT64_MAX,
	};
}

/* Stacks that will not be drawn are not reversed. A difference, whose widths depend on several columns, is reversed
 * completely. */
static struct profile *reverse_profile(struct picture *g)
{
	const struct profile *p = g->p;
	const struct flamegraph_options *o = g->o;
	struct layout_limits limits = limits_of(o);

	if (o->column == UINT32_MAX || o->before_column != UINT32_MAX || p->node_count <= TURNED_WHOLE_MAX)
		return profile_reverse(p);
	g->is_pruned = true;
	if (limits.total < profile_sum(p, o->column))
		limits.total = profile_sum(p, o->column);
	return profile_reverse_above(p, o->column, layout_narrowest(limits.total, &limits));
}

/* Returns the language of scripts whose path does not reveal it: Perl if some frames are Perl and none is PHP. */
static enum group_layer scripts_layer(const struct profile *p)
{
	enum group_layer found = LAYER_PHP;

	for (uint32_t i = 0; p && i < p->frame_count; i++) {
		enum group_layer layer = group_layer(profile_name(p, i), profile_file(p, i));

		if (layer == LAYER_PHP)
			return LAYER_PHP;
		found = layer == LAYER_PERL ? LAYER_PERL : found;
	}
	return found;
}

int picture_check(struct picture *g, struct err *err)
{
	int e = check_sizes(g->o, err);

	g->factor = g->o->factor;
	g->scripts = scripts_layer(g->p);
	return e < 0 ? e : find_palette(g, err);
}

int flamegraph_check(const struct flamegraph_options *o, struct err *err)
{
	struct picture g = { .o = o };

	return picture_check(&g, err);
}

static bool is_estimate(const struct picture *g)
{
	return g->p && g->p->estimated;
}

static bool has_subtitle(const struct picture *g)
{
	return g->o->subtitle || is_estimate(g);
}

void picture_put_subtitle(const struct picture *g, struct buf *out)
{
	if (g->o->subtitle)
		buf_puts(out, g->o->subtitle);
	if (is_estimate(g))
		buf_puts(out, out->size ? "; " RENDER_ESTIMATE : RENDER_ESTIMATE);
}

static void measure(struct picture *g)
{
	const struct flamegraph_options *o = g->o;
	struct layout_limits limits = limits_of(o);

	g->difference = difference_new(g->p, o);
	g->exact = exact_new(g->unreversed, o);
	limits.widths = g->difference ? g->difference->widths : NULL;
	limits.hidden_max = g->is_still ? 0 : HIDDEN_MAX;
	layout_init(&g->layout, g->p, o->column, &limits);
	if (g->difference)
		difference_scale(g->difference, &g->layout);
	g->scale = g->layout.total ? limits.width / (double)g->layout.total : 0;
	g->top = 3 * o->font_size + (has_subtitle(g) ? 2 * o->font_size : 0);
	g->bottom = 2 * o->font_size + 10;
	g->height = g->layout.count ? (g->layout.depth + 1) * o->frame_height + g->top + g->bottom :
				      5 * o->font_size + g->top;
	g->element_min = picture_element_min(&g->layout, picture_least_label(g) / g->scale);
}

static void put_text(struct buf *out, const char *text)
{
	text_put_xml(out, (struct str){ text, strlen(text) });
}

/* Puts an attribute: name="number". */
static void put_size(struct buf *out, const char *name, double v)
{
	buf_printf(out, " %s=\"", name);
	picture_put_number(out, v);
	buf_putc(out, '"');
}

const char *picture_title(const struct flamegraph_options *o)
{
	if (o->title && *o->title)
		return o->title;
	if (o->flamechart)
		return "Flame Chart";
	return o->inverted ? "Icicle Graph" : "Flame Graph";
}

static void put_root(const struct picture *g, struct buf *out)
{
	if (!g->is_still)
		buf_printf(out, "<?xml version=\"1.0\" encoding=\"%s\" standalone=\"no\"?>\n",
			   g->o->encoding ? g->o->encoding : "UTF-8");
	buf_puts(out, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
	buf_puts(out, g->o->nameattr ? " xmlns:xlink=\"http://www.w3.org/1999/xlink\"" : "");
	buf_puts(out, " version=\"1.1\"");
	put_size(out, "width", g->o->width);
	put_size(out, "height", g->height);
	buf_puts(out, " viewBox=\"0 0 ");
	picture_put_number(out, g->o->width);
	buf_putc(out, ' ');
	picture_put_number(out, g->height);
	buf_puts(out, "\" font-family=\"");
	put_text(out, g->o->font_type);
	buf_puts(out, ",sans-serif\"");
	put_size(out, "font-size", g->o->font_size);
	buf_puts(out, " role=\"group\" aria-label=\"");
	put_text(out, picture_title(g->o));
	buf_puts(out, "\">\n");
}

static void put_background(const struct picture *g, struct buf *out)
{
	char top[8], bottom[8];

	palette_background(g->palette, picture_background(g->o), top, bottom);
	buf_printf(out, "<defs><linearGradient id=\"background\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">"
			"<stop stop-color=\"%s\" offset=\"5%%\"/><stop stop-color=\"%s\" offset=\"95%%\"/>"
			"</linearGradient></defs>\n"
			"<rect id=\"paper\" width=\"100%%\" height=\"100%%\" fill=\"url(#background)\"/>\n",
		   top, bottom);
}

/* Puts the end of a line that a narrow picture, as on a phone, would cut anywhere. Scripts replace it with the
 * complete text that fits the window. */
static void put_cut(const struct picture *g, double size, const char *text, struct buf *out)
{
	struct str s = { text, strlen(text) };
	size_t room = (size_t)((g->o->width - 2 * PICTURE_MARGIN) / (size * g->o->font_width));
	bool is_cut = g->o->width < FLAMEGRAPH_WIDTH && room > 1 && text_columns(s) > room;

	if (is_cut) {
		buf_puts(out, " data-whole=\"");
		text_put_xml(out, s);
		buf_putc(out, '"');
		s.n = text_cut(s, room - 1);
	}
	buf_putc(out, '>');
	text_put_xml(out, s);
	buf_puts(out, is_cut ? "…" : "");
}

static void put_line(const struct picture *g, const char *id, const char *anchor, double x, double y, double size, const char *text,
		     struct buf *out)
{
	buf_printf(out, "<text id=\"%s\" text-anchor=\"%s\"", id, anchor);
	put_size(out, "x", x);
	put_size(out, "y", y);
	put_size(out, "font-size", size);
	put_cut(g, size, text, out);
	buf_puts(out, "</text>\n");
}

void picture_put_head(const struct picture *g, struct buf *out)
{
	const struct flamegraph_options *o = g->o;
	_cleanup_(buf_done) struct buf subtitle = { 0 };

	buf_init(&subtitle);
	picture_put_subtitle(g, &subtitle);
	put_root(g, out);
	if (o->notes) {
		buf_puts(out, "<desc id=\"notes\">");
		put_text(out, o->notes);
		buf_puts(out, "</desc>\n");
	}
	buf_puts(out, "<style>");
	buf_put(out, asset_flamegraph_css, asset_flamegraph_css_size);
	buf_puts(out, "</style>\n");
	put_background(g, out);
	put_line(g, "title", "middle", o->width / 2, 2 * o->font_size, o->font_size + 5, picture_title(o), out);
	if (has_subtitle(g))
		put_line(g, "subtitle", "middle", o->width / 2, 4 * o->font_size, o->font_size, subtitle.data, out);
}

/* Puts a value as shown in frames: multiplied by the factor, which includes a millionth for fractional counts. */
static void put_scaled(const struct picture *g, int64_t value, struct buf *out)
{
	double v = (double)value * g->factor;
	enum amount_unit unit = amount_unit(g->p->columns[g->o->column].unit);

	unit = unit == AMOUNT_MILLIONTHS ? AMOUNT_COUNT : unit;
	if (g->factor == 1)
		amount_put(out, value, unit);
	else if (v == floor(v) && fabs(v) < 9e18)
		amount_put(out, (int64_t)v, unit);
	else
		picture_put_number(out, v);
}

/* Puts a sentence about frames that the picture leaves out, or nothing if it shows everything. */
static void put_note(const struct picture *g, struct buf *out)
{
	const struct layout *l = &g->layout;

	if (g->difference) {
		difference_put_note(g->difference, out);
		buf_puts(out, l->narrow || l->deep ? "; " : "");
	}
	if (l->narrow) {
		buf_put_grouped(out, (int64_t)l->narrow);
		buf_puts(out, l->narrow == 1 ? " frame narrower than " : " frames narrower than ");
		picture_put_number(out, g->o->min_width);
		buf_puts(out, g->o->min_width_percent ? "%" : " px");
		buf_puts(out, g->is_pruned ? ", with all frames on top of them," : "");
		buf_puts(out, l->narrow == 1 && !g->is_pruned ? " is not drawn (" : " are not drawn (");
		amount_put_percent(out, l->narrow_value, l->total);
		buf_puts(out, "% of the total)");
	}
	if (l->deep) {
		buf_puts(out, l->narrow ? "; only the first " : "Only the first ");
		buf_put_grouped(out, DEPTH_MAX + 1LL);
		buf_puts(out, " of ");
		buf_put_grouped(out, l->depth_uncut + 1LL);
		buf_puts(out, " levels are drawn");
	}
	if (l->negative) {
		buf_puts(out, out->size ? "; " : "");
		buf_put_grouped(out, l->negative);
		buf_puts(out, l->negative == 1 ? " value below zero is left out, " : " values below zero are "
			 "left out, ");
		put_scaled(g, l->negative_value, out);
		buf_puts(out, l->negative == 1 ? "" : " in all");
	}
}

static void put_script(const struct picture *g, const char *note, struct buf *out)
{
	if (g->is_still)
		return;
	buf_puts(out, "<script type=\"application/json\" id=\"profile\">");
	picture_put_table(g, note, out);
	buf_puts(out, "</script>\n<script type=\"text/plain\" data-csp=\"");
	buf_puts(out, g->exact || g->difference ? picture_svg_pairs_hashes : picture_svg_hashes);
	buf_puts(out, "\">");
	if (g->exact || g->difference)
		buf_put(out, asset_picture_svg_pairs_js, asset_picture_svg_pairs_js_size);
	else
		buf_put(out, asset_picture_svg_js, asset_picture_svg_js_size);
	buf_puts(out, "</script><script><![CDATA[");
	buf_put(out, asset_picture_unpack_js, asset_picture_unpack_js_size);
	buf_puts(out, "]]></script>\n");
}

void picture_put_foot(const struct picture *g, const char *note, struct buf *out)
{
	double y = g->height - g->bottom / 2;

	put_line(g, "details", "start", PICTURE_MARGIN, y, g->o->font_size, note, out);
	put_line(g, "matched", "end", g->o->width - PICTURE_MARGIN, y, g->o->font_size, "", out);
	put_script(g, note, out);
	buf_puts(out, "</svg>\n");
}

static void put_picture(const struct picture *g, struct buf *out)
{
	_cleanup_(buf_done) struct buf note = { 0 };

	buf_init(&note);
	put_note(g, &note);
	picture_put_head(g, out);
	picture_put_frames(g, out);
	picture_put_foot(g, note.data, out);
}

void picture_put_empty(const struct picture *g, const char *why, struct buf *out)
{
	picture_put_head(g, out);
	put_line(g, "details", "middle", g->o->width / 2, g->top + 2 * g->o->font_size, g->o->font_size, why, out);
	buf_puts(out, "</svg>\n");
}

/* An empty picture has a message: a blank one would look like a defect of the viewer. */
static void put_nothing(const struct picture *g, struct buf *out)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	uint32_t stacks = profile_stacks(g->p);

	buf_init(&text);
	buf_puts(&text, "Nothing was sampled: ");
	buf_put_grouped(&text, stacks);
	buf_puts(&text, stacks == 1 ? " stack, none with a value" : " stacks, none with a value");
	if (g->o->column != UINT32_MAX)
		buf_printf(&text, "%s in column %s", g->layout.negative ? " above zero" : "",
			   g->p->columns[g->o->column].name);
	picture_put_empty(g, text.data, out);
}

/* Puts code points above ASCII as &#x…;, which works in every encoding. Scripts and styles have none. */
static void put_ascii(struct buf *out, struct str s)
{
	const char *p = s.p, *end = s.p + s.n, *run = p;

	while (p < end) {
		uint32_t c;
		unsigned n;

		if ((unsigned char)*p < 0x80) {
			p++;
			continue;
		}
		n = text_decode(p, end, &c);
		buf_put(out, run, (size_t)(p - run));
		buf_printf(out, "&#x%x;", c);
		run = p += n ? n : 1;
	}
	buf_put(out, run, (size_t)(end - run));
}

int picture_finish(const struct flamegraph_options *o, struct buf *out, size_t start, struct err *err)
{
	if (o->encoding && strcasecmp(o->encoding, "UTF-8")) {
		struct str drawn = { xstrndup(out->data + start, out->size - start), out->size - start };

		out->size = start;
		put_ascii(out, drawn);
		free((char *)drawn.p);
	}
	if (out->overflow)
		return err_set(err, -EFBIG, "the picture would exceed %zu bytes; try a higher --minwidth",
			       out->limit);
	return 0;
}

int picture_prepare(struct picture *g, struct err *err)
{
	const struct flamegraph_options *o = g->o;
	int e;

	if (o->column != UINT32_MAX && o->column >= g->p->column_count)
		return err_set(err, -EINVAL, "the profile has no column %u", o->column);
	if (o->before_column != UINT32_MAX && o->before_column >= g->p->column_count)
		return err_set(err, -EINVAL, "the profile has no column %u", o->before_column);
	if ((e = picture_check(g, err)) < 0)
		return e;
	name_values(g);
	if (g->o->column != UINT32_MAX)
		g->factor /= (double)profile_scale(g->p, g->o->column);
	return 0;
}

static int draw(struct picture *g, struct buf *out, struct err *err)
{
	_cleanup_(profile_freep) struct profile *reversed = NULL;
	size_t start = out->size;
	int e;

	if ((e = picture_prepare(g, err)) < 0)
		return e;
	if (g->o->reverse)
		g->p = reversed = reverse_profile(g);
	measure(g);
	if (g->layout.count)
		put_picture(g, out);
	else
		put_nothing(g, out);
	layout_done(&g->layout);
	g->difference = difference_free(g->difference);
	g->exact = exact_free(g->exact);
	if (!g->is_still)
		return picture_finish(g->o, out, start, err);
	return out->overflow ? err_set(err, -EFBIG, "the picture would be larger than %zu bytes", out->limit) : 0;
}

int flamegraph_svg(const struct profile *p, const struct flamegraph_options *o, struct buf *out, struct err *err)
{
	struct picture g = { .p = p, .unreversed = p, .o = o };

	return draw(&g, out, err);
}

int picture_put_still(const struct profile *p, const struct flamegraph_options *o, struct buf *out, struct err *err)
{
	struct picture g = { .p = p, .unreversed = p, .o = o, .is_still = true };

	return draw(&g, out, err);
}
