/* test_clickhouse_tree.c: tests that stacks from the cache and from answers become the same tree as looking up each
 * step would. */
#include "clickhouse_stack_row.h"
#include "clickhouse_stacks.h"
#include "hash.h"
#include "store_fixture.h"
#include "test.h"

#define STACKS	600u
#define FRAMES	9u
#define DEPTH	12u

/* Continues stack `base` if it is not 0. */
struct stack {
	uint32_t base, count, frames[DEPTH], lines[DEPTH];
	bool cached;
};

static struct stack stacks[STACKS + 1];		/* from 1 */
static uint32_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % n;
}

static uint64_t name_of(char kind, uint32_t i)
{
	uint64_t of[2] = { (uint64_t)kind, i };

	return XXH3_64bits(of, sizeof(of));
}

/* Puts this percentage of them into the cache. */
static void make_stacks(unsigned percent)
{
	for (uint32_t i = 1; i <= STACKS; i++) {
		struct stack *s = &stacks[i];

		*s = (struct stack){ .base = i > 1 && !below(5) ? 1 + below(i - 1) : 0, .count = 1 + below(DEPTH) };
		for (uint32_t k = 0; k < s->count; k++) {
			s->frames[k] = below(k < 3 ? 2 : FRAMES);
			s->lines[k] = i % 3 ? below(3) : 0;
		}
		s->cached = below(100) < percent && (!s->base || stacks[s->base].cached);
	}
}

static struct cached_frame frame_of(uint32_t i, char *name, size_t size)
{
	return (struct cached_frame){ { name, (size_t)snprintf(name, size, "f%u", i) }, { "/a.php", 6 }, i };
}

static uint32_t cache_stack(struct clickhouse_cache *c, const struct stack *s)
{
	uint32_t node = s->base ? clickhouse_cache_stack(c, name_of('s', s->base)) : 0;
	char name[16];

	for (uint32_t k = 0; k < s->count; k++) {
		struct cached_frame f = frame_of(s->frames[k], name, sizeof(name));

		node = clickhouse_cache_add_node(c, node, clickhouse_cache_add_frame(c, name_of('f', s->frames[k]), &f), s->lines[k]);
	}
	return node;
}

static void put_row(struct buf *b, uint32_t i)
{
	const struct stack *s = &stacks[i];
	bool lines = i % 3;

	row_put(b, name_of('s', i), 8);
	row_put(b, ~name_of('s', i), 8);
	row_put(b, s->base ? name_of('s', s->base) : 0, 8);
	buf_put_varint(b, s->count);
	for (uint32_t k = 0; k < s->count; k++)
		row_put(b, s->frames[k], 8);
	buf_put_varint(b, lines ? s->count : 0);
	for (uint32_t k = 0; k < s->count && lines; k++)
		row_put(b, s->lines[k], 4);
}

/* Puts the frames that are not in the cache into an answer, with numbers. */
static void put_frames(const struct clickhouse_cache *c, struct clickhouse_stacks *t)
{
	char text[16];

	buf_init(&t->frames);
	t->cache_numbers = xmalloc(FRAMES * sizeof(*t->cache_numbers));
	for (uint32_t i = 0; i < FRAMES; i++) {
		struct cached_frame f = frame_of(i, text, sizeof(text));

		map_set(&t->numbers, name_of('f', i), i);
		t->cache_numbers[i] = clickhouse_cache_find_frame(c, name_of('f', i));
		if (t->cache_numbers[i] != UINT32_MAX)
			continue;
		row_put(&t->frames, name_of('f', i), 8);
		row_put_string(&t->frames, f.name.p, f.name.n);
		row_put_string(&t->frames, f.file.p, f.file.n);
		row_put(&t->frames, f.line, 4);
	}
}

static void fetch(struct clickhouse_cache *c, struct clickhouse_stacks *t)
{
	GROW(&t->stacks, &t->capacity, 1);
	t->count = 1;
	buf_init(&t->stacks[0]);
	CHECK(!c || clickhouse_cache_begin(c));
	for (uint32_t i = 1; i <= STACKS; i++) {
		uint32_t node = c && stacks[i].cached ? cache_stack(c, &stacks[i]) : CLICKHOUSE_NO_NODE;

		if (node == CLICKHOUSE_NO_NODE) {
			put_row(&t->stacks[0], i);
			continue;
		}
		clickhouse_cache_add_stack(c, name_of('s', i), node);
		GROW(&t->cached, &t->cached_capacity, t->cached_count + 1);
		t->cached[t->cached_count++] = (struct clickhouse_cached){ name_of('s', i), node };
	}
	if (c)
		clickhouse_cache_end(c);
	put_frames(c, t);
}

static uint32_t node_of(struct profile *p, uint32_t i)
{
	const struct stack *s = &stacks[i];
	uint32_t node = s->base ? node_of(p, s->base) : PROFILE_ROOT;
	char name[16];

	for (uint32_t k = 0; k < s->count; k++) {
		struct cached_frame f = frame_of(s->frames[k], name, sizeof(name));

		node = profile_child_at(p, node, profile_frame(p, f.name, f.file, f.line), s->lines[k]);
	}
	return node;
}

static void check_tree(unsigned percent, bool with_cache, bool lines)
{
	struct clickhouse_cache *c = with_cache ? clickhouse_cache_new() : NULL;
	struct clickhouse_stacks t = { 0 }, *all[] = { &t };
	struct profile *expected = profile_new(), *p = profile_new();
	_cleanup_(map_done) struct map nodes = { 0 };
	char *text;

	make_stacks(percent);
	profile_keep_lines(p, lines);
	profile_keep_lines(expected, lines);
	fetch(c, &t);
	CHECK_INT(clickhouse_place_stacks(c, all, 1, p, &nodes), 0);
	profile_column(p, "samples", "count");
	profile_column(expected, "samples", "count");
	for (uint32_t i = 1; i <= STACKS; i++) {
		uint32_t node = map_get(&nodes, name_of('s', i));

		CHECK(node < p->node_count);
		profile_add(p, node, 0, i);
		profile_add(expected, node_of(expected, i), 0, i);
	}
	CHECK_INT(p->node_count, expected->node_count);
	text = folded(expected, "samples");
	CHECK_FOLDED_OF(p, "samples", text);
	free(text);
	profile_free(p);
	profile_free(expected);
	clickhouse_stacks_done(&t);
	clickhouse_cache_free(c);
}

TEST(stacks_from_cache_and_answers_form_one_tree)
{
	for (seed = 1; seed < 40; ) {
		uint32_t round = seed;

		for (int lines = 0; lines < 2; lines++) {
			check_tree(0, false, lines);
			check_tree(0, true, lines);
			check_tree(30, true, lines);
			check_tree(90, true, lines);
			check_tree(100, true, lines);
		}
		seed = round + 1;
	}
}

TEST_MAIN()
