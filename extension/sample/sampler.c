/* sampler.c: the life of a sampled request. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "sampler.h"

#include "message.h"
#include "php_strobe.h"
#include "request_labels.h"
#include "settings.h"
#include "stack.h"
#include "ticker.h"
#include "trie.h"

#include "SAPI.h"
#include "zend_atomic.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_EVERY_NS 1000000000LL

/* One per process: without threads a process runs one request at a time. */
static struct {
	bool active;			/* a request is being sampled */
	bool cpu;
	int64_t period_ns;
	size_t max_depth;

	int64_t base_ns;		/* on the sampling clock: the k-th sample is due at base + k × period */
	int64_t done;			/* periods accounted for */
	int64_t flush_ns;		/* CLOCK_MONOTONIC: when to send next */
	uint64_t start_ns;		/* since 1970: what the trie covers begins here */

	pid_t pid;
	_Atomic bool forked;		/* this is a child that has not noticed yet */
	uint64_t random;

	struct stack stack;
	struct trie trie;
	struct request_labels labels;
	struct sender sender;
	struct sampler_stats stats;
} sampler;

static void (*next_interrupt)(zend_execute_data *execute_data);

static int64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* From 0 up to, but not including, 1. Our own generator (xorshift64*): the application's sequence of mt_rand must not
 * depend on whether it is sampled. */
static double random_share(void)
{
	if (!sampler.random && getrandom(&sampler.random, sizeof(sampler.random), GRND_NONBLOCK) < 0)
		sampler.random = (uint64_t)wall_ns() ^ (uint64_t)getpid() << 32;
	sampler.random |= sampler.random == 0;
	sampler.random ^= sampler.random >> 12;
	sampler.random ^= sampler.random << 25;
	sampler.random ^= sampler.random >> 27;
	return (double)((sampler.random * 0x2545f4914f6cdd1dull) >> 11) / 9007199254740992.0;
}

/* Runs in the ticker's thread. */
static void fire(void)
{
	zend_atomic_bool_store(&EG(vm_interrupt), true);
}

static void send_samples(void)
{
	char path[108];
	struct message_info info = {
		.start_ns = sampler.start_ns,
		.end_ns = (uint64_t)wall_ns(),
		.period_ns = (uint64_t)sampler.period_ns,
		.cpu_clock = sampler.cpu,
		.pid = (uint32_t)sampler.pid,
	};

	if (info.start_ns > info.end_ns)	/* the clock was set back */
		info.start_ns = info.end_ns;
	if (sampler.trie.samples) {
		request_labels_add_own(&sampler.labels);
		if (settings_socket(path, sizeof(path)))
			message_send(&sampler.sender, path, &sampler.trie, &sampler.labels, &info);
		else
			sender_lost(&sampler.sender, STROBE_DROP_NO_DAEMON, sampler.trie.samples);
		trie_empty(&sampler.trie);
	}
	sampler.start_ns = info.end_ns;
	sampler.flush_ns = ticker_now(false) + FLUSH_EVERY_NS;
}

/* The first sample comes after a random share of a period: short requests are then seen as often as they deserve. */
static void schedule(void)
{
	sampler.base_ns = ticker_now(sampler.cpu) - sampler.period_ns + (int64_t)(random_share() * sampler.period_ns);
	sampler.done = 0;
	ticker_set(sampler.base_ns + sampler.period_ns, sampler.period_ns, sampler.cpu);
}

/* A forked child has its parent's samples, its connection and its random numbers, and no ticker. */
static void become_child(void)
{
	atomic_store(&sampler.forked, false);
	sampler.pid = getpid();
	sampler.random = 0;
	sender_close(&sampler.sender);
	memset(sampler.sender.unreported, 0, sizeof(sampler.sender.unreported));
	trie_empty(&sampler.trie);
	if (!sampler.active)
		return;
	if (ticker_start(fire)) {
		sampler.stats.no_thread++;
		sampler.active = false;
		return;
	}
	sampler.start_ns = (uint64_t)wall_ns();
	sampler.flush_ns = ticker_now(false) + FLUSH_EVERY_NS;
	schedule();
}

/* In the child, inside fork(): only stores. The interrupt brings us to become_child at the next safe point. */
static void after_fork(void)
{
	ticker_forget();
	atomic_store(&sampler.forked, true);
	if (sampler.active)
		zend_atomic_bool_store(&EG(vm_interrupt), true);
}

/* Quarter octaves: bucket 4k + j holds times from 2^k (1 + j/4) ns. */
static void count_time(uint64_t ns)
{
	unsigned octave = ns ? 63 - (unsigned)__builtin_clzll(ns) : 0;
	unsigned quarter = octave >= 2 ? (unsigned)(ns >> (octave - 2)) & 3 : 0;
	unsigned bucket = 4 * octave + quarter;

	sampler.stats.interrupts++;
	sampler.stats.overhead_ns += ns;
	sampler.stats.times[bucket < SAMPLER_TIMES ? bucket : SAMPLER_TIMES - 1]++;
}

