/* sink_worker.c: the thread of one sink, which empties its queues. */

#include "collector_private.h"

#include "batch_rows.h"

#include "clock.h"
#include "log.h"
#include "mem.h"

#include <assert.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RETRY_NS	(1 * NS_PER_SECOND)
#define FLUSH_RETRY_NS	(NS_PER_SECOND / 10)
#define MAINTAIN_NS	(60 * NS_PER_SECOND)
#define MAINTAIN_FIRST_NS	(5 * NS_PER_SECOND)	/* soon after a start, which may follow a crash */
#define MAINTAIN_URGENT_NS	(10 * NS_PER_SECOND)	/* maintenance may free space */
#define RUNS_AT_ONCE	256u		/* runs in one commit */
#define RUNS_AT_ONCE_BYTES ((uint64_t)32 << 20)	/* approximate bytes in one commit */

void collector_wait(struct collector *c, int64_t ns)
{
	struct timespec at = { ns / NS_PER_SECOND, ns % NS_PER_SECOND };

	lock_wait(&c->lock, &c->changed, ns ? &at : NULL);
}

/* Whether a retry would fail with the same error. */
static bool is_permanent(int r)
{
	return r == -E2BIG || r == -EFBIG || r == -EINVAL;
}

/* --- The reason --- */

static struct lock why_lock = LOCK_INITIALIZER;

static void set_why(struct sink_worker *o, const char *text)
{
	lock_take(&why_lock);
	snprintf(o->counters.why, sizeof(o->counters.why), "%.*s", (int)sizeof(o->counters.why) - 1, text);
	lock_release(&why_lock);
}

void sink_why(const struct sink_counters *c, char *text, size_t size)
{
	lock_take(&why_lock);
	snprintf(text, size, "%s", c->why);
	lock_release(&why_lock);
}

/* --- Batches --- */

static void note_result(struct sink_worker *o, int r, const struct err *err)
{
	struct collector_counters *n = &o->collector->counters;
	bool failing = r < 0 && !is_permanent(r);
	bool was_failing = atomic_exchange(&o->counters.failing, failing);

	if (r < 0) {
		o->counters.commit_failures++;
		n->commit_failures++;
	}
	if (failing || was_failing)
		set_why(o, failing ? err->text : "");
	if (failing && !was_failing)
		log_warning("cannot store samples, keeping them in memory: %s", err->text);
	if (!failing && was_failing)
		log_info("storing samples in %s again", o->url);
	if (is_permanent(r) && log_is_due(&o->next_rejected_log_ns))
		log_error("samples were dropped: %s. Further ones are counted, not logged", err->text);
}

/* The identity of collector.h, which holds under the lock. */
static bool samples_balance(const struct sink_counters *n)
{
	return n->samples_handed == n->samples_stored + n->samples_dropped_queue + n->samples_dropped_rejected + n->samples_queued;
}

static void count_batch(struct sink_worker *o, struct open_batch *b, int r)
{
	assert(lock_is_held(&o->collector->lock));
	assert(o->counters.samples_queued >= b->samples && o->counters.queue_bytes >= b->bytes);
	if (r < 0) {
		o->counters.samples_dropped_rejected += b->samples;
		b->rejected = true;
	} else {
		b->kept = true;
		o->counters.commits++;
		o->collector->counters.commits++;
		o->counters.samples_stored += b->samples;
		o->counters.last_commit_ns = clock_wall_ns();
		o->collector->counters.last_commit_ns = o->counters.last_commit_ns;
	}
	o->counters.samples_queued -= b->samples;
	o->counters.queue_bytes -= b->bytes;
	assert(samples_balance(&o->counters));
}

void sink_worker_put_batch(struct sink_worker *o, struct open_batch *b)
{
	struct queued_batch *q = xcalloc(1, sizeof(*q));

	assert(lock_is_held(&o->collector->lock) && !o->removed);
	assert(b->closed && b->sinks_left > 0 && !*o->last);
	q->batch = b;
	o->collector->paused = false;
	q->since_ns = clock_monotonic_ns();
	if (!o->first)
		o->counters.waits_since_ns = q->since_ns;
	*o->last = q;
	o->last = &q->next;
	o->counters.samples_queued += b->samples;
	o->counters.queue_bytes += b->bytes;
}

static int commit_without_rows(struct sink_worker *o, const struct batch *b, struct err *err)
{
	struct batch whole;
	int r;

	batch_without_rows(b, &whole);
	r = o->sink.commit(o->sink.data, &whole, err);
	batch_without_rows_done(b, &whole);
	return r;
}

