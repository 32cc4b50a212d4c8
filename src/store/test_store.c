/* test_store.c: tests the guarantees of every store for samples, with each backend. */
#include "conformance.h"
#include "test.h"

TEST(an_empty_store_reports_zero_counts)
{
	struct fixture f = open_store();
	struct store_query_stats query_stats;
	struct profile *p = ask(f.store, 0, INT64_MAX, NULL, 0, &query_stats);
	struct store_query q = { 0, INT64_MAX };
	struct store_labels labels;
	struct store_stats stats;
	uint64_t samples[2] = { 7, 7 };

	CHECK(p && p->node_count == 1);
	CHECK_INT(query_stats.days + query_stats.series + query_stats.chunks + query_stats.samples, 0);
	CHECK_INT(query_stats.first_ns, 0);
	CHECK_INT(store_timeline(f.store, &q, HOUR, samples, 2, NULL), 0);
	CHECK_INT(samples[0] + samples[1], 0);
	CHECK_INT(store_labels(f.store, &q, &labels, NULL), 0);
	CHECK_INT(labels.count, 0);
	store_labels_done(&labels);
	store_stats(f.store, &stats);
	CHECK_INT(stats.days, 0);
	CHECK_INT(maintain(f.store, NOON, DAY, 1), 0);
	profile_free(p);
	done(&f);
}

TEST(appended_samples_are_returned_as_one_tree)
{
	struct fixture f = open_store();
	struct maker *m = maker_new(1);
	struct store_query_stats query_stats;
	struct profile *p;
	struct store_stats stats;

	maker_add(m, NOON, "entry=index", "main;run;query", 3);
	maker_stack(m, "main;run", 2);
	maker_stack(m, "main", 1);
	maker_add(m, NOON + 10 * SECOND, "entry=index", "main;run;query", 4);
	maker_add(m, NOON, "entry=api", "main;run;render", 5);
	CHECK_INT(store_append(f.store, &m->batch, NULL), 0);
	maker_free(m);

	p = ask(f.store, NOON, NOON + HOUR, NULL, 0, &query_stats);
	CHECK(p);
	if (p) {
		char *text = folded(p, "samples"), *time = folded(p, "wall_ns");

		CHECK_STR(text, "main 1,main;run 2,main;run;query 7,main;run;render 5");
		CHECK_STR(time, "main 10000000,main;run 20000000,main;run;query 70000000,main;run;render 50000000");
		CHECK_INT(p->start_ns, NOON);
		CHECK_INT(p->end_ns, NOON + 20 * SECOND);
		CHECK_INT(p->period_ns, PERIOD);
		CHECK(!p->mixed_periods);
		CHECK_STR(p->columns[0].name, "samples");
		CHECK_STR(p->columns[0].unit, "count");
		CHECK_INT(p->frame_count, 4);
		CHECK_STR(profile_file(p, 0).p, "/srv/index.php");
		CHECK_INT(p->frames[0].line, 7);
		free(text);
		free(time);
	}
	CHECK_INT(query_stats.samples, 15);
	CHECK_INT(query_stats.series, 2);
	CHECK_INT(query_stats.series_matched, 2);
	CHECK_INT(query_stats.first_ns, NOON);
	CHECK_INT(query_stats.last_ns, NOON + 20 * SECOND);
	store_stats(f.store, &stats);
	CHECK_INT(stats.samples_stored, 15);
	CHECK_INT(stats.batches, 1);
	CHECK_INT(stats.oldest_ns, NOON);
	CHECK_INT(stats.newest_ns, NOON + 20 * SECOND);
	CHECK(stats.bytes > 0);
	profile_free(p);
	done(&f);
}

TEST(samples_persist_after_reopening_the_store)
{
	struct fixture f = open_store();

	CHECK_INT(append_one(f.store, 1, NOON, "entry=index", "main;a", 1), 0);
	reopen(&f);
	CHECK_INT(append_one(f.store, 2, NOON, "entry=index", "main;a", 1), 0);
	CHECK_INT(append_one(f.store, 3, NOON, "entry=index", "main;b", 1), 0);
	reopen(&f);
	CHECK_FOLDED(f.store, NOON, NOON + 1, "main;a 2,main;b 1");
	done(&f);
}

