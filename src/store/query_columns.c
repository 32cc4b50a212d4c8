/* query_columns.c: notes the positions of columns, and sorts by them. */
#include "query_columns.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_SAMPLES = 1, PLACE_OWN, PLACE_TIMES = PLACE_OWN + PROFILE_COLUMNS };

static void note(struct query_columns *c, uint32_t column, uint32_t place)
{
	assert(column == UINT32_MAX || column < PROFILE_COLUMNS);
	if (column != UINT32_MAX && (!c->places[column] || place < c->places[column]))
		c->places[column] = place;
}

void query_columns_note(struct query_columns *c, const struct profile *p, const struct series *s)
{
	const char *time = series_time_column(s);

	for (uint32_t i = 0; i < s->column_count; i++)
		note(c, profile_find_column(p, s->columns[i].name), i == s->samples ? PLACE_SAMPLES : PLACE_OWN + i);
	if (time)
		note(c, profile_find_column(p, time), PLACE_TIMES + s->clock);
}

struct placed {
	uint32_t place;
	struct profile_column column;
};

static int compare(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return x->place != y->place ? (x->place < y->place ? -1 : 1) : strcmp(x->column.name, y->column.name);
}

void query_columns_sort(const struct query_columns *c, struct profile *p)
{
	struct placed list[PROFILE_COLUMNS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->column_count; i++)
		if (c->places[i])
			list[n++] = (struct placed){ c->places[i], p->columns[i] };
		else
			free(p->columns[i].self);
	assert(n <= p->column_count);
	qsort(list, n, sizeof(*list), compare);
	for (uint32_t i = 0; i < n; i++)
		p->columns[i] = list[i].column;
	p->column_count = n;
}
