/* test_store_runs.c: tests the guarantees of every store for runs, with each backend. */
#include "conformance.h"
#include "edges.h"
#include "test.h"

/* Creates a run like that of a traced request; `labels` name it. */
static struct profile *a_run(const char *labels, int64_t start_ns, int64_t wall_ns, int64_t memory)
{
	struct profile *p = profile_new();
	uint32_t calls = profile_column(p, "calls", "count"), wall = profile_column(p, "wall_ns", "nanoseconds");
	uint32_t bytes = profile_column(p, "memory_bytes", "bytes");
	struct str none = { "", 0 };
	uint32_t main = profile_child(p, PROFILE_ROOT, profile_frame(p, (struct str){ "main()", 6 }, none, 0));
	uint32_t f = profile_child(p, main, profile_frame(p, (struct str){ "f", 1 }, (struct str){ "/srv/f.php", 10 },
							  3));

	profile_add(p, main, calls, 1);
	profile_add(p, f, calls, 7);
	profile_add(p, main, wall, wall_ns / 4);
	profile_add(p, f, wall, wall_ns - wall_ns / 4);
	profile_add(p, f, bytes, memory);
	if (labels_parse(labels, &p->labels, NULL) < 0)
		abort();
	p->start_ns = start_ns;
	p->end_ns = start_ns ? start_ns + wall_ns : 0;
	return p;
}

static struct store_new_run add_profile(struct store *s, struct profile *p, int64_t now_ns)
{
	struct store_new_run run = { .profile = p };
	struct err err = { 0 };
	int rc = store_add_runs(s, &run, 1, now_ns, &err);

	if (rc < 0) {
		printf("# %s\n", err.text);
		run.result = rc;
		run.err = err;
	}
	profile_free(p);
	return run;
}

static int add_one_run(struct store *s, const char *labels, int64_t start_ns)
{
	return add_profile(s, a_run(labels, start_ns, SECOND, 100), start_ns ? start_ns : NOON).result;
}

/* Returns the runs of a list, in order: "b/2 a/1 ". The caller frees. */
static char *listed(struct store *s, struct store_run_query q)
{
	struct store_runs runs;
	struct err err = { 0 };
	struct buf b;

	buf_init(&b);
	q.limit = q.limit ? q.limit : 100;
	if (store_list_runs(s, &q, &runs, &err) < 0) {
		buf_puts(&b, err.text);
		return buf_take(&b, NULL);
	}
	for (size_t i = 0; i < runs.count; i++)
		buf_printf(&b, "%s/%s ", runs.items[i].source, runs.items[i].id);
	store_runs_done(&runs);
	return buf_take(&b, NULL);
}

#define CHECK_LISTED(s, expected, ...)						\
	do {									\
		char *listed_ = listed(s, (struct store_run_query){ __VA_ARGS__ });	\
										\
		CHECK_STR(listed_, expected);					\
		free(listed_);							\
	} while (0)

TEST(a_store_without_runs_lists_none_and_finds_none)
{
	struct fixture f = open_store();
	struct store_label sources;
	struct store_stats stats;
	struct store_run run;
	struct profile *p;
	struct err err = { 0 };

	CHECK_LISTED(f.store, "", .limit = 1);
	CHECK_INT(store_run_sources(f.store, &sources, NULL), 0);
	CHECK_INT(sources.value_count, 0);
	store_label_done(&sources);
	CHECK_INT(store_get_run(f.store, "shop", "1", NULL, &run, &p, &err), -ENOENT);
	CHECK_STR(err.text, "there is no run '1' of source 'shop'");
	CHECK_INT(store_remove_run(f.store, "shop", "1", NULL), -ENOENT);
	store_stats(f.store, &stats);
	CHECK_INT(stats.runs + stats.runs_bytes, 0);
	CHECK_INT(maintain(f.store, NOON, DAY, 0), 0);
	done(&f);
}

