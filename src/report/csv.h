/* csv.h: comma-separated values of RFC 4180, safe to open in a spreadsheet.
 *
 * A text that begins with = + - @, a tab or a carriage return, which spreadsheets treat as a formula, gets a ' before
 * it. A tab or newline becomes a space; other control characters and invalid UTF-8 become U+FFFD. Numbers are written
 * as they are. */
#ifndef REPORT_CSV_H
#define REPORT_CSV_H

#include "buf.h"
#include "intern.h"

struct csv {
	struct buf *out;
	bool started;		/* this line has a cell already */
};

void csv_text(struct csv *c, struct str s);
void csv_words(struct csv *c, const char *text);
void csv_millionths(struct csv *c, int64_t v);	/* as a decimal number */
void csv_i64(struct csv *c, int64_t v);
void csv_fixed(struct csv *c, double v, int decimals);
void csv_share(struct csv *c, int64_t part, int64_t whole);	/* percent, two decimals */
void csv_end(struct csv *c);					/* ends the line */

#endif
