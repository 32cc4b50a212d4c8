/* sink_store.c: batches and runs to a store that can be queried. */

#include "sinks.h"

#include "chart.h"
#include "clock.h"
#include "log.h"
#include "mem.h"
#include "secrets.h"
#include "wire_labels.h"
#include "wire_profile.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

struct store_sink {
	struct sink base;
	pthread_mutex_t lock;		/* guards the limits, which may change */
	struct store_limits limits;
	bool maintain_failed;		/* the sink's thread only, as the next */
	struct clock_age age;
};

static int commit(void *data, const struct batch *b, struct err *err)
{
	struct store_sink *s = data;

	return store_append(s->base.store, b, err);
}

static struct profile *profile_of_run(const struct collector_run *r)
{
	const struct strobe_wire_info *info = &r->message->info;
	struct profile *p = profile_new();
	int e;

	profile_keep_chart(p, true);
	e = wire_profile_add_whole(p, r->message, NULL);
	assert(e >= 0);		/* a message never has more columns than a profile */
	(void)e;
	wire_profile_labels(r->message, &p->labels);
	wire_labels_add_clock(&p->labels, info->clock);
	p->period_ns = (int64_t)info->period_ns;
	if (info->start_ns) {
		p->end_ns = r->time_ns;
		p->start_ns = r->time_ns - (int64_t)(info->end_ns - info->start_ns);
	}
	if (p->chart)
		p->chart->start_ns = p->start_ns;
	return p;
}

static int commit_runs(void *data, struct collector_run *runs, size_t count, struct err *err)
{
	struct store_sink *s = data;
	struct store_new_run *list = xcalloc(count, sizeof(*list));
	int rc;

	for (size_t i = 0; i < count; i++)
		list[i].profile = profile_of_run(&runs[i]);
	rc = store_add_runs(s->base.store, list, count, clock_wall_ns(), err);
	for (size_t i = 0; i < count; i++) {
		runs[i].result = list[i].result;
		profile_free((struct profile *)list[i].profile);
	}
	free(list);
	return rc;
}

static int64_t age_ns(struct store_sink *s)
{
	bool was_ahead = s->age.ahead_since_ns != 0;
	int64_t ns = clock_age_now_ns(&s->age);

	if (s->age.ahead_since_ns && !was_ahead)
		log_warning("the clock was set ahead by %lld hours; retention of %s ignores that for a "
			    "day", (long long)((clock_wall_ns() - ns) / (NS_PER_DAY / 24)), s->base.url);
	return ns;
}

static struct store_limits limits_of(struct store_sink *s)
{
	struct store_limits limits;

	pthread_mutex_lock(&s->lock);
	limits = s->limits;
	pthread_mutex_unlock(&s->lock);
	return limits;
}

static bool is_low_on_space(void *data)
{
	struct store_sink *s = data;
	struct store_limits limits = limits_of(s);

	return store_is_low_on_space(s->base.store, &limits);
}

static void keep_ids(void *data, const uint64_t *ids, size_t count)
{
	struct store_sink *s = data;

	store_keep_ids(s->base.store, ids, count);
}

static void maintain(void *data)
{
	struct store_sink *s = data;
	struct store_limits limits = limits_of(s);
	struct err err = { 0 };
	bool failed;

	failed = store_maintain(s->base.store, &limits, age_ns(s), &err) < 0;
	if (failed && !s->maintain_failed)
		log_warning("maintenance of the store failed and will be retried: %s", err.text);
	s->maintain_failed = failed;
}

static void set_options(struct sink *base, const struct sink_options *o)
{
	struct store_sink *s = (struct store_sink *)base;

	pthread_mutex_lock(&s->lock);
	s->limits = o->limits;
	pthread_mutex_unlock(&s->lock);
}

static struct sink *store_sink_close(struct sink *base)
{
	struct store_sink *s = (struct store_sink *)base;

	store_close(base->store);
	pthread_mutex_destroy(&s->lock);
	free(base->url);
	free(s);
	return NULL;
}

static int store_sink_open(const char *url, const struct sink_options *o, struct sink **ret, struct err *err)
{
	struct store_sink *s = xcalloc(1, sizeof(*s));
	int r;

	pthread_mutex_init(&s->lock, NULL);
	s->base.ops = &sink_store_ops;
	s->base.url = secrets_shown(url);
	age_ns(s);
	s->limits = o->limits;
	r = store_open(url, false, &s->base.store, err);
	if (r < 0) {
		store_sink_close(&s->base);
		return r;
	}
	s->base.port = (struct collector_sink){
		.url = s->base.url,
		.commit = commit,
		.commit_runs = commit_runs,
		.keep_ids = keep_ids,
		.maintain = maintain,
		.is_low_on_space = is_low_on_space,
		.reads_rows = true,
		.data = s,
	};
	*ret = &s->base;
	return 0;
}

const struct sink_ops sink_store_ops = {
	.scheme = "sqlite",
	.open = store_sink_open,
	.set_options = set_options,
	.close = store_sink_close,
};

const struct sink_ops sink_clickhouse_ops = {
	.scheme = "clickhouse",
	.open = store_sink_open,
	.set_options = set_options,
	.close = store_sink_close,
};
