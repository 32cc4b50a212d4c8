/* pair_frames.c: compares names, files and lines; for functions that share these, the functions around them. */

#include "pair_frames.h"

#include "code_name.h"
#include "map.h"
#include "mem.h"
#include "releases.h"
#include "text.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* With more possible pairs of functions with the same name and file, only the order of their lines is used. */
#define PAIRS_MAX 250000u

struct candidate {
	struct str shown;	/* the name in the result */
	struct str name, file;	/* keys for comparison */
	uint32_t line, frame;
	bool is_after;
	uint32_t partner;	/* index of the same function on the other side + 1; 0: none */
	uint32_t anchor;	/* number of the last common function before it in this file */
	int64_t offset;		/* lines from the anchor */
};

static int by_name_file_line(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int order = text_compare(x->name, y->name);

	order = order ? order : text_compare(x->file, y->file);
	order = order ? order : (x->line > y->line) - (x->line < y->line);
	order = order ? order : (int)x->is_after - (int)y->is_after;
	return order ? order : (x->frame > y->frame) - (x->frame < y->frame);
}

/* --- Keys of frames --- */

/* Replaces hexadecimal numbers by 0x... */
static struct str without_hex(struct str s, struct intern *names)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	for (size_t i = 0; i < s.n; i++) {
		buf_putc(&b, s.p[i]);
		if (s.p[i] != '0' || i + 2 >= s.n || s.p[i + 1] != 'x' || !isxdigit((unsigned char)s.p[i + 2]))
			continue;
		buf_puts(&b, "x...");
		for (i += 2; i < s.n && isxdigit((unsigned char)s.p[i]);)
			i++;
		i--;
	}
	return intern_get(names, intern_add(names, b.data, b.size));
}

/* Removes the lines from a name or file, and maps its path to the later release. */
static struct str without_place(struct str s, const struct releases *r, bool is_after, struct intern *names,
				uint32_t *ret_line)
{
	_cleanup_(buf_done) struct buf b = { 0 }, scratch = { 0 };
	struct str path = code_name_path(s);

	buf_init(&b);
	buf_init(&scratch);
	code_name_put(&b, s, is_after ? path : releases_after(r, path, &scratch), ret_line);
	return intern_get(names, intern_add(names, b.data ? b.data : "", b.size));
}

static size_t add_candidates(struct candidate *list, const struct profile *p, bool is_after, bool strip_hex,
			     struct intern *names)
{
	for (uint32_t i = 0; i < p->frame_count; i++) {
		struct str name = profile_name(p, i);

		if (strip_hex)
			name = without_hex(name, names);
		list[i] = (struct candidate){ .shown = name, .name = name, .file = profile_file(p, i),
			.line = p->frames[i].line, .frame = i, .is_after = is_after };
	}
	return p->frame_count;
}

static void take_out_places(struct candidate *list, size_t n, struct intern *names)
{
	struct releases *r = releases_new();

	for (size_t i = 0; i < n; i++) {
		releases_add(r, list[i].is_after, code_name_path(list[i].name));
		releases_add(r, list[i].is_after, code_name_path(list[i].file));
	}
	releases_decide(r);
	for (size_t i = 0; i < n; i++) {
		struct candidate *c = &list[i];
		uint32_t line, unused;

		c->name = without_place(c->name, r, c->is_after, names, &line);
		c->file = without_place(c->file, r, c->is_after, names, &unused);
		c->line = c->line ? c->line : line;
	}
	releases_free(r);
}

/* --- Pairs --- */

static void pair(struct candidate *list, size_t before, size_t after)
{
	assert(!list[before].is_after && list[after].is_after);
	assert(!list[before].partner && !list[after].partner);
	list[before].partner = (uint32_t)after + 1;
	list[after].partner = (uint32_t)before + 1;
}

static bool is_free(const struct candidate *c, bool is_after)
{
	return c->is_after == is_after && !c->partner;
}

static size_t next_free(const struct candidate *list, size_t i, size_t end, bool is_after)
{
	while (i < end && !is_free(&list[i], is_after))
		i++;
	return i;
}

