/* test_flame_arrays.c: compares arrays with Pyroscope's, and rebuilds the tree as clients do. */
#include "flame_arrays.h"
#include "mem.h"
#include "protobuf.h"
#include "test.h"
#include "test_random.h"

#include <string.h>

static void add(struct profile *p, const char *stack, int64_t value)
{
	uint32_t column = profile_column(p, "samples", "count"), node = PROFILE_ROOT;

	while (*stack) {
		size_t n = strcspn(stack, ";");

		node = profile_child(p, node, profile_frame(p, (struct str){ stack, n }, (struct str){ "", 0 }, 0));
		stack += n + (stack[n] == ';');
	}
	profile_add(p, node, column, value);
}

static void put_text(const struct flame_arrays *f, struct buf *out)
{
	for (uint32_t i = 0; i < f->names.count; i++)
		buf_printf(out, "%s%s", i ? "," : "", intern_get(&f->names, i).p);
	for (size_t l = 0; l < f->level_count; l++)
		for (size_t i = 0; i < f->levels[l].count; i++)
			buf_printf(out, "%s%lld", i ? "," : " ", (long long)f->levels[l].values[i]);
	buf_printf(out, " total %lld max %lld", (long long)f->total, (long long)f->max_self);
}

static void make_tree(struct name_tree *t, const struct profile *p, const char *const *site, size_t depth, uint32_t most)
{
	struct stack_values values = stack_values_of(p, p->column_count ? 0 : UINT32_MAX);

	name_tree_init(t, &(struct name_tree_source){ &values, site, depth }, most);
}

static void check_arrays(struct profile *left, struct profile *right, uint32_t most, const char *expected)
{
	_cleanup_(flame_arrays_done) struct flame_arrays f = { 0 };
	_cleanup_(name_tree_done) struct name_tree a = { 0 }, b = { 0 };
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	make_tree(&a, left, NULL, 0, UINT32_MAX);
	if (right)
		make_tree(&b, right, NULL, 0, UINT32_MAX);
	flame_arrays_init(&f, &a, right ? &b : NULL, most);
	put_text(&f, &text);
	CHECK_STR(text.data, expected);
	profile_free(left);
	profile_free(right);
}

static struct profile *four_stacks(void)
{
	struct profile *p = profile_new();

	add(p, "main", 1);
	add(p, "main;query", 2);
	add(p, "main;render", 4);
	add(p, "main;render;query", 5);
	return p;
}

TEST(four_stacks_yield_the_same_arrays_as_in_pyroscope)
{
	check_arrays(four_stacks(), NULL, 8192, "total,main,render,query 0,12,0,0 0,12,1,1 1,2,2,3,0,9,4,2 7,5,5,3 total 12 max 5");
}

TEST(executed_lines_do_not_become_nodes)
{
	struct profile *p = four_stacks(), *lined = profile_new();
	uint32_t column = profile_column(lined, "samples", "count");

	profile_keep_lines(lined, true);
	for (uint32_t line = 1; line <= 2; line++) {
		_cleanup_(freep) uint32_t *nodes = xcalloc(p->node_count, sizeof(*nodes));

		for (uint32_t n = 1; n < p->node_count; n++) {
			struct str name = profile_name(p, p->node_frames[n]);

			nodes[n] = profile_child_at(lined, nodes[p->parents[n]], profile_frame(lined, name, (struct str){ "", 0 }, 0), line);
			profile_add(lined, nodes[n], column, line == 1 ? 1 : p->columns[0].self[n] - 1);
		}
	}
	/* The root and four functions fit, though they ran at eight lines. */
	check_arrays(lined, NULL, 5, "total,main,render,query 0,12,0,0 0,12,1,1 1,2,2,3,0,9,4,2 7,5,5,3 total 12 max 5");
	profile_free(p);
}

TEST(encoded_bytes_match_recorded_ones)
{
	static const uint8_t recorded[] = {
		0x0a, 0x05, 't', 'o', 't', 'a', 'l', 0x0a, 0x04, 'm', 'a', 'i', 'n', 0x0a, 0x06, 'r', 'e', 'n', 'd', 'e',
		'r', 0x0a, 0x05, 'q', 'u', 'e', 'r', 'y', 0x12, 0x06, 0x0a, 0x04, 0, 12, 0, 0, 0x12, 0x06, 0x0a, 0x04, 0, 12, 1, 1,
		0x12, 0x0a, 0x0a, 0x08, 1, 2, 2, 3, 0, 9, 4, 2, 0x12, 0x06, 0x0a, 0x04, 7, 5, 5, 3, 0x18, 0x0c, 0x20, 0x05,
	};
	_cleanup_(flame_arrays_done) struct flame_arrays f = { 0 };
	_cleanup_(name_tree_done) struct name_tree t = { 0 };
	_cleanup_(buf_done) struct buf out = { 0 };
	struct profile *p = four_stacks();

	buf_init(&out);
	make_tree(&t, p, NULL, 0, UINT32_MAX);
	flame_arrays_init(&f, &t, NULL, 8192);
	flame_arrays_put(&f, &out);
	CHECK_INT(out.size, sizeof(recorded));
	CHECK(!memcmp(out.data, recorded, sizeof(recorded)));
	profile_free(p);
}

