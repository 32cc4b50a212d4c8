/* requests.h: lists current requests; URIs change too often to be grouped. */
#ifndef TOP_REQUESTS_H
#define TOP_REQUESTS_H

#include "arena.h"
#include "intern.h"
#include "php_activity_list.h"

#include <regex.h>

struct request_row {
	struct str thread;		/* "1234", of thread-safe PHP "1234/1240" */
	struct str pool;
	const char *state;
	int64_t age_ns;			/* -1: unknown */
	struct str request;		/* "GET /shop/cart", or the script of a command */
	struct str functions;		/* "sleep < Shop::wait < cart", the running one first */
	struct str stack;		/* the same with files and lines, one per line */
};

struct request_rows {
	struct request_row *rows;	/* the oldest first */
	size_t count, idle, unreadable, left_out;	/* left_out: by the filter */
	char why[600];			/* why some or all could not be read; "" */
	struct arena text;
};

void request_rows_init(struct request_rows *r);
void request_rows_done(struct request_rows *r);

/* Copies the data that was read. `filter` may be NULL; it is matched against request, pool and functions. */
void request_rows_fill(struct request_rows *r, const struct php_activity_list *l, const regex_t *filter);

#endif
