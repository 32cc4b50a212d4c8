/* html.c: head and foot of pages. There is no inline script or style, which the Content-Security-Policy would block. */

#include "html.h"

#include "web_assets.h"
#include "text.h"

#include <string.h>

void html_text(struct buf *out, const char *text)
{
	text_put_xml(out, (struct str){ text, strlen(text) });
}

void html_begin(struct buf *out, const char *title)
{
	buf_puts(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	html_text(out, title);
	buf_printf(out, "</title>\n"
		   "<link rel=\"icon\" type=\"image/svg+xml\" href=\"/assets/%s/icon.svg\">\n"
		   "<link rel=\"stylesheet\" href=\"/assets/%s/app.css\">\n"
		   "<noscript><link rel=\"stylesheet\" href=\"/assets/%s/plain.css\"></noscript>\n"
		   "<script type=\"module\" src=\"/assets/%s/app.js\"></script>\n"
		   "</head>\n<body>\n", assets_hash, assets_hash, assets_hash, assets_hash);
}

void html_warning(struct buf *out, const char *sentence)
{
	if (!sentence)
		return;
	buf_puts(out, "<p class=\"warning\" role=\"status\">");
	html_text(out, sentence);
	buf_puts(out, "</p>\n");
}

void html_end(struct buf *out)
{
	buf_puts(out, "</body>\n</html>\n");
}

void html_option(struct buf *out, const char *value, const char *words, bool selected)
{
	buf_puts(out, "<option value=\"");
	html_text(out, value);
	buf_puts(out, selected ? "\" selected>" : "\">");
	html_text(out, words);
	buf_puts(out, "</option>");
}