TEST(a_run_is_returned_unchanged_even_after_reopening)
{
	struct fixture f = open_store();
	struct profile *p = NULL;
	struct store_new_run added;
	struct store_stats stats;
	struct store_run run;

	added = add_profile(f.store, a_run("source=shop,id=r-1,url=/cart?x=1,name=a %41,host=web3,clock=cpu", NOON,
					   4 * SECOND, -300), NOON + HOUR);
	CHECK_INT(added.result, 1);
	CHECK_STR(added.source, "shop");
	CHECK_STR(added.id, "r-1");
	reopen(&f);
	CHECK_INT(store_get_run(f.store, "shop", "r-1", NULL, &run, &p, NULL), 0);
	CHECK_STR(run.url, "/cart?x=1");
	CHECK_STR(run.name, "a A");
	CHECK_INT(run.start_ns, NOON);
	CHECK_INT(run.duration_ns, 4 * SECOND);
	CHECK_INT(run.stored_ns, NOON + HOUR);
	CHECK_INT(run.labels.count, 2);
	CHECK_STR(labels_get(&run.labels, "host"), "web3");
	CHECK_INT(run.total_count, 3);
	CHECK_STR(run.totals[1].name, "wall_ns");
	CHECK_STR(run.totals[1].unit, "nanoseconds");
	CHECK_INT(run.totals[1].value, 4 * SECOND);
	CHECK_INT(run.totals[2].value, -300);
	CHECK_INT(p->node_count, 3);
	CHECK_INT(p->start_ns, NOON);
	CHECK_INT(p->end_ns, NOON + 4 * SECOND);
	CHECK_STR(labels_get(&p->labels, "source"), "shop");
	CHECK_STR(labels_get(&p->labels, "url"), "/cart?x=1");
	CHECK_FOLDED_OF(p, "calls", "main() 1,main();f 7");
	CHECK_FOLDED_OF(p, "memory_bytes", "main();f -300");
	store_stats(f.store, &stats);
	CHECK_INT(stats.runs, 1);
	CHECK(stats.runs_bytes > 0);
	store_run_done(&run);
	profile_free(p);
	done(&f);
}

TEST(a_run_keeps_its_edges_and_is_deduplicated_by_them)
{
	static const struct edges_options all = { .column = UINT32_MAX };
	struct fixture f = open_store();
	struct profile *p = a_run("source=shop,id=r-1", NOON, 4 * SECOND, -300), *back = NULL;
	struct edges_sums sums;
	struct store_run run;

	p->edges = edges_of(p, &all);
	p->edges->nodes[1].self[1] += 5;	/* a value that is missing in the tree */
	p->estimated = true;
	CHECK_INT(add_profile(f.store, p, NOON).result, 1);
	reopen(&f);
	CHECK_INT(store_get_run(f.store, "shop", "r-1", NULL, &run, &back, NULL), 0);
	CHECK(back->estimated && back->edges);
	edges_sums(back, &sums);
	CHECK_INT(sums.self[0][1], SECOND + 5);
	CHECK_INT(run.totals[1].value, 4 * SECOND + 5);
	CHECK_LISTED(f.store, "shop/r-1 ", .order = STORE_RUNS_BY_WALL, .after = "4000000006.1");
	CHECK_LISTED(f.store, "", .order = STORE_RUNS_BY_WALL, .after = "4000000005.1");
	CHECK_INT(sums.total[1][2], -300);
	edges_sums_done(&sums);
	CHECK_INT(add_profile(f.store, back, NOON).result, 0);
	CHECK_INT(add_one_run(f.store, "source=shop,id=r-1", NOON), -EEXIST);
	store_run_done(&run);
	done(&f);
}

TEST(a_run_without_an_id_gets_one)
{
	struct fixture f = open_store();
	struct store_new_run one = add_profile(f.store, a_run("entry=index", 0, SECOND, 0), NOON);
	struct store_new_run two = add_profile(f.store, a_run("entry=index", 0, SECOND, 0), NOON);
	struct store_run run;
	struct profile *p;

	CHECK_INT(one.result + two.result, 2);
	CHECK_STR(one.source, "default");
	CHECK_INT(strlen(one.id), strlen("20251121-120000-0123456789ab"));
	CHECK(!strncmp(one.id, "20251121-120000-", 16));
	CHECK(strcmp(one.id, two.id) != 0);
	CHECK_INT(store_get_run(f.store, "default", one.id, NULL, &run, &p, NULL), 0);
	/* Its start is unknown, so it ended when it was stored. */
	CHECK_INT(run.start_ns, NOON - SECOND);
	CHECK_INT(run.duration_ns, SECOND);
	CHECK(run.url == NULL && run.name == NULL);
	store_run_done(&run);
	profile_free(p);
	done(&f);
}

TEST(a_duplicate_run_is_ignored_and_a_different_one_with_its_id_rejected)
{
	struct fixture f = open_store();
	struct store_new_run r;

	CHECK_INT(add_profile(f.store, a_run("source=a,id=1", 0, SECOND, 5), NOON).result, 1);
	/* Also at a later time: when it was stored is not part of its identity. */
	CHECK_INT(add_profile(f.store, a_run("source=a,id=1", 0, SECOND, 5), NOON + DAY).result, 0);
	r = add_profile(f.store, a_run("source=a,id=1", 0, SECOND, 6), NOON);
	CHECK_INT(r.result, -EEXIST);
	CHECK(strstr(r.err.text, "another run '1' of source 'a'") != NULL);
	CHECK_INT(add_profile(f.store, a_run("source=a,id=1,name=x", 0, SECOND, 5), NOON).result, -EEXIST);
	CHECK_INT(add_profile(f.store, a_run("source=b,id=1", 0, SECOND, 6), NOON).result, 1);
	CHECK_INT(add_profile(f.store, a_run("source=A,id=1", 0, SECOND, 6), NOON).result, 1);
	CHECK_LISTED(f.store, "A/1 b/1 a/1 ", .limit = 100);
	CHECK_INT(store_remove_run(f.store, "a", "1", NULL), 0);
	CHECK_INT(add_profile(f.store, a_run("source=a,id=1", 0, SECOND, 6), NOON).result, 1);
	done(&f);
}

