/* html.c: writes a profile as one HTML file: the page of the web UI with its data embedded.
 *
 *	<meta>		a content security policy: only these two scripts, a worker made of the second, no requests
 *	#app		replaced by the page. It contains #still, the widest frames as an SVG, which is shown if
 *			scripts are off, and is only text if they run (still.js)
 *	#about		JSON: words, units, colors, and what the caller adds
 *	#profile	base64 of zlib's stream of the tree (flame_data.h): 5 million frames are some 20 MB
 *	#chart		the same of a flame chart, if there is one
 */

#include "render.h"

#include "assets.h"
#include "chart.h"
#include "chart_data.h"
#include "flame_data.h"
#include "mem.h"
#include "picture.h"
#include "text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define NODES_MAX	(16u * 1024 * 1024)	/* beyond this, narrower ones are left out */
#define STILL_MIN_PX	2.0			/* minimum width of frames in the still picture */

static void put_text(struct buf *out, const char *text)
{
	text_put_xml(out, (struct str){ text, strlen(text) });
}

/* --- The boxes --- */

#define STEP		((size_t)256 * 1024)

/* With 5 million frames level 6 takes three times as long, for 4% less. */
#define LEVEL		3

static int deflate_all(z_stream *z, const struct buf *in, struct buf *out)
{
	size_t left = in->size;
	int r;

	z->next_in = (Bytef *)in->data;
	do {
		char *at = buf_reserve(out, STEP);

		if (!at)
			return -EFBIG;
		if (z->avail_in == 0) {
			z->avail_in = left > UINT_MAX / 2 ? UINT_MAX / 2 : (uInt)left;
			left -= z->avail_in;
		}
		z->next_out = (Bytef *)at;
		z->avail_out = STEP;
		r = deflate(z, left ? Z_NO_FLUSH : Z_FINISH);
		buf_wrote(out, STEP - z->avail_out);
	} while (r == Z_OK || r == Z_BUF_ERROR);
	return r == Z_STREAM_END ? 0 : -EIO;
}

static int put_zlib(struct buf *out, const struct buf *in, struct err *err)
{
	z_stream z = { 0 };
	int e;

	if (deflateInit(&z, LEVEL) != Z_OK)
		return err_set(err, -ENOMEM, "not enough memory to compress");
	e = deflate_all(&z, in, out);
	deflateEnd(&z);
	return e < 0 ? err_set(err, e, "cannot compress the %zu bytes of the picture", in->size) : 0;
}

static void put_base64(struct buf *out, const struct buf *in)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = (const unsigned char *)in->data;

	for (size_t i = 0; i < in->size; i += 3) {
		size_t n = in->size - i < 3 ? in->size - i : 3;
		uint32_t v = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (n > 2 ? p[i + 2] : 0);
		char four[4] = { digits[v >> 18], digits[v >> 12 & 63], n > 1 ? digits[v >> 6 & 63] : '=',
				 n > 2 ? digits[v & 63] : '=' };

		buf_put(out, four, sizeof(four));
	}
}

static int put_packed(const char *id, const struct buf *bytes, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf packed = { 0 };
	int e;

	buf_init(&packed);
	if ((e = put_zlib(&packed, bytes, err)) < 0)
		return e;
	buf_printf(out, "<script type=\"application/octet-stream\" id=\"%s\">", id);
	put_base64(out, &packed);
	buf_puts(out, "</script>\n");
	return 0;
}

static int put_tree(const struct picture *g, const struct flamegraph_page *page, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf nodes = { 0 };

	buf_init(&nodes);
	flame_data_put_tree(g->p, page->columns, page->column_count, page->shown, NODES_MAX, &nodes);
	return put_packed("profile", &nodes, out, err);
}

static int put_chart(const struct profile *p, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf calls = { 0 };

	if (!p->chart || !p->chart->count)
		return 0;
	buf_init(&calls);
	chart_data_put_calls(p, FLAME_DATA_BOXES, &calls);
	return put_packed("chart", &calls, out, err);
}

/* --- The document --- */

/* Palettes distinguish programs, the page's own distinguishes namespaces: it is used unless another one is chosen. */
static bool has_colors(const struct flamegraph_options *o)
{
	struct flamegraph_options usual;

	flamegraph_defaults(&usual);
	return o->hash || o->random_seed || o->palette_map || strcmp(o->colors, usual.colors) != 0;
}

static void put_chart_facts(const struct profile *p, struct json *j)
{
	json_key(j, "chart");
	json_open_object(j);
	json_key(j, "calls");
	json_u64(j, p->chart->count);
	json_key(j, "start");
	json_double(j, (double)p->chart->start_ns / 1e9);
	json_key(j, "length_ns");
	json_i64(j, chart_end(p->chart));
	json_end(j);
}

static void put_attributes(const struct picture *g, struct json *j)
{
	json_key(j, "attributes");
	json_open_object(j);
	for (uint32_t f = 0; f < g->p->frame_count; f++)
		picture_put_attributes(j, g, f, profile_name(g->p, f));
	json_end(j);
}

