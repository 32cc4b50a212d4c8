/* wide.c: values of every function in all columns. */

#include "report.h"

#include "edges.h"
#include "mem.h"

#include <string.h>

static const struct {
	const char *name, *title;
} titles[] = {
	{ "calls", "calls" }, { "wall_ns", "wall" }, { "cpu_ns", "CPU" }, { "off_cpu_ns", "off-CPU" },
	{ "memory_bytes", "memory" }, { "peak_memory_bytes", "peak" }, { "allocations", "allocs" },
	{ "frees", "frees" }, { "allocated_bytes", "allocated" }, { "samples", "samples" },
};

const char *report_column_title(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		if (!strcmp(titles[i].name, name))
			return titles[i].title;
	return name;
}

size_t report_wide_columns(const struct profile *p, uint32_t ret[PROFILE_COLUMNS])
{
	bool taken[PROFILE_COLUMNS] = { false };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++) {
		uint32_t c = profile_find_column(p, titles[i].name);

		if (c == UINT32_MAX)
			continue;
		ret[n++] = c;
		taken[c] = true;
	}
	for (uint32_t c = 0; c < p->column_count; c++)
		if (!taken[c])
			ret[n++] = c;
	return n;
}

static void add_columns(struct wide_row *rows, const struct profile *p, const uint32_t *place)
{
	for (uint32_t c = 0; c < p->column_count; c++) {
		size_t n;
		_cleanup_(freep) struct flat_row *of_column = report_flat(p, c, REPORT_SORT_SELF, &n);

		for (size_t i = 0; i < n; i++) {
			rows[place[of_column[i].frame]].self[c] = of_column[i].self;
			rows[place[of_column[i].frame]].total[c] = of_column[i].total;
		}
	}
}

/* Adds all columns in one pass. */
static void add_edges(struct wide_row *rows, size_t count, const struct profile *p)
{
	_cleanup_(edges_sums_done) struct edges_sums sums = { 0 };

	edges_sums(p, &sums);
	for (size_t i = 0; i < count; i++) {
		memcpy(rows[i].self, sums.self[rows[i].frame], sizeof(rows[i].self));
		memcpy(rows[i].total, sums.total[rows[i].frame], sizeof(rows[i].total));
		rows[i].at_most = sums.at_most[rows[i].frame];
	}
}

struct wide_row *report_wide(const struct profile *p, uint32_t column, enum report_sort sort, size_t *ret_count)
{
	_cleanup_(freep) struct flat_row *order = report_flat(p, column, sort, ret_count);
	struct wide_row *rows = xcalloc(*ret_count + 1, sizeof(*rows));
	_cleanup_(freep) uint32_t *place = xcalloc((size_t)p->frame_count + 1, sizeof(*place));

	for (size_t i = 0; i < *ret_count; i++) {
		rows[i].frame = order[i].frame;
		place[order[i].frame] = (uint32_t)i;
	}
	if (p->edges)
		add_edges(rows, *ret_count, p);
	else
		add_columns(rows, p, place);
	return rows;
}
