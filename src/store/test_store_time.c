/* test_store_time.c: tests compaction, timelines and sums per step of every store, with each backend. */
#include "conformance.h"
#include "test.h"

/* Appends a few thousand samples of many stacks, series and buckets, always the same. */
static void fill(struct store *s, int64_t from_ns, int hours, unsigned seed)
{
	uint64_t r = 88172645463325252ull + seed;

	for (int round = 0; round < hours * 20; round++) {
		struct maker *m = maker_new(0);

		for (int i = 0; i < 25; i++) {
			char labels[64], stack[128];

			r ^= r << 13;
			r ^= r >> 7;
			r ^= r << 17;
			snprintf(labels, sizeof(labels), "entry=e%d,host=h%d", (int)(r % 3), (int)(r >> 8) % 4);
			snprintf(stack, sizeof(stack), "main;f%d;g%d;h%d", (int)(r >> 16 & 7), (int)(r >> 20 & 31),
				 (int)(r >> 28 & 3));
			maker_add(m, from_ns + round * 180 * SECOND + (int64_t)(r >> 40) % 180 * SECOND, labels, stack,
				  1 + (int64_t)(r >> 50) % 3);
		}
		CHECK_INT(store_append(s, &m->batch, NULL), 0);
		maker_free(m);
	}
}

