/* sampler.c: the life of a sampled request or unit. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "sampler.h"

#include "delivery.h"
#include "label_sets.h"
#include "message.h"
#include "php_strobe.h"
#include "random.h"
#include "request_labels.h"
#include "socket_path.h"
#include "stack.h"
#include "timers.h"
#include "trie.h"

#include "SAPI.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_EVERY_NS 1000000000LL
#define REPORT_EVERY_NS 10000000000LL		/* losses that no samples take along */

/* Written by the thread they belong to, read by any. */
struct counters {
	_Atomic uint64_t requests, samples, interrupts, overhead_ns, no_thread, prevented, messages;
	_Atomic uint64_t times[SAMPLER_TIMES], lost[STROBE_DROP_REASONS];
};

/* One per PHP thread that has been sampled. Those of threads that have ended wait for another; none is freed before
 * the module ends, so that anybody may walk the list at any time. */
struct sampler {
	struct sampler *next;
	_Atomic bool used;

	bool active;			/* samples are taken */
	unsigned holders;		/* the request and its units, as far as they are sampled */
	bool prevented;			/* it should be, and cannot */
	int64_t began_ns;		/* then, by its clock: when the first sample would have been due, less a period */
	int64_t began_wall_ns;		/* CLOCK_MONOTONIC: when the request did */
	uint64_t before;		/* samples of requests before */
	int64_t reported_ns;		/* CLOCK_MONOTONIC: when losses were told without samples; 0: never */
	struct strobe_timer timer;
	bool cpu;
	int64_t period_ns;
	size_t max_depth;
	int64_t flush_ns;		/* CLOCK_MONOTONIC: when to send next */
	uint64_t start_ns;		/* since 1970: what the trie covers begins here */

	pid_t pid;
	unsigned forks;			/* as `forks` below, when it was looked at last */
	struct random random;

	struct stack stack;
	struct trie trie;
	struct label_sets *sets;
	uint32_t labels_version;	/* of STROBE_G, when `root` was found */
	unsigned root;			/* of the trie, for the labels that hold; LABEL_SETS: not known */
	struct message_scratch *scratch;
	struct request_labels labels;	/* of the request, without those that the program has given */
	struct sender sender;
	struct counters counters;
};

ZEND_TLS struct sampler *own;

static _Atomic(struct sampler *) samplers;
static _Atomic unsigned forks;			/* between the first process and this one */
static _Atomic uint64_t no_memory;
static bool up;					/* the module is */

_Static_assert(LABEL_SETS == TRIE_ROOTS, "a tree for each set of labels");

static void count(_Atomic uint64_t *counter, uint64_t n)
{
	uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, before + n, memory_order_relaxed);
}

static int64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --- samples */

/* What the sender has counted, for those who look from another thread. */
static void publish_sender(struct sampler *s)
{
	atomic_store_explicit(&s->counters.messages, s->sender.messages, memory_order_relaxed);
	for (unsigned reason = 0; reason < STROBE_DROP_REASONS; reason++)
		atomic_store_explicit(&s->counters.lost[reason], s->sender.lost[reason], memory_order_relaxed);
}

static void forget_samples(struct sampler *s)
{
	trie_empty(&s->trie);
	label_sets_empty(s->sets);
	s->root = LABEL_SETS;
}

static void send_samples(struct sampler *s)
{
	char path[108];
	struct message_info info = {
		.start_ns = s->start_ns,
		.end_ns = (uint64_t)wall_ns(),
		.period_ns = (uint64_t)s->period_ns,
		.cpu_clock = s->cpu,
		.pid = (uint32_t)s->pid,
	};

	if (info.start_ns > info.end_ns)	/* the clock was set back */
		info.start_ns = info.end_ns;
	if (s->trie.samples) {
		if (socket_path(path, sizeof(path)))
			message_send(s->scratch, &s->sender, path, &s->trie, &s->labels, s->sets, &info);
		else
			sender_lost(&s->sender, STROBE_DROP_NO_DAEMON, s->trie.samples);
		forget_samples(s);
		publish_sender(s);
	}
	s->start_ns = info.end_ns;
	s->flush_ns = timer_now(TIMER_WALL) + FLUSH_EVERY_NS;
}

