/* top_screen.h: lays out head, table and bottom as the lines of a screen of a given size. Pure. */
#ifndef TOP_TOP_SCREEN_H
#define TOP_TOP_SCREEN_H

#include "top_header.h"

enum top_style {
	TOP_PLAIN, TOP_BOLD, TOP_HEADINGS, TOP_SELECTED, TOP_FAINT, TOP_WARNING,
	TOP_STYLES
};

struct top_line {
	enum top_style style;
	struct buf text;		/* UTF-8, no wider than the screen, no control characters */
};

struct top_screen {
	struct top_line *lines;
	size_t count, capacity;
	size_t cursor;			/* column on the last line, while something is typed; SIZE_MAX: none */
};

void top_screen_init(struct top_screen *s);
void top_screen_done(struct top_screen *s);

/* Sets the page of the view, and lays out `height` lines of `width` columns, at least one of one. */
void top_screen_lay_out(struct top_screen *s, struct top_view *v, const struct top_status *f, size_t width, size_t height);

#endif
