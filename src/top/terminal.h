/* terminal.h: a whole terminal as a screen of lines, by ncurses. Builds without ncurses have none.
 *
 * While it is open nothing else may be written to it; close it before the program ends.
 */
#ifndef TOP_TERMINAL_H
#define TOP_TERMINAL_H

#include "err.h"
#include "top_screen.h"

/* Whether this build has one. */
extern const bool terminal_is_built;

struct terminal;

/* Opens standard output and input. -ENOTTY if that is no terminal, -ENOTSUP with a sentence if it is one that has no name or
 * cannot move its cursor, or if this build has no ncurses. */
int terminal_open(struct terminal **ret, bool color, struct err *err);

/* Restores the terminal. NULL is fine; returns NULL. */
struct terminal *terminal_close(struct terminal *t);

void terminal_size(struct terminal *t, size_t *ret_width, size_t *ret_height);
void terminal_show(struct terminal *t, const struct top_screen *s);

/* The next key that was typed, TOP_KEY_NONE if there is none. Never waits. */
uint32_t terminal_key(struct terminal *t);

/* False once the terminal has gone: its other end was closed. */
bool terminal_is_there(const struct terminal *t);

#endif