/* Records the batch beside its source. It has ack tokens of one source only, and a replay still has its record. */
static void record(struct collector *c, struct open_batch *b)
{
	struct source *s = batch_record_is_needed(b) ? b->shares[0].source : NULL;
	_cleanup_(buf_done) struct buf bytes = { 0 };

	if (!s || !s->ops->record || b->replayed)
		return;
	lock_take(&c->record_lock);
	if (!b->recorded) {
		buf_init(&bytes);
		batch_record_put(&bytes, b);
		b->recorded = s->ops->record(s, b->batch.id, &bytes);
	}
	lock_release(&c->record_lock);
}

static int commit(struct sink_worker *o, struct open_batch *b, struct err *err)
{
	struct journal *j = o->collector->journal;
	int r = j ? journal_begin(j, b, err) : 0;

	if (r >= 0)
		record(o->collector, b);

	if (r < 0 || !b->batch.count)	/* one without samples only carries ack tokens */
		return r;
	return o->sink.reads_rows ? o->sink.commit(o->sink.data, &b->batch, err) : commit_without_rows(o, &b->batch, err);
}

/* Ends a commit, successful or not. */
static void committed(struct sink_worker *o)
{
	assert(o->committing);
	o->committing = false;
	pthread_cond_broadcast(&o->collector->changed);
}

/* Commits the first batch of the queue. The lock is released during the commit. */
static int commit_first(struct sink_worker *o)
{
	struct collector *c = o->collector;
	struct queued_batch *q = o->first;
	struct err err = { 0 };
	int r;

	assert(!o->committing);
	o->committing = true;
	lock_release(&c->lock);
	r = commit(o, q->batch, &err);
	note_result(o, r, &err);
	lock_take(&c->lock);
	committed(o);
	collector_update_failing(c);
	if (r < 0 && !is_permanent(r))
		return r;

	o->progress_ns = clock_monotonic_ns();
	assert(o->first == q);		/* other threads only append */
	o->first = q->next;
	if (!o->first)
		o->last = &o->first;
	o->counters.waits_since_ns = o->first ? o->first->since_ns : 0;
	count_batch(o, q->batch, r);
	collector_batch_finished(c, q->batch);
	pthread_cond_broadcast(&c->changed);
	free(q);
	return 0;
}

/* --- Runs --- */

void sink_worker_put_run(struct sink_worker *o, struct open_run *r)
{
	struct queued_run *q = xcalloc(1, sizeof(*q));

	assert(lock_is_held(&o->collector->lock) && o->sink.commit_runs && !*o->last_run);
	o->collector->paused = false;
	q->run = r;
	*o->last_run = q;
	o->last_run = &q->next;
	o->counters.runs_queued++;
	o->counters.queue_bytes += r->size;
}

/* Collects as many runs as fit into one commit, but at least one. */
static size_t take_runs(struct sink_worker *o, struct open_run **ret)
{
	uint64_t bytes = 0;
	size_t n = 0;

	for (struct queued_run *q = o->first_run; q && n < RUNS_AT_ONCE && bytes < RUNS_AT_ONCE_BYTES; q = q->next) {
		ret[n++] = q->run;
		bytes += q->run->size;
	}
	return n;
}

static void count_run(struct sink_worker *o, struct open_run *r, int result)
{
	struct sink_counters *n = &o->counters;

	assert(n->runs_queued > 0 && n->queue_bytes >= r->size);
	n->runs_stored += result == 1;
	n->runs_deduplicated += result == 0;
	n->runs_dropped_conflict += result == -EEXIST;
	n->runs_dropped_rejected += result < 0 && result != -EEXIST;
	n->runs_queued--;
	n->queue_bytes -= r->size;
	/* A run that one sink stored is stored. Otherwise keep the most specific result. */
	if (result == 1 || r->best == -EINVAL || (result == 0 && r->best != 1))
		r->best = result;
	if (result >= 0) {
		n->last_commit_ns = clock_wall_ns();
		o->collector->counters.last_commit_ns = n->last_commit_ns;
	}
	if (result == -EEXIST && !o->logged_conflict)
		log_warning("a run was dropped because another one has its source and id; further ones are counted, "
			    "not logged");
	o->logged_conflict |= result == -EEXIST;
}

static void note_runs_result(struct sink_worker *o, int r, const struct err *err)
{
	struct collector_counters *n = &o->collector->counters;
	bool failing = r < 0 && !is_permanent(r);
	bool was_failing = atomic_exchange(&o->counters.runs_failing, failing);

	if (r < 0) {
		o->counters.commit_failures++;
		n->commit_failures++;
	}
	if (failing && !was_failing)
		log_warning("cannot store runs, keeping them in memory: %s", err->text);
	if (!failing && was_failing)
		log_info("storing runs again");
}