/* Pairs the remaining functions in the order of files and lines, so that functions that moved together stay paired. */
static void pair_in_order(struct candidate *list, size_t from, size_t end)
{
	size_t i = from, j = from;

	for (;;) {
		i = next_free(list, i, end, false);
		j = next_free(list, j, end, true);
		if (i == end || j == end)
			return;
		pair(list, i, j);
	}
}

/* Returns the end of the stretch from `from` on with the same name, or with the same name and file. */
enum likeness { SAME_NAME, SAME_FILE };

static size_t stretch(const struct candidate *list, size_t from, size_t end, enum likeness likeness)
{
	const struct candidate *c = &list[from];
	size_t i = from + 1;

	while (i < end && !text_compare(c->name, list[i].name) &&
	       (likeness == SAME_NAME || !text_compare(c->file, list[i].file)))
		i++;
	return i;
}

static void count_free(const struct candidate *list, size_t from, size_t end, size_t *ret_before, size_t *ret_after)
{
	*ret_before = *ret_after = 0;
	for (size_t i = from; i < end; i++) {
		*ret_before += is_free(&list[i], false);
		*ret_after += is_free(&list[i], true);
	}
}

/* --- Several functions of one name in one file --- */

/* A function on both sides that is the only one with its name in its file. */
struct anchor {
	struct str file;
	uint32_t before, after;		/* its lines on either side */
	uint32_t number;
};

struct anchors {
	struct anchor *list;
	size_t count;
};

static int by_line_before(const void *a, const void *b)
{
	const struct anchor *x = a, *y = b;
	int order = text_compare(x->file, y->file);

	return order ? order : (x->before > y->before) - (x->before < y->before);
}

static int by_line_after(const void *a, const void *b)
{
	const struct anchor *x = a, *y = b;
	int order = text_compare(x->file, y->file);

	return order ? order : (x->after > y->after) - (x->after < y->after);
}

static void find_anchors(const struct candidate *list, size_t n, struct anchors *ret)
{
	ret->list = xcalloc(n + 1, sizeof(*ret->list));
	for (size_t i = 0; i < n; i++) {
		const struct candidate *c = &list[i];
		uint32_t after = c->partner && !c->is_after ? list[c->partner - 1].line : 0;

		if (after && c->line && !code_name_is_closure(c->name)) {
			ret->list[ret->count] = (struct anchor){ c->file, c->line, after, (uint32_t)ret->count + 1 };
			ret->count++;
		}
	}
}

/* Returns the last anchor above `c`, on the side by which the anchors are sorted. */
static const struct anchor *anchor_above(const struct anchors *a, const struct candidate *c)
{
	size_t low = 0, high = a->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct anchor *x = &a->list[middle];
		int order = text_compare(x->file, c->file);

		if (order < 0 || (order == 0 && (c->is_after ? x->after : x->before) <= c->line))
			low = middle + 1;
		else
			high = middle;
	}
	return low && !text_compare(a->list[low - 1].file, c->file) ? &a->list[low - 1] : NULL;
}

static void place_by_anchors(struct candidate *list, size_t n, struct anchors *a, bool is_after)
{
	if (a->count)
		qsort(a->list, a->count, sizeof(*a->list), is_after ? by_line_after : by_line_before);
	for (size_t i = 0; i < n; i++) {
		const struct anchor *x = list[i].is_after == is_after ? anchor_above(a, &list[i]) : NULL;

		if (list[i].is_after != is_after)
			continue;
		list[i].anchor = x ? x->number : 0;
		list[i].offset = (int64_t)list[i].line - (x ? is_after ? x->after : x->before : 0);
	}
}

static int by_anchor(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int order = (x->anchor > y->anchor) - (x->anchor < y->anchor);

	order = order ? order : (x->offset > y->offset) - (x->offset < y->offset);
	order = order ? order : (int)x->is_after - (int)y->is_after;
	return order ? order : (x->frame > y->frame) - (x->frame < y->frame);
}

/* Code that moves keeps its order, so a function can only be between its neighbors that are already paired. If both
 * moved by the same number of lines, so did everything between them. */