TEST(a_range_includes_the_buckets_that_it_overlaps)
{
	struct fixture f = open_store();

	for (int i = 0; i < 4; i++) {
		char stack[] = "a";

		stack[0] = (char)('a' + i);
		CHECK_INT(append_one(f.store, 0, NOON + i * 10 * SECOND, "entry=index", stack, 1), 0);
	}
	for (int compacted = 0; compacted < 2; compacted++) {
		CHECK_FOLDED(f.store, NOON + 10 * SECOND, NOON + 20 * SECOND, "b 1");
		CHECK_FOLDED(f.store, NOON + 19 * SECOND, NOON + 21 * SECOND, "b 1,c 1");
		CHECK_FOLDED(f.store, NOON + 20 * SECOND - 1, NOON + 20 * SECOND, "b 1");
		CHECK_FOLDED(f.store, NOON + 20 * SECOND, NOON + 20 * SECOND, "");
		CHECK_FOLDED(f.store, NOON + 30 * SECOND, NOON + 10 * SECOND, "");
		CHECK_FOLDED(f.store, INT64_MIN, NOON + 1, "a 1");
		CHECK_FOLDED(f.store, NOON + 40 * SECOND, INT64_MAX, "");
		CHECK_FOLDED(f.store, INT64_MIN, INT64_MAX, "a 1,b 1,c 1,d 1");
		CHECK_INT(maintain(f.store, NOON + 2 * HOUR, 0, 0), 0);
	}
	done(&f);
}

static char *filtered(struct store *s, const struct label_filter *filters, size_t count)
{
	struct profile *p = ask(s, NOON, NOON + HOUR, filters, count, NULL);
	char *text = p ? folded(p, "samples") : xstrdup("(failed)");

	profile_free(p);
	return text;
}

#define CHECK_FILTERED(expected, ...)								\
	do {											\
		const struct label_filter filters_[] = { __VA_ARGS__ };				\
		char *text_ = filtered(f.store, filters_, ARRAY_SIZE(filters_));		\
												\
		CHECK_STR(text_, expected);							\
		free(text_);									\
	} while (0)

TEST(filters_select_series)
{
	struct fixture f = open_store();
	struct store_query_stats query_stats;
	const struct label_filter nobody = { "host", "nobody", LABEL_IS };
	struct profile *p;

	append_one(f.store, 0, NOON, "entry=index,host=web1", "a", 1);
	append_one(f.store, 0, NOON, "entry=index,host=web2", "b", 1);
	append_one(f.store, 0, NOON, "entry=api,host=web1", "c", 1);
	append_one(f.store, 0, NOON, "host=db1", "d", 1);

	CHECK_FILTERED("a 1,b 1", { "entry", "index", LABEL_IS });
	CHECK_FILTERED("a 1", { "entry", "index", LABEL_IS }, { "host", "web1", LABEL_IS });
	CHECK_FILTERED("a 1,b 1,c 1", { "entry", "index", LABEL_IS }, { "entry", "api", LABEL_IS });
	CHECK_FILTERED("a 1,c 1", { "entry", "index", LABEL_IS }, { "entry", "api", LABEL_IS },
		       { "host", "web1", LABEL_IS });
	CHECK_FILTERED("c 1,d 1", { "entry", "index", LABEL_IS_NOT });
	CHECK_FILTERED("d 1", { "entry", "index", LABEL_IS_NOT }, { "entry", "api", LABEL_IS_NOT });
	CHECK_FILTERED("a 1,b 1,c 1", { "host", "web", LABEL_IS_PREFIX });
	CHECK_FILTERED("b 1,d 1", { "host", "d", LABEL_IS_PREFIX }, { "host", "web2", LABEL_IS });
	CHECK_FILTERED("a 1,c 1,d 1", { "host", "db", LABEL_IS_PREFIX }, { "host", "web", LABEL_IS_PREFIX },
		       { "host", "web2", LABEL_IS_NOT });
	CHECK_FILTERED("d 1", { "host", "web", LABEL_IS_NOT_PREFIX });
	CHECK_FILTERED("a 1", { "host", "db", LABEL_IS_NOT_PREFIX }, { "host", "web2", LABEL_IS_NOT }, { "entry", "ap", LABEL_IS_NOT_PREFIX });
	CHECK_FILTERED("c 1,d 1", { "entry", "in", LABEL_IS_NOT_PREFIX }, { "host", "web", LABEL_IS_PREFIX }, { "host", "db1", LABEL_IS });
	CHECK_FILTERED("d 1", { "entry", "", LABEL_IS });
	CHECK_FILTERED("a 1,b 1,c 1", { "entry", "", LABEL_IS_NOT });
	CHECK_FILTERED("a 1,b 1,c 1,d 1", { "clock", "wall", LABEL_IS });
	CHECK_FILTERED("", { "clock", "cpu", LABEL_IS });

	p = ask(f.store, NOON, NOON + HOUR, &nobody, 1, &query_stats);
	CHECK(p && p->node_count == 1);
	CHECK_INT(query_stats.series, 4);
	CHECK_INT(query_stats.series_matched, 0);
	CHECK_INT(query_stats.samples, 0);
	CHECK_INT(query_stats.days, 1);
	CHECK_INT(query_stats.first_ns, NOON);
	profile_free(p);
	done(&f);
}