TEST(invalid_runs_do_not_affect_others_added_with_them)
{
	struct fixture f = open_store();
	struct profile *p[] = {
		a_run("source=s,id=1", NOON, SECOND, 1), a_run("source=s,id=../x", NOON, SECOND, 1),
		a_run("source=s,id=1", NOON, SECOND, 2), a_run("source=s,id=2", NOON + SECOND, SECOND, 1),
		a_run("source=,id=", NOON, SECOND, 1), a_run("source=a b", NOON, SECOND, 1),
	};
	struct store_new_run runs[ARRAY_SIZE(p)] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		runs[i].profile = p[i];
	CHECK_INT(store_add_runs(f.store, runs, ARRAY_SIZE(runs), NOON, NULL), 0);
	CHECK_INT(runs[0].result, 1);
	CHECK_INT(runs[1].result, -EINVAL);
	CHECK(strstr(runs[1].err.text, "'../x' is not a valid id") != NULL);
	CHECK_INT(runs[2].result, -EEXIST);
	CHECK_INT(runs[3].result, 1);
	CHECK_INT(runs[4].result, 1);
	CHECK_STR(runs[4].source, "default");
	CHECK_INT(runs[5].result, -EINVAL);
	CHECK(strstr(runs[5].err.text, "'a b' is not a valid source") != NULL);
	CHECK_LISTED(f.store, "s/2 s/1 ", .source = "s");
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		profile_free(p[i]);
	done(&f);
}

TEST(runs_are_listed_newest_first_and_filtered)
{
	struct fixture f = open_store();
	const struct label_filter web1 = { "host", "web1", LABEL_IS }, not_web1 = { "host", "web1", LABEL_IS_NOT };
	struct store_label sources;

	add_one_run(f.store, "source=shop,id=2,url=/cart?x=1,host=web1", NOON + 2 * SECOND);
	add_one_run(f.store, "source=blog,id=1,url=/post/7", NOON);
	add_one_run(f.store, "source=shop,id=3,host=web2,url=/cart", NOON + 3 * SECOND);
	add_one_run(f.store, "source=shop,id=1", NOON + SECOND);
	CHECK_LISTED(f.store, "shop/3 shop/2 shop/1 blog/1 ", .limit = 100);
	CHECK_LISTED(f.store, "shop/3 shop/2 shop/1 ", .source = "shop");
	CHECK_LISTED(f.store, "", .source = "sho");
	CHECK_LISTED(f.store, "shop/3 shop/2 ", .url_part = "/cart");
	CHECK_LISTED(f.store, "shop/2 ", .url_part = "?x=");
	CHECK_LISTED(f.store, "shop/2 shop/1 ", .from_ns = NOON + SECOND, .to_ns = NOON + 3 * SECOND);
	CHECK_LISTED(f.store, "shop/2 ", .filters = &web1, .filter_count = 1);
	CHECK_LISTED(f.store, "shop/3 shop/1 blog/1 ", .filters = &not_web1, .filter_count = 1);
	CHECK_INT(store_run_sources(f.store, &sources, NULL), 0);
	CHECK_INT(sources.value_count, 2);
	CHECK_STR(sources.values[0].value, "shop");
	CHECK_INT(sources.values[0].samples, 3);
	store_label_done(&sources);
	done(&f);
}

TEST(long_lists_are_paginated_even_if_runs_started_at_the_same_moment)
{
	struct fixture f = open_store();
	struct store_run_query q = { .limit = 7 };
	struct store_runs runs;
	char seen[50] = { 0 }, after[STORE_RUNS_NEXT] = "";
	unsigned pieces = 0, total = 0;

	for (int i = 0; i < 50; i++) {
		char labels[40];

		snprintf(labels, sizeof(labels), "source=s,id=%d", i);
		add_one_run(f.store, labels, NOON + i / 20 * SECOND);
	}
	do {
		q.after = after;
		CHECK_INT(store_list_runs(f.store, &q, &runs, NULL), 0);
		for (size_t i = 0; i < runs.count; i++, total++)
			seen[atoi(runs.items[i].id)]++;
		snprintf(after, sizeof(after), "%s", runs.next);
		store_runs_done(&runs);
		pieces++;
	} while (*after && pieces < 100);
	CHECK_INT(pieces, 8);
	CHECK_INT(total, 50);
	CHECK(!memchr(seen, 0, sizeof(seen)) && !memchr(seen, 2, sizeof(seen)));
	CHECK_LISTED(f.store, "'1.2x' is not a place in the list of runs; use the one from the previous answer",
		     .after = "1.2x");
	CHECK_LISTED(f.store, "'yesterday' is not a place in the list of runs; use the one from the previous answer",
		     .after = "yesterday");
	done(&f);
}

