/* releases.c: lets files vote for the directory of their release. */

#include "releases.h"

#include "map.h"
#include "mem.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

#define MOVES_MAX 16u

struct path {
	struct str text;
	bool is_after;
};

/* A directory that became another one. */
struct move {
	struct str from, to;
	bool absolute;
	uint32_t votes;
};

struct releases {
	struct path *paths;
	size_t count, capacity;
	struct move moves[MOVES_MAX];
	size_t move_count;
};

struct releases *releases_new(void)
{
	return xcalloc(1, sizeof(struct releases));
}

void releases_free(struct releases *r)
{
	if (r)
		free(r->paths);
	free(r);
}

void releases_add(struct releases *r, bool is_after, struct str path)
{
	if (!path.n)
		return;
	if (r->count == r->capacity) {
		r->capacity = r->capacity ? r->capacity * 2 : 256;
		r->paths = xrealloc(r->paths, r->capacity * sizeof(*r->paths));
	}
	r->paths[r->count++] = (struct path){ path, is_after };
}

/* Compares from the last byte, so that paths with the same end are adjacent. */
static int compare_ends(struct str a, struct str b)
{
	size_t i = a.n, j = b.n;

	while (i && j) {
		int order = (unsigned char)a.p[--i] - (unsigned char)b.p[--j];

		if (order)
			return order;
	}
	return (i > 0) - (j > 0);
}

static int by_end(const void *a, const void *b)
{
	const struct path *x = a, *y = b;
	int order = compare_ends(x->text, y->text);

	return order ? order : (int)x->is_after - (int)y->is_after;
}

static bool equal(struct str a, struct str b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

/* Removes duplicates of paths, and collects those that both sides have in `ret_both`. */
static size_t take_out_common(struct path *paths, size_t n, struct str *ret_both, size_t *ret_both_count)
{
	size_t kept = 0;

	*ret_both_count = 0;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && equal(paths[end].text, paths[i].text);)
			end++;
		if (paths[i].is_after == paths[end - 1].is_after)
			paths[kept++] = paths[i];
		else
			ret_both[(*ret_both_count)++] = paths[i].text;
	}
	return kept;
}

/* Removes the common file name and directories from the end of both; returns false if the last ones differ. */
static bool cut_common_end(struct str *a, struct str *b)
{
	size_t n = 0, whole = 0;

	while (n < a->n && n < b->n && a->p[a->n - n - 1] == b->p[b->n - n - 1])
		if (a->p[a->n - ++n] == '/')
			whole = n;
	/* One path may be a suffix of the other: "lib/a.php" and "new/lib/a.php". */
	if (n > whole && ((n == a->n && n < b->n && b->p[b->n - n - 1] == '/') ||
			  (n == b->n && n < a->n && a->p[a->n - n - 1] == '/')))
		whole = n;
	a->n -= whole;
	b->n -= whole;
	return whole > 0;
}

static bool is_below(struct str path, struct str directory)
{
	return path.n >= directory.n && !memcmp(path.p, directory.p, directory.n) &&
	       (!directory.n || path.n == directory.n || path.p[directory.n] == '/' ||
		directory.p[directory.n - 1] == '/');
}

/* Sets `m` to the move that one path and its neighbor on the other side vote for, if that is a shorter one. */
static void vote_for(struct str from, const struct path *neighbor, struct move *m)
{
	struct str to;

	if (!neighbor)
		return;
	to = neighbor->text;
	if ((from.p[0] == '/') == (to.p[0] == '/') && cut_common_end(&from, &to) &&
	    (!m->votes || from.n < m->from.n))
		*m = (struct move){ from, to, neighbor->text.p[0] == '/', 1 };
}

/* Each earlier path votes for the closest later one, in the order of their ends. Returns the number of votes. */
static size_t vote(const struct path *paths, size_t n, struct move *votes)
{
	_cleanup_(freep) struct move *list = xcalloc(n + 1, sizeof(*list));
	const struct path *last = NULL, *next = NULL;
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (paths[i].is_after)
			last = &paths[i];
		else
			vote_for(paths[i].text, last, &list[i]);
	for (size_t i = n; i-- > 0;)
		if (paths[i].is_after)
			next = &paths[i];
		else
			vote_for(paths[i].text, next, &list[i]);
	for (size_t i = 0; i < n; i++)
		if (list[i].votes)
			votes[count++] = list[i];
	return count;
}

static int by_directories(const void *a, const void *b)
{
	const struct move *x = a, *y = b;
	int order = compare_ends(x->from, y->from);

	return order ? order : compare_ends(x->to, y->to);
}

static size_t count_votes(struct move *votes, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(votes, n, sizeof(*votes), by_directories);
	for (size_t i = 0; i < n; i++)
		if (kept && !by_directories(&votes[kept - 1], &votes[i]))
			votes[kept - 1].votes++;
		else
			votes[kept++] = votes[i];
	return kept;
}

/* A directory with a file that stayed in place has not moved. And if files of the program stayed, another file with a
 * common name, such as index.php, is not enough evidence. */
static bool is_believable(const struct move *m, const struct str *both, size_t both_count)
{
	for (size_t i = 0; i < both_count; i++)
		if (is_below(both[i], m->from) || is_below(both[i], m->to) ||
		    (m->votes < 2 && !text_starts(both[i], "/usr/")))
			return false;
	return true;
}

static const struct move *move_of(const struct releases *r, struct str path)
{
	for (size_t i = 0; i < r->move_count; i++)
		if (is_below(path, r->moves[i].from) && (path.p[0] == '/') == r->moves[i].absolute)
			return &r->moves[i];
	return NULL;
}

static bool is_moved(const struct releases *r, const struct move *m)
{
	for (size_t i = 0; i < r->move_count; i++)
		if (r->moves[i].absolute == m->absolute && is_below(m->from, r->moves[i].from))
			return true;
	return false;
}

static int by_votes(const void *a, const void *b)
{
	const struct move *x = a, *y = b;
	int order = (x->votes < y->votes) - (x->votes > y->votes);

	return order ? order : by_directories(a, b);
}

/* Elects the directories with the most votes; nothing else can have moved below these. */
static void elect(struct releases *r, struct move *votes, size_t n, const struct str *both, size_t both_count)
{
	if (n)
		qsort(votes, n, sizeof(*votes), by_votes);
	for (size_t i = 0; i < n && r->move_count < MOVES_MAX; i++)
		if (!is_moved(r, &votes[i]) && is_believable(&votes[i], both, both_count))
			r->moves[r->move_count++] = votes[i];
}

void releases_decide(struct releases *r)
{
	_cleanup_(freep) struct str *both = xcalloc(r->count + 1, sizeof(*both));
	_cleanup_(freep) struct move *votes = xcalloc(r->count + 1, sizeof(*votes));
	size_t both_count, n;

	if (r->count)
		qsort(r->paths, r->count, sizeof(*r->paths), by_end);
	r->count = take_out_common(r->paths, r->count, both, &both_count);
	n = vote(r->paths, r->count, votes);
	elect(r, votes, count_votes(votes, n), both, both_count);
}

struct str releases_after(const struct releases *r, struct str path, struct buf *scratch)
{
	const struct move *m = path.n ? move_of(r, path) : NULL;

	if (!m)
		return path;
	buf_reset(scratch);
	buf_put(scratch, m->to.p, m->to.n);
	buf_put(scratch, path.p + m->from.n, path.n - m->from.n);
	return (struct str){ scratch->data, scratch->size };
}
