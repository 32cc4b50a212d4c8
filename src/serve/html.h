/* html.h: the frame of every page, and escaping of text. */
#ifndef SERVE_HTML_H
#define SERVE_HTML_H

#include "buf.h"

void html_text(struct buf *out, const char *text);		/* any bytes, as text or attribute value */
void html_option(struct buf *out, const char *value, const char *words, bool selected);	/* an entry of a <select> */
void html_begin(struct buf *out, const char *title);		/* head with stylesheet and script, and <body> */
void html_warning(struct buf *out, const char *sentence);	/* a line above the rest; NULL: none */
void html_end(struct buf *out);

#endif
