/* fake_store.h: a store for tests that holds nothing, and fails when it is told to. */
#ifndef SERVE_FAKE_STORE_H
#define SERVE_FAKE_STORE_H

#include "store.h"
#include <string.h>

static int fake_store_fails;

static int fake_query(struct store *s, const struct store_query *q, struct profile **ret, struct store_looked *looked,
		      struct err *err)
{
	if (fake_store_fails)
		return err_set(err, -EIO, "the disk is gone");
	*ret = profile_new();
	memset(looked, 0, sizeof(*looked));
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

static void fake_stats(struct store *s, struct store_stats *ret)
{
	*ret = (struct store_stats){ .bytes = 4096, .days = 2, .commit_ns_total = 1500000000, .commit_ns_max = 20000000 };
}

static const struct store_ops fake_store_ops = {
	.scheme = "fake", .query = fake_query, .timeline = fake_timeline, .labels = fake_labels, .stats = fake_stats,
};

static struct store fake_store = { .ops = &fake_store_ops };

#endif