/* Commits the first runs of the queue. The lock is released during the commit. */
static int commit_first_runs(struct sink_worker *o)
{
	struct strobe_wire_message messages[RUNS_AT_ONCE];
	struct collector_run runs[RUNS_AT_ONCE];
	struct open_run *open[RUNS_AT_ONCE];
	struct collector *c = o->collector;
	size_t n = take_runs(o, open);
	struct err err = { 0 };
	int r;

	assert(!o->committing && n > 0 && n <= RUNS_AT_ONCE);
	o->committing = true;
	lock_release(&c->lock);
	for (size_t i = 0; i < n; i++) {
		enum strobe_wire_error e = strobe_wire_parse(open[i]->bytes, open[i]->size, &messages[i]);

		assert(e == STROBE_WIRE_OK);
		(void)e;
		runs[i] = (struct collector_run){ &messages[i], open[i]->time_ns, -EINVAL };
	}
	r = o->sink.commit_runs(o->sink.data, runs, n, &err);
	note_runs_result(o, r, &err);
	lock_take(&c->lock);
	committed(o);
	collector_update_failing(c);
	if (r < 0 && !is_permanent(r))
		return r;

	o->progress_ns = clock_monotonic_ns();
	for (size_t i = 0; i < n; i++) {
		struct queued_run *q = o->first_run;

		assert(q && q->run == open[i]);
		o->first_run = q->next;
		free(q);
		count_run(o, open[i], r < 0 ? r : runs[i].result);
		collector_run_finished(c, open[i]);
	}
	if (!o->first_run)
		o->last_run = &o->first_run;
	pthread_cond_broadcast(&c->changed);
	return 0;
}

/* --- The thread --- */

static void keep_ids(struct sink_worker *o)
{
	struct journal *j = o->collector->journal;
	_cleanup_(freep) uint64_t *ids = NULL;
	size_t count = 0;

	if (j)
		ids = journal_open_ids(j, &count);
	o->sink.keep_ids(o->sink.data, ids, count);
}

static void maintain(struct sink_worker *o)
{
	lock_release(&o->collector->lock);
	if (o->sink.keep_ids)
		keep_ids(o);
	if (o->sink.maintain)
		o->sink.maintain(o->sink.data);
	lock_take(&o->collector->lock);
	o->maintained_ns = clock_monotonic_ns();
}

static void check_space(struct sink_worker *o)
{
	bool is_low_on_space;

	if (!o->sink.is_low_on_space)
		return;
	lock_release(&o->collector->lock);
	is_low_on_space = o->sink.is_low_on_space(o->sink.data);
	lock_take(&o->collector->lock);
	o->is_low_on_space = is_low_on_space;
}

/* Returns when maintenance is due next, 0: never. */
static int64_t next_maintenance(const struct sink_worker *o)
{
	bool is_urgent = o->is_low_on_space || o->counters.failing || o->counters.runs_failing;

	if ((!o->sink.maintain && !o->sink.keep_ids) || o->collector->flushing)
		return 0;
	return o->maintained_ns + (is_urgent ? MAINTAIN_URGENT_NS : MAINTAIN_NS);
}

static bool is_maintenance_due(const struct sink_worker *o)
{
	int64_t at = next_maintenance(o);

	return at && clock_monotonic_ns() >= at;
}

/* Waits after a failure until it is time to retry, or until a flush or the end begins. */
static void wait_to_retry(struct collector *c)
{
	int64_t until = clock_monotonic_ns() + (c->flushing ? FLUSH_RETRY_NS : RETRY_NS);
	bool flushing = c->flushing;

	while (!c->stopping && c->flushing == flushing && clock_monotonic_ns() < until)
		collector_wait(c, until);
}

bool sink_worker_is_busy(const struct sink_worker *o)
{
	return o->first || o->first_run;
}

/* A removed sink that is merely slow is not given up. */
static bool has_drain_stalled(const struct sink_worker *o)
{
	return o->removed && clock_monotonic_ns() - o->progress_ns >= o->collector->options.drain_ns;
}

static bool is_drained(const struct sink_worker *o)
{
	return o->removed && (o->given_up || !sink_worker_is_busy(o));
}

static void *empty_queues(void *data)
{
	struct sink_worker *o = data;
	struct collector *c = o->collector;

	lock_take(&c->lock);
	while (!c->stopping && !o->ending) {
		if (is_drained(o)) {
			collector_wake(c);
			collector_wait(c, 0);
		/* Checked before the queue, which is never empty on a full disk. */
		} else if (is_maintenance_due(o)) {
			maintain(o);
		} else if ((o->first || o->first_run) && !c->paused) {
			/* Batches and runs take turns, so that a failure of one does not block the other. */
			int batch = o->first ? commit_first(o) : 0;
			int runs = o->first_run && !c->paused ? commit_first_runs(o) : 0;

			if (batch >= 0 && runs >= 0)
				check_space(o);
			else if (has_drain_stalled(o))
				o->given_up = true;
			else
				wait_to_retry(c);
		} else {
			collector_wait(c, next_maintenance(o));
		}
	}
	lock_release(&c->lock);
	return NULL;
}