static void take_sample(zend_execute_data *leaf)
{
	int64_t now = ticker_now(sampler.cpu);
	int64_t started = sampler.cpu ? ticker_now(false) : now;
	int64_t periods = (now - sampler.base_ns) / sampler.period_ns - sampler.done;
	bool sampled = false;
	int64_t ended;

	if (periods > 0) {
		sampler.done += periods;
		stack_collect(&sampler.stack, leaf, sampler.max_depth, sampler.trie.deep_root != TRIE_ROOT);
		if (!trie_has_room(&sampler.trie, sampler.stack.depth)) {
			bool rootless = sampler.stack.rootless;

			send_samples();
			if (rootless)
				stack_collect(&sampler.stack, leaf, sampler.max_depth, false);
		}
		if (sampler.stack.depth) {
			trie_add(&sampler.trie, &sampler.stack, periods > UINT32_MAX ? UINT32_MAX : (uint32_t)periods);
			sampler.stats.samples += (uint64_t)periods;
		}
		sampled = true;
	}
	ticker_set(sampler.base_ns + (sampler.done + 1) * sampler.period_ns, sampler.period_ns, sampler.cpu);

	ended = ticker_now(false);
	if (sampled)
		count_time((uint64_t)(ended - started));
	if (ended >= sampler.flush_ns)
		send_samples();
}

static void interrupt(zend_execute_data *execute_data)
{
	if (UNEXPECTED(atomic_load_explicit(&sampler.forked, memory_order_relaxed)))
		become_child();
	else if (sampler.active && ticker_take())
		take_sample(EG(current_execute_data));
	if (next_interrupt)
		next_interrupt(execute_data);
}

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

/* opcache.preload runs as a request too, in FPM's master: it has no request behind it, and no thread may be there. */
static bool is_preloading(void)
{
	return SG(server_context) == NULL && strcmp(sapi_module.name, "fpm-fcgi") == 0;
}

void sampler_request_start(void)
{
#ifdef ZTS
	return;		/* one request at a time is what everything here relies on */
#endif
	if (!STROBE_G(sample) || is_preloading())
		return;
	if (atomic_load(&sampler.forked) || sampler.pid != getpid())
		become_child();
	if (STROBE_G(request_rate) < 1 && random_share() >= STROBE_G(request_rate))
		return;
	if (!trie_map(&sampler.trie) || !message_map() || !map_stack(&sampler.stack)) {
		sampler.stats.no_memory++;
		return;
	}
	if (ticker_start(fire)) {
		sampler.stats.no_thread++;
		return;
	}

	sampler.cpu = STROBE_G(cpu_clock);
	sampler.period_ns = (int64_t)(STROBE_G(period) * 1e9);
	sampler.max_depth = (size_t)STROBE_G(max_depth);
	request_labels_collect(&sampler.labels);
	sampler.start_ns = (uint64_t)wall_ns();
	sampler.flush_ns = ticker_now(false) + FLUSH_EVERY_NS;
	sampler.stats.requests++;
	sampler.active = true;
	schedule();
}

void sampler_request_end(void)
{
	if (!sampler.active)
		return;
	if (atomic_load(&sampler.forked))
		become_child();
	ticker_clear();
	sampler.active = false;
	send_samples();
}

void sampler_startup(void)
{
	sender_init(&sampler.sender);
	sampler.pid = getpid();
	request_labels_startup();
	pthread_atfork(ticker_settle, NULL, after_fork);
	next_interrupt = zend_interrupt_function;
	zend_interrupt_function = interrupt;
}

void sampler_shutdown(void)
{
	ticker_stop();
	if (zend_interrupt_function == interrupt)
		zend_interrupt_function = next_interrupt;
	sender_close(&sampler.sender);
	unmap_stack(&sampler.stack);
	message_unmap();
	trie_unmap(&sampler.trie);
}

uint64_t sampler_time_share(double share)
{
	uint64_t wanted = (uint64_t)((double)sampler.stats.interrupts * share), seen = 0;

	for (unsigned bucket = 0; bucket < SAMPLER_TIMES; bucket++) {
		seen += sampler.stats.times[bucket];
		if (seen > wanted)
			return ((uint64_t)(4 + bucket % 4) << (bucket / 4)) / 4;
	}
	return 0;
}

bool sampler_active(void)
{
	return sampler.active;
}

const struct sampler_stats *sampler_stats(void)
{
	return &sampler.stats;
}

const struct sender *sampler_sender(void)
{
	return &sampler.sender;
}