TEST(the_result_has_the_labels_common_to_all_its_series)
{
	struct fixture f = open_store();
	const struct label_filter index = { "entry", "index", LABEL_IS };
	struct profile *p;

	append_one(f.store, 0, NOON, "entry=index,host=web1,sapi=fpm", "a", 1);
	append_one(f.store, 0, NOON, "entry=index,host=web2,sapi=fpm", "b", 1);
	append_one(f.store, 0, NOON + HOUR, "entry=api,host=web1,sapi=cli", "c", 1);
	p = ask(f.store, NOON, NOON + HOUR, &index, 1, NULL);
	CHECK(p);
	if (p) {
		CHECK_STR(labels_get(&p->labels, "entry"), "index");
		CHECK_STR(labels_get(&p->labels, "sapi"), "fpm");
		CHECK_STR(labels_get(&p->labels, "clock"), "wall");
		CHECK(!labels_get(&p->labels, "host"));
	}
	profile_free(p);
	done(&f);
}

TEST(several_periods_and_clocks_give_exact_times)
{
	struct fixture f = open_store();
	struct maker *m = maker_new(0);
	struct profile *p;

	maker_series(m, NOON, "entry=a", STROBE_CLOCK_WALL, 10);
	maker_stack(m, "main", 3);
	maker_series(m, NOON, "entry=a", STROBE_CLOCK_WALL, 7);
	maker_stack(m, "main", 2);
	maker_series(m, NOON, "entry=a", STROBE_CLOCK_CPU, 5);
	maker_stack(m, "main", 4);
	maker_series(m, NOON, "entry=a", STROBE_CLOCK_NONE, 0);
	maker_value(m, "main", "io_bytes", "bytes", -9);
	CHECK_INT(store_append(f.store, &m->batch, NULL), 0);
	maker_free(m);
	p = ask(f.store, NOON, NOON + HOUR, NULL, 0, NULL);
	CHECK(p && p->column_count == 4);
	if (p && p->column_count == 4) {
		CHECK_STR(p->columns[0].name, "samples");
		CHECK_STR(p->columns[1].name, "io_bytes");
		CHECK_STR(p->columns[1].unit, "bytes");
		CHECK_INT(profile_sum(p, 0), 9);
		CHECK_INT(profile_sum(p, 1), -9);
		CHECK_INT(profile_sum(p, profile_find_column(p, "wall_ns")), 44);
		CHECK_INT(profile_sum(p, profile_find_column(p, "cpu_ns")), 20);
		CHECK_INT(p->period_ns, 0);
		CHECK(p->mixed_periods);
		CHECK(!labels_get(&p->labels, "clock"));
	}
	profile_free(p);
	done(&f);
}

