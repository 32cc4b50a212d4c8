/* round_trip.h: random trees, and profiles written and read back, for tests. */
#ifndef FORMATS_ROUND_TRIP_H
#define FORMATS_ROUND_TRIP_H

#include "edges.h"
#include "format.h"
#include "mem.h"
#include "test_random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct tree_options {
	uint32_t nodes, names, columns;
	const char *const *column_names;	/* each followed by its unit: "samples", "count", … */
	bool layered;		/* each function has only one depth, so that pairs form no cycles */
	bool below_zero;	/* some values are negative */
	bool files;
	bool executed;		/* nodes have executed lines */
};

/* Makes a random tree in which every node has a value in every column. */
static inline struct profile *tree_by_chance(const struct tree_options *o)
{
	struct profile *p = profile_new();

	profile_keep_lines(p, o->executed);
	for (uint32_t c = 0; c < o->columns; c++)
		profile_column(p, o->column_names[2 * c], o->column_names[2 * c + 1]);
	for (uint32_t i = 0; i < o->nodes; i++) {
		uint32_t parent = below(p->node_count), depth = 0, node;
		char name[64], file[64] = "";

		for (uint32_t up = parent; up; up = p->parents[up])
			depth++;
		snprintf(name, sizeof(name), "f%u%s\\g%u", below(o->names), o->layered ? "" : "x",
			 o->layered ? depth : 0);
		if (o->files)
			snprintf(file, sizeof(file), "/src/%c.php", name[1]);
		node = profile_child_at(p, parent, profile_frame(p, (struct str){ name, strlen(name) },
								 (struct str){ file, strlen(file) },
								 o->files ? (uint32_t)name[1] : 0),
					o->executed ? below(5) * 3 : 0);
		for (uint32_t c = 0; c < o->columns; c++)
			profile_add(p, node, c, (int64_t)(below(1000) + 1) * (o->below_zero &&
									       below(5) == 0 ? -1000 : 1000));
	}
	return p;
}

static inline int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Puts values by name, because formats need not keep the order of columns. */
static inline bool put_values(const struct profile *p, uint32_t node, struct buf *b)
{
	uint32_t order[PROFILE_COLUMNS];
	bool any = false;

	for (uint32_t c = 0; c < p->column_count; c++) {
		uint32_t at = c;

		for (; at && strcmp(p->columns[order[at - 1]].name, p->columns[c].name) > 0; at--)
			order[at] = order[at - 1];
		order[at] = c;
	}
	for (uint32_t i = 0; i < p->column_count; i++) {
		const struct profile_column *c = &p->columns[order[i]];

		if (!c->self[node])
			continue;
		buf_printf(b, " %s(%s)=%" PRId64, c->name, c->unit, c->self[node]);
		any = true;
	}
	return any;
}

/* Puts one line per node with values: its stack with files and lines, and its values by column name. Sorted. */
static inline void put_lines(const struct profile *p, struct buf *out)
{
	char **lines = xcalloc(p->node_count, sizeof(*lines));
	uint32_t count = 0;

	for (uint32_t n = 0; n < p->node_count; n++) {
		uint32_t path[1000], lines_run[1000], depth = 0;
		struct buf b;
		bool any;

		buf_init(&b);
		for (uint32_t up = n; up && depth < 1000; up = p->parents[up]) {
			lines_run[depth] = profile_line(p, up);
			path[depth++] = p->node_frames[up];
		}
		while (depth--) {
			struct str name = profile_name(p, path[depth]), file = profile_file(p, path[depth]);

			for (size_t i = 0; i < name.n; i++)
				buf_printf(&b, name.p[i] < 0x20 ? "<%02x>" : "%c", (unsigned char)name.p[i]);
			buf_printf(&b, "[%s:%u]", file.p, p->frames[path[depth]].line);
			if (lines_run[depth])
				buf_printf(&b, "@%u", lines_run[depth]);
			buf_putc(&b, ';');
		}
		any = put_values(p, n, &b);
		if (any)
			lines[count++] = buf_take(&b, NULL);
		buf_done(&b);
	}
	qsort(lines, count, sizeof(*lines), compare_lines);
	for (uint32_t i = 0; i < count; i++) {
		buf_puts(out, lines[i]);
		buf_putc(out, '\n');
		free(lines[i]);
	}
	free(lines);
}