/* Adds four runs, two of them nearly equal; the third one has no times and no memory. */
static void add_runs_to_sort(struct store *s)
{
	struct profile *p = profile_new();
	uint32_t calls = profile_column(p, "calls", "count");

	add_profile(s, a_run("source=a,id=4,url=/b,host=Web1", NOON, 5 * SECOND, 30), NOON);
	add_profile(s, a_run("source=c,id=1,name=%ff first", NOON + SECOND, 2 * SECOND, 10), NOON);
	labels_parse("source=b,id=3,url=/a", &p->labels, NULL);
	p->start_ns = NOON + 2 * SECOND;
	p->end_ns = NOON + 3 * SECOND;
	profile_add(p, PROFILE_ROOT, calls, 100);
	add_profile(s, p, NOON);
	add_profile(s, a_run("source=a,id=2,url=/b?x=1", NOON + 3 * SECOND, 5 * SECOND, -20), NOON);
}

/* Reads the list one run at a time. The caller frees. */
static char *listed_piecemeal(struct store *s, struct store_run_query q)
{
	char after[STORE_RUNS_NEXT] = "";
	struct store_runs runs;
	struct buf b;

	buf_init(&b);
	q.limit = 1;
	q.after = after;
	for (int pieces = 0; pieces < 20; pieces++) {
		if (store_list_runs(s, &q, &runs, NULL) < 0)
			break;
		for (size_t i = 0; i < runs.count; i++)
			buf_printf(&b, "%s/%s ", runs.items[i].source, runs.items[i].id);
		snprintf(after, sizeof(after), "%s", runs.next);
		store_runs_done(&runs);
		if (!*after)
			break;
	}
	return buf_take(&b, NULL);
}

static void check_order(struct store *s, enum store_run_order order, bool ascending, const char *expected)
{
	struct store_run_query q = { .order = order, .ascending = ascending };
	char *at_once = listed(s, q), *piecemeal = listed_piecemeal(s, q);

	CHECK_STR(at_once, expected);
	CHECK_STR(piecemeal, expected);
	free(at_once);
	free(piecemeal);
}

TEST(runs_sort_by_each_column_in_both_directions_and_missing_totals_are_lowest)
{
	struct fixture f = open_store();

	add_runs_to_sort(f.store);
	check_order(f.store, STORE_RUNS_BY_START, false, "a/2 b/3 c/1 a/4 ");
	check_order(f.store, STORE_RUNS_BY_START, true, "a/4 c/1 b/3 a/2 ");
	check_order(f.store, STORE_RUNS_BY_DURATION, true, "b/3 c/1 a/4 a/2 ");
	check_order(f.store, STORE_RUNS_BY_WALL, false, "a/2 a/4 c/1 b/3 ");
	check_order(f.store, STORE_RUNS_BY_WALL, true, "b/3 c/1 a/4 a/2 ");
	check_order(f.store, STORE_RUNS_BY_CPU, false, "a/2 b/3 c/1 a/4 ");
	check_order(f.store, STORE_RUNS_BY_MEMORY, false, "a/4 c/1 a/2 b/3 ");
	check_order(f.store, STORE_RUNS_BY_PEAK, true, "a/4 c/1 b/3 a/2 ");
	check_order(f.store, STORE_RUNS_BY_CALLS, false, "b/3 a/2 c/1 a/4 ");
	check_order(f.store, STORE_RUNS_BY_SOURCE, true, "a/4 a/2 b/3 c/1 ");
	check_order(f.store, STORE_RUNS_BY_ID, true, "c/1 a/2 b/3 a/4 ");
	check_order(f.store, STORE_RUNS_BY_NAME, true, "b/3 a/4 a/2 c/1 ");
	check_order(f.store, STORE_RUNS_BY_NAME, false, "c/1 a/2 a/4 b/3 ");
	CHECK_LISTED(f.store, "a/4 a/2 ", .source = "a", .order = STORE_RUNS_BY_MEMORY);
	CHECK_LISTED(f.store, "c/1 b/3 ", .order = STORE_RUNS_BY_WALL, .from_ns = NOON + SECOND,
		     .to_ns = NOON + 3 * SECOND);
	CHECK_LISTED(f.store, "'1.2' is not a place in the list of runs; use the one from the previous answer",
		     .order = STORE_RUNS_BY_NAME, .after = "1.2");
	CHECK_LISTED(f.store, "'x6g.2' is not a place in the list of runs; use the one from the previous answer",
		     .order = STORE_RUNS_BY_ID, .after = "x6g.2");
	done(&f);
}

