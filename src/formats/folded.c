/* folded.c: folded stacks, one per line: "main;parse;read 12", root first, the count last.
 *
 * A difference of two profiles has two counts on every line, "main;parse;read 10 12": before and after.
 *
 * The log of a day has a million lines but only tens of thousands of different stacks, so each line is first looked
 * up as a whole. */
#include "format.h"
#include "folded_line.h"
#include "folded_write.h"
#include "hash.h"
#include "mem.h"
#include "saturate.h"
#include "stacks.h"
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* --- Known stacks --- */

#define STACK_CACHE_FIRST	1024	/* slots; always a power of two */

/* Stacks seen before, identified by 128 bits of hash, which is practically free of collisions. Counts are added up
 * here, so that a line costs one cache miss: the tree of a day does not fit into any cache. */
struct stack_cache {
	struct cached_stack {
		uint64_t low, high;
		int64_t count;		/* not yet in the profile */
		uint32_t node;		/* PROFILE_ROOT: free, because no line is the root */
	} * slots;
	size_t count, capacity;
	void *memory;			/* contains `slots`, aligned to their size */
};

static void stack_cache_allocate(struct stack_cache *k, size_t capacity)
{
	_Static_assert(sizeof(*k->slots) == 32, "two to a line of the cache");

	k->capacity = capacity;
	k->memory = xcalloc(capacity + 1, sizeof(*k->slots));
	k->slots = (void *)(((uintptr_t)k->memory + sizeof(*k->slots) - 1) & ~(uintptr_t)(sizeof(*k->slots) - 1));
}

static inline struct cached_stack *stack_cache_find(const struct stack_cache *k, XXH128_hash_t hash)
{
	size_t mask = k->capacity - 1, i = (size_t)hash.low64 & mask;

	while (k->slots[i].node != PROFILE_ROOT &&
	       (k->slots[i].low != hash.low64 || k->slots[i].high != hash.high64))
		i = (i + 1) & mask;
	return &k->slots[i];
}

static void stack_cache_grow(struct stack_cache *k)
{
	struct stack_cache old = *k;

	stack_cache_allocate(k, old.capacity * 2);
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].node != PROFILE_ROOT)
			*stack_cache_find(k, (XXH128_hash_t){ old.slots[i].low, old.slots[i].high }) = old.slots[i];
	free(old.memory);
}

/* --- Reading --- */

struct step {
	uint32_t node;
	size_t end;		/* where its frame ends in the line */
};

/* A line whose slot in the table of cached stacks is being prefetched while the next line is parsed. */
struct pending {
	struct folded_line line;
	XXH128_hash_t hash;
	bool any;
};

struct folded_reader {
	struct profile *profile;
	bool two;			/* every line has two counts */
	uint32_t column, before;	/* `before` is only used with two */
	struct stack_cache cache;
	struct pending pending;

	/* The last new stack, frame by frame: the next one often begins with the same frames. */
	struct buf last;
	struct step *steps;
	size_t depth, step_capacity;

	struct intern names;		/* with `frames` by name: one lookup per frame instead of three */
	uint32_t *frames;
	struct str *frame_names;	/* by frame; only for frames that were read here, others are { 0 } */
	size_t frame_capacity, name_capacity;

	int64_t scale;			/* scale of the columns: 1, or that of refined ones */
	double carry, before_carry;	/* sum of the rounding errors so far */
	uint64_t line, stacks, skipped;
};

