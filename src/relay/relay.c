/* relay.c: the sink, and the thread that forwards. */
#include "relay.h"

#include "clock.h"
#include "forward.h"
#include "lock.h"
#include "log.h"
#include "mem.h"
#include "redis_login.h"
#include "relay_url.h"
#include "window.h"
#include "wire_profile.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#define ENTRIES_BYTES	((size_t)4 << 20)	/* in one command; one entry may be larger */
#define BODY_KEPT	((size_t)1 << 20)	/* memory of a body that is kept for the next one */
#define RETRY_MIN_NS	(NS_PER_SECOND / 2)
#define RETRY_MAX_NS	(30 * NS_PER_SECOND)
#define CLOSE_RETRY_NS	NS_PER_SECOND
#define SYNC_NS		(10 * NS_PER_SECOND)
#define DRAIN_NS	(3 * NS_PER_SECOND)
#define RUN_LEVEL	3			/* compression level of zstd */
#define LOGGED_MAX	8			/* kinds of failure that are logged until forwarding works again */
#define SYNC_ENTRIES	64u			/* plus those of one command in flight, less than the script
						 * remembers */

struct relay {
	struct relay_url url;
	char *directory;
	struct relay_counters counters;

	struct lock lock;		/* guards the members below; only commit and the thread use spool and window */
	pthread_cond_t changed;
	struct window *window;
	int64_t close_after_ns;		/* when to retry closing a window */
	bool close_failed;
	bool stopping, ended;
	char state[1024];

	struct spool *spool;

	/* the thread's */
	pthread_t thread;
	bool has_thread;
	struct forward *forward;
	struct spool_entry entries[FORWARD_ENTRIES];
	int64_t try_after_ns, retry_ns, synced_ns;
	size_t unsynced;		/* entries settled since the last sync */
	int logged[LOGGED_MAX];		/* codes of failures */
	size_t logged_count;
	uint64_t renumbered_logged;
	int64_t next_renumbered_log_ns, next_rejected_log_ns;
	unsigned one_by_one;		/* number of commands to send with one entry each */
	uint64_t random;
};

/* --- State --- */

static void set_state(struct relay *r, bool is_up, const char *text)
{
	lock_take(&r->lock);
	r->counters.is_up = is_up;
	snprintf(r->state, sizeof(r->state), "%s", text);
	lock_release(&r->lock);
}

/* Each kind of failure is logged once until entries are forwarded again. */
static void log_failure(struct relay *r, const struct err *err)
{
	for (size_t i = 0; i < r->logged_count; i++)
		if (r->logged[i] == err->code)
			return;
	if (r->logged_count == LOGGED_MAX)
		return;
	r->logged[r->logged_count++] = err->code;
	log_warning("collected data is queued in '%s': %s", r->directory, err->text);
}

static void log_success(struct relay *r)
{
	if (r->logged_count)
		log_info("forwarding to %s again; %llu %s waiting", r->url.redis.shown, (unsigned long long)r->counters.spool.records_waiting,
			 r->counters.spool.records_waiting == 1 ? "entry is" : "entries are");
	r->logged_count = 0;
}

static void log_renumbered(struct relay *r)
{
	uint64_t n = r->counters.entries_renumbered - r->renumbered_logged;

	assert(r->counters.entries_renumbered >= r->renumbered_logged);
	if (!n || !log_is_due(&r->next_renumbered_log_ns))
		return;
	r->renumbered_logged += n;
	log_warning("this relay resumed from an earlier state, such as a VM snapshot: %llu of its entries had "
		    "numbers that %s had already used, and were "
		    "renumbered", (unsigned long long)n, r->url.redis.shown);
}

/* --- The window, under the lock --- */

static int64_t window_due_ns(const struct relay *r)
{
	int64_t began = window_began_ns(r->window), due = began ? began + r->url.window_ns : 0;

	assert(lock_is_held(&r->lock));
	if (window_is_empty(r->window))
		return INT64_MAX;
	return due > r->close_after_ns ? due : r->close_after_ns;
}

