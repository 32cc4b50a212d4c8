/* terminal.c: uses ncurses, whose functions are macros on hidden globals, so only this file includes it. */

#include "terminal.h"

#include "cells.h"
#include "mem.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>

#define COLOR_OF_WARNINGS	1

const bool terminal_is_built = true;

struct terminal {
	SCREEN *screen;
	bool gone;
};

int terminal_open(struct terminal **ret, bool color, struct err *err)
{
	const char *name = getenv("TERM");
	struct terminal *t;
	SCREEN *screen;

	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		return err_set(err, -ENOTTY, "no terminal");
	/* Not initscr(), which exits if it does not know the terminal. */
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return err_set(err, -ENOTSUP, "unknown terminal '%s' (TERM); printing plain tables",
			       name ? name : "");
	t = xcalloc(1, sizeof(*t));
	t->screen = screen;
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	if (color && has_colors() && start_color() == OK && use_default_colors() == OK)
		init_pair(COLOR_OF_WARNINGS, COLOR_YELLOW, -1);
	*ret = t;
	return 0;
}

struct terminal *terminal_close(struct terminal *t)
{
	if (!t)
		return NULL;
	endwin();
	delscreen(t->screen);
	free(t);
	return NULL;
}

void terminal_size(struct terminal *t, size_t *ret_width, size_t *ret_height)
{
	int width = getmaxx(stdscr), height = getmaxy(stdscr);

	*ret_width = width > 0 ? (size_t)width : 1;
	*ret_height = height > 0 ? (size_t)height : 1;
}

static attr_t attributes(enum top_style style)
{
	switch (style) {
	case TOP_BOLD:
		return A_BOLD;
	case TOP_HEADINGS:
		return A_REVERSE;
	case TOP_SELECTED:
		return A_REVERSE | A_BOLD;
	case TOP_FAINT:
		return A_DIM;
	case TOP_WARNING:
		return A_BOLD | COLOR_PAIR(COLOR_OF_WARNINGS);
	default:
		return A_NORMAL;
	}
}

static void show_line(int y, const struct top_line *line, int width)
{
	size_t used = cells_width((struct str){ line->text.data, line->text.size });

	attrset((int)attributes(line->style));
	mvaddnstr(y, 0, line->text.data, (int)line->text.size);
	if (line->style == TOP_HEADINGS || line->style == TOP_SELECTED)
		for (; used < (size_t)width; used++)
			mvaddch(y, (int)used, ' ');
}

void terminal_show(struct terminal *t, const struct top_screen *s)
{
	int width = getmaxx(stdscr), height = getmaxy(stdscr);

	erase();
	for (size_t i = 0; i < s->count && (int)i < height; i++)
		show_line((int)i, &s->lines[i], width);
	curs_set(s->cursor != SIZE_MAX);
	if (s->cursor != SIZE_MAX && s->count)
		move((int)s->count - 1, (int)s->cursor < width ? (int)s->cursor : width - 1);
	refresh();
}

static uint32_t special_key(wint_t c)
{
	static const struct { wint_t curses; uint32_t key; } keys[] = {
		{ KEY_UP, TOP_KEY_UP }, { KEY_DOWN, TOP_KEY_DOWN }, { KEY_LEFT, TOP_KEY_LEFT }, { KEY_RIGHT, TOP_KEY_RIGHT },
		{ KEY_PPAGE, TOP_KEY_PAGE_UP }, { KEY_NPAGE, TOP_KEY_PAGE_DOWN }, { KEY_HOME, TOP_KEY_HOME }, { KEY_END, TOP_KEY_END },
		{ KEY_BTAB, TOP_KEY_BACK_TAB }, { KEY_BACKSPACE, TOP_KEY_BACKSPACE }, { KEY_ENTER, TOP_KEY_ENTER },
		{ KEY_F(1), TOP_KEY_HELP }, { KEY_F(4), '/' }, { KEY_F(10), 'q' }, { KEY_RESIZE, TOP_KEY_RESIZE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].curses == c)
			return keys[i].key;
	return TOP_KEY_OTHER;
}

static void look_for_hangup(struct terminal *t)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	t->gone |= poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL);
}

uint32_t terminal_key(struct terminal *t)
{
	wint_t c;
	int r = get_wch(&c);

	if (r == ERR)
		look_for_hangup(t);
	if (r == ERR)
		return TOP_KEY_NONE;
	if (r == KEY_CODE_YES)
		return special_key(c);
	if (c == '\r')
		return TOP_KEY_ENTER;
	return c == 127 || c == 8 ? TOP_KEY_BACKSPACE : (uint32_t)c;
}

bool terminal_is_there(const struct terminal *t)
{
	return !t->gone;
}