TEST(times_are_exact_for_more_periods_than_are_weighted_at_the_end)
{
	struct fixture f = open_store();
	struct maker *m = maker_new(0);
	struct profile *p;
	int64_t a = 0, b = 0;

	for (int period = 1; period <= 9; period++) {
		maker_series(m, NOON, "entry=a", period % 4 ? STROBE_CLOCK_WALL : STROBE_CLOCK_CPU, period);
		maker_stack(m, "main;a", 100 + period);
		maker_stack(m, "main;b", 7 * period);
		a += period % 4 ? (100 + period) * period : 0;
		b += period % 4 ? 7 * period * period : 0;
	}
	CHECK_INT(store_append(f.store, &m->batch, NULL), 0);
	maker_free(m);
	p = ask(f.store, NOON, NOON + HOUR, NULL, 0, NULL);
	CHECK(p && p->column_count == 3 && p->node_count == 4);
	if (p && p->column_count == 3 && p->node_count == 4) {
		uint32_t wall = profile_find_column(p, "wall_ns"), main_node = PROFILE_ROOT + 1;

		CHECK_INT(profile_sum(p, 0), 9 * 100 + 45 + 7 * 45);
		CHECK_INT(profile_sum(p, wall), a + b);
		CHECK_INT(profile_sum(p, profile_find_column(p, "cpu_ns")), (104 + 28) * 4 + (108 + 56) * 8);
		for (uint32_t n = main_node + 1; n < p->node_count; n++)
			CHECK_INT(p->columns[wall].self[n], *profile_name(p, p->node_frames[n]).p == 'a' ? a : b);
	}
	profile_free(p);
	done(&f);
}

TEST(a_measured_time_is_not_estimated_from_samples)
{
	struct fixture f = open_store();
	struct maker *m = maker_new(0);
	struct profile *p;

	maker_series(m, NOON, "entry=a", STROBE_CLOCK_WALL, 10);
	maker_stack(m, "main", 3);
	maker_value(m, "main", "wall_ns", "nanoseconds", 31);
	CHECK_INT(store_append(f.store, &m->batch, NULL), 0);
	maker_free(m);
	p = ask(f.store, NOON, NOON + HOUR, NULL, 0, NULL);
	CHECK(p && p->column_count == 2);
	if (p && p->column_count == 2)
		CHECK_INT(profile_sum(p, profile_find_column(p, "wall_ns")), 31);
	profile_free(p);
	done(&f);
}

TEST(extreme_values_are_kept_and_sums_saturate)
{
	struct fixture f = open_store();

	for (int i = 0; i < 2; i++) {
		struct maker *m = maker_new(0);

		maker_series(m, NOON, "entry=a", STROBE_CLOCK_NONE, 0);
		maker_value(m, "most", "x", "count", INT64_MAX);
		maker_value(m, "least", "x", "count", INT64_MIN);
		maker_value(m, "one", "x", "count", 1);
		CHECK_INT(store_append(f.store, &m->batch, NULL), 0);
		maker_free(m);
	}
	for (int i = 0; i < 2; i++) {
		struct profile *p = ask(f.store, NOON, NOON + HOUR, NULL, 0, NULL);
		char *text = p ? folded(p, "x") : NULL;

		CHECK_STR(text, "least -9223372036854775808,most 9223372036854775807,one 2");
		free(text);
		profile_free(p);
		CHECK_INT(maintain(f.store, NOON + 2 * HOUR, 0, 0), 0);
	}
	done(&f);
}