static bool has_unreported(const struct sender *s)
{
	for (unsigned reason = 0; reason < STROBE_DROP_REASONS; reason++)
		if (s->unreported[reason])
			return true;
	return false;
}

/* Losses travel with samples. Where there are none, because they cannot be taken or requests are short, a message
 * without samples tells them, not often. */
static void report_losses(struct sampler *s, bool last)
{
	char path[108];
	struct message_info info = {
		.start_ns = (uint64_t)wall_ns(),
		.period_ns = (uint64_t)s->period_ns,
		.cpu_clock = s->cpu,
		.pid = (uint32_t)s->pid,
	};
	int64_t now = timer_now(TIMER_WALL);

	if (s->trie.samples || !has_unreported(&s->sender) ||
	    (!last && s->reported_ns && now - s->reported_ns < REPORT_EVERY_NS))
		return;
	s->reported_ns = now;
	info.end_ns = info.start_ns;
	if (!socket_path(path, sizeof(path)) || (!s->scratch && !(s->scratch = message_map())))
		return;
	message_send_losses(s->scratch, &s->sender, path, &s->labels, &info);
	publish_sender(s);
}

/* Quarter octaves: bucket 4k + j holds times from 2^k (1 + j/4) ns. */
static void count_time(struct counters *c, uint64_t ns)
{
	unsigned octave = ns ? 63 - (unsigned)__builtin_clzll(ns) : 0;
	unsigned quarter = octave >= 2 ? (unsigned)(ns >> (octave - 2)) & 3 : 0;
	unsigned bucket = 4 * octave + quarter;

	count(&c->interrupts, 1);
	count(&c->overhead_ns, ns);
	count(&c->times[bucket < SAMPLER_TIMES ? bucket : SAMPLER_TIMES - 1], 1);
}

static zend_never_inline void find_root(struct sampler *s)
{
	s->root = label_sets_number(s->sets, STROBE_G(own_labels));
	if (s->root == LABEL_SETS) {
		send_samples(s);
		s->root = label_sets_number(s->sets, STROBE_G(own_labels));
	}
	s->labels_version = STROBE_G(labels_version);
}

/* The root of the trie for the labels that hold now. */
static inline unsigned current_root(struct sampler *s)
{
	if (UNEXPECTED(s->root == LABEL_SETS || s->labels_version != STROBE_G(labels_version)))
		find_root(s);
	return s->root;
}

static void take_sample(struct strobe_timer *timer, uint64_t periods, const struct moment *m)
{
	struct sampler *s = timer->owner;
	int64_t started, ended;
	unsigned root;

	if (STROBE_G(unsampled))
		return;
	started = timer_now(TIMER_WALL);
	root = current_root(s);
	stack_collect(&s->stack, m, s->max_depth, trie_knows_root_half(&s->trie, root));
	if (!trie_has_room(&s->trie, s->stack.depth)) {
		bool rootless = s->stack.rootless;

		send_samples(s);
		root = current_root(s);
		if (rootless)
			stack_collect(&s->stack, m, s->max_depth, false);
	}
	if (s->stack.depth) {
		trie_add(&s->trie, root, &s->stack, periods > UINT32_MAX ? UINT32_MAX : (uint32_t)periods);
		count(&s->counters.samples, periods);
	}
	ended = timer_now(TIMER_WALL);
	count_time(&s->counters, (uint64_t)(ended - started));
	if (ended >= s->flush_ns && !m->more)
		send_samples(s);
}

/* The first sample comes after a random share of a period: short requests are then seen as often as they deserve. */
static int64_t first_sample(struct sampler *s)
{
	return (int64_t)(random_share(&s->random) * (double)s->period_ns);
}

