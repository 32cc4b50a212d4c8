/* terminal.h: shows a screen of lines on a terminal, with ncurses. Builds without ncurses do not support it.
 *
 * While it is open nothing else may be written to it; close it before the program ends.
 */
#ifndef TOP_TERMINAL_H
#define TOP_TERMINAL_H

#include "err.h"
#include "top_screen.h"

/* Tells whether this build supports terminals. */
extern const bool terminal_is_built;

struct terminal;

/* Opens standard output and input. Returns -ENOTTY if they are not a terminal, -ENOTSUP with a sentence if its type
 * is unknown or it cannot move its cursor, or if this build has no ncurses. */
int terminal_open(struct terminal **ret, bool color, struct err *err);

/* Restores the terminal. NULL is fine; returns NULL. */
struct terminal *terminal_close(struct terminal *t);

void terminal_size(struct terminal *t, size_t *ret_width, size_t *ret_height);
void terminal_show(struct terminal *t, const struct top_screen *s);

/* Returns the next key typed, TOP_KEY_NONE if there is none. Never waits. */
uint32_t terminal_key(struct terminal *t);

/* Returns false once the terminal is gone: its other end was closed. */
bool terminal_is_there(const struct terminal *t);

#endif
