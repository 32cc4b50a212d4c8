/* test_store_large.c: tests large stacks, many stacks, and readers beside the writer of every store, with each backend. */
#include "conformance.h"
#include "test.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

TEST(a_stack_of_a_hundred_thousand_frames_is_stored_whole)
{
	struct fixture f = open_store();
	struct maker *m = maker_new(1);
	struct profile *p;
	uint32_t node = 0;

	maker_add(m, NOON, "entry=x", "main", 1);
	p = m->profiles[0];
	for (int i = 0; i < 100000; i++)
		node = profile_child(p, node, (uint32_t)(i % 2 ? 0 : profile_frame(p, (struct str){ "f", 1 },
									       (struct str){ "", 0 }, 0)));
	profile_add(p, node, 0, 1);
	CHECK_INT(store_append(f.store, &m->batch, NULL), 0);
	maker_free(m);
	p = ask(f.store, NOON, NOON + HOUR, NULL, 0, NULL);
	CHECK(p && profile_depth(p) == 100000);
	profile_free(p);
	done(&f);
}

struct reader {
	struct fixture *f;
	atomic_bool stop;
	atomic_uint asked;
	unsigned wrong;
};

/* Every batch adds 1 to "a" and 2 to "b", so an answer with only a part of a batch is detected. */
static void *read_on(void *data)
{
	struct reader *r = data;
	int64_t last = 0;

	while (!atomic_load(&r->stop)) {
		struct profile *p = ask(r->f->store, NOON, NOON + 2 * HOUR, NULL, 0, NULL);
		uint32_t c = p ? profile_find_column(p, "samples") : UINT32_MAX;
		int64_t sum = c == UINT32_MAX ? 0 : profile_sum(p, c);

		if (!p || sum % 3 || sum < last)
			r->wrong++;
		last = sum;
		atomic_fetch_add(&r->asked, 1);
		profile_free(p);
	}
	return NULL;
}

/* Appends unique stacks "main;PREFIXi;leaf" with i + 1 samples each; one has 600 frames. */
static void append_many(struct store *s, int64_t ns, const char *prefix, int count)
{
	struct maker *m = maker_new((uint64_t)ns);
	struct buf deep;
	char stack[40];

	buf_init(&deep);
	maker_series(m, ns, "entry=a", STROBE_CLOCK_WALL, PERIOD);
	for (int i = 0; i < count; i++) {
		snprintf(stack, sizeof(stack), "main;%s%d;leaf", prefix, i);
		maker_stack(m, stack, i + 1);
	}
	for (int i = 0; i < 600; i++)
		buf_printf(&deep, "%s%s", i ? ";" : "", prefix);
	maker_stack(m, deep.data, 1);
	CHECK_INT(store_append(s, &m->batch, NULL), 0);
	maker_free(m);
	buf_done(&deep);
}

static void check_many(struct store *s, int hour, const char *prefix, uint32_t count)
{
	struct profile *p = ask(s, NOON + hour * HOUR, NOON + (hour + 1) * HOUR, NULL, 0, NULL);
	uint32_t wrong = 0;

	CHECK(p);
	if (!p)
		return;
	CHECK_INT(p->node_count, 1 + 1 + 2 * count + 600);
	CHECK_INT(profile_sum(p, 0), count * (int64_t)(count + 1) / 2 + 1);
	for (uint32_t i = 1; i < p->node_count; i++) {
		int64_t value = p->columns[0].self[i];
		const char *above;

		if (value < 2)
			continue;
		above = profile_name(p, p->node_frames[p->parents[i]]).p;
		wrong += strncmp(above, prefix, strlen(prefix)) || atoi(above + strlen(prefix)) != value - 1;
	}
	CHECK_INT(wrong, 0);
	profile_free(p);
}

/* Enough stacks that a store may choose to read all of them. */
TEST(a_range_returns_only_its_own_stacks_whatever_its_share)
{
	struct fixture f = open_store();

	append_many(f.store, NOON, "most", 20000);
	append_many(f.store, NOON + HOUR, "some", 9000);
	append_many(f.store, NOON + 2 * HOUR, "few", 100);
	check_many(f.store, 0, "most", 20000);
	check_many(f.store, 1, "some", 9000);
	check_many(f.store, 2, "few", 100);
	done(&f);
}

