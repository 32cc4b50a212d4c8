/* collector.c: the open batch, the queue behind it, and the thread that empties the queue. */

#include "collector.h"

#include "clock.h"
#include "log.h"
#include "mem.h"
#include "open_batch.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define RETRY_NS	(1 * NS_PER_SECOND)
#define FLUSH_RETRY_NS	(NS_PER_SECOND / 10)
#define MAINTAIN_NS	(60 * NS_PER_SECOND)
#define MAINTAIN_FIRST_NS	(5 * NS_PER_SECOND)	/* soon after a start, which may follow a crash */
#define RUNS_AT_ONCE	256u		/* in one commit, */
#define RUNS_AT_ONCE_BYTES ((uint64_t)32 << 20)	/* and of about so many bytes */
#define TOO_OLD_NS	NS_PER_DAY
#define TOO_NEW_NS	(60 * NS_PER_SECOND)

struct open_run {
	struct open_run *next;
	int64_t time_ns;
	size_t size;
	uint8_t bytes[];
};

struct collector {
	struct collector_sink sink;
	struct collector_options options;
	struct collector_counters counters;

	/* the loop's thread only */
	struct loop *loop;
	struct watch timer;
	struct open_batch *open;
	uint64_t next_id;

	/* under the lock */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct open_batch *first, **last;	/* waiting; the writer works on the first and leaves it there */
	struct open_run *first_run, **last_run;	/* the same */
	bool flushing, stopping;

	pthread_t writer;
	bool has_lock, has_writer;
	bool told_unfit, told_conflict;	/* the writer's thread only */
};

void collector_default_options(struct collector_options *o)
{
	*o = (struct collector_options){
		.commit_ns = NS_PER_SECOND,
		.queue_bytes = (uint64_t)256 << 20,
		.max_series = 10000,
	};
}

/* --- The writer's thread --- */

/* Waits for a change or the time (monotonic; 0 is for ever). */
static void wait_until(struct collector *c, int64_t ns)
{
	struct timespec at = { ns / NS_PER_SECOND, ns % NS_PER_SECOND };

	if (ns)
		pthread_cond_timedwait(&c->changed, &c->lock, &at);
	else
		pthread_cond_wait(&c->changed, &c->lock);
}

/* Whether the sink will say the same however often it is asked. */
static bool is_hopeless(int r)
{
	return r == -E2BIG || r == -EFBIG || r == -EINVAL;
}

static void note_result(struct collector *c, int r, const struct err *err)
{
	bool failing = r < 0 && !is_hopeless(r);
	bool was_failing = atomic_exchange(&c->counters.failing, failing);

	if (r < 0)
		c->counters.commit_failures++;
	if (failing && !was_failing)
		log_warning("samples cannot be stored and wait in memory: %s", err->text);
	if (!failing && was_failing)
		log_info("samples are stored again");
	if (is_hopeless(r) && !c->told_unfit)
		log_error("samples were dropped, and are counted from now on: %s", err->text);
	c->told_unfit = is_hopeless(r) || (c->told_unfit && r < 0);
}

static void count_batch(struct collector_counters *n, const struct open_batch *b, int r)
{
	if (r < 0) {
		n->samples_dropped_unfit += b->samples;
	} else {
		n->commits++;
		n->samples_stored += b->samples;
		n->last_commit_ns = clock_wall_ns();
	}
	n->samples_queued -= b->samples;
	n->queue_bytes -= b->bytes;
}

/* Gives the first batch of the queue to the sink. The lock is not held meanwhile. */
static int commit_first(struct collector *c)
{
	struct open_batch *b = c->first;
	struct err err = { 0 };
	int r;

	pthread_mutex_unlock(&c->lock);
	r = c->sink.commit(c->sink.data, &b->batch, &err);
	note_result(c, r, &err);
	pthread_mutex_lock(&c->lock);
	if (r < 0 && !is_hopeless(r))
		return r;

	c->first = b->next;
	if (!c->first)
		c->last = &c->first;
	count_batch(&c->counters, b, r);
	pthread_cond_broadcast(&c->changed);
	open_batch_free(b);
	return 0;
}

/* --- Runs, in the writer's thread --- */

/* As many as fit into one commit; at least one. */
static size_t take_runs(struct collector *c, struct open_run **ret)
{
	uint64_t bytes = 0;
	size_t n = 0;

	for (struct open_run *r = c->first_run; r && n < RUNS_AT_ONCE && bytes < RUNS_AT_ONCE_BYTES; r = r->next) {
		ret[n++] = r;
		bytes += r->size;
	}
	return n;
}

static void count_run(struct collector *c, const struct open_run *r, int result)
{
	struct collector_counters *n = &c->counters;

	n->runs_stored += result == 1;
	n->runs_known += result == 0;
	n->runs_dropped_conflict += result == -EEXIST;
	n->runs_dropped_unfit += result < 0 && result != -EEXIST;
	n->runs_queued--;
	n->queue_bytes -= r->size;
	if (result >= 0)
		n->last_commit_ns = clock_wall_ns();
	if (result == -EEXIST && !c->told_conflict)
		log_warning("a run was dropped because another one has its source and id; such runs are counted from now on");
	c->told_conflict |= result == -EEXIST;
}