/* Returns the number of frames at the start that the last stack has as well. */
static size_t common_depth(const struct folded_reader *r, struct str stack)
{
	size_t n = stack.n < r->last.size ? stack.n : r->last.size, same = 0, low = 0, high = r->depth;

	while (same + 8 <= n && !memcmp(stack.p + same, r->last.data + same, 8))
		same += 8;
	while (same < n && stack.p[same] == r->last.data[same])
		same++;
	/* A frame is the same if it ends before the difference, and at a ; or the end in both. */
	while (low < high) {
		size_t middle = (low + high + 1) / 2, end = r->steps[middle - 1].end;

		if (end < same || (end == same && (end == stack.n || stack.p[end] == ';') &&
				   (end == r->last.size || r->last.data[end] == ';')))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static uint32_t frame_of(struct folded_reader *r, const char *name, size_t n)
{
	size_t known = r->names.count;
	uint32_t id = intern_add(&r->names, name, n);

	if (r->names.count > known) {
		size_t old = r->name_capacity;
		uint32_t frame = profile_frame(r->profile, (struct str){ name, n }, (struct str){ "", 0 }, 0);

		GROW(&r->frames, &r->frame_capacity, r->names.count);
		r->frames[id] = frame;
		GROW(&r->frame_names, &r->name_capacity, (size_t)frame + 1);
		memset(r->frame_names + old, 0, (r->name_capacity - old) * sizeof(*r->frame_names));
		r->frame_names[frame] = intern_get(&r->names, id);
	}
	return r->frames[id];
}

/* Returns the first child of `node` if the line continues with it, so that its name need not be looked up; otherwise
 * 0. */
static inline uint32_t guess_child(const struct folded_reader *r, uint32_t node, struct str stack, size_t at,
				   size_t *ret_end)
{
	struct profile_child child;
	struct str name;

	if (node >= r->profile->indexed_count)
		return 0;
	child = r->profile->first_children[node];
	/* A child with a line has a place beyond all frames. */
	if (!child.node || child.place >= r->name_capacity)
		return 0;
	name = r->frame_names[child.place];
	*ret_end = at + name.n;
	if (!name.p || name.n > stack.n - at || (*ret_end < stack.n && stack.p[*ret_end] != ';') ||
	    memcmp(name.p, stack.p + at, name.n) != 0)
		return 0;
	return child.node;
}

static inline void add_step(struct folded_reader *r, uint32_t node, size_t end)
{
	if (r->depth == r->step_capacity)
		GROW(&r->steps, &r->step_capacity, r->depth + 1);
	r->steps[r->depth++] = (struct step){ node, end };
}

static inline uint32_t next_frame(struct folded_reader *r, struct str stack, size_t at, size_t *ret_end)
{
	const char *semicolon = memchr(stack.p + at, ';', stack.n - at);

	*ret_end = semicolon ? (size_t)(semicolon - stack.p) : stack.n;
	return frame_of(r, stack.p + at, *ret_end - at);
}

/* Follows the known part of a stack, starting after its first `at` bytes, which end at `node`. Returns where the
 * unknown rest begins. */
static size_t walk(struct folded_reader *r, struct str stack, size_t at, uint32_t *node)
{
	uint32_t count = r->profile->node_count;
	size_t end;

	for (; at < stack.n && r->profile->node_count == count; at = end + 1) {
		uint32_t guess = guess_child(r, *node, stack, at, &end);

		*node = guess ? guess : profile_child(r->profile, *node, next_frame(r, stack, at, &end));
		add_step(r, *node, end);
	}
	return at;
}

/* Below a new node, all nodes are new. */
static uint32_t add_stack(struct folded_reader *r, struct str stack)
{
	uint32_t node;
	size_t at, end;

	r->depth = common_depth(r, stack);
	node = r->depth ? r->steps[r->depth - 1].node : PROFILE_ROOT;
	at = walk(r, stack, r->depth ? r->steps[r->depth - 1].end + 1 : 0, &node);
	for (; at < stack.n; at = end + 1) {
		node = profile_append(r->profile, node, next_frame(r, stack, at, &end));
		add_step(r, node, end);
	}
	buf_reset(&r->last);
	buf_put(&r->last, stack.p, stack.n);
	assert(node != PROFILE_ROOT);
	return node;
}

/* Rounds so that the sum of all lines stays right: the error of one count is carried to the next. */
static int64_t rounded(const struct folded_reader *r, double *carry, const struct folded_count *c)
{
	int64_t count;
	double whole;

	if (c->fraction == 0 && r->scale == 1)
		return c->whole;
	count = saturating_product(c->whole, r->scale);
	*carry += c->fraction * (double)r->scale;
	whole = floor(*carry + 0.5);
	*carry -= whole;
	saturating_add(&count, (int64_t)whole);
	return count;
}

static void add_count(struct folded_reader *r, struct cached_stack *k, int64_t count)
{
	int64_t sum;

	if (__builtin_add_overflow(k->count, count, &sum)) {
		profile_add(r->profile, k->node, r->column, k->count);
		sum = count;
	}
	k->count = sum;
}

static void add_pending(struct folded_reader *r)
{
	const struct folded_line *l = &r->pending.line;
	XXH128_hash_t hash = r->pending.hash;
	struct cached_stack *k;

	if (!r->pending.any)
		return;
	r->pending.any = false;
	if (r->cache.count * 3 >= r->cache.capacity * 2)
		stack_cache_grow(&r->cache);
	k = stack_cache_find(&r->cache, hash);
	if (k->node == PROFILE_ROOT) {
		*k = (struct cached_stack){ .low = hash.low64, .high = hash.high64, .node = add_stack(r, l->stack) };
		r->cache.count++;
	}
	add_count(r, k, rounded(r, &r->carry, &l->count));
	if (r->two)
		profile_add(r->profile, k->node, r->before, rounded(r, &r->before_carry, &l->before));
	r->stacks++;
}

static void add_line(struct folded_reader *r, const struct folded_line *l)
{
	struct pending next = { *l, XXH3_128bits(l->stack.p, l->stack.n), true };

	__builtin_prefetch(&r->cache.slots[next.hash.low64 & (r->cache.capacity - 1)], 1);
	add_pending(r);
	r->pending = next;
}

static void add_counts(struct folded_reader *r)
{
	for (size_t i = 0; i < r->cache.capacity; i++) {
		struct cached_stack *k = &r->cache.slots[i];

		if (k->count)
			profile_add(r->profile, k->node, r->column, k->count);
		k->count = 0;
	}
}

/* Called at the first line with a fractional count. */
static void refine(struct folded_reader *r)
{
	add_pending(r);
	add_counts(r);
	profile_refine(r->profile, r->column);
	if (r->two)
		profile_refine(r->profile, r->before);
	r->scale = profile_scale(r->profile, r->column);
}

/* Notes a line that is not a stack; the first one is shown. */
static void skip_line(struct folded_reader *r, const char *line, size_t n, enum folded_line_kind kind, struct err *err)
{
	if (kind == FOLDED_LARGE_COUNT)
		line_skip(&r->skipped, r->line, (struct str){ NULL, 0 }, "has a count above 9223372036854775807", err);
	else
		line_skip(&r->skipped, r->line, (struct str){ line, n }, kind == FOLDED_ONE_COUNT ?
			  "has one count; the lines of a difference have two" :
			  "is not a folded stack (frames separated by ; and a count)", err);
}

static void read_line(struct folded_reader *r, struct str line, struct err *err)
{
	struct folded_line l;
	enum folded_line_kind kind = folded_line_parse(line.p, line.n, r->two, &l);

	if (kind == FOLDED_STACK) {
		if (r->scale == 1 && (l.count.fraction != 0 || (r->two && l.before.fraction != 0)))
			refine(r);
		add_line(r, &l);
	} else if (kind != FOLDED_BLANK) {
		skip_line(r, line.p, line.n, kind, err);
	}
}

static void read_lines(struct folded_reader *r, struct input *in, struct err *err)
{
	struct str line;

	stack_cache_allocate(&r->cache, STACK_CACHE_FIRST);
	for (;;) {
		while (input_line_at_hand(in, &line)) {
			r->line = in->line;
			read_line(r, line, err);
		}
		/* Filling the buffer moves its content. */
		add_pending(r);
		if (!input_line_slowly(in, &line))
			break;
		r->line = in->line;
		read_line(r, line, err);
		add_pending(r);
	}
	add_counts(r);
}

/* Tells whether all of the first lines have two counts: a single one may be a name that ends in a number. */
static bool is_difference(struct input *in)
{
	size_t wanted = FORMAT_SNIFF_MAX;
	struct str start = input_peek(in, wanted);
	const char *p, *end, *newline;
	bool any = false;

	while (start.n == wanted && wanted < INPUT_LINE_MAX && !memchr(start.p, '\n', start.n))
		start = input_peek(in, wanted *= 4);
	for (p = start.p, end = p + start.n; p < end; p = newline + 1) {
		struct folded_line l;
		enum folded_line_kind kind;

		newline = memchr(p, '\n', (size_t)(end - p));
		/* The last line is only complete if nothing follows. */
		if (!newline && start.n == wanted)
			break;
		newline = newline ? newline : end;
		kind = folded_line_parse(p, (size_t)(newline - p), true, &l);
		if (kind == FOLDED_ONE_COUNT)
			return false;
		any |= kind == FOLDED_STACK;
	}
	return any;
}

static int add_columns(struct folded_reader *r, struct err *err)
{
	r->before = r->two ? profile_column(r->profile, "before", "count") : 0;
	r->column = profile_column(r->profile, r->two ? "after" : "samples", "count");
	if (r->column != UINT32_MAX && r->before != UINT32_MAX)
		return 0;
	return err_set(err, -E2BIG, "there is no room for a column '%s' beside the existing %u",
		       r->two ? "after" : "samples", PROFILE_COLUMNS);
}

static int folded_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	const struct labels none = { 0 };
	struct folded_reader r = { .profile = p, .two = is_difference(in), .scale = 1 };
	int e;

	profile_describe(p, 0, false, &none);
	if ((e = add_columns(&r, err)) < 0)
		return e;
	intern_init(&r.names);
	buf_init(&r.last);
	read_lines(&r, in, err);
	buf_done(&r.last);
	intern_done(&r.names);
	free(r.frames);
	free(r.steps);
	free(r.frame_names);
	free(r.cache.memory);
	if (r.stacks == 0 && r.skipped == 0)
		return err_set(err, -ENODATA, "it has no stacks, only empty lines");
	if (r.stacks == 0)
		return -EINVAL;
	return r.skipped < INT_MAX ? (int)r.skipped : INT_MAX;
}

/* --- Sniffing --- */

/* Most of the first lines must be stacks. A single line may be truncated by the end of the sniffed bytes. */
static int folded_sniff(const char *bytes, size_t n)
{
	const char *p = bytes, *end = bytes + n;
	unsigned stacks = 0, divided = 0, others = 0;

	while (p < end && stacks + others < 100) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		size_t size = (size_t)((newline ? newline : end) - p);
		struct folded_line l;
		enum folded_line_kind kind;

		if (!newline && stacks + others > 0)
			break;
		kind = folded_line_parse(p, size, false, &l);
		/* A count that is too large is reported by the reader. */
		if (kind == FOLDED_STACK || kind == FOLDED_LARGE_COUNT) {
			stacks++;
			divided += memchr(p, ';', size) != NULL;
		}
		else if (kind != FOLDED_BLANK && (newline || n < FORMAT_SNIFF_MAX))
			others++;
		if (!newline && n >= FORMAT_SNIFF_MAX && (divided || memchr(p, ';', size)))
			return 20;
		p += size + 1;
	}
	if (stacks == 0 || stacks < others)
		return 0;
	/* Tables of many programs have lines that end with a number; with other lines between, only frame separators
	 * identify stacks. */
	if (others && divided < others)
		return 0;
	return divided ? 70 : 40;
}

const struct format format_folded = {
	"folded", "folded collapsed txt log", folded_sniff, folded_read, folded_write,
	.about = "a line per stack, root;...;leaf and a count"
};