static enum timer_clock clock_of(const struct sampler *s)
{
	return s->cpu ? TIMER_CPU : TIMER_WALL;
}

static void begin(struct sampler *s)
{
	int64_t first = first_sample(s);

	s->start_ns = (uint64_t)wall_ns();
	s->flush_ns = timer_now(TIMER_WALL) + FLUSH_EVERY_NS;
	s->active = timer_start(&s->timer, clock_of(s), first, s->period_ns) == 0;
	if (!s->active)
		count(&s->counters.no_thread, 1);
}

/* --- requests that cannot be sampled */

const char *sampler_prevented(void)
{
	return delivery_reason();
}

/* What would have been sampled is lost, and is counted when the request ends: then it is known how much that is. */
static void begin_prevented(struct sampler *s)
{
	s->prevented = true;
	count(&s->counters.prevented, 1);
	s->began_ns = timer_now(clock_of(s)) + first_sample(s) - s->period_ns;
}

static void end_prevented(struct sampler *s)
{
	int64_t ns = timer_now(clock_of(s)) - s->began_ns;

	s->prevented = false;
	if (ns >= s->period_ns)
		sender_lost(&s->sender, STROBE_DROP_JIT, (uint64_t)(ns / s->period_ns));
	publish_sender(s);
}

void sampler_lost(int reason, uint64_t samples)
{
	if (!own)
		return;
	sender_lost(&own->sender, reason, samples);
	publish_sender(own);
}

/* --- one per thread */

/* Memory for the deepest stack of any setting, mapped once; pages that are not touched cost nothing. */
#define STACK_BYTES ((STROBE_MAX_DEPTH + 1) * sizeof(zend_function *))

static bool map_stack(struct stack *s)
{
	void *p;

	if (s->functions)
		return true;
	p = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return false;
	s->functions = p;
	return true;
}

static void unmap_stack(struct stack *s)
{
	if (s->functions)
		munmap(s->functions, STACK_BYTES);
	s->functions = NULL;
}

static bool map_all(struct sampler *s)
{
	return trie_map(&s->trie) && map_stack(&s->stack) && (s->sets || (s->sets = label_sets_map())) &&
	       (s->scratch || (s->scratch = message_map()));
}

/* Gives everything back but the counts. */
static void leave(struct sampler *s)
{
	sender_close(&s->sender);
	unmap_stack(&s->stack);
	trie_unmap(&s->trie);
	s->sets = label_sets_unmap(s->sets);
	s->root = LABEL_SETS;
	s->scratch = message_unmap(s->scratch);
	s->active = false;
	s->holders = 0;
	atomic_store(&s->used, false);
}

static struct sampler *reuse(void)
{
	for (struct sampler *s = atomic_load(&samplers); s; s = s->next)
		if (!atomic_load(&s->used) && !atomic_exchange(&s->used, true))
			return s;
	return NULL;
}

static struct sampler *join(void)
{
	struct sampler *s = reuse();

	if (!s) {
		if (!(s = calloc(1, sizeof(*s))))
			return NULL;
		sender_init(&s->sender);
		atomic_store(&s->used, true);
		s->next = atomic_load(&samplers);
		while (!atomic_compare_exchange_weak(&samplers, &s->next, s))
			;
	}
	s->timer = (struct strobe_timer){ .expired = take_sample, .owner = s, .passive = true };
	s->pid = getpid();
	s->forks = atomic_load(&forks);
	s->random = (struct random){ 0 };
	return s;
}

/* --- forks */

static void count_fork(void)
{
	atomic_fetch_add(&forks, 1);
}

/* A forked child has its parent's samples, its connections and its random numbers, and one thread. */
static void become_child(struct sampler *s)
{
	s->forks = atomic_load(&forks);
	s->pid = getpid();
	s->random = (struct random){ 0 };
	s->prevented = false;
	s->reported_ns = 0;
	sender_close(&s->sender);
	memset(s->sender.unreported, 0, sizeof(s->sender.unreported));
	forget_samples(s);
	for (struct sampler *other = atomic_load(&samplers); other; other = other->next)
		if (other != s && atomic_load(&other->used))
			leave(other);
}