TEST(an_empty_tree_consists_of_its_root)
{
	check_arrays(profile_new(), NULL, 1, "total 0,0,0,0 total 0 max 0");
	check_arrays(profile_new(), profile_new(), 1, "total 0,0,0,0,0,0,0 total 0 max 0");
}

TEST(two_trees_are_merged_into_one_shape)
{
	struct profile *a = profile_new(), *b = profile_new();

	add(a, "main;a", 4);
	add(b, "main;a", 1);
	add(b, "main;b", 3);
	check_arrays(a, b, 8192, "total,main,b,a 0,4,0,0,4,0,0 0,4,0,0,4,0,1 0,4,4,0,1,1,3,0,0,0,0,3,3,2 total 8 max 4");
}

TEST(small_nodes_become_other)
{
	struct profile *p = profile_new();

	add(p, "main;a", 5);
	add(p, "main;b", 1);
	add(p, "main;c;d", 2);
	add(p, "main;other", 9);
	check_arrays(p, NULL, 4, "total,main,other,a 0,17,0,0 0,17,0,1 0,5,5,3,0,12,12,2 total 17 max 12");
}

TEST(nonpositive_values_are_omitted_and_equal_names_merge_across_files)
{
	struct profile *p = profile_new();

	add(p, "a", 1);
	profile_add(p, profile_child(p, PROFILE_ROOT, profile_frame(p, (struct str){ "a", 1 }, (struct str){ "x.php", 5 }, 3)), 0, 2);
	add(p, "a;zero", 0);
	add(p, "a;less", -4);
	profile_add(p, profile_child(p, PROFILE_ROOT, profile_frame(p, (struct str){ "\0", 1 }, (struct str){ "", 0 }, 0)), 0, 1);
	add(p, "", 7);
	profile_add(p, profile_child(p, PROFILE_ROOT, profile_frame(p, (struct str){ "", 0 }, (struct str){ "", 0 }, 0)), 0, 1);
	check_arrays(p, NULL, 8192, "total,\xef\xbf\xbd,a,[unknown] 0,5,0,0 0,1,1,3,0,3,3,2,0,1,1,1 total 5 max 3");
}

TEST(a_call_site_selects_the_stacks_that_begin_with_it)
{
	static const char *const site[] = { "main", "render" };
	_cleanup_(name_tree_done) struct name_tree t = { 0 };
	struct profile *p = four_stacks();

	add(p, "render;query", 50);
	make_tree(&t, p, site, 2, UINT32_MAX);
	CHECK_INT(t.nodes[0].total, 9);
	CHECK_INT(t.nodes[t.nodes[0].child].self, 0);
	CHECK_INT(t.nodes[t.nodes[0].child].total, 9);
	CHECK_INT(t.nodes[t.nodes[0].child].next, 0);
	name_tree_done(&t);
	make_tree(&t, p, site + 1, 1, UINT32_MAX);
	CHECK_INT(t.nodes[0].total, 50);
	profile_free(p);
}

/* Mirrors Grafana's data source: the parent of a node is the first one of the level above whose range contains its
 * start. */
