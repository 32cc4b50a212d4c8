/* request_table.h: formats a request as a line of a given width. */
#ifndef TOP_REQUEST_TABLE_H
#define TOP_REQUEST_TABLE_H

#include "requests.h"

void request_table_put_headings(struct buf *out, size_t width);
void request_table_put_row(const struct request_row *row, struct buf *out, size_t width);

/* Puts "requests now: 3, oldest first; 9 idle workers". */
void request_table_put_choice(const struct request_rows *r, struct buf *out);

#endif