static bool is_child(const struct sampler *s)
{
	return s->forks != atomic_load_explicit(&forks, memory_order_relaxed);
}

/* At the child's first safe point. */
static void forked(void)
{
	if (!own || !is_child(own))
		return;
	become_child(own);
	if (own->active)
		begin(own);
}

/* --- requests */

/* opcache.preload runs as a request too, in FPM's master: it has no request behind it, and no thread may be there. */
static bool is_preloading(void)
{
	return SG(server_context) == NULL && strcmp(sapi_module.name, "fpm-fcgi") == 0;
}

/* Of the thread: also without a sampler. */
ZEND_TLS enum sampler_state state;

/* This thread's, made if it is the first time; NULL without memory. */
static struct sampler *get(void)
{
	if (!own && !(own = STROBE_G(sampler) = join()))
		atomic_fetch_add(&no_memory, 1);
	else if (is_child(own))
		become_child(own);
	return own;
}

/* Whether what begins now is to be sampled (SAMPLER_SAMPLED), or why not. */
static enum sampler_state draw(void)
{
	if (is_preloading())
		return SAMPLER_PRELOADING;
	if (!STROBE_G(sample))
		return SAMPLER_OFF;
	if (!get())
		return SAMPLER_NO_MEMORY;
	if (STROBE_G(request_rate) < 1 && random_share(&own->random) >= STROBE_G(request_rate))
		return SAMPLER_NOT_CHOSEN;
	return SAMPLER_SAMPLED;
}

void sampler_catch_up(void)
{
	if (own && own->active)
		timer_catch_up(&own->timer);
}

bool sampler_draw(void)
{
	return draw() == SAMPLER_SAMPLED;
}

static enum sampler_state start(struct sampler *s)
{
	s->root = LABEL_SETS;
	s->holders = 0;
	s->cpu = STROBE_G(cpu_clock);
	s->period_ns = (int64_t)(STROBE_G(period) * 1e9);
	s->max_depth = (size_t)STROBE_G(max_depth);
	s->before = s->counters.samples;
	s->began_wall_ns = timer_now(TIMER_WALL);
	request_labels_collect(&s->labels);
	if (sampler_prevented()) {
		begin_prevented(s);
		return SAMPLER_PREVENTED;
	}
	if (!map_all(s)) {
		atomic_fetch_add(&no_memory, 1);
		return SAMPLER_NO_MEMORY;
	}
	begin(s);
	return s->active ? SAMPLER_SAMPLED : SAMPLER_NO_THREAD;
}

static enum sampler_state hold(void)
{
	enum sampler_state r = SAMPLER_SAMPLED;
	struct sampler *s;

	if (!STROBE_G(sample))
		return SAMPLER_OFF;
	if (is_preloading())
		return SAMPLER_PRELOADING;
	if (!(s = get()))
		return SAMPLER_NO_MEMORY;
	if (s->prevented)
		return SAMPLER_PREVENTED;
	if (!s->active)
		r = start(s);
	if (r != SAMPLER_SAMPLED)
		return r;
	s->holders++;
	count(&s->counters.requests, 1);
	return r;
}

bool sampler_hold(void)
{
	return hold() == SAMPLER_SAMPLED;
}

void sampler_release(void)
{
	struct sampler *s = own;

	if (!s || !s->active)
		return;
	sampler_catch_up();
	if (--s->holders == 0) {
		s->active = false;
		timer_stop(&s->timer);
	}
	sampler_flush();
}

void sampler_flush(void)
{
	struct sampler *s = own;

	if (!s)
		return;
	if (is_child(s))
		become_child(s);
	sampler_catch_up();
	send_samples(s);
}