static void rebuild(const struct flame_arrays *f, struct buf *out)
{
	static struct { int64_t from, to; char path[400]; } above[4000], here[4000];
	size_t above_count = 1;

	above[0].from = 0;
	above[0].to = f->total;
	above[0].path[0] = 0;
	for (size_t l = 1; l < f->level_count; l++) {
		const struct flame_level *level = &f->levels[l];
		size_t count = level->count / 4;
		int64_t end = 0;

		CHECK(count <= ARRAY_SIZE(here));
		for (size_t i = 0; i < count; i++) {
			int64_t x = end + level->values[4 * i], total = level->values[4 * i + 1], self = level->values[4 * i + 2];
			size_t k = 0;

			while (k < above_count && !(x >= above[k].from && x < above[k].to))
				k++;
			CHECK(k < above_count);
			snprintf(here[i].path, sizeof(here[i].path), "%s;%s", above[k].path,
				 intern_get(&f->names, (uint32_t)level->values[4 * i + 3]).p);
			here[i].from = x;
			here[i].to = end = x + total;
			if (self)
				buf_printf(out, "%s %lld\n", here[i].path, (long long)self);
		}
		memcpy(above, here, count * sizeof(*here));
		above_count = count;
	}
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_lines(struct buf *b)
{
	char *lines[4000], *copy = strdup(b->data);
	size_t n = 0;

	for (char *line = strtok(copy, "\n"); line && n < ARRAY_SIZE(lines); line = strtok(NULL, "\n"))
		lines[n++] = line;
	qsort(lines, n, sizeof(*lines), compare_lines);
	buf_reset(b);
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%s\n", lines[i]);
	free(copy);
}

/* Has functions of the same name in two files, many equal values, and some below zero. */
static struct profile *any_profile(void)
{
	struct profile *p = profile_new();
	uint32_t column = profile_column(p, "samples", "count");

	for (int i = 0; i < 80; i++) {
		uint32_t node = PROFILE_ROOT;

		for (size_t depth = 1 + below(8); depth; depth--) {
			char name[12];
			uint32_t line = (uint32_t)below(2);

			snprintf(name, sizeof(name), "f%d", (int)below(4));
			node = profile_child(p, node, profile_frame(p, (struct str){ name, strlen(name) }, (struct str){ "a.php", line * 5 }, line));
		}
		profile_add(p, node, column, (int64_t)below(4) - 1);
	}
	return p;
}

TEST(a_tree_of_the_largest_nodes_yields_the_same_arrays_as_the_whole)
{
	static const char *const site[] = { "f1", "f2" };

	for (int round = 0; round < 400; round++) {
		_cleanup_(name_tree_done) struct name_tree whole = { 0 }, largest = { 0 };
		_cleanup_(flame_arrays_done) struct flame_arrays a = { 0 }, b = { 0 };
		_cleanup_(buf_done) struct buf x = { 0 }, y = { 0 };
		uint32_t most = 1 + (uint32_t)below(60);
		struct profile *p = any_profile();
		size_t depth = below(3);

		buf_init(&x);
		buf_init(&y);
		make_tree(&whole, p, site, depth, UINT32_MAX);
		make_tree(&largest, p, site, depth, most);
		flame_arrays_init(&a, &whole, NULL, most);
		flame_arrays_init(&b, &largest, NULL, most);
		put_text(&a, &x);
		put_text(&b, &y);
		CHECK_STR(x.data, y.data);
		buf_reset(&x);
		buf_reset(&y);
		name_tree_put(&whole, most, &x);
		name_tree_put(&largest, most, &y);
		CHECK(x.size == y.size && !memcmp(x.data, y.data, x.size));
		CHECK(largest.count <= whole.count);
		profile_free(p);
	}
}

TEST(two_trees_of_the_largest_nodes_compare_like_the_whole_ones)
{
	static const char *const site[] = { "f1", "f2" };

	for (int round = 0; round < 400; round++) {
		_cleanup_(flame_arrays_done) struct flame_arrays a = { 0 }, b = { 0 };
		_cleanup_(buf_done) struct buf x = { 0 }, y = { 0 };
		uint32_t most = 1 + (uint32_t)below(60);
		struct profile *p[2] = { any_profile(), any_profile() };
		struct name_tree whole[2], largest[2];
		struct name_tree_source of[2];
		struct stack_values values[2];

		for (int s = 0; s < 2; s++) {
			values[s] = stack_values_of(p[s], below(10) ? 0 : UINT32_MAX);
			of[s] = (struct name_tree_source){ &values[s], site, round % 4 ? 0 : below(3) };
			name_tree_init(&whole[s], &of[s], UINT32_MAX);
		}
		name_tree_init_pair(largest, of, most);
		buf_init(&x);
		buf_init(&y);
		flame_arrays_init(&a, &whole[0], &whole[1], most);
		flame_arrays_init(&b, &largest[0], &largest[1], most);
		put_text(&a, &x);
		put_text(&b, &y);
		CHECK_STR(x.data, y.data);
		for (int s = 0; s < 2; s++) {
			CHECK(largest[s].count <= whole[s].count);
			name_tree_done(&whole[s]);
			name_tree_done(&largest[s]);
			profile_free(p[s]);
		}
	}
}

TEST(clients_rebuild_the_same_tree)
{
	for (int round = 0; round < 30; round++) {
		_cleanup_(flame_arrays_done) struct flame_arrays f = { 0 };
		_cleanup_(name_tree_done) struct name_tree t = { 0 };
		_cleanup_(buf_done) struct buf built = { 0 }, wanted = { 0 };
		struct profile *p = profile_new();

		buf_init(&built);
		buf_init(&wanted);
		for (int i = 0; i < 60; i++) {
			char stack[40] = "";
			size_t depth = 1 + below(8);

			for (size_t d = 0; d < depth; d++)
				snprintf(stack + strlen(stack), sizeof(stack) - strlen(stack), "%sf%d", d ? ";" : "",
					 (int)below(4));
			add(p, stack, (int64_t)below(3));
		}
		for (uint32_t i = 1; i < p->node_count; i++) {
			char path[400] = "";

			for (uint32_t n = i; n; n = p->parents[n]) {
				char more[400];

				snprintf(more, sizeof(more), ";%s%s", profile_name(p, p->node_frames[n]).p, path);
				memcpy(path, more, sizeof(path));
			}
			if (p->columns[0].self[i])
				buf_printf(&wanted, "%s %lld\n", path, (long long)p->columns[0].self[i]);
		}
		make_tree(&t, p, NULL, 0, UINT32_MAX);
		flame_arrays_init(&f, &t, NULL, 8192);
		rebuild(&f, &built);
		sort_lines(&built);
		sort_lines(&wanted);
		CHECK_STR(built.data, wanted.data);
		profile_free(p);
	}
}

TEST_MAIN()
