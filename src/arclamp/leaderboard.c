/* leaderboard.c: one pass over the frames, then one over the tree. */

#include "leaderboard.h"

#include "mem.h"
#include "saturate.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX	256u		/* parts of --grep "a;b;c" */

/* --- Names --- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns the length of the version that ends at `at`, "1.27" or "1.45.0-"; 0 if there is none. */
static size_t version_before(const char *start, const char *at)
{
	const char *p = at;
	bool point = false;

	if (p > start && p[-1] == '-')
		p--;
	if (p == start || !is_digit(p[-1]))
		return 0;
	while (p > start && (is_digit(p[-1]) || (p[-1] == '.' && p - 1 > start && is_digit(p[-2])))) {
		p--;
		point |= *p == '.';
	}
	return point ? (size_t)(at - p) : 0;
}

/* Returns the length of "wmf10" or "wmf.3"; 0 for other text. */
static size_t branch_at(const char *p, const char *end)
{
	const char *digits;
	size_t n = 0;

	if (end - p < 4 || memcmp(p, "wmf", 3) != 0)
		return 0;
	digits = p + 3 + (p[3] == '.');
	while (digits + n < end && is_digit(digits[n]))
		n++;
	return n ? (size_t)(digits - p) + n : 0;
}

static void put_masked(struct str name, struct buf *out)
{
	const char *p = name.p, *end = name.p + name.n, *from = p;

	while (p < end) {
		size_t branch = *p == 'w' ? branch_at(p, end) : 0, version = branch ? version_before(from, p) : 0;

		if (version) {
			buf_put(out, from, (size_t)(p - from) - version);
			buf_puts(out, "X.XXwmfXX");
			p += branch;
			from = p;
		} else {
			p++;
		}
	}
	buf_put(out, from, (size_t)(end - from));
}

static bool has_capital(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] >= 'A' && s.p[i] <= 'Z')
			return true;
	return false;
}

static bool is_skipped(const struct leaderboard_options *o, struct str name, const char *masked)
{
	if (!o->keep_lowercase && !has_capital(name))
		return true;
	for (size_t i = 0; i < o->skip_count; i++)
		if (fnmatch(o->skip[i], masked, FNM_NOESCAPE) == 0)
			return true;
	return false;
}

/* Returns, by frame, the index of the name that it counts as, or UINT32_MAX if it is skipped. */
static uint32_t *name_frames(const struct profile *p, const struct leaderboard_options *o, struct intern *names)
{
	uint32_t *ret = xcalloc((size_t)p->frame_count + 1, sizeof(*ret));
	_cleanup_(buf_done) struct buf masked = { 0 };

	buf_init(&masked);
	for (uint32_t i = 0; i < p->frame_count; i++) {
		buf_reset(&masked);
		put_masked(profile_visible_name(profile_name(p, i)), &masked);
		ret[i] = is_skipped(o, profile_name(p, i), masked.data) ? UINT32_MAX :
									  intern_add(names, masked.data, masked.size);
	}
	return ret;
}

/* --- Matching stacks --- */

struct needle {
	struct str parts[PARTS_MAX];	/* text between semicolons */
	size_t count;			/* 0: everything matches */
	bool *ends;			/* by frame: begins with the last part, or contains the only part */
};

static void needle_init(struct needle *n, const struct profile *p, const char *grep)
{
	const char *at = grep;
	struct str last;

	n->count = 0;
	n->ends = xcalloc((size_t)p->frame_count + 1, sizeof(*n->ends));
	while (*grep && n->count < PARTS_MAX) {
		size_t size = strcspn(at, ";");

		n->parts[n->count++] = (struct str){ at, size };
		if (!at[size])
			break;
		at += size + 1;
	}
	if (!n->count)
		return;
	last = n->parts[n->count - 1];
	for (uint32_t i = 0; i < p->frame_count; i++) {
		struct str name = profile_name(p, i);

		n->ends[i] = n->count == 1 ? memmem(name.p, name.n, last.p, last.n) != NULL :
					     name.n >= last.n && !memcmp(name.p, last.p, last.n);
	}
}

/* Whether a match ends at this node: the frames above must equal the other parts, and the outermost must end with the
 * first. */
static bool matches_at(const struct needle *n, const struct profile *p, uint32_t node)
{
	if (!n->ends[p->node_frames[node]])
		return false;
	for (size_t i = n->count - 1; i-- > 0;) {
		struct str part = n->parts[i], name;

		node = p->parents[node];
		if (node == PROFILE_ROOT)
			return i == 0 && !part.n;
		name = profile_name(p, p->node_frames[node]);
		if (i ? name.n != part.n : name.n < part.n)
			return false;
		if (memcmp(name.p + name.n - part.n, part.p, part.n) != 0)
			return false;
	}
	return true;
}

/* --- The tree --- */

static void count(const struct profile *p, uint32_t column, const uint32_t *frames, const struct needle *n,
		  int64_t *sums, struct leaderboard *ret)
{
	_cleanup_(freep) uint32_t *kept = xcalloc(p->node_count, sizeof(*kept));
	_cleanup_(freep) bool *matches = xcalloc(p->node_count, sizeof(*matches));

	kept[PROFILE_ROOT] = UINT32_MAX;
	matches[PROFILE_ROOT] = !n->count;
	for (uint32_t i = 1; i < p->node_count; i++) {
		uint32_t parent = p->parents[i], frame = p->node_frames[i];
		int64_t self = p->columns[column].self[i];

		kept[i] = frames[frame] != UINT32_MAX ? frames[frame] : kept[parent];
		matches[i] = matches[parent] || matches_at(n, p, i);
		if (!matches[i])
			saturating_add(&ret->unmatched, self);
		else if (kept[i] == UINT32_MAX)
			saturating_add(&ret->passed_over, self);
		else
			saturating_add(&sums[kept[i]], self);
	}
}

static int most_first(const void *a, const void *b)
{
	const struct leaderboard_row *x = a, *y = b;
	int r = memcmp(x->name.p, y->name.p, x->name.n < y->name.n ? x->name.n : y->name.n);

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return r ? r : x->name.n < y->name.n ? -1 : x->name.n > y->name.n;
}

void leaderboard_make(const struct profile *p, uint32_t column, const struct leaderboard_options *o,
		      struct leaderboard *ret)
{
	_cleanup_(freep) uint32_t *frames = NULL;
	_cleanup_(freep) int64_t *sums = NULL;
	struct needle needle;

	*ret = (struct leaderboard){ 0 };
	intern_init(&ret->names);
	frames = name_frames(p, o, &ret->names);
	sums = xcalloc(ret->names.count + 1, sizeof(*sums));
	needle_init(&needle, p, o->grep ? o->grep : "");
	ret->scale = column != UINT32_MAX ? profile_scale(p, column) : 1;
	if (column != UINT32_MAX)
		count(p, column, frames, &needle, sums, ret);
	free(needle.ends);
	ret->rows = xcalloc(ret->names.count + 1, sizeof(*ret->rows));
	for (uint32_t i = 0; i < ret->names.count; i++) {
		if (sums[i] <= 0)
			continue;
		ret->rows[ret->count++] = (struct leaderboard_row){ intern_get(&ret->names, i), sums[i] };
		saturating_add(&ret->samples, sums[i]);
	}
	if (ret->count)
		qsort(ret->rows, ret->count, sizeof(*ret->rows), most_first);
}

void leaderboard_done(struct leaderboard *l)
{
	free(l->rows);
	intern_done(&l->names);
	*l = (struct leaderboard){ 0 };
}