void sampler_request_start(void)
{
	state = draw();
	if (state == SAMPLER_SAMPLED)
		state = hold();
	STROBE_G(unsampled) = state != SAMPLER_SAMPLED;
}

void sampler_request_end(void)
{
	struct sampler *s = own;
	bool had_samples;

	state = SAMPLER_NO_REQUEST;
	if (!s || (!s->active && !s->prevented))
		return;
	if (is_child(s))
		become_child(s);
	if (s->prevented)
		end_prevented(s);
	had_samples = s->trie.samples > 0;
	if (s->active) {
		s->holders = 1;
		sampler_release();
	}
	if (!had_samples)
		report_losses(s, false);
}

/* --- the life of the process */

void sampler_startup(void)
{
	up = true;
	request_labels_startup();
	pthread_atfork(NULL, NULL, count_fork);
	timers_startup(forked);
}

/* Those of threads that outlive the module are gone already. */
void sampler_thread_end(struct sampler *s)
{
	if (!s || !up)
		return;
	if (s == own)
		own = NULL;
	leave(s);
}

void sampler_shutdown(void)
{
	struct sampler *s = atomic_exchange(&samplers, NULL), *next;

	/* What this process has not told yet, nobody will. */
	if (own && !is_child(own) && own->pid == getpid())
		report_losses(own, true);
	up = false;
	timers_shutdown();
	own = NULL;
	for (; s; s = next) {
		next = s->next;
		leave(s);
		free(s);
	}
}

/* --- for people */

/* The timer stops when a program switches the JIT on. */
static bool was_stopped(void)
{
	return own && own->active && !own->timer.running;
}

bool sampler_active(void)
{
	return own && own->active && !was_stopped() && !STROBE_G(unsampled);
}

enum sampler_state sampler_state(void)
{
	if (was_stopped())
		return SAMPLER_PREVENTED;
	if (sampler_active())
		return SAMPLER_SAMPLED;
	if (state != SAMPLER_SAMPLED)
		return state;
	return STROBE_G(unsampled) ? SAMPLER_NOT_CHOSEN : SAMPLER_NO_THREAD;
}

const struct sender *sampler_sender(void)
{
	return own ? &own->sender : NULL;
}

uint64_t sampler_request_samples(double *ret_seconds)
{
	*ret_seconds = sampler_active() ? (double)(timer_now(TIMER_WALL) - own->began_wall_ns) / 1e9 : 0;
	return sampler_active() ? own->counters.samples - own->before : 0;
}

static void sum(uint64_t *total, _Atomic uint64_t *counter)
{
	*total += atomic_load_explicit(counter, memory_order_relaxed);
}

void sampler_stats(struct sampler_stats *ret)
{
	sampler_catch_up();
	*ret = (struct sampler_stats){ .no_memory = atomic_load(&no_memory) };
	for (struct sampler *s = atomic_load(&samplers); s; s = s->next) {
		struct counters *c = &s->counters;

		sum(&ret->requests, &c->requests);
		sum(&ret->samples, &c->samples);
		sum(&ret->interrupts, &c->interrupts);
		sum(&ret->overhead_ns, &c->overhead_ns);
		sum(&ret->no_thread, &c->no_thread);
		sum(&ret->prevented, &c->prevented);
		sum(&ret->messages, &c->messages);
		for (unsigned i = 0; i < SAMPLER_TIMES; i++)
			sum(&ret->times[i], &c->times[i]);
		for (unsigned reason = 0; reason < STROBE_DROP_REASONS; reason++)
			sum(&ret->lost[reason], &c->lost[reason]);
	}
}

uint64_t sampler_time_share(const struct sampler_stats *stats, double share)
{
	uint64_t wanted = (uint64_t)((double)stats->interrupts * share), seen = 0;

	for (unsigned bucket = 0; bucket < SAMPLER_TIMES; bucket++) {
		seen += stats->times[bucket];
		if (seen > wanted)
			return ((uint64_t)(4 + bucket % 4) << (bucket / 4)) / 4;
	}
	return 0;
}
