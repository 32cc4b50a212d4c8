/* clickhouse_store.c: opening, closing, and the table of functions. */
#include "clickhouse_store.h"
#include "clickhouse_ask.h"
#include "clickhouse_cache.h"
#include "clickhouse_known.h"
#include "clickhouse_schema.h"
#include "log.h"
#include "mem.h"
#include <assert.h>
#include <string.h>

#define CHECK_NS	(10 * NS_PER_SECOND)

static bool is_prepared(struct clickhouse_store *s)
{
	bool prepared;

	lock_take(&s->lock);
	prepared = s->prepared;
	lock_release(&s->lock);
	return prepared;
}

bool clickhouse_is_replicated(struct clickhouse_store *s)
{
	bool replicated;

	lock_take(&s->lock);
	replicated = s->replicated;
	lock_release(&s->lock);
	return replicated;
}

/* --- The tables --- */

void clickhouse_check_soon(struct clickhouse_store *s)
{
	lock_take(&s->lock);
	s->next_check_ns = 0;
	lock_release(&s->lock);
}

static bool is_check_due(struct clickhouse_store *s)
{
	int64_t now = clock_monotonic_ns();
	bool due;

	lock_take(&s->lock);
	due = now >= s->next_check_ns;
	if (due)
		s->next_check_ns = now + CHECK_NS;
	lock_release(&s->lock);
	return due;
}

static int check_version(struct clickhouse_store *s, unsigned shard, void *data, struct err *err)
{
	return clickhouse_check_version(s, shard, CHECK_NS, err);
}

/* Nothing can be written to a server that is away, and the others take runs meanwhile. */
static int check_schema(struct clickhouse_store *s, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++) {
		rc = clickhouse_one_shard(s, i, check_version, NULL, err);
		if (clickhouse_is_unreachable(rc))
			rc = 0;
	}
	if (rc == -ENOTSUP || rc == -ENOENT) {
		lock_take(&s->lock);
		s->prepared = false;
		lock_release(&s->lock);
	}
	return rc;
}

int clickhouse_prepare(struct clickhouse_store *s, struct err *err)
{
	bool replicated, lost;
	int rc;

	if (s->mode == CLICKHOUSE_READ)
		return err_set(err, -EROFS, "the store was opened for reading only");
	if (is_prepared(s)) {
		rc = is_check_due(s) ? check_schema(s, err) : 0;
		if (rc != -ENOENT)
			return rc;
	}
	rc = clickhouse_create(s, &replicated, err);
	for (unsigned i = 0; rc >= 0 && i < s->url.server_count; i++)
		rc = clickhouse_check_names(s, i, err);
	if (rc < 0)
		return rc;
	lock_take(&s->lock);
	lost = s->lost_tables;
	s->prepared = true;
	s->next_check_ns = clock_monotonic_ns() + CHECK_NS;
	s->lost_tables = false;
	s->replicated = replicated;
	lock_release(&s->lock);
	if (lost)
		log_warning("recreated tables of the store that had disappeared; their rows are gone");
	return clickhouse_measure(s, err);
}

static void stats(struct store *store, struct store_stats *ret)
{
	struct clickhouse_store *s = clickhouse_of(store);

	lock_take(&s->lock);
	*ret = s->stats;
	lock_release(&s->lock);
}

static void missing(struct store *store, char *ret, size_t size)
{
	struct clickhouse_store *s = clickhouse_of(store);

	lock_take(&s->lock);
	snprintf(ret, size, "%s", s->missing);
	lock_release(&s->lock);
}

/* Only logs the damage: the servers manage their data themselves. */
static void note_damage(struct store *store, int64_t day_ns, const char *why)
{
	struct clickhouse_store *s = clickhouse_of(store);
	bool due;

	lock_take(&s->lock);
	due = why && log_is_due(&s->next_damage_log_ns);
	lock_release(&s->lock);
	if (due)
		log_warning("%s", why);
}

void clickhouse_note(struct clickhouse_store *s, const char *why)
{
	if (s->base.on_damage)
		s->base.on_damage(s->base.damage_data, 0, why);
	else
		note_damage(&s->base, 0, why);
}

static struct store *close_store(struct store *store)
{
	struct clickhouse_store *s = clickhouse_of(store);

	for (size_t i = 0; i < s->idle_count; i++)
		http_client_free(s->idle[i].http);
	free(s->idle);
	clickhouse_known_free(s->known);
	clickhouse_url_done(&s->url);
	lock_done(&s->writer);
	lock_done(&s->lock);
	free(s);
	return NULL;
}

static const struct store_ops ops = {
	.scheme = "clickhouse",
	.append = clickhouse_append,
	.query = clickhouse_query,
	.timeline = clickhouse_timeline,
	.labels = clickhouse_labels,
	.sums = clickhouse_sums,
	.maintain = clickhouse_maintain,
	.stats = stats,
	.add_runs = clickhouse_add_runs,
	.list_runs = clickhouse_list_runs,
	.run_sources = clickhouse_run_sources,
	.get_run = clickhouse_get_run,
	.remove_run = clickhouse_remove_run,
	.note_damage = note_damage,
	.missing = missing,
	.ready = clickhouse_ready,
	.close = close_store,
};

static int check_one(struct clickhouse_store *s, unsigned shard, void *data, struct err *err)
{
	return clickhouse_check(s, shard, err);
}

/* Servers that are down now may be up by the time the first batch is sent. */
static int start(struct clickhouse_store *s, struct err *err)
{
	struct err why = { 0 };
	int rc = s->mode == CLICKHOUSE_READ ? clickhouse_each(s, check_one, NULL, &why) : clickhouse_prepare(s, &why);

	if (rc >= 0)
		return 0;
	if (!clickhouse_is_unreachable(rc))
		return err_set(err, rc, "%s", why.text);
	if (s->mode == CLICKHOUSE_WRITE)
		log_warning("%s; no samples can be stored there until it is available", why.text);
	return 0;
}

/* --- The cache --- */

static struct clickhouse_cache *cache;

void clickhouse_renew_cache(void)
{
	if (cache && !clickhouse_cache_is_old(cache, clock_monotonic_ns()))
		return;
	clickhouse_cache_free(cache);
	cache = clickhouse_cache_new();
}

int clickhouse_store_open(const char *url, enum clickhouse_mode mode, int64_t until_ns, struct store **ret, struct err *err)
{
	struct clickhouse_store *s = xcalloc(1, sizeof(*s));
	int rc;

	s->base.ops = &ops;
	s->mode = mode;
	s->until_ns = until_ns;
	s->cache = cache;
	s->known = clickhouse_known_new(CLICKHOUSE_KNOWN_MAX);
	lock_init(&s->lock);
	lock_init(&s->writer);
	rc = clickhouse_url_parse(url, &s->url, err);
	if (rc >= 0)
		rc = start(s, err);
	if (rc < 0) {
		close_store(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}