static void close_window(struct relay *r)
{
	struct err err = { 0 };

	assert(lock_is_held(&r->lock));
	if (window_close(r->window, &err) < 0) {
		if (!r->close_failed)
			log_warning("collected data cannot be prepared for %s: %s", r->url.redis.shown, err.text);
		r->close_failed = true;
		r->close_after_ns = clock_monotonic_ns() + CLOSE_RETRY_NS;
		return;
	}
	r->close_failed = false;
	r->close_after_ns = 0;
	pthread_cond_broadcast(&r->changed);
}

static void close_window_if_due(struct relay *r)
{
	if (clock_monotonic_ns() >= window_due_ns(r))
		close_window(r);
}

/* --- The sink --- */

static int commit(void *data, const struct batch *b, struct err *err)
{
	struct relay *r = data;
	bool was_empty;
	int e;

	lock_take(&r->lock);
	was_empty = window_is_empty(r->window);
	e = window_add(r->window, b, err);
	close_window_if_due(r);
	if (was_empty)
		pthread_cond_broadcast(&r->changed);
	lock_release(&r->lock);
	return e;
}

static void keep_ids(void *data, const uint64_t *ids, size_t count)
{
	struct relay *r = data;

	lock_take(&r->lock);
	window_keep_ids(r->window, ids, count);
	lock_release(&r->lock);
}

/* Each run is an entry of its own. */
static int commit_runs(void *data, struct collector_run *runs, size_t count, struct err *err)
{
	struct spool_piece *pieces = xcalloc(count + 1, sizeof(*pieces));
	struct relay *r = data;
	size_t n = 0;
	int e = 0;

	lock_take(&r->lock);
	for (; n < count && e >= 0; n++) {
		void *body = NULL;

		e = window_compress(r->window, wire_message_bytes(runs[n].message), runs[n].message->size, RUN_LEVEL, &body,
				    &pieces[n].size, err);
		pieces[n].body = body;
		pieces[n].runs = 1;
	}
	assert(e < 0 || n == count);
	if (e >= 0)
		e = spool_append(r->spool, pieces, count, spool_window(r->spool), true, err);
	pthread_cond_broadcast(&r->changed);
	lock_release(&r->lock);
	for (size_t i = 0; i < n; i++)
		free((void *)pieces[i].body);
	for (size_t i = 0; i < count && e >= 0; i++)
		runs[i].result = 1;
	free(pieces);
	return e;
}

/* --- The thread: forwarding --- */

static void shrink(struct spool_entry *e)
{
	if (e->body.capacity <= BODY_KEPT)
		return;
	buf_done(&e->body);
	buf_init(&e->body);
}

/* Takes the entries of one instance that fit into one command. An entry that does not fit is read again later. */
static size_t take_entries(struct relay *r)
{
	size_t most = r->one_by_one ? 1 : FORWARD_ENTRIES, n = 0, bytes = 0;

	while (n < most && bytes < ENTRIES_BYTES && spool_next(r->spool, &r->entries[n]) == 1) {
		bytes += r->entries[n].body.size;
		if (n && r->entries[n].instance != r->entries[0].instance)
			break;
		n++;
	}
	return n;
}

static void succeed(struct relay *r, size_t n, const enum forward_result *results)
{
	struct relay_counters *c = &r->counters;

	assert(n > 0 && n <= FORWARD_ENTRIES);
	for (size_t i = 0; i < n; i++) {
		if (results[i] == FORWARD_KNOWN) {
			c->entries_deduplicated++;
			spool_deduplicated(r->spool);
			continue;
		}
		c->entries_forwarded++;
		c->entries_renumbered += results[i] == FORWARD_RENUMBERED;
		c->bytes_forwarded += r->entries[i].body.size;
		spool_done(r->spool);
	}
	assert(c->entries_renumbered <= c->entries_forwarded);
	r->unsynced += n;
	c->last_forward_ns = clock_wall_ns();
	r->retry_ns = RETRY_MIN_NS;
	r->one_by_one -= r->one_by_one > 0;
	log_success(r);
	log_renumbered(r);
	set_state(r, true, "connected");
}