TEST(pagination_continues_after_a_very_long_name)
{
	struct fixture f = open_store();
	char labels[1100] = "source=s,id=1,name=";

	memset(labels + strlen(labels), 'n', 1000);
	add_one_run(f.store, labels, NOON);
	labels[strlen("source=s,id=")] = '2';
	add_one_run(f.store, labels, NOON);
	add_one_run(f.store, "source=s,id=3,name=m", NOON);
	check_order(f.store, STORE_RUNS_BY_NAME, false, "s/2 s/1 s/3 ");
	check_order(f.store, STORE_RUNS_BY_NAME, true, "s/3 s/1 s/2 ");
	done(&f);
}

TEST(runs_are_filtered_by_several_labels_and_by_any_characters)
{
	static const struct label_filter both[] = { { "host", "web1", LABEL_IS }, { "deploy", "7", LABEL_IS_PREFIX } };
	static const struct label_filter either[] = { { "host", "web1", LABEL_IS }, { "host", "web2", LABEL_IS } };
	static const struct label_filter odd = { "tag", "a,b=c%", LABEL_IS }, other_key = { "host", "x", LABEL_IS };
	static const struct label_filter none = { "host", "", LABEL_IS };
	struct fixture f = open_store();

	add_one_run(f.store, "source=s,id=1,host=web1,deploy=70", NOON + 4 * SECOND);
	add_one_run(f.store, "source=s,id=2,host=web2,deploy=71", NOON + 3 * SECOND);
	add_one_run(f.store, "source=s,id=3,host=web11,deploy=80,vhost=x", NOON + 2 * SECOND);
	add_one_run(f.store, "source=s,id=4,tag=a%2cb%3dc%25", NOON + SECOND);
	CHECK_LISTED(f.store, "s/1 ", .filters = both, .filter_count = 2);
	CHECK_LISTED(f.store, "s/1 s/2 ", .filters = either, .filter_count = 2);
	CHECK_LISTED(f.store, "s/4 ", .filters = &odd, .filter_count = 1);
	CHECK_LISTED(f.store, "", .filters = &other_key, .filter_count = 1);
	CHECK_LISTED(f.store, "s/4 ", .filters = &none, .filter_count = 1);
	done(&f);
}

static bool has_digit_1(const void *data, const char *value)
{
	unsigned *asked = (unsigned *)data;

	++*asked;
	return strchr(value, '1') != NULL;
}

static bool is_text(const void *data, const char *value)
{
	return !strcmp(data, value);
}

static bool is_not_text(const void *data, const char *value)
{
	return strcmp(data, value) != 0;
}

TEST(conditions_apply_before_the_limit)
{
	static const char *const host[] = { "host" }, *const source[] = { "source" }, *const names[] = { "shop", "host", "source" };
	struct fixture f = open_store();
	unsigned asked = 0;

	add_one_run(f.store, "source=a,id=1,host=web1", NOON);
	add_one_run(f.store, "source=b,id=2,host=web1,shop=x%2C'y'", NOON + SECOND);
	add_one_run(f.store, "source=b,id=3", NOON + 2 * SECOND);
	for (int i = 0; i < 20; i++) {
		_cleanup_(freep) char *labels = xasprintf("source=b,id=n%d,host=web2", i);

		add_one_run(f.store, labels, NOON + HOUR + i * SECOND);
	}
#define CONDITION(...)	.limit = 3, .condition_count = 1, .conditions = &(struct store_run_condition){ __VA_ARGS__ }
	CHECK_LISTED(f.store, "b/2 a/1 ", CONDITION(host, 1, "", NULL, false, has_digit_1, &asked));
	CHECK(asked > 0);
	CHECK_LISTED(f.store, "b/2 a/1 ", CONDITION(host, 1, "", "web1", false, is_text, "web1"));
	CHECK_LISTED(f.store, "b/3 b/2 a/1 ", CONDITION(host, 1, "", "web2", true, is_not_text, "web2"));
	CHECK_LISTED(f.store, "b/3 ", CONDITION(host, 1, "", "", false, is_text, ""));
	CHECK_LISTED(f.store, "b/3 ", CONDITION(host, 1, "none", "none", false, is_text, "none"));
	CHECK_LISTED(f.store, "a/1 ", CONDITION(source, 1, "", "a", false, is_text, "a"));
	CHECK_LISTED(f.store, "b/2 ", CONDITION(names, 3, "", NULL, false, is_text, "x,'y'"));
	CHECK_LISTED(f.store, "b/3 ", CONDITION(names, 3, "", NULL, false, is_text, "b"));
	CHECK_LISTED(f.store, "", CONDITION(names, 3, "", NULL, false, is_text, "nothing"));
	CHECK_LISTED(f.store, "", CONDITION(NULL, 0, "x", NULL, false, is_text, "y"));
	CHECK_LISTED(f.store, "a/1 ", CONDITION(NULL, 0, "x", NULL, false, is_text, "x"), .source = "a");
	CHECK_LISTED(f.store, "b/n19 b/n18 b/n17 ", .limit = 3, .total_part = "wall");
	CHECK_LISTED(f.store, "", .limit = 3, .total_part = "objects");
#undef CONDITION
	done(&f);
}

