/* test_store_lines.c: tests the guarantees of every store for executed lines. */
#include "conformance.h"
#include "test.h"

/* The samples of everything, with lines, folded. */
static char *ask_lines(struct store *s)
{
	const struct store_query q = { .to_ns = INT64_MAX, .lines = true };
	struct profile *p = NULL;
	char *text;

	CHECK_INT(store_query(s, &q, &p, NULL, NULL), 0);
	text = folded(p, "samples");
	profile_free(p);
	return text;
}

#define CHECK_LINES(s, expected)					\
	do {								\
		char *lines_ = ask_lines(s);				\
									\
		CHECK_STR(lines_, expected);				\
		free(lines_);						\
	} while (0)

#define LINES		"main 1,main@20;f@9 3,main@21 4,main@21;f@8 10,main@21;f@9 2,main@4000000000 7"
#define FUNCTIONS	"main 12,main;f 15"

/* Lines before the definition's, which is 7, and far after it; with and without lines; the same stack in two
 * batches. */
static void fill(struct fixture *f, bool reopening)
{
	CHECK_INT(append_one(f->store, 1, NOON, "entry=a", "main@20;f@9", 3), 0);
	CHECK_INT(append_one(f->store, 2, NOON, "entry=a", "main@21;f@9", 2), 0);
	CHECK_INT(append_one(f->store, 3, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(append_one(f->store, 4, NOON + HOUR, "entry=b", "main@21;f@8", 4), 0);
	if (reopening)
		reopen(f);
	CHECK_INT(append_one(f->store, 5, NOON + HOUR, "entry=a", "main@21;f@8", 6), 0);
	CHECK_INT(append_one(f->store, 6, NOON, "entry=a", "main@4000000000", 7), 0);
	CHECK_INT(append_one(f->store, 7, NOON, "entry=a", "main@21", 4), 0);
}

TEST(executed_lines_are_returned_on_request)
{
	for (int reopening = 0; reopening < 2; reopening++) {
		struct fixture f = open_store();

		fill(&f, reopening);
		CHECK_LINES(f.store, LINES);
		CHECK_FOLDED(f.store, 0, INT64_MAX, FUNCTIONS);
		done(&f);
	}
}

TEST(series_without_executed_lines_get_none_from_others)
{
	const struct label_filter plain = { "entry", "plain", LABEL_IS };
	struct fixture f = open_store();

	fill(&f, false);
	CHECK_INT(append_one(f.store, 8, NOON, "entry=plain", "main;f", 5), 0);
	for (int i = 0; i < 2; i++) {
		struct store_query q = { .to_ns = INT64_MAX, .lines = true, .filters = &plain, .filter_count = 1 };
		struct profile *p = NULL;

		CHECK_INT(store_query(f.store, &q, &p, NULL, NULL), 0);
		CHECK_FOLDED_OF(p, "samples", "main;f 5");
		CHECK(!p->node_lines);
		profile_free(p);
		CHECK_INT(maintain(f.store, NOON + DAY, 0, 0), 0);
	}
	done(&f);
}

TEST(compaction_keeps_executed_lines)
{
	struct fixture f = open_store();

	fill(&f, true);
	CHECK_INT(maintain(f.store, NOON + DAY, 0, 0), 0);
	CHECK_LINES(f.store, LINES);
	CHECK_FOLDED(f.store, 0, INT64_MAX, FUNCTIONS);
	reopen(&f);
	CHECK_INT(append_one(f.store, 8, NOON, "entry=a", "main@20;f@9;g@3", 5), 0);
	CHECK_INT(maintain(f.store, NOON + 2 * DAY, 0, 0), 0);
	CHECK_LINES(f.store, "main 1,main@20;f@9 3,main@20;f@9;g@3 5,main@21 4,main@21;f@8 10,main@21;f@9 2,main@4000000000 7");
	CHECK_FOLDED(f.store, 0, INT64_MAX, FUNCTIONS ",main;f;g 5");
	done(&f);
}

/* One stack by function may be many by line, and the limit counts those. */
TEST(a_pruned_query_keeps_the_largest_executed_lines)
{
	const struct store_query q = { .to_ns = INT64_MAX, .lines = true, .max_nodes = 20 };
	struct fixture f = open_store();
	struct maker *m = maker_new(1);
	struct store_query_stats stats;
	struct profile *p = NULL;
	char stack[32];

	maker_add(m, NOON, "entry=a", "main@1;f@1", 1000);
	for (int line = 2; line < 100; line++) {
		snprintf(stack, sizeof(stack), "main@1;f@%d", line);
		maker_stack(m, stack, 1);
	}
	CHECK_INT(store_append(f.store, &m->batch, NULL), 0);
	maker_free(m);
	CHECK_INT(store_query(f.store, &q, &p, &stats, NULL), 0);
	CHECK(stats.pruned);
	CHECK_INT(stats.pruned_samples, 98);
	CHECK(p->node_count <= 20);
	CHECK_FOLDED_OF(p, "samples", "main@1;[pruned] 98,main@1;f@1 1000");
	profile_free(p);
	CHECK_FOLDED(f.store, 0, INT64_MAX, "main;f 1098");
	done(&f);
}

TEST_MAIN()
