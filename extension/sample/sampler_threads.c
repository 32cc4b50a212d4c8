/* sampler_threads.c: one sampler per PHP thread, reused for all of its requests. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "sampler_private.h"

#include "strobe_assert.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef ZTS
TSRM_TLS struct sampler *strobe_thread_sampler;
#else
struct sampler *strobe_thread_sampler;
#endif

static _Atomic(struct sampler *) samplers;
static _Atomic unsigned forks;			/* number of forks between the first process and this one */
static _Atomic uint64_t no_memory;
static bool up;					/* the module is running */

/* Memory for the deepest stack that any setting allows, mapped once; untouched pages cost nothing. */
#define STACK_BYTES ((STROBE_MAX_DEPTH + 1) * sizeof(struct stack_frame))

static bool map_stack(struct stack *s)
{
	void *p;

	if (s->frames)
		return true;
	p = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return false;
	s->frames = p;
	return true;
}

static void unmap_stack(struct stack *s)
{
	if (s->frames)
		munmap(s->frames, STACK_BYTES);
	s->frames = NULL;
}

bool sampler_map(struct sampler *s)
{
	return trie_map(&s->trie) && map_stack(&s->stack) && (s->sets || (s->sets = label_sets_map())) &&
	       (s->scratch || (s->scratch = message_map()));
}

/* Frees everything except the counts. */
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
	STROBE_ASSERT(!s->active && !s->timer.running && !s->trie.nodes && !s->sets);
	s->timer = (struct strobe_timer){ .expired = sampler_take, .owner = s, .passive = true };
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

void sampler_become_child(struct sampler *s)
{
	bool began = sampler_changing(s);

	STROBE_ASSERT(s == THREAD_SAMPLER && sampler_is_child(s));
	s->forks = atomic_load(&forks);
	s->pid = getpid();
	s->random = (struct random){ 0 };
	s->prevented = false;
	s->reported_ns = 0;
	sender_close(&s->sender);
	memset(s->sender.unreported, 0, sizeof(s->sender.unreported));
	sampler_forget(s);
	for (struct sampler *other = atomic_load(&samplers); other; other = other->next)
		if (other != s && atomic_load(&other->used))
			leave(other);
	sampler_changed(s, began);
}

bool sampler_is_child(const struct sampler *s)
{
	return s->forks != atomic_load_explicit(&forks, memory_order_relaxed);
}

/* Runs at the child's first safe point. */
static void forked(void)
{
	if (!THREAD_SAMPLER || !sampler_is_child(THREAD_SAMPLER))
		return;
	sampler_become_child(THREAD_SAMPLER);
	if (THREAD_SAMPLER->active)
		sampler_begin(THREAD_SAMPLER);
}

struct sampler *sampler_get(void)
{
	if (!THREAD_SAMPLER && !(THREAD_SAMPLER = STROBE_G(sampler) = join()))
		atomic_fetch_add(&no_memory, 1);
	else if (sampler_is_child(THREAD_SAMPLER))
		sampler_become_child(THREAD_SAMPLER);
	return THREAD_SAMPLER;
}

/* --- the life of the process */

void sampler_startup(void)
{
	up = true;
	request_labels_startup();
	pthread_atfork(NULL, NULL, count_fork);
	timers_startup(forked);
}

/* Samplers of threads that outlive the module have already been freed. */
void sampler_thread_end(struct sampler *s)
{
	if (!s || !up)
		return;
	if (s == THREAD_SAMPLER)
		THREAD_SAMPLER = NULL;
	leave(s);
}

void sampler_shutdown(void)
{
	struct sampler *s = atomic_exchange(&samplers, NULL), *next;

	/* Nothing else will report the losses of this process. */
	if (THREAD_SAMPLER && !sampler_is_child(THREAD_SAMPLER) && THREAD_SAMPLER->pid == getpid()) {
		sampler_report_losses(THREAD_SAMPLER, true);
		sender_drain(&THREAD_SAMPLER->sender, true);
	}
	up = false;
	timers_shutdown();
	THREAD_SAMPLER = NULL;
	for (; s; s = next) {
		next = s->next;
		leave(s);
		free(s);
	}
}

/* --- for people */

void sampler_no_memory(void)
{
	atomic_fetch_add(&no_memory, 1);
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