static void note_runs_result(struct collector *c, int r, const struct err *err)
{
	bool failing = r < 0 && !is_hopeless(r);
	bool was_failing = atomic_exchange(&c->counters.runs_failing, failing);

	if (r < 0)
		c->counters.commit_failures++;
	if (failing && !was_failing)
		log_warning("runs cannot be stored and wait in memory: %s", err->text);
	if (!failing && was_failing)
		log_info("runs are stored again");
}

/* Gives the first runs of the queue to the sink. The lock is not held meanwhile. */
static int commit_first_runs(struct collector *c)
{
	struct strobe_wire_message messages[RUNS_AT_ONCE];
	struct collector_run runs[RUNS_AT_ONCE];
	struct open_run *open[RUNS_AT_ONCE];
	size_t n = take_runs(c, open);
	struct err err = { 0 };
	int r;

	pthread_mutex_unlock(&c->lock);
	for (size_t i = 0; i < n; i++) {
		enum strobe_wire_error e = strobe_wire_parse(open[i]->bytes, open[i]->size, &messages[i]);

		assert(e == STROBE_WIRE_OK);
		(void)e;
		runs[i] = (struct collector_run){ &messages[i], open[i]->time_ns, -EINVAL };
	}
	r = c->sink.commit_runs ? c->sink.commit_runs(c->sink.data, runs, n, &err) : -EINVAL;
	note_runs_result(c, r, &err);
	pthread_mutex_lock(&c->lock);
	if (r < 0 && !is_hopeless(r))
		return r;

	for (size_t i = 0; i < n; i++) {
		c->first_run = open[i]->next;
		count_run(c, open[i], r < 0 ? r : runs[i].result);
		free(open[i]);
	}
	if (!c->first_run)
		c->last_run = &c->first_run;
	pthread_cond_broadcast(&c->changed);
	return 0;
}

static void maintain(struct collector *c)
{
	pthread_mutex_unlock(&c->lock);
	c->sink.maintain(c->sink.data);
	pthread_mutex_lock(&c->lock);
}

/* After a failure: waits until it is time to try again, or until somebody wants an end. */
static void wait_to_retry(struct collector *c)
{
	int64_t until = clock_monotonic_ns() + (c->flushing ? FLUSH_RETRY_NS : RETRY_NS);
	bool flushing = c->flushing;

	while (!c->stopping && c->flushing == flushing && clock_monotonic_ns() < until)
		wait_until(c, until);
}