TEST(one_run_per_set_of_labels_and_totals_is_listed)
{
	struct fixture f = open_store();
	struct profile *p = a_run("source=a,id=other,host=web1", NOON, SECOND, 1);

	profile_add(p, 1, profile_column(p, "queries", "count"), 3);
	add_profile(f.store, p, NOON);
	for (int i = 0; i < 30; i++) {
		_cleanup_(freep) char *labels =
			xasprintf("source=%s,id=%d,host=web%d,span_id=%d,trace_id=%d", i % 2 ? "a" : "b", i, i % 3, i, i);

		add_profile(f.store, a_run(labels, NOON + (i + 1) * SECOND, SECOND + i, 100 * i), NOON + i * SECOND);
	}
	if (is_one_server(&f))
		CHECK_LISTED(f.store, "a/29 b/28 a/27 b/26 a/25 b/24 a/other ", .distinct = true);
	CHECK_LISTED(f.store, "a/29 b/28 ", .distinct = true, .limit = 2);
	done(&f);
}

TEST(runs_are_found_by_parts_of_ids_and_by_text_regardless_of_case)
{
	struct fixture f = open_store();

	add_one_run(f.store, "source=shop,id=20261121-1,url=/Cart,host=web1", NOON + 3 * SECOND);
	add_one_run(f.store, "source=shop,id=20261122-1,name=Checkout", NOON + 2 * SECOND);
	add_one_run(f.store, "source=blog,id=20261121-2,deploy=CARTER", NOON + SECOND);
	CHECK_LISTED(f.store, "shop/20261121-1 blog/20261121-2 ", .id_part = "1121");
	CHECK_LISTED(f.store, "shop/20261121-1 blog/20261121-2 ", .text = "cart");
	CHECK_LISTED(f.store, "shop/20261122-1 ", .text = "OUT");
	CHECK_LISTED(f.store, "shop/20261121-1 shop/20261122-1 ", .text = "shop");
	CHECK_LISTED(f.store, "shop/20261122-1 ", .text = "1122", .source = "shop");
	CHECK_LISTED(f.store, "", .text = "%");
	CHECK_LISTED(f.store, "shop/20261122-1 ", .id = "20261122-1");
	CHECK_LISTED(f.store, "", .id = "20261122-1", .source = "blog");
	add_one_run(f.store, "source=blog,id=3,url=/Caf\u00c9,host=web1", NOON);
	add_one_run(f.store, "source=blog,id=4,owner=\u041e\u043b\u044c\u0433\u0430", NOON - SECOND);
	CHECK_LISTED(f.store, "blog/3 ", .text = "caf\u00e9");
	CHECK_LISTED(f.store, "blog/4 ", .text = "\u043e\u041b\u042c");
	CHECK_LISTED(f.store, "", .text = "\u00fc");
	done(&f);
}

static int maintain_runs(struct store *s, int64_t now_ns, int64_t age, uint64_t count, uint64_t bytes)
{
	struct store_limits l = { .runs_max_age_ns = age, .runs_max_count = count, .runs_max_bytes = bytes };
	struct err err = { 0 };
	int rc = store_maintain(s, &l, now_ns, &err);

	if (rc < 0)
		printf("# %s\n", err.text);
	return rc;
}

