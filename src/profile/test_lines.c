/* test_lines.c: tests that executed lines are kept on request, and make no difference otherwise. */
#include "mem.h"
#include "profile.h"
#include "test.h"
#include "test_random.h"
#include "wire_profile.h"
#include <string.h>

static struct str s(const char *text)
{
	return (struct str){ text, strlen(text) };
}

/* Random stacks with executed lines, mostly few per function; equal seeds give equal trees, with lines or without. */
static struct profile *random_profile(uint32_t nodes, bool lines)
{
	struct profile *p = profile_new();
	uint32_t samples = profile_column(p, "samples", "count");

	profile_keep_lines(p, lines);
	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t node = PROFILE_ROOT, depth = 1 + below(8);

		for (uint32_t d = 0; d < depth; d++) {
			char name[16];

			snprintf(name, sizeof(name), "f%u", below(5));
			node = profile_child_at(p, node, profile_frame(p, s(name), s("x.php"), 10), below(4) ? 10 + below(3) : 0);
		}
		profile_add(p, node, samples, 1 + (int64_t)below(9));
	}
	return p;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns a line per node that has samples, sorted. */
static char *text_of(const struct profile *p)
{
	char **lines = xcalloc(p->node_count, sizeof(*lines));
	struct buf out;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->node_count; i++) {
		char *line;

		if (!p->columns[0].self[i])
			continue;
		line = xasprintf("%lld", (long long)p->columns[0].self[i]);
		for (uint32_t up = i; up; up = p->parents[up]) {
			char *longer = xasprintf("%s@%u;%s", profile_name(p, p->node_frames[up]).p, profile_line(p, up), line);

			free(line);
			line = longer;
		}
		lines[n++] = line;
	}
	qsort(lines, n, sizeof(*lines), compare_lines);
	buf_init(&out);
	for (uint32_t i = 0; i < n; i++) {
		buf_printf(&out, "%s\n", lines[i]);
		free(lines[i]);
	}
	free(lines);
	return buf_take(&out, NULL);
}

static bool equal(const struct profile *a, const struct profile *b)
{
	char *x = text_of(a), *y = text_of(b);
	bool same = !strcmp(x, y);

	free(x);
	free(y);
	return same;
}

/* The same stacks with lines, and built without them. */
struct both {
	struct profile *lined, *plain;
};

static struct both both_of(uint32_t seed)
{
	struct both b;

	random_state = seed * 88172645463325252u;
	b.lined = random_profile(300, true);
	random_state = seed * 88172645463325252u;
	b.plain = random_profile(300, false);
	return b;
}

static void both_done(struct both *b)
{
	profile_free(b->lined);
	profile_free(b->plain);
}

TEST(a_function_has_one_node_per_line_if_lines_are_kept)
{
	struct profile *p = profile_new();
	uint32_t f, first, second;

	profile_keep_lines(p, true);
	f = profile_frame(p, s("f"), s("a.php"), 3);
	first = profile_child_at(p, PROFILE_ROOT, f, 7);
	second = profile_child_at(p, PROFILE_ROOT, f, 8);
	CHECK(first != second);
	CHECK_INT(profile_child_at(p, PROFILE_ROOT, f, 7), first);
	CHECK_INT(profile_child_at(p, PROFILE_ROOT, f, 8), second);
	CHECK(profile_child(p, PROFILE_ROOT, f) != first);
	CHECK_INT(profile_line(p, first), 7);
	CHECK_INT(profile_line(p, second), 8);
	CHECK_INT(profile_line(p, profile_child(p, PROFILE_ROOT, f)), 0);
	CHECK_INT(p->node_count, 4);
	CHECK_INT(p->frame_count, 1);
	profile_free(p);
}