struct span {
	uint32_t above, above_after, below, below_after;	/* lines of these neighbors; 0, UINT32_MAX: none */
};

static struct span span_of(const struct candidate *list, size_t from, size_t end, size_t i)
{
	struct span s = { 0, 0, UINT32_MAX, UINT32_MAX };

	for (size_t k = from; k < end; k++) {
		uint32_t line = list[k].line, after = list[k].partner && !list[k].is_after ? list[list[k].partner - 1].line : 0;

		if (after && line < list[i].line && line > s.above) {
			s.above = line;
			s.above_after = after;
		} else if (after && line > list[i].line && line < s.below) {
			s.below = line;
			s.below_after = after;
		}
	}
	return s;
}

static bool may_move(struct span s, const struct candidate *before, const struct candidate *after)
{
	int64_t shift = (int64_t)after->line - before->line, above = (int64_t)s.above_after - s.above;

	if (s.above && s.below != UINT32_MAX && above == (int64_t)s.below_after - s.below)
		return shift == above;
	return after->line >= s.above_after && after->line <= s.below_after;
}

/* Finds the number of lines by which most of them moved together; for equal counts, the smallest move. Returns the
 * number of functions. */
static uint32_t common_shift(const struct candidate *list, size_t from, size_t end, int64_t *ret_shift)
{
	struct map counts;
	uint32_t most = 0;

	map_init(&counts);
	for (size_t i = from; i < end; i++) {
		struct span span;

		if (!is_free(&list[i], false))
			continue;
		span = span_of(list, from, end, i);
		for (size_t j = from; j < end; j++) {
			int64_t shift = list[j].offset - list[i].offset;
			uint32_t *n;

			if (!is_free(&list[j], true) || !may_move(span, &list[i], &list[j]))
				continue;
			n = map_slot(&counts, (uint64_t)shift + UINT32_MAX);
			*n = *n == MAP_NONE ? 1 : *n + 1;
			if (*n > most || (*n == most && llabs(shift) < llabs(*ret_shift))) {
				most = *n;
				*ret_shift = shift;
			}
		}
	}
	map_done(&counts);
	return most;
}

static void pair_by_shift(struct candidate *list, size_t from, size_t end, int64_t shift)
{
	for (size_t i = from, j = from; i < end; i++) {
		if (!is_free(&list[i], false))
			continue;
		while (j < end && (!is_free(&list[j], true) || list[j].offset < list[i].offset + shift))
			j++;
		if (j < end && list[j].offset == list[i].offset + shift && may_move(span_of(list, from, end, i), &list[i], &list[j]))
			pair(list, i, j);
	}
}

/* Pairs the closures of one function: most of them moved by the same number of lines, without crossing a paired one.
 * Other closures may have run on only one side, so their order means nothing unless each side has at most one. */
static void pair_in_function(struct candidate *list, size_t from, size_t end)
{
	bool closures = code_name_is_closure(list[from].name);
	size_t before, after;
	uint32_t together;
	int64_t shift = 0;

	for (;;) {
		count_free(list, from, end, &before, &after);
		if (!before || !after || before * after > PAIRS_MAX)
			break;
		together = common_shift(list, from, end, &shift);
		if (!together || (together < 2 && shift)) {
			if (closures && end - from > 2)
				return;
			break;
		}
		pair_by_shift(list, from, end, shift);
	}
	pair_in_order(list, from, end);
}

static void pair_by_place(struct candidate *list, size_t from, size_t end)
{
	qsort(list + from, end - from, sizeof(*list), by_anchor);
	for (size_t i = from, stop; i < end; i = stop) {
		for (stop = i + 1; stop < end && list[stop].anchor == list[i].anchor;)
			stop++;
		pair_in_function(list, i, stop);
	}
	if (!code_name_is_closure(list[from].name))
		pair_in_order(list, from, end);
}

/* --- Generated classes --- */

static int by_name_file_frame(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int order = text_compare(x->name, y->name);

	order = order ? order : text_compare(x->file, y->file);
	order = order ? order : (x->frame > y->frame) - (x->frame < y->frame);
	return order ? order : (int)x->is_after - (int)y->is_after;
}

