/* request_table.c: cells of a fixed width, and two that share the rest. */

#include "request_table.h"

#include "amount.h"
#include "cells.h"

#include <string.h>

#define GAP		2u
#define THREAD		9u
#define AGE		8u
#define STATE		8u
#define POOL		12u
#define POOL_FROM	90u		/* narrower screens do not show pools */

static struct str str_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

static void put_cell(struct buf *out, struct str s, size_t width, bool end)
{
	cells_fill(out, width - cells_put(out, s, width, end));
}

static void put_line(struct buf *out, size_t width, const struct str cells[6])
{
	_cleanup_(buf_done) struct buf line = { 0 };
	size_t used = THREAD + AGE + STATE + 3 * GAP + (width >= POOL_FROM ? POOL + GAP : 0);
	size_t rest = width > used ? width - used : 0, request = rest >= 40 ? rest * 2 / 5 : rest;

	buf_init(&line);
	put_cell(&line, cells[0], THREAD, false);
	cells_fill(&line, GAP);
	cells_put_right(&line, cells[1].p, AGE);
	cells_fill(&line, GAP);
	put_cell(&line, cells[2], STATE, false);
	cells_fill(&line, GAP);
	if (width >= POOL_FROM) {
		put_cell(&line, cells[3], POOL, false);
		cells_fill(&line, GAP);
	}
	if (request == rest)
		cells_put(&line, cells[4], rest, true);
	else
		put_cell(&line, cells[4], request - GAP, true);
	if (request < rest) {
		cells_fill(&line, GAP);
		cells_put(&line, cells[5], rest - request, false);
	}
	cells_put(out, (struct str){ line.data, line.size }, width, false);
}

void request_table_put_headings(struct buf *out, size_t width)
{
	const struct str cells[] = { str_of("process"), str_of("age"), str_of("state"), str_of("pool"), str_of("request"),
				     str_of("function < its callers") };

	put_line(out, width, cells);
}

void request_table_put_row(const struct request_row *row, struct buf *out, size_t width)
{
	_cleanup_(buf_done) struct buf age = { 0 };

	buf_init(&age);
	if (row->age_ns >= 0)
		amount_put(&age, row->age_ns, AMOUNT_TIME);
	put_line(out, width, (const struct str[]){ row->thread, { age.data, age.size }, str_of(row->state), row->pool, row->request,
						   row->functions });
}

void request_table_put_choice(const struct request_rows *r, struct buf *out)
{
	buf_printf(out, "requests now: %zu, oldest first; %zu idle worker%s", r->count, r->idle, r->idle == 1 ? "" : "s");
	if (r->left_out)
		buf_printf(out, "; the filter hides %zu", r->left_out);
	if (r->unreadable)
		buf_printf(out, "; %zu could not be read just now", r->unreadable);
}