/* Prints the first line that differs. */
static inline bool same_lines(const struct profile *a, const struct profile *b)
{
	struct buf x, y;
	bool same;
	size_t at = 0;

	buf_init(&x);
	buf_init(&y);
	put_lines(a, &x);
	put_lines(b, &y);
	same = x.size == y.size && !memcmp(x.data, y.data, x.size);
	if (!same) {
		while (at < x.size && at < y.size && x.data[at] == y.data[at])
			at++;
		while (at && x.data[at - 1] != '\n')
			at--;
		printf("# %.*s\n# %.*s\n", (int)strcspn(x.data + at, "\n"), x.data + at,
		       (int)strcspn(y.data + at, "\n"), y.data + at);
	}
	buf_done(&x);
	buf_done(&y);
	return same;
}

/* Writes in the format `f` and reads back, as a file of unknown format; on failure, prints the reason and returns
 * NULL. */
static inline struct profile *round_trip(const struct format *f, const struct profile *p, uint32_t column)
{
	struct profile *back = profile_new();
	struct err err = { 0 };
	struct buf b;

	profile_keep_lines(back, p->keeps_lines);
	buf_init(&b);
	if (format_write(f, p, column, &b, &err) < 0 || format_load_bytes("bytes", b.data, b.size, back, &err) != 0) {
		printf("# %s\n", err.text);
		back = profile_free(back);
	}
	buf_done(&b);
	return back;
}

/* Computes the total of a function, once per stack, from the profile's tree: slow, and shares no code with the
 * profile. */
static inline int64_t total_in_tree(const struct profile *p, uint32_t column, struct str name, struct str file)
{
	int64_t sum = 0;

	for (uint32_t n = 1; n < p->node_count; n++)
		for (uint32_t up = n; up; up = p->parents[up]) {
			struct str a = profile_name(p, p->node_frames[up]), b = profile_file(p, p->node_frames[up]);

			if (a.n == name.n && !memcmp(a.p, name.p, a.n) && b.n == file.n && !memcmp(b.p, file.p, b.n)) {
				sum += p->columns[column].self[n];
				break;
			}
		}
	return sum;
}

/* Tells whether each function of `p` has the same self and total values in `back`. */
static inline bool same_functions(const struct profile *p, const struct profile *back)
{
	struct edges_sums sums = { 0 };
	bool same = true;

	if (back->edges)
		edges_sums(back, &sums);
	for (uint32_t f = 0; f < back->frame_count && back->edges; f++)
		for (uint32_t c = 0; c < p->column_count && sums.known[f]; c++) {
			uint32_t to = profile_find_column(back, p->columns[c].name);
			struct str name = profile_name(back, f), file = profile_file(back, f);

			if (!strcmp(p->columns[c].name, "calls") || !strcmp(name.p, "main()"))
				continue;
			same = same && !sums.at_most[f] && sums.total[f][to] == total_in_tree(p, c, name, file);
		}
	for (uint32_t f = 0; f < p->frame_count && !back->edges; f++)
		for (uint32_t c = 0; c < p->column_count; c++) {
			uint32_t to = profile_find_column(back, p->columns[c].name);

			same = same && total_in_tree(back, to, profile_name(p, f), profile_file(p, f)) ==
				total_in_tree(p, c, profile_name(p, f), profile_file(p, f));
		}
	edges_sums_done(&sums);
	return same;
}

/* Returns the self value of a function, from edges if there are any. */
static inline int64_t self_in(const struct profile *p, uint32_t column, struct str name, struct str file)
{
	int64_t sum = 0;

	for (uint32_t n = 1; n < (p->edges ? p->edges->node_count : p->node_count); n++) {
		uint32_t f = p->edges ? p->edges->nodes[n].frame : p->node_frames[n];
		struct str a = profile_name(p, f), b = profile_file(p, f);

		if (a.n == name.n && !memcmp(a.p, name.p, a.n) && b.n == file.n && !memcmp(b.p, file.p, b.n))
			sum += p->edges ? p->edges->nodes[n].self[column] : p->columns[column].self[n];
	}
	return sum;
}

#endif