/* All relays lose their broker at the same moment, and must not all reconnect at the same moment. */
static int64_t wait_ns(struct relay *r)
{
	int64_t ns = r->retry_ns;

	assert(ns >= RETRY_MIN_NS && ns <= RETRY_MAX_NS);
	r->random = r->random * 6364136223846793005ULL + 1442695040888963407ULL;
	r->retry_ns = ns * 2 < RETRY_MAX_NS ? ns * 2 : RETRY_MAX_NS;
	return ns / 2 + (int64_t)((r->random >> 33) % (uint64_t)(ns / 2));
}

static void fail(struct relay *r, int e, const struct err *err)
{
	r->counters.failures++;
	if (e == -EMSGSIZE) {
		if (log_is_due(&r->next_rejected_log_ns))
			log_warning("dropping entries that Redis rejects: %s", err->text);
		spool_rejected(r->spool);
		r->retry_ns = RETRY_MIN_NS;
		return;
	}
	/* One of them may be too large, which must not hold up the others. */
	r->one_by_one = FORWARD_ENTRIES;
	r->try_after_ns = clock_monotonic_ns() + wait_ns(r);
	if (e == -ECANCELED)
		return;
	log_failure(r, err);
	set_state(r, false, err->text);
}

static void forward_some(struct relay *r)
{
	enum forward_result results[FORWARD_ENTRIES];
	struct err err = { 0 };
	size_t n = take_entries(r);
	int e;

	/* Sending may take ten seconds, and commits must not wait for it. */
	assert(!lock_is_held(&r->lock));
	if (!n)
		return;
	e = forward_send(r->forward, r->entries, n, results, &err);
	if (e < 0)
		fail(r, e, &err);
	else
		succeed(r, n, results);
	spool_rewind(r->spool);
	for (size_t i = 0; i < FORWARD_ENTRIES; i++)
		shrink(&r->entries[i]);
	if (r->unsynced >= SYNC_ENTRIES || clock_monotonic_ns() - r->synced_ns > SYNC_NS) {
		spool_sync(r->spool);
		r->unsynced = 0;
		r->synced_ns = clock_monotonic_ns();
	}
}

/* --- The thread: waiting, under the lock --- */

static void wait_until(struct relay *r, int64_t ns)
{
	struct timespec at = { ns / NS_PER_SECOND, ns % NS_PER_SECOND };

	lock_wait(&r->lock, &r->changed, ns == INT64_MAX ? NULL : &at);
}

static bool has_entries(const struct relay *r)
{
	return r->counters.spool.records_waiting > 0;
}

/* Waits until entries may be sent. False: at shutdown, where one failure is enough. */
static bool wait_for_entries(struct relay *r)
{
	assert(lock_is_held(&r->lock));
	for (;;) {
		int64_t due = window_due_ns(r), next = due;

		if (r->stopping)
			return has_entries(r) && !r->try_after_ns;
		if (clock_monotonic_ns() >= due) {
			close_window(r);
			continue;
		}
		if (has_entries(r)) {
			if (clock_monotonic_ns() >= r->try_after_ns) {
				r->try_after_ns = 0;
				return true;
			}
			next = r->try_after_ns < due ? r->try_after_ns : due;
		}
		wait_until(r, next);
	}
}

static void *forward_all(void *data)
{
	struct relay *r = data;

	lock_take(&r->lock);
	while (wait_for_entries(r)) {
		lock_release(&r->lock);
		forward_some(r);
		lock_take(&r->lock);
	}
	r->ended = true;
	pthread_cond_broadcast(&r->changed);
	lock_release(&r->lock);
	return NULL;
}

/* --- Lifecycle --- */

static int start(struct relay *r, struct err *err)
{
	int e = forward_new(&r->url.redis, r->url.key, r->url.host, &r->forward, err);

	if (e < 0)
		return e;
	e = pthread_create(&r->thread, NULL, forward_all, r);
	if (e)
		return err_set(err, -e, "cannot start the thread that forwards to %s: %s", r->url.redis.shown,
			       strerror(e));
	r->has_thread = true;
	return 0;
}

