/* store.c: selects the backend by the URL, and passes calls on to it. */
#include "store.h"
#include "clickhouse_ask.h"
#include "clickhouse_store.h"
#include "sqlite_store.h"
#include <assert.h>
#include <string.h>

static int open_as(const char *url, enum sqlite_store_mode mode, enum clickhouse_mode clickhouse_mode, int64_t until_ns,
		   struct store **ret, struct err *err)
{
	const char *colon = strchr(url, ':');

	if (!colon || memchr(url, '/', (size_t)(colon - url)))
		return err_set(err, -EINVAL, "'%s' is not the address of a store; write sqlite:%s for a directory", url,
			       *url ? url : "DIR");
	if (!strncmp(url, "clickhouse:", 11))
		return clickhouse_store_open(url, clickhouse_mode, until_ns, ret, err);
	if (!strncmp(url, "sqlite:", 7) && strchr(url, '?'))
		return err_set(err, -EINVAL, "'%s': sqlite:DIR takes no parameters; options such as --retain set limits", url);
	if (strncmp(url, "sqlite:", 7))
		return err_set(err, -EINVAL, "'%.200s' is not the URL of a store; use sqlite:DIR or "
			       "clickhouse://HOST:PORT/DATABASE", url);
	if (!strncmp(colon, ":///", 4))
		colon += 2;
	if (!colon[1])
		return err_set(err, -EINVAL, "'%s' names no directory; write for example sqlite:/var/lib/strobe", url);
	return sqlite_store_open(colon + 1, mode, ret, err);
}

int store_open(const char *url, bool read_only, struct store **ret, struct err *err)
{
	return open_as(url, read_only ? SQLITE_STORE_READ : SQLITE_STORE_WRITE, read_only ? CLICKHOUSE_READ : CLICKHOUSE_WRITE,
		       0, ret, err);
}

int store_open_until(const char *url, int64_t until_ns, struct store **ret, struct err *err)
{
	return open_as(url, SQLITE_STORE_READ, CLICKHOUSE_READ, until_ns, ret, err);
}

int store_load(const char *url, struct err *err)
{
	return strncmp(url, "clickhouse:", 11) ? 0 : http_client_load(err);
}

void store_before_fork(const char *url)
{
	if (!strncmp(url, "clickhouse:", 11))
		clickhouse_renew_cache();
}

int store_open_runs(const char *url, struct store **ret, struct err *err)
{
	return open_as(url, SQLITE_STORE_RUNS, CLICKHOUSE_RUNS, 0, ret, err);
}

struct store *store_close(struct store *s)
{
	return s ? s->ops->close(s) : NULL;
}

static int check_batch(const struct batch *b, struct err *err)
{
	for (size_t i = 0; i < b->count; i++) {
		const struct batch_entry *e = &b->entries[i];

		if (e->bucket_ns < 0 || e->bucket_ns % BATCH_BUCKET_NS)
			return err_set(err, -EINVAL, "cannot store a batch: %lld is not the start of a "
				       "10-second bucket", (long long)e->bucket_ns);
		if (e->period_ns < 0 || e->clock < STROBE_CLOCK_NONE || e->clock > STROBE_CLOCK_CPU)
			return err_set(err, -EINVAL, "cannot store a batch: entry %zu has an impossible clock "
				       "or period", i);
	}
	return 0;
}

int store_append(struct store *s, const struct batch *b, struct err *err)
{
	int rc = check_batch(b, err);

	return rc < 0 ? rc : s->ops->append(s, b, err);
}

int store_query(struct store *s, const struct store_query *q, struct profile **ret, struct store_query_stats *stats,
		struct err *err)
{
	struct store_query_stats unused;
	int rc;

	if (!stats)
		stats = &unused;
	memset(stats, 0, sizeof(*stats));
	rc = s->ops->query(s, q, ret, stats, err);
	assert(rc < 0 || *ret);
	return rc;
}

int store_values(struct store *s, const struct store_query *q, const char *column, struct stack_values *ret,
		 struct store_query_stats *stats, struct err *err)
{
	struct profile *p;
	int rc;

	memset(ret, 0, sizeof(*ret));
	memset(stats, 0, sizeof(*stats));
	if (s->ops->values)
		return s->ops->values(s, q, column, ret, stats, err);
	rc = store_query(s, q, &p, stats, err);
	if (rc >= 0)
		*ret = stack_values_take(p, profile_find_column(p, column));
	return rc;
}

int store_timeline(struct store *s, const struct store_query *q, int64_t step_ns, uint64_t *samples, size_t n,
		   struct err *err)
{
	if (step_ns <= 0 || step_ns % BATCH_BUCKET_NS)
		return err_set(err, -EINVAL, "the step of a timeline must be a multiple of 10 seconds");
	memset(samples, 0, n * sizeof(*samples));
	return s->ops->timeline(s, q, step_ns, samples, n, err);
}