TEST(readers_on_other_threads_see_whole_batches_during_writes_and_compaction)
{
	struct fixture f = open_store();
	struct reader r = { .f = &f };
	int batches = is_in_full(&f) ? 200 : 60;
	pthread_t thread;

	CHECK_INT(pthread_create(&thread, NULL, read_on, &r), 0);
	for (int i = 0; i < batches; i++) {
		struct maker *m = maker_new((uint64_t)i + 1);

		maker_add(m, NOON + i * 20 * SECOND, "entry=a", "main;a", 1);
		maker_add(m, NOON + i * 20 * SECOND, "entry=b", "main;b", 2);
		CHECK_INT(store_append(f.store, &m->batch, NULL), 0);
		maker_free(m);
		if (i % 20 == 19)
			CHECK_INT(maintain(f.store, NOON + i * 20 * SECOND + HOUR + 100 * SECOND, 0, 0), 0);
		/* A thread may not be scheduled for the duration of all this. */
		while (i == batches / 2 && !atomic_load(&r.asked))
			usleep(1000);
	}
	atomic_store(&r.stop, true);
	pthread_join(thread, NULL);
	if (is_one_server(&f))
		CHECK_INT(r.wrong, 0);
	CHECK(atomic_load(&r.asked) > 0);
	CHECK_INT(ask_sum(f.store, NOON, NOON + 2 * HOUR), 3 * batches);
	done(&f);
}

TEST(a_query_of_too_many_stacks_is_pruned_and_marked_as_such)
{
	struct fixture f = open_store();
	struct store_query q = { .from_ns = NOON, .to_ns = NOON + 2 * DAY, .max_nodes = 40 };
	struct store_query_stats query_stats = { 0 };
	struct profile *p = NULL;
	struct maker *m;
	char stack[64];
	uint32_t pruned;
	int64_t sum = 0;

	/* 60 nodes on each of two days, most of them in both. */
	for (int day = 0; day < 2; day++) {
		m = maker_new((uint64_t)day + 1);
		for (int i = 0; i < 58; i++) {
			snprintf(stack, sizeof(stack), "main;f%d", i + 5 * day);
			maker_add(m, NOON + day * DAY, "entry=a", stack, i < 55 ? 1 + i : 1000);
		}
		CHECK_INT(store_append(f.store, &m->batch, NULL), 0);
		maker_free(m);
	}
	CHECK_INT(store_query(f.store, &q, &p, &query_stats, NULL), 0);
	CHECK(p->node_count <= 40 && p->node_count > 10);
	CHECK(query_stats.pruned);
	CHECK_INT(profile_sum(p, 0), query_stats.samples);
	CHECK_INT(query_stats.samples, 2 * (55 * 56 / 2 + 3000));
	pruned = profile_pruned_frame(p);
	for (uint32_t n = 1; n < p->node_count; n++)
		sum += p->node_frames[n] == pruned ? p->columns[0].self[n] : 0;
	CHECK(sum > 0 && sum == query_stats.pruned_samples);
	profile_free(p);

	q.max_nodes = 65;		/* all nodes, and the root */
	CHECK_INT(store_query(f.store, &q, &p, &query_stats, NULL), 0);
	CHECK(!query_stats.pruned && !query_stats.pruned_samples && p->node_count == 65);
	profile_free(p);
	done(&f);
}

TEST(a_store_opened_read_only_works_beside_the_writer)
{
	struct fixture f = open_store();
	struct store *reader = NULL;
	struct err err = { 0 };

	append_one(f.store, 0, NOON, "entry=a", "main", 1);
	CHECK_INT(store_open(f.url, true, &reader, &err), 0);
	if (reader) {
		CHECK_INT(ask_sum(reader, NOON, NOON + HOUR), 1);
		append_one(f.store, 0, NOON, "entry=a", "main", 1);
		CHECK_INT(ask_sum(reader, NOON, NOON + HOUR), 2);
		CHECK(append_one(reader, 0, NOON, "entry=a", "main", 1) == -EROFS);
		CHECK(maintain(reader, NOON, 0, 0) == -EROFS);
	}
	store_close(reader);
	CHECK_INT(append_one(f.store, 0, NOON, "entry=a", "main", 1), 0);
	CHECK_INT(ask_sum(f.store, NOON, NOON + HOUR), 3);
	done(&f);
}

TEST_MAIN()