int sink_worker_start(struct sink_worker *o, struct collector *c, const struct collector_sink *sink, struct err *err)
{
	int r;

	assert(sink->commit);
	o->collector = c;
	o->sink = *sink;
	o->url = xstrdup(sink->url ? sink->url : "");
	o->last = &o->first;
	o->last_run = &o->first_run;
	o->maintained_ns = clock_monotonic_ns() + MAINTAIN_FIRST_NS - MAINTAIN_NS;
	r = pthread_create(&o->thread, NULL, empty_queues, o);
	if (r) {
		sink_worker_done(o);
		return err_set(err, -r, "cannot start the thread that stores samples: %s", strerror(r));
	}
	o->has_thread = true;
	return 0;
}

void sink_worker_join(struct sink_worker *o)
{
	assert(!o->has_thread || !lock_is_held(&o->collector->lock));	/* its thread takes the lock */
	if (o->has_thread)
		pthread_join(o->thread, NULL);
	o->has_thread = false;
}

bool sink_worker_end_if_drained(struct sink_worker *o)
{
	if (!o->has_thread || !o->removed)
		return false;
	lock_take(&o->collector->lock);
	o->ending = is_drained(o);
	if (o->ending)
		pthread_cond_broadcast(&o->collector->changed);
	lock_release(&o->collector->lock);
	if (o->ending)
		sink_worker_join(o);
	return o->ending;
}

static void free_if_over(struct open_batch *b)
{
	if (b->closed && !b->sinks_left && !b->runs_left)
		open_batch_free(b);
}

static void free_run(struct open_run *r)
{
	if (r->batch) {
		assert(r->batch->runs_left > 0);
		r->batch->runs_left--;
		free_if_over(r->batch);
	}
	free(r);
}

/* Passes the batch on if no sink has it: active sinks may have dropped it while their queues were full, or may have
 * been added since. */
static void give_up_batch(struct sink_worker *o, struct open_batch *b)
{
	struct collector *c = o->collector;
	bool no_sink_has_it = b->sinks_left == 1 && !b->kept && !b->rejected && c->sink_count;

	o->left.samples += b->samples;
	if (no_sink_has_it) {
		o->left.samples_passed_on += b->samples;
		b->sinks_left = 0;
		collector_hand_to_sinks(c, b);
	} else {
		c->counters.removed_sink_samples += b->samples;
		collector_batch_finished(c, b);
	}
}

static void give_up_run(struct sink_worker *o, struct open_run *r)
{
	struct collector *c = o->collector;

	o->left.runs++;
	if (r->sinks_left == 1 && r->best == -EINVAL) {
		r->sinks_left = 0;
		o->left.runs_passed_on += collector_hand_run(c, r);
	} else {
		c->counters.removed_sink_runs++;
		collector_run_finished(c, r);
	}
}

void sink_worker_give_up_queue(struct sink_worker *o)
{
	struct collector *c = o->collector;

	assert(o->removed && !o->has_thread);
	lock_take(&c->lock);
	while (o->first) {
		struct queued_batch *q = o->first;

		o->first = q->next;
		give_up_batch(o, q->batch);
		free(q);
	}
	while (o->first_run) {
		struct queued_run *q = o->first_run;

		o->first_run = q->next;
		give_up_run(o, q->run);
		free(q);
	}
	pthread_cond_broadcast(&c->changed);
	lock_release(&c->lock);
}

void sink_worker_done(struct sink_worker *o)
{
	assert(!o->has_thread);
	while (o->first) {
		struct queued_batch *q = o->first;

		o->first = q->next;
		assert(q->batch->sinks_left > 0);
		o->left.samples += q->batch->samples;
		q->batch->sinks_left--;
		free_if_over(q->batch);
		free(q);
	}
	while (o->first_run) {
		struct queued_run *q = o->first_run;

		o->first_run = q->next;
		o->left.runs++;
		if (--q->run->sinks_left == 0)
			free_run(q->run);
		free(q);
	}
	sink_why(&o->counters, o->left.why, sizeof(o->left.why));
	if (o->closed)
		o->closed(o->closed_data, &o->left);
	free(o->url);
	memset(o, 0, sizeof(*o));
}