TEST(sums_of_samples_saturate)
{
	struct fixture f = open_store();
	struct store_query q = { NOON, NOON + HOUR };
	struct maker *m = maker_new(0);

	for (int i = 0; i < 3; i++) {
		maker_series(m, NOON, "entry=a", STROBE_CLOCK_WALL, 10);
		maker_stack(m, "a", INT64_MAX);
		maker_stack(m, "b", INT64_MAX);
		maker_stack(m, "c", INT64_MAX);
	}
	CHECK_INT(store_append(f.store, &m->batch, NULL), 0);
	maker_free(m);
	for (int i = 0; i < 2; i++) {
		struct store_labels labels;
		struct store_query_stats query_stats;
		struct profile *p = ask(f.store, NOON, NOON + HOUR, NULL, 0, &query_stats);
		uint64_t step = 0;

		CHECK(p && profile_sum(p, 0) == INT64_MAX);
		CHECK(query_stats.samples == UINT64_MAX);
		CHECK_INT(store_timeline(f.store, &q, HOUR, &step, 1, NULL), 0);
		CHECK(step == UINT64_MAX);
		CHECK_INT(store_labels(f.store, &q, &labels, NULL), 0);
		for (size_t k = 0; k < labels.count; k++)
			CHECK(labels.items[k].values[0].samples == INT64_MAX);
		store_labels_done(&labels);
		profile_free(p);
		CHECK_INT(maintain(f.store, NOON + 2 * HOUR, 0, 0), 0);
	}
	done(&f);
}