static void init(struct relay *r)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	lock_init(&r->lock);
	pthread_cond_init(&r->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	for (size_t i = 0; i < FORWARD_ENTRIES; i++)
		buf_init(&r->entries[i].body);
	r->retry_ns = RETRY_MIN_NS;
	r->random = (uint64_t)clock_wall_ns() ^ (uint64_t)getpid() << 40;
	set_state(r, true, "nothing to forward yet");
}

/* Renames the spool of an earlier version, whose name lacks the database. */
static void take_old_spool(const struct relay *r, const char *state_dir)
{
	_cleanup_(freep) char *old = NULL;

	if (!r->url.old_spool_name || access(r->directory, F_OK) == 0)
		return;
	old = xasprintf("%s/%s", state_dir, r->url.old_spool_name);
	if (rename(old, r->directory) == 0)
		log_info("renamed the spool '%s' to '%s', which names the database", old, r->directory);
	else if (errno != ENOENT)
		log_warning("cannot rename the spool '%s' to '%s': %s", old, r->directory, strerror(errno));
}

int relay_open(const char *url, const char *state_dir, bool takes_old_spool, struct relay **ret, struct err *err)
{
	struct relay *r = xcalloc(1, sizeof(*r));
	int e;

	init(r);
	e = relay_url_parse(url, &r->url, err);
	if (e >= 0)
		e = redis_login_check_files(&r->url.redis, err);
	if (e >= 0) {
		r->directory = xasprintf("%s/%s", state_dir, r->url.spool_name);
		r->counters.spool_limit = r->url.spool_bytes;
		if (takes_old_spool)
			take_old_spool(r, state_dir);
		e = spool_open(r->directory, r->url.spool_bytes, &r->counters.spool, &r->spool, err);
	}
	if (e >= 0)
		e = window_open(r->directory, r->url.host, r->spool, &r->counters.spool, &r->window, err);
	if (e >= 0)
		e = start(r, err);
	if (e < 0) {
		relay_close(r);
		return e;
	}
	*ret = r;
	return 0;
}

uint64_t relay_stop(struct relay *r)
{
	int64_t until = clock_monotonic_ns() + DRAIN_NS;

	assert(r->has_thread && !r->stopping);
	lock_take(&r->lock);
	close_window(r);
	r->stopping = true;
	pthread_cond_broadcast(&r->changed);
	while (!r->ended && clock_monotonic_ns() < until)
		wait_until(r, until);
	lock_release(&r->lock);
	forward_cancel(r->forward);
	pthread_join(r->thread, NULL);
	return r->counters.spool.records_waiting + !window_is_empty(r->window);
}

struct relay *relay_close(struct relay *r)
{
	if (!r)
		return NULL;
	if (r->has_thread && !r->stopping)
		relay_stop(r);
	assert(!r->has_thread || r->ended);
	assert(spool_counters_balance(&r->counters.spool));
	forward_free(r->forward);
	window_free(r->window);
	spool_close(r->spool);
	for (size_t i = 0; i < FORWARD_ENTRIES; i++)
		buf_done(&r->entries[i].body);
	relay_url_done(&r->url);
	pthread_cond_destroy(&r->changed);
	lock_done(&r->lock);
	free(r->directory);
	free(r);
	return NULL;
}

struct collector_sink relay_sink(struct relay *r)
{
	return (struct collector_sink){
		.url = r->url.redis.shown,
		.commit = commit,
		.commit_runs = commit_runs,
		.keep_ids = keep_ids,
		.data = r,
	};
}

const char *relay_url(const struct relay *r)
{
	return r->url.redis.shown;
}

const struct relay_counters *relay_counters(const struct relay *r)
{
	return &r->counters;
}

bool relay_state(struct relay *r, char *text, size_t size)
{
	bool up;

	lock_take(&r->lock);
	snprintf(text, size, "%s", r->state);
	up = r->counters.is_up;
	lock_release(&r->lock);
	return up;
}