TEST(a_profile_without_lines_allocates_no_memory_for_them)
{
	struct profile *p = profile_new();
	uint32_t f = profile_frame(p, s("f"), s("a.php"), 3);

	CHECK_INT(profile_child_at(p, PROFILE_ROOT, f, 7), profile_child_at(p, PROFILE_ROOT, f, 8));
	CHECK_INT(p->node_count, 2);
	CHECK(!p->node_lines);
	profile_keep_lines(p, true);
	profile_child_at(p, PROFILE_ROOT, f, 0);
	CHECK(!p->node_lines);
	profile_free(p);
}

TEST(nodes_appended_with_lines_are_found_again)
{
	struct profile *p = profile_new();
	uint32_t f, nodes[3];

	profile_keep_lines(p, true);
	f = profile_frame(p, s("f"), s("a.php"), 3);
	for (uint32_t i = 0; i < 3; i++)
		nodes[i] = profile_append_at(p, PROFILE_ROOT, f, i * 5);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_INT(profile_child_at(p, PROFILE_ROOT, f, i * 5), nodes[i]);
	profile_free(p);
}

TEST(lines_do_not_change_results_by_function)
{
	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct both b = both_of(seed);
		struct profile *without = profile_without_lines(b.lined), *merged = profile_new();
		struct profile *up = profile_reverse(b.lined), *plain_up = profile_reverse(b.plain);
		struct profile *flat = profile_without_recursion(b.lined), *plain_flat = profile_without_recursion(b.plain);

		CHECK(b.lined->node_lines && b.lined->node_count > b.plain->node_count);
		CHECK(!without->node_lines);
		CHECK(equal(without, b.plain));
		profile_merge(merged, b.lined);
		CHECK(equal(merged, b.plain));
		CHECK(equal(up, plain_up));
		CHECK(equal(flat, plain_flat));
		profile_free(plain_flat);
		profile_free(flat);
		profile_free(plain_up);
		profile_free(up);
		profile_free(merged);
		profile_free(without);
		both_done(&b);
	}
}

TEST(merging_filtering_and_pruning_keep_lines)
{
	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct both b = both_of(seed);
		struct profile *merged = profile_new(), *kept, *pruned, *plain;
		bool keep[8] = { 0 };

		profile_keep_lines(merged, true);
		profile_merge(merged, b.lined);
		CHECK(equal(merged, b.lined));
		for (uint32_t f = 0; f < b.lined->frame_count; f++)
			keep[f] = true;
		kept = profile_filter(b.lined, keep);
		CHECK(equal(kept, b.lined));
		pruned = profile_prune(b.lined, 0, b.lined->node_count * 2);
		CHECK(equal(pruned, b.lined));
		plain = profile_without_lines(kept);
		CHECK(equal(plain, b.plain));
		profile_free(plain);
		profile_free(pruned);
		profile_free(kept);
		profile_free(merged);
		both_done(&b);
	}
}

TEST(messages_carry_lines_for_profiles_that_keep_them)
{
	struct both b = both_of(7);
	struct profile *lined = profile_new(), *plain = profile_new();
	struct strobe_wire_message m;
	struct buf bytes;

	buf_init(&bytes);
	CHECK_INT(wire_profile_write(b.lined, &bytes, NULL), 0);
	CHECK_INT(strobe_wire_parse(bytes.data, bytes.size, &m), STROBE_WIRE_OK);
	CHECK_INT(m.info.version, 2);
	CHECK_INT(m.info.flags, STROBE_WIRE_LINES);
	profile_keep_lines(lined, true);
	CHECK_INT(wire_profile_add(lined, &m), 0);
	CHECK_INT(wire_profile_add(plain, &m), 0);
	CHECK(equal(lined, b.lined));
	CHECK(equal(plain, b.plain));

	/* Without lines the output must not change, so that older readers accept it. */
	buf_reset(&bytes);
	CHECK_INT(wire_profile_write(b.plain, &bytes, NULL), 0);
	CHECK_INT(strobe_wire_parse(bytes.data, bytes.size, &m), STROBE_WIRE_OK);
	CHECK_INT(m.info.version, 1);
	profile_free(plain);
	profile_free(lined);
	buf_done(&bytes);
	both_done(&b);
}

TEST_MAIN()