TEST(a_redelivered_batch_changes_nothing)
{
	struct fixture f = open_store();
	struct store_stats stats;

	for (int i = 0; i < 3; i++)
		CHECK_INT(append_one(f.store, 42, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(append_one(f.store, UINT64_MAX, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(append_one(f.store, UINT64_MAX, NOON, "entry=a", "main", 1), 0);
	store_stats(f.store, &stats);
	CHECK_INT(stats.batches, 2);
	CHECK_INT(stats.deduplicated_batches, 3);
	reopen(&f);
	CHECK_INT(append_one(f.store, 42, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(maintain(f.store, NOON + 2 * HOUR, 0, 0), 0);
	CHECK_INT(append_one(f.store, 42, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(ask_sum(f.store, NOON, NOON + HOUR), 2);
	/* Batches without an id are never duplicates. */
	CHECK_INT(append_one(f.store, 0, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(append_one(f.store, 0, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(ask_sum(f.store, NOON, NOON + HOUR), 4);
	done(&f);
}

TEST(a_batch_that_spans_midnight_is_deduplicated_as_one_batch)
{
	struct fixture f = open_store();
	struct maker *m = maker_new(9);
	int64_t midnight = NOON + 12 * HOUR;
	struct store_stats stats;
	struct store_query_stats query_stats;
	struct profile *p;

	maker_add(m, midnight - 10 * SECOND, "entry=a", "main;before", 1);
	maker_add(m, midnight, "entry=a", "main;after", 2);
	CHECK_INT(store_append(f.store, &m->batch, NULL), 0);
	CHECK_INT(store_append(f.store, &m->batch, NULL), 0);
	maker_free(m);
	CHECK_FOLDED(f.store, midnight - DAY, midnight + DAY, "main;after 2,main;before 1");
	CHECK_FOLDED(f.store, midnight - DAY, midnight, "main;before 1");
	CHECK_FOLDED(f.store, midnight, midnight + DAY, "main;after 2");
	store_stats(f.store, &stats);
	CHECK_INT(stats.batches, 1);
	CHECK_INT(stats.deduplicated_batches, 1);
	p = ask(f.store, midnight - DAY, midnight + DAY, NULL, 0, &query_stats);
	CHECK_INT(query_stats.series, 1);	/* the same series on both days */
	CHECK_INT(query_stats.samples, 3);
	CHECK(p && p->frame_count == 3);
	profile_free(p);
	done(&f);
}

TEST(invalid_batches_are_rejected_with_an_error)
{
	struct fixture f = open_store();
	struct maker *m = maker_new(1);
	struct err err = { 0 };

	maker_add(m, NOON, "entry=a", "main", 1);
	m->entries[0].bucket_ns = NOON + 1;
	CHECK_INT(store_append(f.store, &m->batch, &err), -EINVAL);
	CHECK(strstr(err.text, "10-second bucket") != NULL);
	m->entries[0].bucket_ns = -BATCH_BUCKET_NS;
	CHECK_INT(store_append(f.store, &m->batch, &err), -EINVAL);
	m->entries[0].bucket_ns = NOON;
	m->entries[0].period_ns = -1;
	CHECK_INT(store_append(f.store, &m->batch, &err), -EINVAL);
	maker_free(m);
	CHECK_INT(ask_sum(f.store, 0, INT64_MAX), 0);
	done(&f);
}

TEST(labels_are_listed_by_descending_samples)
{
	struct fixture f = open_store();
	struct store_query q = { NOON, NOON + HOUR };
	struct store_labels l;

	append_one(f.store, 0, NOON, "entry=few,host=x", "main", 1);
	append_one(f.store, 0, NOON, "entry=many,host=x", "main", 5);
	append_one(f.store, 0, NOON + 2 * HOUR, "entry=later", "main", 50);
	CHECK_INT(store_labels(f.store, &q, &l, NULL), 0);
	CHECK_INT(l.count, 3);
	if (l.count == 3) {
		CHECK_STR(l.items[0].key, "clock");
		CHECK_STR(l.items[1].key, "entry");
		CHECK_INT(l.items[1].value_count, 2);
		CHECK_STR(l.items[1].values[0].value, "many");
		CHECK_INT(l.items[1].values[0].samples, 5);
		CHECK_STR(l.items[1].values[1].value, "few");
		CHECK_STR(l.items[2].key, "host");
		CHECK_INT(l.items[2].values[0].samples, 6);
	}
	store_labels_done(&l);
	done(&f);
}

TEST(names_and_label_values_may_be_any_bytes)
{
	struct fixture f = open_store();
	struct maker *m = maker_new(1);
	struct profile *p, *in;
	char value[256], name[256];
	struct label_filter is = { "entry", value, LABEL_IS };

	for (int i = 0; i < 255; i++)
		value[i] = (char)(i + 1);
	value[255] = 0;
	for (int i = 0; i < 256; i++)
		name[i] = (char)i;
	maker_add(m, NOON, "entry=x", "main", 1);
	labels_set(&m->labels[0], "entry", 5, value, 255);
	in = m->profiles[0];
	profile_add(in, profile_child(in, 0, profile_frame(in, (struct str){ name, 256 }, (struct str){ name, 256 },
							   UINT32_MAX)), 0, 1);
	maker_add(m, NOON, "entry=x", "other", 1);
	CHECK_INT(store_append(f.store, &m->batch, NULL), 0);
	maker_free(m);
	for (int i = 0; i < 2; i++) {
		p = ask(f.store, NOON, NOON + HOUR, &is, 1, NULL);
		CHECK(p && p->frame_count == 2);
		if (p && p->frame_count == 2) {
			uint32_t frame = profile_name(p, 1).n == 256;

			CHECK_INT(profile_name(p, frame).n, 256);
			CHECK(!memcmp(profile_name(p, frame).p, name, 256));
			CHECK(!memcmp(profile_file(p, frame).p, name, 256));
			CHECK(p->frames[frame].line == UINT32_MAX);
			CHECK_STR(labels_get(&p->labels, "entry"), value);
		}
		profile_free(p);
		CHECK_INT(maintain(f.store, NOON + 2 * HOUR, 0, 0), 0);
		reopen(&f);
	}
	done(&f);
}

TEST(invalid_store_urls_are_rejected_with_an_error)
{
	static const char *const urls[] = { "", "mysql:/x", "/var/lib/strobe", "sqlite:", "sqlite" };

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		struct store *s = NULL;
		struct err err = { 0 };

		CHECK_INT(store_open(urls[i], false, &s, &err), -EINVAL);
		CHECK(strstr(err.text, "sqlite:") != NULL);
	}
}

TEST_MAIN()
