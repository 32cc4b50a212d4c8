/* html.c: a flame graph as one HTML file: the canvas of the web UI with its data beside it.
 *
 *	<meta>		a content security policy that lets this one script run, and nothing be fetched
 *	#still		the widest frames as an SVG, which is all there is where scripts are off; the script takes its place
 *	#about		JSON: words, units, colours
 *	#profile	base64 of zlib's stream of the boxes (flame_data.h): 5 million frames are some 20 MB
 */

#include "render.h"

#include "assets.h"
#include "flame_data.h"
#include "mem.h"
#include "picture.h"
#include "text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BOXES_MAX	(16u * 1024 * 1024)	/* narrower ones are left out above it */
#define STILL_MIN_PX	2.0			/* frames of the still picture */

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

static int put_boxes(const struct picture *g, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf boxes = { 0 }, packed = { 0 };
	int e;

	buf_init(&boxes);
	buf_init(&packed);
	flame_data_put_picture(g->p, g->o->column, g->o->before_column,
			       g->o->total < 9e18 ? (int64_t)g->o->total : INT64_MAX, BOXES_MAX, &boxes);
	e = put_zlib(&packed, &boxes, err);
	if (e < 0)
		return e;
	buf_puts(out, "<script type=\"application/octet-stream\" id=\"profile\">");
	put_base64(out, &packed);
	buf_puts(out, "</script>\n");
	return 0;
}

/* --- The document --- */

static void put_about(const struct picture *g, struct buf *out)
{
	_cleanup_(buf_done) struct buf note = { 0 };
	uint32_t count = g->p->frame_count;
	uint32_t *frames = xcalloc((size_t)count + 1, sizeof(*frames));
	struct json j;

	buf_init(&note);
	if (g->o->before_column != UINT32_MAX)
		difference_put_note(&(struct picture_difference){ .o = g->o }, &note);
	for (uint32_t f = 0; f < count; f++)
		frames[f] = f;
	frames[count] = UINT32_MAX;
	buf_puts(out, "<script type=\"application/json\" id=\"about\">");
	json_init(&j, out);
	json_open_object(&j);
	picture_put_words(&j, g, note.data ? note.data : "");
	if (g->o->before_column != UINT32_MAX && g->o->width_of != WIDTH_OF_MAXIMUM) {
		json_key(&j, "widthOf");
		json_str(&j, flamegraph_width_names[g->o->width_of]);
	}
	picture_put_fills(&j, g, frames, 0, count + 1);
	picture_put_exact(&j, g, frames, count + 1);
	if (g->o->nameattr) {
		json_key(&j, "attributes");
		json_open_object(&j);
		for (uint32_t f = 0; f < count; f++)
			picture_put_attributes(&j, g, f, profile_name(g->p, f));
		json_end(&j);
	}
	json_end(&j);
	buf_puts(out, "</script>\n");
	free(frames);
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
			"style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n<title>",
		   flamegraph_html_script_hashes);
	put_text(out, picture_title(o));
	buf_puts(out, "</title>\n<style>");
	buf_put(out, asset_page_css, asset_page_css_size);
	buf_put(out, asset_controls_css, asset_controls_css_size);
	buf_puts(out, "</style>\n</head>\n<body>\n<header id=\"head\"><h1>");
	put_text(out, picture_title(o));
	buf_puts(out, "</h1>");
	if (subtitle.size) {
		buf_puts(out, "<p>");
		put_text(out, subtitle.data);
		buf_puts(out, "</p>");
	}
	buf_puts(out, "</header>\n");
}

static int put_still(const struct profile *p, const struct flamegraph_options *o, struct buf *out, struct err *err)
{
	struct flamegraph_options still = *o;

	if (!o->min_width_percent && still.min_width < STILL_MIN_PX)
		still.min_width = STILL_MIN_PX;
	buf_puts(out, "<main>\n<div id=\"still\" tabindex=\"0\" role=\"region\" aria-label=\"Flame graph\">\n");
	if (picture_put_still(p, &still, out, err) < 0)
		return err->code;
	buf_puts(out, "</div>\n</main>\n<footer><span id=\"said\" role=\"status\"></span>"
		      "<span id=\"share\" role=\"status\"></span></footer>\n");
	return 0;
}

int flamegraph_html(const struct profile *p, const struct flamegraph_options *o, struct buf *out, struct err *err)
{
	_cleanup_(profile_freep) struct profile *reversed = NULL;
	_cleanup_(buf_done) struct buf still = { 0 };
	_cleanup_(exact_freep) struct exact *exact = exact_new(p, o);
	struct picture g = { .p = p, .unreversed = p, .o = o, .exact = exact };
	int e;

	buf_init(&still);
	if ((e = put_still(p, o, &still, err)) < 0 || (e = picture_prepare(&g, err)) < 0)
		return e;
	put_head(&g, out);
	buf_put(out, still.data, still.size);
	if (o->column != UINT32_MAX && profile_sum(p, o->column) > 0) {
		if (o->reverse)
			g.p = reversed = profile_reverse(p);
		put_about(&g, out);
		if ((e = put_boxes(&g, out, err)) < 0)
			return e;
		buf_puts(out, "<script>");
		buf_put(out, asset_picture_html_js, asset_picture_html_js_size);
		buf_puts(out, "</script>\n");
	}
	buf_puts(out, "</body>\n</html>\n");
	if (out->overflow)
		return err_set(err, -EFBIG, "the page would be larger than %zu bytes; an SVG leaves out what is narrow",
			       out->limit);
	return 0;
}
