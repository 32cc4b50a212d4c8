/* test_store_values.c: tests that every store returns the values of one column equal to the profile's, for the same
 * stacks. */
#include "conformance.h"
#include "test.h"

static char *values_folded(struct store *s, const struct store_query *q, const char *column)
{
	struct store_query_stats stats;
	struct stack_values v = { 0 };
	struct profile *p;
	char *text;

	CHECK_INT(store_values(s, q, column, &v, &stats, NULL), 0);
	if (!v.self) {
		stack_values_done(&v);
		return xstrdup("none");
	}
	p = stack_values_prune(&v, v.node_count * 2 + 2);
	text = folded(p, "values");
	profile_free(p);
	stack_values_done(&v);
	return text;
}

static void check_column(struct store *s, const struct store_query *q, const struct profile *whole, const char *column)
{
	char *values = values_folded(s, q, column);
	char *expected = profile_find_column(whole, column) == UINT32_MAX ? xstrdup("none") : folded(whole, column);

	CHECK_STR(values, expected);
	free(values);
	free(expected);
}

/* Checks each of the columns, or the one whose turn it is. */
static void check(struct store *s, const struct store_query *q, bool in_full, unsigned turn)
{
	static const char *const columns[] = { "samples", "wall_ns", "nothing", "cpu_ns", "bytes" };
	struct profile *whole = NULL;

	CHECK_INT(store_query(s, q, &whole, NULL, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (in_full || i == turn % ARRAY_SIZE(columns))
			check_column(s, q, whole, columns[i]);
	profile_free(whole);
}

/* Checks each range with and without lines, or in turn. */
static void check_ranges(struct fixture *f, struct store_query q)
{
	static const int64_t ranges[][2] = {
		{ NOON, NOON + HOUR },
		{ NOON, NOON + 1 },
		{ NOON - HOUR, NOON },
		{ NOON - 12 * HOUR, NOON + 12 * HOUR },
		{ NOON, NOON + 2 * DAY },
		{ 0, INT64_MAX },
		{ NOON + DAY, NOON },
	};
	static unsigned turn;

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++, turn++) {
		q.from_ns = ranges[i][0];
		q.to_ns = ranges[i][1];
		for (unsigned lines = 0; lines < 2; lines++) {
			if (!is_in_full(f) && lines != turn % 2)
				continue;
			q.lines = lines;
			check(f->store, &q, is_in_full(f), turn);
		}
	}
}

static void append_sampled(struct store *s, int64_t ns, const char *labels, enum strobe_clock clock, int64_t period_ns, const char *stack,
			   int64_t samples)
{
	struct maker *m = maker_new(0);

	maker_series(m, ns, labels, clock, period_ns);
	maker_value(m, stack, "samples", "count", samples);
	maker_value(m, stack, "bytes", "bytes", samples % 3 ? samples * 100 : 0);
	CHECK_INT(store_append(s, &m->batch, NULL), 0);
	maker_free(m);
}

static void fill(struct store *s, int64_t ns)
{
	append_sampled(s, ns, "entry=a", STROBE_CLOCK_WALL, 1000, "main@20;f@9;g", 3);
	append_sampled(s, ns, "entry=a", STROBE_CLOCK_WALL, 1000, "main@21;f@9", 5);
	append_sampled(s, ns + HOUR, "entry=b", STROBE_CLOCK_CPU, 500, "main@21;h", 7);
	append_sampled(s, ns + HOUR, "entry=b", STROBE_CLOCK_WALL, 10, "main;h;i", 11);
	append_sampled(s, ns + 2 * HOUR, "entry=c", STROBE_CLOCK_NONE, 0, "main;f", 13);
}

TEST(values_match_those_of_the_profile)
{
	static const struct label_filter filters[] = { { "entry", "b", LABEL_IS }, { "entry", "x", LABEL_IS }, { "clock", "wall", LABEL_IS } };
	struct fixture f = open_store();

	check_ranges(&f, (struct store_query){ 0 });
	for (int day = 0; day < 3; day += 2) {
		fill(f.store, NOON + day * DAY);
		check_ranges(&f, (struct store_query){ 0 });
		for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
			check_ranges(&f, (struct store_query){ .filters = &filters[i], .filter_count = 1 });
	}
	CHECK_INT(maintain(f.store, NOON + 5 * DAY, 0, 0), 0);
	check_ranges(&f, (struct store_query){ 0 });
	done(&f);
}

TEST(values_of_too_many_nodes_are_pruned_or_rejected_like_the_profile)
{
	struct fixture f = open_store();
	struct store_query q = { .to_ns = INT64_MAX, .max_nodes = 6 };

	for (int i = 0; i < 40; i++) {
		char stack[40];

		snprintf(stack, sizeof(stack), "main;f%d;g", i);
		append_sampled(f.store, NOON + (i % 2) * DAY, "entry=a", STROBE_CLOCK_WALL, 1000, stack, i + 1);
	}
	check_ranges(&f, q);
	if (is_sqlite(&f)) {
		struct store_query refused = { .from_ns = NOON, .to_ns = NOON + HOUR, .refuse_above = 20 };
		struct store_query_stats stats;
		struct stack_values v;

		CHECK_INT(store_values(f.store, &refused, "samples", &v, &stats, NULL), -ENOMEM);
		CHECK_INT(store_query(f.store, &refused, &(struct profile *){ NULL }, NULL, NULL), -ENOMEM);
	}
	done(&f);
}

static void check_columns(struct store *s, int64_t from_ns, int64_t to_ns, const char *names)
{
	struct store_query q = { .from_ns = from_ns, .to_ns = to_ns };
	struct profile *p = NULL;
	struct buf b;

	buf_init(&b);
	CHECK_INT(store_query(s, &q, &p, NULL, NULL), 0);
	for (uint32_t i = 0; i < p->column_count; i++)
		buf_printf(&b, "%s%s", i ? " " : "", p->columns[i].name);
	CHECK_STR(b.size ? b.data : "", names);
	buf_done(&b);
	profile_free(p);
}

static void append_columns(struct store *s, int64_t ns, enum strobe_clock clock, const char *const *columns)
{
	struct maker *m = maker_new(0);

	maker_series(m, ns, "entry=a", clock, 1000);
	for (; *columns; columns++)
		maker_value(m, "main;f", *columns, strstr(*columns, "_ns") ? "nanoseconds" : "count", 3);
	CHECK_INT(store_append(s, &m->batch, NULL), 0);
	maker_free(m);
}

TEST(the_order_of_columns_does_not_depend_on_the_order_of_storing)
{
	static const char *const memory[] = { "objects", "bytes", NULL }, *const late[] = { "calls", "samples", NULL };
	static const char *const sampled[] = { "samples", "cpu_ns", NULL }, *const other[] = { "allocated", NULL };
	struct fixture f = open_store();

	append_columns(f.store, NOON, STROBE_CLOCK_NONE, memory);
	append_columns(f.store, NOON + HOUR, STROBE_CLOCK_CPU, late);
	append_columns(f.store, NOON + HOUR, STROBE_CLOCK_WALL, late);
	append_columns(f.store, NOON + 2 * HOUR, STROBE_CLOCK_CPU, sampled);
	append_columns(f.store, NOON + 2 * HOUR, STROBE_CLOCK_NONE, other);
	check_columns(f.store, NOON, NOON + HOUR, "objects bytes");
	check_columns(f.store, NOON + HOUR, NOON + 2 * HOUR, "samples calls wall_ns cpu_ns");
	check_columns(f.store, NOON + 2 * HOUR, NOON + 3 * HOUR, "samples allocated cpu_ns");
	check_columns(f.store, NOON, NOON + 3 * HOUR, "samples allocated calls objects bytes cpu_ns wall_ns");
	append_columns(f.store, NOON + DAY, STROBE_CLOCK_NONE, other);
	check_columns(f.store, NOON, NOON + 2 * DAY, "samples allocated calls objects bytes cpu_ns wall_ns");
	check_columns(f.store, NOON - HOUR, NOON, "");
	done(&f);
}

TEST_MAIN()