/* Moves unpaired candidates with a hash in their name to the end, under the name without the hash. Returns where they
 * begin. */
static size_t part_generated(struct candidate *list, size_t n, struct intern *names, uint32_t *moved)
{
	struct candidate *old = xmalloc((n + 1) * sizeof(*old));
	_cleanup_(buf_done) struct buf b = { 0 };
	size_t kept = 0, end = n;

	buf_init(&b);
	memcpy(old, list, n * sizeof(*old));
	for (size_t i = 0; i < n; i++) {
		bool generated;

		buf_reset(&b);
		generated = !old[i].partner && code_name_put_generated(&b, old[i].name);
		moved[i] = (uint32_t)(generated ? --end : kept++);
		list[moved[i]] = old[i];
		if (generated)
			list[end].name = intern_get(names, intern_add(names, b.data, b.size));
	}
	for (size_t i = 0; i < kept; i++)
		if (list[i].partner)
			list[i].partner = moved[list[i].partner - 1] + 1;
	free(old);
	assert(kept == end);
	return end;
}

static void pair_generated(struct candidate *list, size_t n, struct intern *names)
{
	_cleanup_(freep) uint32_t *moved = xcalloc(n + 1, sizeof(*moved));
	size_t begin = part_generated(list, n, names, moved);

	if (n > begin)
		qsort(list + begin, n - begin, sizeof(*list), by_name_file_frame);
	for (size_t i = begin, end; i < n; i = end) {
		end = stretch(list, i, n, SAME_FILE);
		pair_in_order(list, i, end);
	}
}

/* --- Pairing --- */

static void pair_only_ones(struct candidate *list, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		end = stretch(list, i, n, SAME_FILE);
		if (end == i + 2 && !list[i].is_after && list[i + 1].is_after)
			pair(list, i, i + 1);
		else if (end == i + 2 && list[i].is_after && !list[i + 1].is_after)
			pair(list, i + 1, i);
	}
}

/* Pairs functions that are unique in a file first, then those with equal names in it, then those that moved to
 * another file. */
static void pair_all(struct candidate *list, size_t n)
{
	struct anchors anchors = { 0 };
	size_t before, after;

	pair_only_ones(list, n);
	find_anchors(list, n, &anchors);
	place_by_anchors(list, n, &anchors, false);
	place_by_anchors(list, n, &anchors, true);
	free(anchors.list);
	for (size_t i = 0, end; i < n; i = end) {
		end = stretch(list, i, n, SAME_FILE);
		count_free(list, i, end, &before, &after);
		if (before && after)
			pair_by_place(list, i, end);
	}
	/* Closures with equal names in different files are different functions. */
	for (size_t i = 0, end; i < n; i = end) {
		end = stretch(list, i, n, SAME_NAME);
		if (!text_starts(list[i].name, "{closure"))
			pair_in_order(list, i, end);
	}
}

void pair_frames(struct profile *into, const struct profile *a, const struct profile *b, enum pair_names names,
		 bool strip_hex, uint32_t *ret_a, uint32_t *ret_b)
{
	struct candidate *list = xcalloc((size_t)a->frame_count + b->frame_count + 1, sizeof(*list));
	struct intern texts;
	size_t n;

	intern_init(&texts);
	n = add_candidates(list, a, false, strip_hex, &texts);
	n += add_candidates(list + n, b, true, strip_hex, &texts);
	if (names == PAIR_RELEASES)
		take_out_places(list, n, &texts);
	if (n)
		qsort(list, n, sizeof(*list), by_name_file_line);
	pair_all(list, n);
	if (names == PAIR_RELEASES)
		pair_generated(list, n, &texts);
	for (size_t i = 0; i < n; i++) {
		const struct candidate *c = &list[i];
		const struct candidate *place = c->is_after || !c->partner ? c : &list[c->partner - 1];
		const struct profile *from = place->is_after ? b : a;

		(c->is_after ? ret_b : ret_a)[c->frame] = profile_frame(into, place->shown,
			profile_file(from, place->frame), from->frames[place->frame].line);
	}
	intern_done(&texts);
	free(list);
}
