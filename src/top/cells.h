/* cells.h: text for cells of a terminal.
 *
 * Names are any bytes of other people's programs. The output moves no cursor, and is as wide as stated: wide
 * characters take two, combining ones none.
 */
#ifndef TOP_CELLS_H
#define TOP_CELLS_H

#include "buf.h"
#include "intern.h"

/* The width of the text in columns, once it is made fit. */
size_t cells_width(struct str s);

/* Appends what fits into `width` columns and returns how many it took. A text that does not fit is cut, at its start with `end`,
 * and marked with "…". */
size_t cells_put(struct buf *out, struct str s, size_t width, bool end);

void cells_fill(struct buf *out, size_t spaces);
void cells_put_right(struct buf *out, const char *text, size_t width);	/* aligned to the right */

#endif
