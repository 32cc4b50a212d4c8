/* fake_store.h: a store for tests that is empty, and fails on request. */
#ifndef SERVE_FAKE_STORE_H
#define SERVE_FAKE_STORE_H

#include "store.h"
#include <string.h>

static int fake_store_fails;
static unsigned fake_store_damaged_days;
static void (*fake_store_waits)(void);		/* called by each query; NULL: none */

static int fake_query(struct store *s, const struct store_query *q, struct profile **ret, struct store_query_stats *stats,
		      struct err *err)
{
	if (fake_store_waits)
		fake_store_waits();
	if (fake_store_fails)
		return err_set(err, -EIO, "the disk is gone");
	*ret = profile_new();
	memset(stats, 0, sizeof(*stats));
	stats->damaged_days = fake_store_damaged_days;
	return 0;
}

static int fake_timeline(struct store *s, const struct store_query *q, int64_t step_ns, uint64_t *samples, size_t n,
			 struct err *err)
{
	if (fake_store_fails)
		return err_set(err, -EIO, "the disk is gone");
	memset(samples, 0, n * sizeof(*samples));
	return 0;
}

static int fake_labels(struct store *s, const struct store_query *q, struct store_labels *ret, struct err *err)
{
	memset(ret, 0, sizeof(*ret));
	return fake_store_fails ? err_set(err, -EIO, "the disk is gone") : 0;
}

static int fake_sums(struct store *s, const struct store_query *q, int64_t step_ns, store_sums_callback *take, void *data,
		     struct err *err)
{
	return fake_store_fails ? err_set(err, -EIO, "the disk is gone") : 0;
}

static void fake_stats(struct store *s, struct store_stats *ret)
{
	*ret = (struct store_stats){ .bytes = 4096, .days = 2, .days_damaged = fake_store_damaged_days, .commit_ns_total = 1500000000,
				     .commit_ns_max = 20000000 };
}

/* The store has one run, shop/1, and no room for others. */
static void fake_run(struct store_run *run)
{
	*run = (struct store_run){ .source = "shop", .id = "1", .start_ns = 1795248000LL * 1000000000,
				   .duration_ns = 2000000,
				   .stored_ns = 1795248001LL * 1000000000, .nodes = 3, .bytes = 500, .total_count = 1,
				   .totals = { { "wall_ns", "nanoseconds", 2000000 } } };
	run->url = strdup("/cart?<x>=1");
	labels_set(&run->labels, "host", 4, "web\"1", 5);
}

static int fake_list_runs(struct store *s, const struct store_run_query *q, struct store_runs *ret, struct err *err)
{
	if (fake_store_fails)
		return err_set(err, -EIO, "the disk is gone");
	ret->examined = 1;
	if ((q->after && *q->after) || (q->source && strcmp(q->source, "shop")))
		return 0;
	ret->items = calloc(1, sizeof(*ret->items));
	fake_run(&ret->items[0]);
	ret->count = 1;
	strcpy(ret->next, "5.6");
	return 0;
}

static int fake_run_sources(struct store *s, struct store_label *ret, struct err *err)
{
	if (fake_store_fails)
		return err_set(err, -EIO, "the disk is gone");
	ret->values = calloc(1, sizeof(*ret->values));
	ret->values[0].value = strdup("shop");
	ret->values[0].samples = 1;
	ret->value_count = 1;
	return 0;
}

/* Prunes a quarter of the profile if there is any limit. */
static int fake_get_run(struct store *s, const char *source, const char *id, const struct store_profile_limits *most, struct store_run *ret,
			struct profile **ret_profile, struct err *err)
{
	bool pruned = most && most->nodes;
	struct profile *p;
	uint32_t main;

	if (fake_store_fails)
		return err_set(err, -EIO, "the disk is gone");
	if (strcmp(source, "shop") || strcmp(id, "1"))
		return err_set(err, -ENOENT, "there is no run '%s' of source '%s'", id, source);
	fake_run(ret);
	*ret_profile = p = profile_new();
	profile_column(p, "wall_ns", "nanoseconds");
	profile_column(p, "cpu_ns", "nanoseconds");
	labels_set(&p->labels, "source", 6, "shop", 4);
	main = profile_child(p, PROFILE_ROOT, profile_frame(p, (struct str){ "<main>", 6 }, (struct str){ "", 0 }, 0));
	profile_add(p, main, 0, pruned ? 1500000 : 2000000);
	if (pruned)
		profile_add(p, profile_child(p, main, profile_pruned_frame(p)), 0, 500000);
	return pruned;
}

static int fake_add_runs(struct store *s, struct store_new_run *runs, size_t count, int64_t now_ns, struct err *err)
{
	if (fake_store_fails)
		return err_set(err, -ENOSPC, "the disk is full");
	for (size_t i = 0; i < count; i++) {
		const char *source = labels_get(&runs[i].profile->labels, "source");
		const char *id = labels_get(&runs[i].profile->labels, "id");

		snprintf(runs[i].source, sizeof(runs[i].source), "%s", source ? source : "default");
		snprintf(runs[i].id, sizeof(runs[i].id), "%s", id ? id : "made");
		runs[i].result = !strcmp(runs[i].id, "known") ? 0 : strcmp(runs[i].id, "other") ? 1 :
				 err_set(&runs[i].err, -EEXIST, "there is another run");
	}
	return 0;
}

static int fake_remove_run(struct store *s, const char *source, const char *id, struct err *err)
{
	return strcmp(id, "1") ? err_set(err, -ENOENT, "there is no run '%s'", id) : 0;
}

static const struct store_ops fake_store_ops = {
	.list_runs = fake_list_runs, .run_sources = fake_run_sources, .get_run = fake_get_run,
	.add_runs = fake_add_runs, .remove_run = fake_remove_run,
	.scheme = "fake", .query = fake_query, .timeline = fake_timeline, .labels = fake_labels, .sums = fake_sums, .stats = fake_stats,
};

static struct store fake_store = { .ops = &fake_store_ops };

#endif