static void put_about(const struct picture *g, const struct flamegraph_page *page, struct buf *out)
{
	_cleanup_(buf_done) struct buf note = { 0 }, subtitle = { 0 };
	const struct flamegraph_options *o = g->o;
	struct picture measured = *g;
	uint32_t count = g->p->frame_count;
	_cleanup_(freep) uint32_t *frames = xcalloc((size_t)count + 1, sizeof(*frames));
	struct json j;

	buf_init(&note);
	buf_init(&subtitle);
	picture_put_subtitle(g, &subtitle);
	if (o->before_column != UINT32_MAX)
		difference_put_note(&(struct picture_difference){ .o = o }, &note);
	for (uint32_t f = 0; f < count; f++)
		frames[f] = f;
	frames[count] = UINT32_MAX;
	buf_puts(out, "<script type=\"application/json\" id=\"about\">");
	json_init(&j, out);
	json_open_object(&j);
	json_key(&j, "title");
	json_str(&j, picture_title(o));
	if (subtitle.size) {
		json_key(&j, "subtitle");
		json_str(&j, subtitle.data);
	}
	/* The page recognizes fractional counts by their unit. */
	measured.factor = o->factor;
	picture_put_words(&j, &measured, note.data ? note.data : "");
	if (o->before_column != UINT32_MAX && o->width_of != WIDTH_OF_MAXIMUM) {
		json_key(&j, "widthOf");
		json_str(&j, flamegraph_width_names[o->width_of]);
	}
	json_key(&j, "hasColors");
	json_bool(&j, has_colors(o));
	if (o->total > 0) {
		json_key(&j, "total");
		json_double(&j, o->total);
	}
	picture_put_fills(&j, g, frames, 0, count + 1);
	picture_put_exact(&j, g, frames, count + 1);
	if (o->nameattr)
		put_attributes(g, &j);
	if (g->p->chart && g->p->chart->count)
		put_chart_facts(g->p, &j);
	if (page->put)
		page->put(&j, page->data);
	json_end(&j);
	buf_puts(out, "</script>\n");
}

static void put_head(const struct picture *g, struct buf *out)
{
	const struct flamegraph_options *o = g->o;
	_cleanup_(buf_done) struct buf subtitle = { 0 };

	buf_init(&subtitle);
	picture_put_subtitle(g, &subtitle);
	buf_printf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src %s; "
			"style-src 'unsafe-inline'; worker-src blob:; base-uri 'none'; form-action 'none'\">\n<title>",
		   flamegraph_html_script_hashes);
	put_text(out, picture_title(o));
	buf_puts(out, "</title>\n<style>");
	buf_put(out, asset_picture_html_css, asset_picture_html_css_size);
	buf_puts(out, "</style>\n</head>\n<body>\n<div id=\"app\">\n<header class=\"bar\"><h1>");
	put_text(out, picture_title(o));
	buf_puts(out, "</h1>");
	if (subtitle.size) {
		buf_puts(out, "<p>");
		put_text(out, subtitle.data);
		buf_puts(out, "</p>");
	}
	buf_puts(out, "</header>\n");
}

/* Tells whether there is anything for a script to show. */
static bool has_values(const struct profile *p, const struct flamegraph_options *o)
{
	return o->column != UINT32_MAX && profile_sum(p, o->column) > 0;
}

/* The script before the still picture turns it into text, with an element that is parsed as text if scripts run:
 * otherwise parsing, layout and painting would take a tenth of the time to open, although the page replaces it. If
 * the script may not run, it stays a picture; and if the page's own script fails, as in a browser that is too old, or
 * has not started two seconds after loading, the text becomes a picture again. */
static int put_still(const struct profile *p, const struct flamegraph_options *o, struct buf *out, struct err *err)
{
	struct flamegraph_options still = *o;
	bool has_page = has_values(p, o);

	if (!o->min_width_percent && still.min_width < STILL_MIN_PX)
		still.min_width = STILL_MIN_PX;
	buf_puts(out, "<main>\n");
	if (has_page) {
		buf_puts(out, "<script>");
		buf_put(out, asset_still_js, asset_still_js_size);
		buf_puts(out, "</script>\n");
	}
	buf_printf(out, "<div id=\"still\"%s tabindex=\"0\" role=\"region\" aria-label=\"Flame graph\"><div>\n",
		   o->inverted ? "" : " class=\"upwards\"");
	if (picture_put_still(p, &still, out, err) < 0)
		return err->code;
	buf_printf(out, "</div></div>%s\n</main>\n</div>\n", has_page ? "</noscript>" : "");
	return 0;
}

int flamegraph_html(const struct profile *p, const struct flamegraph_options *o, const struct flamegraph_page *page, struct buf *out,
		    struct err *err)
{
	_cleanup_(buf_done) struct buf still = { 0 };
	_cleanup_(exact_freep) struct exact *exact = exact_new(p, o);
	struct picture g = { .p = p, .unreversed = p, .o = o, .exact = exact };
	uint32_t sides[] = { o->column, o->before_column };
	const struct flamegraph_page plain = { .columns = sides, .column_count = o->before_column == UINT32_MAX ? 1 : 2 };
	int e;

	page = page ? page : &plain;
	buf_init(&still);
	if ((e = put_still(p, o, &still, err)) < 0 || (e = picture_prepare(&g, err)) < 0)
		return e;
	put_head(&g, out);
	buf_put(out, still.data, still.size);
	if (has_values(p, o)) {
		put_about(&g, page, out);
		if ((e = put_tree(&g, page, out, err)) < 0 || (e = put_chart(p, out, err)) < 0)
			return e;
		buf_puts(out, "<script>");
		buf_put(out, asset_picture_html_js, asset_picture_html_js_size);
		buf_puts(out, "</script>\n");
	}
	buf_puts(out, "</body>\n</html>\n");
	if (out->overflow)
		return err_set(err, -EFBIG, "the page would be larger than %zu bytes; an SVG leaves out narrow frames",
			       out->limit);
	return 0;
}
