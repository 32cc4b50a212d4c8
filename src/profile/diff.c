/* diff.c: the union of two trees, one of them scaled to the other. */

#include "diff.h"

#include "buf.h"
#include "edges.h"
#include "mem.h"
#include "saturate.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

/* --- Which function is which --- */

struct candidate {
	struct str name, file;
	uint32_t line, frame;
	bool is_after;
	uint32_t partner;	/* index of the same function on the other side + 1; 0 is none */
};

static int compare_strings(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

static int by_name_file_line(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int order = compare_strings(x->name, y->name);

	order = order ? order : compare_strings(x->file, y->file);
	order = order ? order : (x->line > y->line) - (x->line < y->line);
	order = order ? order : (int)x->is_after - (int)y->is_after;
	return order ? order : (x->frame > y->frame) - (x->frame < y->frame);
}

/* Pairs what has none yet in the order of files and lines, so that functions that moved down together stay
 * themselves. */
static void pair_in_order(struct candidate *list, size_t from, size_t end)
{
	size_t i = from, j = from;

	for (;;) {
		while (i < end && (list[i].is_after || list[i].partner))
			i++;
		while (j < end && (!list[j].is_after || list[j].partner))
			j++;
		if (i == end || j == end)
			return;
		list[i].partner = (uint32_t)j + 1;
		list[j].partner = (uint32_t)i + 1;
	}
}

/* Where the stretch from `from` on that agrees by name, and by file and line if they are asked for, ends. */
enum likeness { SAME_NAME, SAME_FILE, SAME_LINE };

static size_t stretch(const struct candidate *list, size_t from, size_t end, enum likeness likeness)
{
	const struct candidate *c = &list[from];
	size_t i = from + 1;

	while (i < end && !compare_strings(c->name, list[i].name) &&
	       (likeness == SAME_NAME || !compare_strings(c->file, list[i].file)) &&
	       (likeness != SAME_LINE || c->line == list[i].line))
		i++;
	return i;
}

/* First what stands where it stood, then what moved inside its file, then what moved to another one. Closures of one
 * name are as many functions as there are files. */
static void pair_all(struct candidate *list, size_t n)
{
	for (int likeness = SAME_LINE; likeness >= SAME_NAME; likeness--)
		for (size_t i = 0, end; i < n; i = end) {
			end = stretch(list, i, n, (enum likeness)likeness);
			if (likeness != SAME_NAME || list[i].name.n < 8 || memcmp(list[i].name.p, "{closure", 8))
				pair_in_order(list, i, end);
		}
}

/* Hexadecimal numbers become 0x...; `scratch` has the result. */
static struct str without_hex(struct str s, struct buf *scratch)
{
	buf_reset(scratch);
	for (size_t i = 0; i < s.n; i++) {
		buf_putc(scratch, s.p[i]);
		if (s.p[i] != '0' || i + 2 >= s.n || s.p[i + 1] != 'x' || !isxdigit((unsigned char)s.p[i + 2]))
			continue;
		buf_puts(scratch, "x...");
		for (i += 2; i < s.n && isxdigit((unsigned char)s.p[i]);)
			i++;
		i--;
	}
	return (struct str){ scratch->data, scratch->size };
}

/* Adds frames under the names that they are compared by. */
static size_t add_candidates(struct candidate *list, const struct profile *p, bool is_after, bool strip_hex,
			     struct intern *names)
{
	_cleanup_(buf_done) struct buf scratch = { 0 };

	buf_init(&scratch);
	for (uint32_t i = 0; i < p->frame_count; i++) {
		struct str name = profile_name(p, i);

		if (strip_hex) {
			name = without_hex(name, &scratch);
			name = intern_get(names, intern_add(names, name.p, name.n));
		}
		list[i] = (struct candidate){ name, profile_file(p, i), p->frames[i].line, i, is_after, 0 };
	}
	return p->frame_count;
}

/* Frames of both as frames of `into`: where both have a function, its place is that of `b`. */
static void unite_frames(struct profile *into, const struct profile *a, uint32_t *frames_a, const struct profile *b,
			 uint32_t *frames_b, bool strip_hex)
{
	struct candidate *list = xcalloc((size_t)a->frame_count + b->frame_count + 1, sizeof(*list));
	struct intern names;
	size_t n;

	intern_init(&names);
	n = add_candidates(list, a, false, strip_hex, &names);
	n += add_candidates(list + n, b, true, strip_hex, &names);
	qsort(list, n, sizeof(*list), by_name_file_line);
	pair_all(list, n);
	for (size_t i = 0; i < n; i++) {
		const struct candidate *c = &list[i];
		const struct candidate *place = c->is_after || !c->partner ? c : &list[c->partner - 1];

		(c->is_after ? frames_b : frames_a)[c->frame] =
			profile_frame(into, place->name, place->file, place->line);
	}
	intern_done(&names);
	free(list);
}

/* --- Stacks --- */

static void add_stacks(struct profile *into, uint32_t to, const struct profile *from, uint32_t column,
		       const uint32_t *frames)
{
	_cleanup_(freep) uint32_t *nodes = xmalloc(from->node_count * sizeof(*nodes));

	nodes[PROFILE_ROOT] = PROFILE_ROOT;
	for (uint32_t n = 0; n < from->node_count; n++) {
		if (n)
			nodes[n] = profile_child(into, nodes[from->parents[n]], frames[from->node_frames[n]]);
		profile_add(into, nodes[n], to, from->columns[column].self[n]);
	}
}

/* Their edges, where one of them has some. */
static void unite_edges(struct profile *into, const struct profile *from, uint32_t column, uint32_t to,
			const uint32_t *frames)
{
	static const struct edges_options all = { .column = UINT32_MAX };
	struct edges *made = from->edges ? NULL : edges_of(from, &all);
	uint32_t columns[PROFILE_COLUMNS];
	const struct edges_places places = { .columns = columns, .frames = frames, .column_count = from->column_count };

	for (uint32_t c = 0; c < from->column_count; c++)
		columns[c] = c == column ? to : UINT32_MAX;
	edges_add(into->edges, made ? made : from->edges, &places);
	edges_free(made);
}

static bool have_edges(const struct profile *a, const struct profile *b)
{
	bool lost = (a->estimated && !a->edges) || (b->estimated && !b->edges);

	return !lost && (a->edges || b->edges);
}

/* --- Scaling --- */

/* Scaled values and their differences must fit. */
#define VALUE_MAX ((__int128)1 << 62)

static int64_t scaled(int64_t v, int64_t numerator, int64_t denominator)
{
	__int128 product = (__int128)v * numerator;
	__int128 half = product < 0 ? -(denominator / 2) : denominator / 2;
	__int128 quotient = (product + half) / denominator;

	return (int64_t)(quotient > VALUE_MAX ? VALUE_MAX : quotient < -VALUE_MAX ? -VALUE_MAX : quotient);
}

/* Visits nodes parents first, and each subtree as a whole: the sum so far is rounded, and a node gets by how much it
 * grew. So the sum of a subtree is off by less than one, as is that of everything. */
static void scale_column(struct profile *p, uint32_t to, uint32_t from, int64_t numerator, int64_t denominator)
{
	_cleanup_(freep) uint32_t *first = xcalloc(p->node_count, sizeof(*first));
	_cleanup_(freep) uint32_t *next = xcalloc(p->node_count, sizeof(*next));
	int64_t sum = 0, given = 0;
	uint32_t n = PROFILE_ROOT;

	for (uint32_t i = p->node_count - 1; i > 0; i--) {
		next[i] = first[p->parents[i]];
		first[p->parents[i]] = i;
	}
	for (;;) {
		int64_t until;

		saturating_add(&sum, p->columns[from].self[n]);
		until = scaled(sum, numerator, denominator);
		p->columns[to].self[n] = until - given;
		given = until;
		if (first[n]) {
			n = first[n];
			continue;
		}
		while (n != PROFILE_ROOT && !next[n])
			n = p->parents[n];
		if (n == PROFILE_ROOT)
			return;
		n = next[n];
	}
}

/* As difffolded.pl -n, in the order of its operations. */
static void scale_truncating(struct profile *p, uint32_t to, uint32_t from, int64_t numerator, int64_t denominator)
{
	for (uint32_t n = 0; n < p->node_count; n++) {
		double v = (double)p->columns[from].self[n] * (double)numerator / (double)denominator;

		p->columns[to].self[n] = v > 9.2e18 ? INT64_MAX : v < -9.2e18 ? INT64_MIN : (int64_t)v;
	}
}

/* A label that says so, or how often the outermost functions of a trace were called. 0 if neither is known. */
static int64_t requests_of(const struct profile *p)
{
	const char *label = labels_get(&p->labels, "requests");
	uint32_t calls = profile_find_column(p, "calls");
	int64_t sum = label ? strtoll(label, NULL, 10) : 0;

	if (sum > 0 || calls == UINT32_MAX)
		return sum > 0 ? sum : 0;
	for (uint32_t n = 1; n < p->node_count; n++)
		if (p->parents[n] == PROFILE_ROOT)
			saturating_add(&sum, p->columns[calls].self[n]);
	return sum > 0 ? sum : 0;
}

static int64_t duration_of(const struct profile *p)
{
	return p->end_ns > p->start_ns ? p->end_ns - p->start_ns : 0;
}

/* What `before` is to be multiplied by and divided by. */
static int fraction(const struct profile *a, uint32_t column_a, const struct profile *b, uint32_t column_b,
		    enum diff_scale scale, int64_t *ret_numerator, int64_t *ret_denominator, struct err *err)
{
	*ret_numerator = *ret_denominator = 1;
	switch (scale) {
	case DIFF_AS_IT_IS:
		return 0;
	case DIFF_BY_TOTAL:
		*ret_numerator = profile_sum(b, column_b);
		*ret_denominator = profile_sum(a, column_a);
		break;
	case DIFF_BY_RATE:
		*ret_numerator = duration_of(b);
		*ret_denominator = duration_of(a);
		break;
	case DIFF_BY_REQUESTS:
		*ret_numerator = requests_of(b);
		*ret_denominator = requests_of(a);
		break;
	}
	if (*ret_numerator > 0 && *ret_denominator > 0)
		return 0;
	return err_set(err, -EINVAL, "%s", scale == DIFF_BY_TOTAL ?
		       "shares of a total that is not above zero make no sense; try --normalize none" :
		       scale == DIFF_BY_RATE ?
		       "the time that both cover is not known, so they have no rate; try --normalize total" :
		       "the number of requests of both is not known: neither a label \"requests\" nor calls tell it; "
		       "try --normalize total");
}

int profile_diff(const struct profile *a, uint32_t column_a, const struct profile *b, uint32_t column_b,
		 const struct diff_options *o, struct diff *ret, struct err *err)
{
	_cleanup_(freep) uint32_t *frames_a = NULL, *frames_b = NULL;
	int64_t numerator, denominator;
	struct profile *p;
	const char *unit;
	int e;

	assert(column_a < a->column_count && column_b < b->column_count);
	e = fraction(a, column_a, b, column_b, o->scale, &numerator, &denominator, err);
	if (e < 0)
		return e;

	p = profile_new();
	unit = b->columns[column_b].unit;
	*ret = (struct diff){ .profile = p, .shares = o->scale == DIFF_BY_TOTAL };
	ret->before = ret->measured = profile_column(p, "before", unit);
	ret->after = profile_column(p, "after", unit);
	if (numerator != denominator)
		ret->measured = profile_column(p, "before_measured", a->columns[column_a].unit);
	ret->factor = (double)numerator / (double)denominator;
	ret->before_weight = diff_sample_weight(a, column_a) * ret->factor;
	ret->after_weight = diff_sample_weight(b, column_b);

	frames_a = xcalloc((size_t)a->frame_count + 1, sizeof(*frames_a));
	frames_b = xcalloc((size_t)b->frame_count + 1, sizeof(*frames_b));
	unite_frames(p, a, frames_a, b, frames_b, o->strip_hex);
	add_stacks(p, ret->after, b, column_b, frames_b);
	add_stacks(p, ret->measured, a, column_a, frames_a);
	p->estimated = a->estimated || b->estimated;
	if (have_edges(a, b)) {
		p->edges = edges_new();
		unite_edges(p, a, column_a, ret->measured, frames_a);
		unite_edges(p, b, column_b, ret->after, frames_b);
	}
	if (ret->measured == ret->before)
		return 0;
	if (p->edges)
		edges_scale(p->edges, ret->measured, ret->before, numerator, denominator);
	if (o->truncate)
		scale_truncating(p, ret->before, ret->measured, numerator, denominator);
	else
		scale_column(p, ret->before, ret->measured, numerator, denominator);
	return 0;
}

void diff_done(struct diff *d)
{
	d->profile = profile_free(d->profile);
}