TEST(runs_above_the_limits_of_age_count_and_size_are_removed_oldest_first)
{
	struct fixture f = open_store();
	struct store_stats stats;
	char labels[40];

	/* They are removed in the order in which they were stored, no matter how long ago they ran. */
	for (int i = 0; i < 6; i++) {
		snprintf(labels, sizeof(labels), "source=%s,id=%d", i % 2 ? "odd" : "even", i);
		CHECK_INT(add_profile(f.store, a_run(labels, NOON - i * HOUR, SECOND, 0), NOON + i * HOUR).result, 1);
	}
	CHECK_INT(maintain_runs(f.store, NOON + 6 * HOUR, 0, 0, 0), 0);
	CHECK_LISTED(f.store, "even/0 odd/1 even/2 odd/3 even/4 odd/5 ", .limit = 9);
	CHECK_INT(maintain_runs(f.store, NOON + 6 * HOUR, 6 * HOUR, 0, 0), 0);
	CHECK_LISTED(f.store, "odd/1 even/2 odd/3 even/4 odd/5 ", .limit = 9);
	CHECK_INT(maintain_runs(f.store, NOON + 6 * HOUR, 0, 2, 0), 0);
	CHECK_LISTED(f.store, "even/2 odd/3 even/4 odd/5 ", .limit = 9);
	store_stats(f.store, &stats);
	CHECK_INT(stats.runs, 4);
	CHECK_INT(maintain_runs(f.store, NOON + 6 * HOUR, 0, 0, stats.runs_bytes / 4 * 3 + 20), 0);
	CHECK_LISTED(f.store, "odd/3 even/4 odd/5 ", .limit = 9);
	CHECK_INT(maintain_runs(f.store, NOON + 6 * HOUR, 0, 0, 1), 0);
	CHECK_LISTED(f.store, "", .limit = 9);
	store_stats(f.store, &stats);
	CHECK_INT(stats.runs_added, 6);
	CHECK_INT(stats.runs_removed[STORE_REMOVED_AGE], 1);
	CHECK_INT(stats.runs_removed[STORE_REMOVED_COUNT], 1);
	CHECK_INT(stats.runs_removed[STORE_REMOVED_SIZE], 4);
	CHECK_INT(stats.runs_removed[STORE_REMOVED_REQUEST], 0);
	CHECK_INT(stats.runs_bytes, 0);
	done(&f);
}

TEST(the_space_of_a_thousand_removed_runs_is_reused)
{
	struct fixture f = open_store();
	struct profile *p = a_run("source=s", NOON, SECOND, 1);
	struct store_new_run runs[100];
	struct store_stats before, after;
	struct err err = { 0 };

	for (int round = 0; round < 10; round++) {
		memset(runs, 0, sizeof(runs));
		for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
			runs[i].profile = p;
		CHECK_INT(store_add_runs(f.store, runs, ARRAY_SIZE(runs), NOON, &err), 0);
		CHECK_STR(err.text, "");
	}
	store_stats(f.store, &before);
	CHECK_INT(before.runs, 1000);
	CHECK_INT(maintain_runs(f.store, NOON, 0, 3, 0), 0);
	store_stats(f.store, &after);
	CHECK_INT(after.runs, 3);
	CHECK(!is_sqlite(&f) || after.bytes < before.bytes / 2);	/* a ClickHouse frees it later */
	profile_free(p);
	done(&f);
}

TEST(a_run_with_a_stack_of_two_hundred_thousand_frames_is_stored)
{
	struct fixture f = open_store();
	struct profile *p = a_run("source=deep,id=1", NOON, SECOND, 1), *back = NULL;
	uint32_t frame = profile_frame(p, (struct str){ "down", 4 }, (struct str){ "", 0 }, 1), node = 1;
	struct store_run run;

	for (int i = 0; i < 200000; i++) {
		node = profile_child(p, node, frame);
		profile_add(p, node, 0, 1);
	}
	CHECK_INT(add_profile(f.store, p, NOON).result, 1);
	CHECK_INT(store_get_run(f.store, "deep", "1", NULL, &run, &back, NULL), 0);
	CHECK_INT(back ? profile_depth(back) : 0, 200001);
	CHECK_INT(run.nodes, 200003);
	store_run_done(&run);
	profile_free(back);
	done(&f);
}

/* main() calls f0, f1, …, f<n> for a second each, except two for the last one; each name contains `text`. */
static struct profile *a_wide_run(const char *labels, uint32_t n, const char *text)
{
	struct profile *p = a_run(labels, NOON, SECOND, 1);
	char *name = malloc(strlen(text) + 16);

	for (uint32_t i = 0; i < n; i++) {
		int size = sprintf(name, "f%u%s", i, text);
		uint32_t frame = profile_frame(p, (struct str){ name, (size_t)size }, (struct str){ "", 0 }, 0);
		uint32_t node = profile_child(p, 1, frame);

		profile_add(p, node, 0, 1);
		profile_add(p, node, 1, i + 1 == n ? 2 * SECOND : SECOND);
	}
	free(name);
	return p;
}

static void check_pruned(struct store *s, const struct store_profile_limits *most, uint32_t n)
{
	struct profile *p = NULL;
	struct store_run run;

	CHECK_INT(store_get_run(s, "wide", "1", most, &run, &p, NULL), most ? 1 : 0);
	CHECK_INT(run.nodes, n + 3);
	CHECK(p && (most ? p->node_count <= most->nodes : p->node_count == n + 3));
	CHECK_INT(p ? profile_sum(p, 0) : 0, n + 8);
	CHECK_INT(p ? profile_sum(p, 1) : 0, (n + 2) * SECOND);
	store_run_done(&run);
	profile_free(p);
}

