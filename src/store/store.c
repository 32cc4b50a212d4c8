/* store.c: which backend an URL means, and handing calls on to it. */
#include "store.h"
#include "sqlite_store.h"
#include <assert.h>
#include <string.h>

int store_open(const char *url, bool read_only, struct store **ret, struct err *err)
{
	const char *colon = strchr(url, ':');

	if (!colon || memchr(url, '/', (size_t)(colon - url)))
		return err_set(err, -EINVAL, "'%s' is not the address of a store; write sqlite:%s for a directory", url,
			       *url ? url : "DIRECTORY");
	if (strncmp(url, "sqlite:", 7))
		return err_set(err, -EINVAL, "unknown kind of store '%.*s'; known is sqlite:DIRECTORY",
			       (int)(colon - url < 40 ? colon - url : 40), url);
	if (!strncmp(colon, ":///", 4))
		colon += 2;
	if (!colon[1])
		return err_set(err, -EINVAL, "'%s' names no directory; write for example sqlite:/var/lib/strobe", url);
	return sqlite_store_open(colon + 1, read_only, ret, err);
}

struct store *store_close(struct store *s)
{
	return s ? s->ops->close(s) : NULL;
}

int store_append(struct store *s, const struct batch *b, struct err *err)
{
	return s->ops->append(s, b, err);
}

int store_query(struct store *s, const struct store_query *q, struct profile **ret, struct store_looked *looked,
		struct err *err)
{
	struct store_looked unused;

	if (!looked)
		looked = &unused;
	memset(looked, 0, sizeof(*looked));
	return s->ops->query(s, q, ret, looked, err);
}

int store_timeline(struct store *s, const struct store_query *q, int64_t step_ns, uint64_t *samples, size_t n,
		   struct err *err)
{
	if (step_ns <= 0 || step_ns % BATCH_BUCKET_NS)
		return err_set(err, -EINVAL, "the step of a timeline must be a multiple of 10 seconds");
	memset(samples, 0, n * sizeof(*samples));
	return s->ops->timeline(s, q, step_ns, samples, n, err);
}

int store_labels(struct store *s, const struct store_query *q, struct store_labels *ret, struct err *err)
{
	memset(ret, 0, sizeof(*ret));
	return s->ops->labels(s, q, ret, err);
}

void store_labels_done(struct store_labels *l)
{
	for (size_t i = 0; i < l->count; i++) {
		for (size_t k = 0; k < l->items[i].value_count; k++)
			free(l->items[i].values[k].value);
		free(l->items[i].values);
		free(l->items[i].key);
	}
	free(l->items);
	memset(l, 0, sizeof(*l));
}

int store_maintain(struct store *s, const struct store_limits *l, int64_t now_ns, struct err *err)
{
	return s->ops->maintain(s, l, now_ns, err);
}

void store_stats(struct store *s, struct store_stats *ret)
{
	memset(ret, 0, sizeof(*ret));
	s->ops->stats(s, ret);
}
