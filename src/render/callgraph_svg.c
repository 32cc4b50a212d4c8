/* callgraph_svg.c: adapts the SVG that Graphviz makes.
 *
 * Its size is in points, often several screens wide; here it is changed to fill the window, and gets its style and
 * script. Titles of elements ("n12") are removed, since browsers would show them instead of the tooltips with the
 * names. */

#include "callgraph.h"

#include "assets.h"

#include <string.h>

static const char *find(const char *at, const char *end, const char *text)
{
	return memmem(at, (size_t)(end - at), text, strlen(text));
}

static void put_asset(struct buf *out, const char *element, const char *bytes, size_t n)
{
	buf_printf(out, "<%s><![CDATA[\n", element);
	buf_put(out, bytes, n);
	buf_printf(out, "]]></%s>\n", element);
}

static void put_backslashes(const char *at, const char *end, struct buf *out)
{
	for (const char *next; (next = find(at, end, CALLGRAPH_BACKSLASH)); at = next + strlen(CALLGRAPH_BACKSLASH)) {
		buf_put(out, at, (size_t)(next - at));
		buf_putc(out, '\\');
	}
	buf_put(out, at, (size_t)(end - at));
}

void callgraph_bare_svg(struct str svg, struct buf *out)
{
	put_backslashes(svg.p, svg.p + svg.n, out);
}

/* Puts everything but the titles. */
static void put_without_titles(const char *at, const char *end, struct buf *out)
{
	for (const char *title; (title = find(at, end, "<title>"));) {
		const char *stop = find(title, end, "</title>\n");

		if (!stop)
			break;
		put_backslashes(at, title, out);
		at = stop + strlen("</title>\n");
	}
	put_backslashes(at, end, out);
}

void callgraph_finish_svg(struct str svg, struct buf *out)
{
	const char *end = svg.p + svg.n, *open = find(svg.p, end, "<svg width=\"");
	const char *view = open ? find(open, end, "viewBox=\"") : NULL, *inside = view ? find(view, end, ">") : NULL;
	const char *close = inside ? memrchr(inside, '<', (size_t)(end - inside)) : NULL;

	if (!close || (size_t)(end - close) < 6 || memcmp(close, "</svg>", 6)) {
		buf_put(out, svg.p, svg.n);
		return;
	}
	buf_put(out, svg.p, (size_t)(open - svg.p));
	buf_puts(out, "<svg width=\"100%\" height=\"100%\"\n ");
	buf_put(out, view, (size_t)(inside + 1 - view));
	buf_putc(out, '\n');
	put_asset(out, "style", asset_callgraph_css, asset_callgraph_css_size);
	put_without_titles(inside + 1, close, out);
	put_asset(out, "script", asset_callgraph_js, asset_callgraph_js_size);
	buf_put(out, close, (size_t)(end - close));
}