int store_sums(struct store *s, const struct store_query *q, int64_t step_ns, store_sums_callback *take, void *data,
	       struct err *err)
{
	assert(step_ns >= 0 && step_ns % BATCH_BUCKET_NS == 0);
	assert(!step_ns || 3600 * 1000000000LL % step_ns == 0);
	return s->ops->sums(s, q, step_ns, take, data, err);
}

int store_labels(struct store *s, const struct store_query *q, struct store_labels *ret, struct err *err)
{
	memset(ret, 0, sizeof(*ret));
	return s->ops->labels(s, q, ret, err);
}

void store_labels_done(struct store_labels *l)
{
	for (size_t i = 0; i < l->count; i++)
		store_label_done(&l->items[i]);
	free(l->items);
	memset(l, 0, sizeof(*l));
}

void store_label_done(struct store_label *l)
{
	for (size_t i = 0; i < l->value_count; i++)
		free(l->values[i].value);
	free(l->values);
	free(l->key);
	memset(l, 0, sizeof(*l));
}

int store_maintain(struct store *s, const struct store_limits *l, int64_t now_ns, struct err *err)
{
	return s->ops->maintain(s, l, now_ns, err);
}

void store_keep_ids(struct store *s, const uint64_t *ids, size_t count)
{
	if (s->ops->keep_ids)
		s->ops->keep_ids(s, ids, count);
}

bool store_is_low_on_space(struct store *s, const struct store_limits *l)
{
	return s->ops->is_low_on_space && s->ops->is_low_on_space(s, l);
}

void store_stats(struct store *s, struct store_stats *ret)
{
	memset(ret, 0, sizeof(*ret));
	s->ops->stats(s, ret);
}

void store_on_damage(struct store *reader, store_damage_callback *callback, void *data)
{
	reader->on_damage = callback;
	reader->damage_data = data;
}

void store_note_damage(struct store *s, int64_t day_ns, const char *why)
{
	s->ops->note_damage(s, day_ns, why);
}

void store_missing(struct store *s, char *ret, size_t size)
{
	*ret = 0;
	if (s->ops->missing)
		s->ops->missing(s, ret, size);
}

bool store_is_unavailable(int code)
{
	return code == -EAGAIN || code == -ENOTSUP || clickhouse_is_unreachable(code);
}

/* Queries an empty range, which costs next to nothing. */
int store_ready(struct store *s, struct err *err)
{
	struct store_query q = { .from_ns = 0, .to_ns = BATCH_BUCKET_NS };
	uint64_t samples[1];

	return s->ops->ready ? s->ops->ready(s, err) : store_timeline(s, &q, BATCH_BUCKET_NS, samples, 1, err);
}

/* --- Runs --- */

int store_add_runs(struct store *s, struct store_new_run *runs, size_t count, int64_t now_ns, struct err *err)
{
	return count ? s->ops->add_runs(s, runs, count, now_ns, err) : 0;
}

/* Conditions without labels do not depend on runs. */
static bool constants_hold(const struct store_run_query *q)
{
	for (size_t i = 0; i < q->condition_count; i++) {
		const struct store_run_condition *c = &q->conditions[i];

		if (!c->key_count && !c->holds(c->data, c->otherwise))
			return false;
	}
	return true;
}

int store_list_runs(struct store *s, const struct store_run_query *q, struct store_runs *ret, struct err *err)
{
	assert(q->limit > 0);
	assert(!q->distinct || (q->order == STORE_RUNS_BY_START && !q->ascending && !(q->after && *q->after)));
	memset(ret, 0, sizeof(*ret));
	if (!constants_hold(q))
		return 0;
	return s->ops->list_runs(s, q, ret, err);
}

void store_runs_done(struct store_runs *r)
{
	for (size_t i = 0; i < r->count; i++)
		store_run_done(&r->items[i]);
	free(r->items);
	memset(r, 0, sizeof(*r));
}

int store_run_sources(struct store *s, struct store_label *ret, struct err *err)
{
	memset(ret, 0, sizeof(*ret));
	return s->ops->run_sources(s, ret, err);
}

int store_get_run(struct store *s, const char *source, const char *id, const struct store_profile_limits *most,
		  struct store_run *ret, struct profile **ret_profile, struct err *err)
{
	int rc;

	memset(ret, 0, sizeof(*ret));
	*ret_profile = NULL;
	rc = s->ops->get_run(s, source, id, most, ret, ret_profile, err);
	assert(rc < 0 || *ret_profile);
	return rc;
}

void store_run_done(struct store_run *r)
{
	free(r->url);
	free(r->name);
	labels_done(&r->labels);
	memset(r, 0, sizeof(*r));
}

int store_remove_run(struct store *s, const char *source, const char *id, struct err *err)
{
	return s->ops->remove_run(s, source, id, err);
}