static void *write_batches(void *data)
{
	struct collector *c = data;
	int64_t maintain_at = clock_monotonic_ns() + MAINTAIN_FIRST_NS;

	pthread_mutex_lock(&c->lock);
	while (!c->stopping) {
		if (c->first || c->first_run) {
			/* Each has its turn, also while the other cannot be stored. */
			int batch = c->first ? commit_first(c) : 0, runs = c->first_run ? commit_first_runs(c) : 0;

			if (batch < 0 || runs < 0)
				wait_to_retry(c);
		} else if (c->sink.maintain && !c->flushing && clock_monotonic_ns() >= maintain_at) {
			maintain(c);
			maintain_at = clock_monotonic_ns() + MAINTAIN_NS;
		} else {
			wait_until(c, c->sink.maintain && !c->flushing ? maintain_at : 0);
		}
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* --- The loop's thread --- */

/* Ids differ from those of an earlier start, else the store would take a new batch for a replay of an old one. */
static uint64_t take_id(struct collector *c)
{
	uint64_t id = c->next_id++;

	return id ? id : c->next_id++;
}

static void close_batch(struct collector *c)
{
	struct open_batch *b = c->open;

	if (!b->batch.count)
		return;
	c->open = open_batch_new(take_id(c));

	pthread_mutex_lock(&c->lock);
	*c->last = b;
	c->last = &b->next;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

static void tick(struct watch *w, uint32_t events)
{
	struct collector *c = (struct collector *)((char *)w - offsetof(struct collector, timer));

	loop_timer_read(w);
	close_batch(c);
}

static int64_t time_of(struct collector *c, const struct strobe_wire_message *m, int64_t now)
{
	int64_t end = (int64_t)m->info.end_ns;

	if (end >= now - TOO_OLD_NS && end <= now + TOO_NEW_NS)
		return end;
	c->counters.times_corrected++;
	return now;
}

static void note_sender_drops(struct collector *c, const struct strobe_wire_message *m)
{
	const uint8_t *p = m->at_drops;

	for (uint32_t i = 0; i < m->drops; i++) {
		uint64_t reason = strobe_wire_next(&p);
		uint64_t samples = strobe_wire_next(&p);

		if (m->info.kind == STROBE_WIRE_RUN)
			c->counters.sender_run_drops[reason < STROBE_DROP_REASONS ? reason : 0] += samples;
		else
			c->counters.sender_drops[reason < STROBE_DROP_REASONS ? reason : 0] += samples;
	}
}

/* A run waits as it came: making a tree of 64 MB takes longer than the other senders should wait. */
static void got_run(struct collector *c, const struct strobe_wire_message *m)
{
	struct collector_counters *n = &c->counters;
	const uint8_t *bytes = m->at_strings - STROBE_WIRE_HEADER;
	struct open_run *r;

	n->runs_received++;
	n->last_run_ns = clock_wall_ns();
	if (n->queue_bytes + m->size > c->options.queue_bytes) {
		n->runs_dropped_queue++;
		return;
	}
	r = xmalloc(sizeof(*r) + m->size);
	r->next = NULL;
	r->time_ns = time_of(c, m, n->last_run_ns);
	r->size = m->size;
	memcpy(r->bytes, bytes, m->size);
	n->runs_queued++;
	n->queue_bytes += m->size;

	pthread_mutex_lock(&c->lock);
	*c->last_run = r;
	c->last_run = &r->next;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

void collector_got(void *data, const struct strobe_wire_message *m)
{
	struct collector *c = data;
	struct collector_counters *n = &c->counters;
	uint64_t samples = m->info.kind == STROBE_WIRE_RUN ? 0 : open_batch_samples_of(m);
	uint64_t before = c->open->bytes;
	int64_t now = clock_wall_ns();
	bool folded = false;

	note_sender_drops(c, m);
	if (!m->nodes || !m->columns)
		return;
	if (m->info.kind == STROBE_WIRE_RUN) {
		got_run(c, m);
		return;
	}
	n->samples_received += samples;
	n->last_sample_ns = now;
	if (n->queue_bytes + open_batch_cost_of(m) > c->options.queue_bytes ||
	    open_batch_add(c->open, m, time_of(c, m, now), c->options.max_series, &folded) < 0) {
		n->samples_dropped_queue += samples;
		return;
	}
	n->samples_queued += samples;
	n->queue_bytes += c->open->bytes - before;
	n->series_folded += folded;
}

/* --- Life --- */

static int init_lock(struct collector *c, struct err *err)
{
	pthread_condattr_t attributes;

	if (pthread_mutex_init(&c->lock, NULL))
		return err_set(err, -ENOMEM, "cannot make a lock for the collector");
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	if (pthread_cond_init(&c->changed, &attributes)) {
		pthread_mutex_destroy(&c->lock);
		return err_set(err, -ENOMEM, "cannot make a condition for the collector");
	}
	pthread_condattr_destroy(&attributes);
	c->has_lock = true;
	return 0;
}

int collector_new(const struct collector_sink *sink, const struct collector_options *o, struct loop *loop,
		  struct collector **ret, struct err *err)
{
	struct collector *c = xcalloc(1, sizeof(*c));
	int r;

	assert(sink->commit && o->commit_ns > 0 && o->max_series > 0);
	c->sink = *sink;
	c->options = *o;
	c->loop = loop;
	c->timer.fd = -1;
	c->timer.ready = tick;
	c->last = &c->first;
	c->last_run = &c->first_run;
	if (getrandom(&c->next_id, sizeof(c->next_id), 0) != sizeof(c->next_id))
		c->next_id = (uint64_t)clock_wall_ns() << 8;
	c->open = open_batch_new(take_id(c));

	if ((r = init_lock(c, err)) < 0 || (r = loop_add_timer(loop, &c->timer, o->commit_ns, err)) < 0) {
		collector_free(c);
		return r;
	}
	r = pthread_create(&c->writer, NULL, write_batches, c);
	if (r) {
		collector_free(c);
		return err_set(err, -r, "cannot start the thread that stores samples: %s", strerror(r));
	}
	c->has_writer = true;
	*ret = c;
	return 0;
}

uint64_t collector_flush(struct collector *c, int64_t timeout_ns)
{
	int64_t until = clock_monotonic_ns() + timeout_ns;

	close_batch(c);
	pthread_mutex_lock(&c->lock);
	c->flushing = true;
	pthread_cond_broadcast(&c->changed);
	while ((c->first || c->first_run) && clock_monotonic_ns() < until)
		wait_until(c, until);
	c->flushing = false;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	return c->counters.samples_queued + c->counters.runs_queued;
}

struct collector *collector_free(struct collector *c)
{
	if (!c)
		return NULL;
	if (c->has_writer) {
		pthread_mutex_lock(&c->lock);
		c->stopping = true;
		pthread_cond_broadcast(&c->changed);
		pthread_mutex_unlock(&c->lock);
		pthread_join(c->writer, NULL);
	}
	if (c->timer.fd >= 0)
		loop_remove_timer(c->loop, &c->timer);
	while (c->first) {
		struct open_batch *b = c->first;

		c->first = b->next;
		open_batch_free(b);
	}
	while (c->first_run) {
		struct open_run *r = c->first_run;

		c->first_run = r->next;
		free(r);
	}
	open_batch_free(c->open);
	if (c->has_lock) {
		pthread_cond_destroy(&c->changed);
		pthread_mutex_destroy(&c->lock);
	}
	free(c);
	return NULL;
}

const struct collector_counters *collector_counters(const struct collector *c)
{
	return &c->counters;
}
