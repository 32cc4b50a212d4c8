/* test_batch_rows.c: tests that rows over shared stacks give the same profiles as adding the messages of each series
 * separately. */
#include "batch_rows.h"
#include "mem.h"
#include "test.h"
#include "wire_profile.h"

#include <stdlib.h>

static int64_t *row(struct batch_rows *r, uint32_t columns, uint32_t node, int64_t value)
{
	int64_t *values = batch_rows_add(r, columns, node);

	values[columns - 1] += value;
	return values;
}

TEST(rows_are_sorted_and_added_up_by_node)
{
	struct batch_rows r = { 0 };

	row(&r, 2, 7, 1);
	row(&r, 2, 3, 10)[0] = 5;
	row(&r, 2, 3, 10);
	row(&r, 2, 7, 2);
	row(&r, 2, 9, INT64_MAX);
	row(&r, 2, 1, 4);
	row(&r, 2, 9, 1);
	batch_rows_merge(&r, 2);
	CHECK_INT(r.count, 4);
	CHECK_INT(r.nodes[0], 1);
	CHECK_INT(r.nodes[1], 3);
	CHECK_INT(r.nodes[2], 7);
	CHECK_INT(r.nodes[3], 9);
	CHECK_INT(r.values[1], 4);
	CHECK_INT(r.values[2], 5);
	CHECK_INT(r.values[3], 20);
	CHECK_INT(r.values[5], 3);
	CHECK_INT(r.values[7], INT64_MAX);
	batch_rows_merge(&r, 2);
	CHECK_INT(r.count, 4);
	batch_rows_done(&r);
}

TEST(many_rows_of_few_nodes_take_little_memory)
{
	struct batch_rows r = { 0 };

	for (int i = 0; i < 1000000; i++)
		row(&r, 1, 1 + (uint32_t)(i % 100), 1);
	CHECK(r.node_capacity < 10000);
	batch_rows_merge(&r, 1);
	CHECK_INT(r.count, 100);
	for (int i = 0; i < 100; i++)
		CHECK_INT(r.values[i], 10000);
	batch_rows_done(&r);
}

/* --- Against profiles --- */

static uint64_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* Puts a message of random stacks of few functions, with values of either sign. */
static void put_message(struct buf *out)
{
	struct profile *p = profile_new();

	profile_keep_lines(p, true);
	profile_column(p, "samples", "count");
	profile_column(p, "memory_bytes", "bytes");
	for (uint32_t i = below(20) + 1; i-- > 0;) {
		uint32_t node = PROFILE_ROOT;

		for (uint32_t depth = below(8) + 1; depth-- > 0;) {
			char name[8];

			snprintf(name, sizeof(name), "f%u", below(5));
			node = profile_child_at(p, node, profile_frame(p, (struct str){ name, strlen(name) }, (struct str){ "/a.php", 6 },
								       below(2)), below(3));
		}
		profile_add(p, node, below(2), (int64_t)below(9) - 3);
	}
	CHECK_INT(wire_profile_write(p, out, NULL), 0);
	profile_free(p);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns each stack with values as a line, sorted; the caller frees. */
static char *text_of(const struct profile *p)
{
	char **lines = xcalloc(p->node_count, sizeof(*lines));
	size_t n = 0;
	struct buf text;

	for (uint32_t i = 1; i < p->node_count; i++) {
		char *line = xasprintf("= %lld %lld\n", (long long)p->columns[0].self[i], (long long)p->columns[1].self[i]);

		if (!profile_has_values(p, i)) {
			free(line);
			continue;
		}
		for (uint32_t at = i; at != PROFILE_ROOT; at = p->parents[at]) {
			uint32_t f = p->node_frames[at];
			char *longer = xasprintf("%s:%u@%u;%s", profile_name(p, f).p, p->frames[f].line, profile_line(p, at), line);

			free(line);
			line = longer;
		}
		lines[n++] = line;
	}
	qsort(lines, n, sizeof(*lines), compare_lines);
	buf_init(&text);
	buf_puts(&text, "");
	for (size_t i = 0; i < n; i++) {
		buf_puts(&text, lines[i]);
		free(lines[i]);
	}
	free(lines);
	return text.data;
}

#define SERIES	5u

TEST(rows_are_equivalent_to_the_profiles_of_their_messages)
{
	for (uint64_t round = 0; round < 200; round++) {
		struct profile *stacks = profile_new(), *alone[SERIES], *columns[SERIES];
		struct batch_entry entries[SERIES] = { 0 };
		struct batch b = { .entries = entries, .count = SERIES, .stacks = stacks }, whole;

		seed = round;
		profile_keep_lines(stacks, true);
		for (uint32_t i = 0; i < SERIES; i++) {
			alone[i] = profile_new();
			profile_keep_lines(alone[i], true);
			entries[i].profile = columns[i] = profile_new();
			profile_keep_lines(columns[i], true);
		}
		for (uint32_t i = 0; i < 20; i++) {
			struct strobe_wire_message m;
			uint32_t k = below(SERIES);
			struct buf bytes;

			buf_init(&bytes);
			put_message(&bytes);
			CHECK_INT(strobe_wire_parse(bytes.data, bytes.size, &m), STROBE_WIRE_OK);
			CHECK_INT(wire_profile_add(alone[k], &m), 0);
			/* Entries may have both forms. */
			CHECK_INT(below(4) ? wire_profile_add_rows(columns[k], stacks, &entries[k].rows, &m) : wire_profile_add(columns[k], &m), 0);
			buf_done(&bytes);
		}
		for (uint32_t i = 0; i < SERIES; i++)
			if (alone[i]->column_count)
				batch_rows_merge(&entries[i].rows, 2);
		batch_without_rows(&b, &whole);
		CHECK(!whole.stacks);
		for (uint32_t i = 0; i < SERIES; i++) {
			char *x = alone[i]->column_count ? text_of(alone[i]) : NULL, *y = x ? text_of(whole.entries[i].profile) : NULL;

			CHECK_INT(whole.entries[i].rows.count, 0);
			if (x)
				CHECK_STR(y, x);
			free(x);
			free(y);
		}
		batch_without_rows_done(&b, &whole);
		for (uint32_t i = 0; i < SERIES; i++) {
			profile_free(alone[i]);
			profile_free(columns[i]);
			batch_rows_done(&entries[i].rows);
		}
		profile_free(stacks);
	}
}

TEST_MAIN()