TEST(a_run_above_the_limit_of_nodes_is_pruned_while_it_is_read)
{
	static const struct store_profile_limits few = { .nodes = 100 }, by_name = { .nodes = 100, .column = "calls" };
	static const struct store_profile_limits enough = { .nodes = 3000, .column = "no such column" };
	struct fixture f = open_store();
	struct store_run run;
	struct profile *p;

	CHECK_INT(add_profile(f.store, a_wide_run("source=wide,id=1", 2000, ""), NOON).result, 1);
	check_pruned(f.store, &few, 2000);
	check_pruned(f.store, &by_name, 2000);
	check_pruned(f.store, NULL, 2000);
	CHECK_INT(store_get_run(f.store, "wide", "1", &enough, &run, &p, NULL), 0);
	CHECK_INT(p->node_count, 2003);
	store_run_done(&run);
	profile_free(p);
	done(&f);
}

TEST(a_run_in_several_messages_is_pruned_to_the_limit_of_nodes)
{
	static const struct store_profile_limits few = { .nodes = 200 };
	struct fixture f = open_store();
	char *text = calloc(1, 60001);

	/* 1,500 names of 60 kB do not fit into one message; the function with two seconds is in the last one. */
	memset(text, 'n', 60000);
	CHECK_INT(add_profile(f.store, a_wide_run("source=wide,id=1", 1500, text), NOON).result, 1);
	check_pruned(f.store, &few, 1500);
	check_pruned(f.store, NULL, 1500);
	free(text);
	done(&f);
}

TEST(edges_of_a_run_above_the_limit_are_pruned)
{
	static const struct store_profile_limits few = { .nodes = 3200 };
	static const struct edges_options all = { .column = UINT32_MAX };
	struct fixture f = open_store();
	struct profile *p = a_wide_run("source=wide,id=1", 2000, "");
	struct edges_sums sums;
	struct store_run run;
	int64_t self = 0;

	p->edges = edges_of(p, &all);
	p->estimated = true;
	CHECK_INT(add_profile(f.store, p, NOON).result, 1);
	CHECK_INT(store_get_run(f.store, "wide", "1", &few, &run, &p, NULL), 1);
	CHECK(p->estimated && p->edges && p->edges->node_count <= 102);
	edges_sums(p, &sums);
	for (uint32_t i = 0; i < p->frame_count; i++) {
		self += sums.self[i][1];
		CHECK(strcmp(profile_name(p, i).p, "f1999") || sums.total[i][1] == 2 * SECOND);
	}
	CHECK_INT(self, 2002 * SECOND);
	edges_sums_done(&sums);
	store_run_done(&run);
	profile_free(p);
	done(&f);
}

TEST(names_and_urls_of_a_run_may_be_any_bytes)
{
	struct fixture f = open_store();
	struct profile *p = a_run("source=s,id=1", NOON, SECOND, 1), *back = NULL;
	char every[256];
	struct store_run run;

	for (int i = 0; i < 255; i++)
		every[i] = (char)(i + 1);
	labels_set(&p->labels, "url", 3, every, 255);
	labels_set(&p->labels, "name", 4, every, 255);
	labels_set(&p->labels, "odd", 3, every, 255);
	every[255] = 0;
	CHECK_INT(add_profile(f.store, p, NOON).result, 1);
	CHECK_INT(store_get_run(f.store, "s", "1", NULL, &run, &back, NULL), 0);
	CHECK_STR(run.url, every);
	CHECK_STR(run.name, every);
	CHECK_STR(labels_get(&run.labels, "odd"), every);
	CHECK_LISTED(f.store, "s/1 ", .url_part = "\xfe\xff");
	store_run_done(&run);
	profile_free(back);
	done(&f);
}

TEST(runs_can_be_added_concurrently_with_the_writer)
{
	struct fixture f = open_store();
	struct store *beside = NULL, *reader = NULL;
	struct err err = { 0 };

	CHECK_INT(store_open_runs(f.url, &beside, &err), 0);
	CHECK_INT(store_open(f.url, true, &reader, &err), 0);
	CHECK_INT(add_one_run(f.store, "source=s,id=1", NOON), 1);
	CHECK_INT(add_one_run(beside, "source=s,id=2", NOON + SECOND), 1);
	CHECK_INT(add_one_run(f.store, "source=s,id=3", NOON + 2 * SECOND), 1);
	CHECK_INT(add_one_run(beside, "source=s,id=1", NOON), 0);
	CHECK_LISTED(f.store, "s/3 s/2 s/1 ", .limit = 9);
	CHECK_LISTED(beside, "s/3 s/2 s/1 ", .limit = 9);
	CHECK_LISTED(reader, "s/3 s/2 s/1 ", .limit = 9);
	CHECK_INT(append_one(beside, 0, NOON, "entry=a", "main", 1), -EROFS);
	CHECK_INT(maintain(beside, NOON, 0, 0), -EROFS);
	CHECK_INT(add_one_run(reader, "source=s,id=4", NOON), -EROFS);
	store_close(beside);
	store_close(reader);
	done(&f);
}

TEST_MAIN()
