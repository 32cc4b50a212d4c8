/* requests.c: formats the current requests. */

#include "requests.h"

#include "fallback.h"
#include "mem.h"
#include "top_rows.h"

#include <string.h>

#define FUNCTIONS_SHOWN	12u		/* innermost functions per row */

void request_rows_init(struct request_rows *r)
{
	*r = (struct request_rows){ 0 };
	arena_init(&r->text);
}

void request_rows_done(struct request_rows *r)
{
	free(r->rows);
	arena_done(&r->text);
}

static struct str keep(struct request_rows *r, const struct buf *b)
{
	return (struct str){ arena_copy(&r->text, b->data, b->size), b->size };
}

static void put_request(const struct php_activity *n, struct buf *out)
{
	if (*n->method)
		buf_printf(out, "%s %s", n->method, *n->uri ? n->uri : *n->script ? n->script : "?");
	else
		buf_puts(out, *n->script ? n->script : n->name);
}

static void put_functions(const struct php_activity *n, struct buf *out)
{
	for (u32 i = 0; i < n->reading.walk.count && i < FUNCTIONS_SHOWN; i++) {
		buf_puts(out, i ? " < " : "");
		php_activity_put_name(n, i, out);
	}
}

static void take(struct request_rows *r, const struct php_activity *n)
{
	struct request_row *row = &r->rows[r->count++];
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	*row = (struct request_row){ .state = php_state_name(n->doing), .age_ns = n->age_ns };
	buf_printf(&text, "%d", (int)n->pid);
	if (n->tid != n->pid)
		buf_printf(&text, "/%d", (int)n->tid);
	row->thread = keep(r, &text);
	buf_reset(&text);
	buf_puts(&text, n->pool);
	row->pool = keep(r, &text);
	buf_reset(&text);
	put_request(n, &text);
	row->request = keep(r, &text);
	buf_reset(&text);
	put_functions(n, &text);
	row->functions = keep(r, &text);
	buf_reset(&text);
	php_activity_put_stack(n, &text);
	row->stack = keep(r, &text);
}

static bool matches(const regex_t *filter, const struct request_row *row)
{
	return !filter || top_rows_match(filter, row->request) || top_rows_match(filter, row->pool) ||
	       top_rows_match(filter, row->functions);
}

void request_rows_fill(struct request_rows *r, const struct php_activity_list *l, const regex_t *filter)
{
	r->rows = xcalloc(l->count + 1, sizeof(*r->rows));
	for (size_t i = 0; i < l->count; i++) {
		const struct php_activity *n = &l->items[i];

		r->idle += n->doing == PHP_IDLE;
		r->unreadable += n->doing == PHP_UNREADABLE;
		if (n->doing >= PHP_IDLE)
			continue;
		take(r, n);
		if (!matches(filter, &r->rows[r->count - 1])) {
			r->count--;
			r->left_out++;
		}
	}
	if (l->targets.closed.count) {
		_cleanup_(buf_done) struct buf why = { 0 };

		buf_init(&why);
		fallback_put_closed(&why, l->targets.closed.count, l->targets.closed_why);
		snprintf(r->why, sizeof(r->why), "%.590s", why.data);
	} else {
		snprintf(r->why, sizeof(r->why), "%.590s", php_activity_list_refused(l));
	}
}
