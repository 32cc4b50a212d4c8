/* top_screen.c: the header, the rows, and the bottom line. */

#include "top_screen.h"

#include "cells.h"
#include "mem.h"
#include "request_table.h"
#include "top_columns.h"
#include "top_header.h"

#include <string.h>

#define HEAD_MAX	5u
#define KEYS		"?:help /:filter space:pause Tab:rows s,t,o:sort a:all d:requests w:save q:quit"

void top_screen_init(struct top_screen *s)
{
	*s = (struct top_screen){ .cursor = SIZE_MAX };
}

void top_screen_done(struct top_screen *s)
{
	for (size_t i = 0; i < s->capacity; i++)
		buf_done(&s->lines[i].text);
	free(s->lines);
}

static struct buf *new_line(struct top_screen *s, enum top_style style)
{
	size_t before = s->capacity;

	GROW(&s->lines, &s->capacity, s->count + 1);
	for (size_t i = before; i < s->capacity; i++)
		buf_init(&s->lines[i].text);
	buf_reset(&s->lines[s->count].text);
	s->lines[s->count].style = style;
	return &s->lines[s->count++].text;
}

static void put_line(struct top_screen *s, enum top_style style, const struct buf *text, size_t width)
{
	cells_put(new_line(s, style), (struct str){ text->data, text->size }, width, false);
}

/* --- the head */

static void lay_out_head(struct top_screen *s, const struct top_view *v, const struct top_status *f, size_t width, size_t most)
{
	static void (*const puts[])(struct buf *out, const struct top_view *v, const struct top_status *f) = {
		top_put_title, top_put_load, top_put_counts, top_put_choice,
	};
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	for (size_t i = 0; i < ARRAY_SIZE(puts) && s->count < most; i++) {
		buf_reset(&text);
		puts[i](&text, v, f);
		put_line(s, i ? TOP_PLAIN : TOP_BOLD, &text, width);
	}
	buf_reset(&text);
	if (s->count < most && top_put_warning(&text, f))
		put_line(s, TOP_WARNING, &text, width);
}

/* --- the middle */

/* Lays out text of several lines, wrapping those that are too wide. */
static void lay_out_text(struct top_screen *s, const char *text, size_t width, size_t bottom, enum top_style style)
{
	while (*text && s->count < bottom) {
		size_t n = strcspn(text, "\n"), cut = n;

		for (; cells_width((struct str){ text, cut }) > width; )
			for (cut--; cut > width / 2 && text[cut] != ' ' ; cut--)
				;
		if (!cut)
			cut = n;
		cells_put(new_line(s, style), (struct str){ text, cut }, width, false);
		text += cut + strspn(text + cut, cut < n ? " " : "");
		text += cut == n && *text == '\n';
	}
}

static void lay_out_notes(struct top_screen *s, const struct top_status *f, size_t width, size_t bottom)
{
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	top_put_notes(&text, f);
	lay_out_text(s, text.data, width, bottom, TOP_PLAIN);
}

static void lay_out_help(struct top_screen *s, size_t width, size_t bottom)
{
	const char *const *lines;
	size_t n = top_view_help(&lines);

	for (size_t i = 0; i < n && s->count < bottom; i++)
		cells_put(new_line(s, TOP_PLAIN), (struct str){ lines[i], strlen(lines[i]) }, width, false);
}

static void lay_out_rows(struct top_screen *s, struct top_view *v, size_t width, size_t bottom)
{
	struct top_columns c;

	top_columns_choose(&c, v, width);
	top_columns_put_headings(&c, v, new_line(s, TOP_HEADINGS), width);
	v->page = bottom > s->count ? bottom - s->count : 0;
	top_view_clamp(v);
	for (size_t i = v->first; v->rows && i < v->rows->count && s->count < bottom; i++)
		top_columns_put_row(&c, v, &v->rows->rows[i], new_line(s, i == v->selected ? TOP_SELECTED : TOP_PLAIN), width);
}

static void lay_out_requests(struct top_screen *s, struct top_view *v, size_t width, size_t bottom)
{
	const struct request_rows *r = v->request_rows;

	request_table_put_headings(new_line(s, TOP_HEADINGS), width);
	v->page = bottom > s->count ? bottom - s->count : 0;
	top_view_clamp(v);
	for (size_t i = v->first; r && i < r->count && s->count < bottom; i++)
		request_table_put_row(&r->rows[i], new_line(s, i == v->selected ? TOP_SELECTED : TOP_PLAIN), width);
	if (r && !r->count)
		lay_out_text(s, *r->why ? r->why : r->left_out ? "The filter hides every request; Esc shows them." :
								 "No requests are running.",
			     width, bottom, TOP_WARNING);
}

/* Lays out the reason why the table is empty, if it is, instead of rows. */
static void lay_out_table(struct top_screen *s, struct top_view *v, const struct top_status *f, size_t width, size_t bottom)
{
	lay_out_rows(s, v, width, bottom);
	if (v->rows && v->rows->count)
		return;
	if (v->has_filter && v->rows && v->rows->left_out)
		lay_out_text(s, "The filter hides every row; Esc shows them.", width, bottom, TOP_WARNING);
	else if (!f->all_ns)
		lay_out_text(s, "Waiting for the first samples.", width, bottom, TOP_FAINT);
	else if (v->scope.key && !record_summary_is_empty(&f->summary))
		lay_out_text(s, "No samples in this period; press a for the time since the start, Esc for everything.", width, bottom, TOP_WARNING);
	else
		lay_out_notes(s, f, width, bottom);
}

/* --- the bottom */

static void lay_out_bottom(struct top_screen *s, const struct top_view *v, size_t width)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	struct buf *line;

	buf_init(&text);
	if (v->prompt) {
		buf_printf(&text, "%s%s", v->prompt == TOP_PROMPT_FILTER ? "filter: " : "save to: ", v->input);
		line = new_line(s, *v->message ? TOP_WARNING : TOP_BOLD);
		s->cursor = cells_put(line, (struct str){ text.data, text.size }, width - 1, true);
		if (*v->message) {
			size_t room = width > s->cursor + 3 ? width - s->cursor - 3 : 0;

			buf_puts(line, room ? "  " : "");
			cells_put(line, (struct str){ v->message, strlen(v->message) }, room, false);
		}
		return;
	}
	buf_puts(&text, *v->message ? v->message : KEYS);
	put_line(s, *v->message ? TOP_BOLD : TOP_FAINT, &text, width);
}

void top_screen_lay_out(struct top_screen *s, struct top_view *v, const struct top_status *f, size_t width, size_t height)
{
	size_t bottom = height > 1 ? height - 1 : height;

	s->count = 0;
	s->cursor = SIZE_MAX;
	width = width ? width : 1;
	/* On a small screen the table is more important. */
	lay_out_head(s, v, f, width, height >= 12 ? HEAD_MAX : height / 4);
	if (v->help)
		lay_out_help(s, width, bottom);
	else if (v->notes)
		lay_out_notes(s, f, width, bottom);
	else if (v->stack)
		lay_out_text(s, v->stack, width, bottom, TOP_PLAIN);
	else if (v->requests && s->count < bottom)
		lay_out_requests(s, v, width, bottom);
	else if (s->count < bottom)
		lay_out_table(s, v, f, width, bottom);
	while (s->count < bottom)
		new_line(s, TOP_PLAIN);
	if (height > 1 || v->prompt) {
		s->count = bottom < height ? s->count : 0;
		lay_out_bottom(s, v, width);
	}
}