/* Returns the answers to all queries about three hours, as one text. */
static char *all_answers(struct store *s, int64_t from_ns)
{
	static const struct label_filter filters[] = { { "host", "h1", LABEL_IS }, { "entry", "e", LABEL_IS_PREFIX } };
	struct store_query q = { from_ns, from_ns + 3 * HOUR };
	struct store_labels labels;
	struct profile *p;
	struct buf all;
	uint64_t steps[36];
	char *text;

	buf_init(&all);
	for (int i = 0; i < 3; i++) {
		int64_t from = from_ns + i * 1234 * SECOND;

		text = ask_folded(s, from, from + 4321 * SECOND);
		buf_printf(&all, "range %d: %s\n", i, text);
		free(text);
	}
	p = ask(s, from_ns, from_ns + 3 * HOUR, filters, 2, NULL);
	text = p ? folded(p, "wall_ns") : xstrdup("failed");
	buf_printf(&all, "filtered: %s\n", text);
	free(text);
	profile_free(p);
	CHECK_INT(store_timeline(s, &q, 300 * SECOND, steps, ARRAY_SIZE(steps), NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		buf_printf(&all, "%llu ", (unsigned long long)steps[i]);
	CHECK_INT(store_labels(s, &q, &labels, NULL), 0);
	for (size_t i = 0; i < labels.count; i++)
		for (size_t k = 0; k < labels.items[i].value_count; k++)
			buf_printf(&all, "%s=%s:%llu ", labels.items[i].key, labels.items[i].values[k].value,
				   (unsigned long long)labels.items[i].values[k].samples);
	store_labels_done(&labels);
	return buf_take(&all, NULL);
}

TEST(compaction_changes_no_answer)
{
	struct fixture f = open_store();
	char *before, *after;
	struct store_stats stats;

	fill(f.store, NOON, 3, 1);
	before = all_answers(f.store, NOON);
	CHECK(strlen(before) > 1000);
	/* In the middle of the second hour, only the first is compacted. */
	CHECK_INT(maintain(f.store, NOON + HOUR + HOUR / 2, 0, 0), 0);
	store_stats(f.store, &stats);
	CHECK_INT(stats.compactions, is_sqlite(&f) ? 1 : 0);
	after = all_answers(f.store, NOON);
	CHECK_STR(after, before);
	free(after);
	CHECK_INT(maintain(f.store, NOON + DAY, 0, 0), 0);
	store_stats(f.store, &stats);
	CHECK_INT(stats.compactions, is_sqlite(&f) ? 3 : 0);
	after = all_answers(f.store, NOON);
	CHECK_STR(after, before);
	free(after);
	CHECK_INT(maintain(f.store, NOON + DAY, 0, 0), 0);
	store_stats(f.store, &stats);
	CHECK_INT(stats.compactions, is_sqlite(&f) ? 3 : 0);	/* nothing was left to do */
	reopen(&f);
	after = all_answers(f.store, NOON);
	CHECK_STR(after, before);
	free(after);
	free(before);
	done(&f);
}

TEST(late_samples_are_added_to_a_compacted_hour)
{
	struct fixture f = open_store();
	char *before, *after;

	fill(f.store, NOON, 3, 1);
	CHECK_INT(maintain(f.store, NOON + DAY, 0, 0), 0);
	fill(f.store, NOON, 3, 2);
	before = all_answers(f.store, NOON);
	CHECK_INT(maintain(f.store, NOON + DAY, 0, 0), 0);
	after = all_answers(f.store, NOON);
	CHECK_STR(after, before);
	free(after);
	free(before);
	done(&f);
}

TEST(the_timeline_counts_samples_per_step)
{
	struct fixture f = open_store();
	struct store_query q = { NOON + 5 * SECOND, NOON + 65 * SECOND };
	const struct label_filter a = { "entry", "a", LABEL_IS };
	uint64_t steps[4] = { 9, 9, 9, 9 };
	struct err err = { 0 };

	append_one(f.store, 0, NOON, "entry=a", "main", 1);
	append_one(f.store, 0, NOON + 20 * SECOND, "entry=a", "main", 2);
	append_one(f.store, 0, NOON + 30 * SECOND, "entry=b", "main", 4);
	append_one(f.store, 0, NOON + 60 * SECOND, "entry=a", "main", 8);
	append_one(f.store, 0, NOON + 70 * SECOND, "entry=a", "main", 16);
	CHECK_INT(store_timeline(f.store, &q, 20 * SECOND, steps, 4, &err), 0);
	CHECK_INT(steps[0], 3);
	CHECK_INT(steps[1], 4);
	CHECK_INT(steps[2], 8);
	CHECK_INT(steps[3], 0);
	q.filters = &a;
	q.filter_count = 1;
	CHECK_INT(store_timeline(f.store, &q, 20 * SECOND, steps, 2, &err), 0);
	CHECK_INT(steps[0], 3);
	CHECK_INT(steps[1], 0);
	CHECK_INT(store_timeline(f.store, &q, 15 * SECOND, steps, 2, &err), -EINVAL);
	CHECK_INT(store_timeline(f.store, &q, 0, steps, 2, &err), -EINVAL);
	done(&f);
}

struct taken {
	struct buf text;
	int64_t from_ns;
};

/* Formats "a wall_ns 0:10 2:20": the label entry, a column, and steps with their sums. */
static void take_sums(void *data, struct store_series *s, int64_t from_ns, const int64_t *values, size_t count)
{
	struct taken *t = data;

	s->tag++;
	for (uint32_t c = 0; c < s->column_count; c++) {
		buf_printf(&t->text, "%s %s %s", labels_get(&s->labels, "entry"), s->columns[c].name, s->columns[c].unit);
		for (size_t i = 0; i < count; i++)
			if (values[i * s->column_count + c])
				buf_printf(&t->text, " %lld:%lld", (long long)((from_ns - t->from_ns) / HOUR * 3600 +
					   (from_ns - t->from_ns) % HOUR / SECOND) + (long long)i * 60,
					   (long long)values[i * s->column_count + c]);
		buf_puts(&t->text, "\n");
	}
}

TEST(sums_are_returned_per_series_and_step)
{
	struct fixture f = open_store();
	struct store_query q = { NOON, NOON + 200 * SECOND };
	const struct label_filter a = { "entry", "a", LABEL_IS };
	struct taken t = { .from_ns = NOON };
	struct maker *m = maker_new(1);
	struct err err = { 0 };

	buf_init(&t.text);
	maker_series(m, NOON, "entry=a", STROBE_CLOCK_WALL, PERIOD);
	maker_stack(m, "main", 1);
	maker_stack(m, "main;f", 2);
	maker_series(m, NOON + 50 * SECOND, "entry=a", STROBE_CLOCK_WALL, PERIOD);
	maker_stack(m, "main", 4);
	maker_series(m, NOON + 130 * SECOND, "entry=a", STROBE_CLOCK_WALL, PERIOD);
	maker_stack(m, "main", 8);
	maker_series(m, NOON + 200 * SECOND, "entry=a", STROBE_CLOCK_WALL, PERIOD);
	maker_stack(m, "main", 16);
	maker_series(m, NOON, "entry=b", STROBE_CLOCK_NONE, 0);
	maker_value(m, "main", "bytes", "bytes", 1000);
	CHECK_INT(store_append(f.store, &m->batch, &err), 0);
	CHECK_INT(store_sums(f.store, &q, 0, take_sums, &t, &err), 0);
	CHECK(strstr(t.text.data, "a samples count\na wall_ns nanoseconds\n") != NULL);
	CHECK(strstr(t.text.data, "b bytes bytes\n") != NULL);
	CHECK_INT(t.text.size, strlen("a samples count\na wall_ns nanoseconds\nb bytes bytes\n"));
	buf_reset(&t.text);
	q.filters = &a;
	q.filter_count = 1;
	CHECK_INT(store_sums(f.store, &q, 60 * SECOND, take_sums, &t, &err), 0);
	/* Buckets may come one by one before the hour is compacted; afterwards all come together. */
	if (is_sqlite(&f)) {
		CHECK(strstr(t.text.data, "a samples count 0:3\na wall_ns nanoseconds 0:30000000\n") != NULL);
		CHECK(strstr(t.text.data, "a samples count 0:4\n") != NULL);
		CHECK(strstr(t.text.data, "a samples count 120:8\n") != NULL);
	}
	CHECK(strstr(t.text.data, ":16") == NULL);
	buf_reset(&t.text);
	CHECK_INT(store_maintain(f.store, &(struct store_limits){ 0 }, NOON + 3 * HOUR, &err), 0);
	CHECK_INT(store_sums(f.store, &q, 60 * SECOND, take_sums, &t, &err), 0);
	CHECK_STR(t.text.data, "a samples count 0:7 120:8\na wall_ns nanoseconds 0:70000000 120:80000000\n");
	buf_done(&t.text);
	maker_free(m);
	done(&f);
}

TEST_MAIN()
