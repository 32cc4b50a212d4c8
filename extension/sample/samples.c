/* samples.c: takes samples, merges them, and sends them. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "sampler_private.h"

#include "socket_path.h"
#include "strobe_assert.h"

#define REPORT_EVERY_NS 10000000000LL		/* losses that no samples report */

_Static_assert(LABEL_SETS == TRIE_ROOTS, "a tree for each set of labels");

void sampler_publish(struct sampler *s)
{
	atomic_store_explicit(&s->counters.messages, s->sender.messages, memory_order_relaxed);
	for (unsigned reason = 0; reason < STROBE_DROP_REASONS; reason++)
		atomic_store_explicit(&s->counters.lost[reason], s->sender.lost[reason], memory_order_relaxed);
}

void sampler_forget(struct sampler *s)
{
	trie_empty(&s->trie);
	label_sets_empty(s->sets);
	s->root = LABEL_SETS;
}

int64_t sampler_next_flush(void)
{
	return timer_now(TIMER_WALL) + (int64_t)(STROBE_G(flush) * 1e9);
}

void sampler_send(struct sampler *s)
{
	char path[108];
	struct message_info info = {
		.start_ns = s->start_ns,
		.end_ns = realtime_ns(),
		.period_ns = (uint64_t)s->period_ns,
		.cpu_clock = s->cpu,
		.pid = (uint32_t)s->pid,
	};
	bool began = sampler_changing(s);

	STROBE_ASSERT(s == THREAD_SAMPLER);
	if (info.start_ns > info.end_ns)	/* the clock was set back */
		info.start_ns = info.end_ns;
	if (s->trie.samples) {
		if (socket_path(path, sizeof(path)))
			message_send(s->scratch, &s->sender, path, &s->trie, &s->labels, s->sets, &info);
		else
			sender_lost(&s->sender, STROBE_DROP_NO_DAEMON, s->trie.samples);
		sampler_forget(s);
		sampler_publish(s);
	}
	s->start_ns = info.end_ns;
	s->flush_ns = sampler_next_flush();
	sampler_changed(s, began);
}

static bool has_unreported(const struct sender *s)
{
	for (unsigned reason = 0; reason < STROBE_DROP_REASONS; reason++)
		if (s->unreported[reason])
			return true;
	return false;
}

void sampler_report_losses(struct sampler *s, bool last)
{
	char path[108];
	struct message_info info = {
		.start_ns = realtime_ns(),
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
	sampler_publish(s);
}

/* Quarter octaves: bucket 4k + j holds times from 2^k (1 + j/4) ns. */
static void count_time(struct counters *c, uint64_t ns)
{
	unsigned octave = ns ? 63 - (unsigned)__builtin_clzll(ns) : 0;
	unsigned quarter = octave >= 2 ? (unsigned)(ns >> (octave - 2)) & 3 : 0;
	unsigned bucket = 4 * octave + quarter;

	sampler_count(&c->interrupts, 1);
	sampler_count(&c->overhead_ns, ns);
	sampler_count(&c->times[bucket < SAMPLER_TIMES ? bucket : SAMPLER_TIMES - 1], 1);
}

static zend_never_inline void find_root(struct sampler *s)
{
	s->root = label_sets_number(s->sets, STROBE_G(own_labels));
	if (s->root == LABEL_SETS) {
		sampler_send(s);
		s->root = label_sets_number(s->sets, STROBE_G(own_labels));
	}
	STROBE_ASSERT(s->root < TRIE_ROOTS);
	s->labels_version = STROBE_G(labels_version);
}

/* Returns the root of the trie for the current labels. */
static inline unsigned current_root(struct sampler *s)
{
	if (UNEXPECTED(s->root == LABEL_SETS || s->labels_version != STROBE_G(labels_version)))
		find_root(s);
	return s->root;
}

void sampler_take(struct strobe_timer *timer, uint64_t periods, const struct tick_snapshot *m)
{
	struct sampler *s = timer->owner;
	int64_t started, ended;
	unsigned root;
	bool began;

	STROBE_ASSERT(s == THREAD_SAMPLER && s->active && periods > 0);
	if (STROBE_G(unsampled))
		return;
	began = sampler_changing(s);
	started = timer_now(TIMER_WALL);
	root = current_root(s);
	stack_collect(&s->stack, m, s->max_depth, trie_knows_root_half(&s->trie, root));
	if (!trie_has_space(&s->trie, s->stack.depth)) {
		bool rootless = s->stack.rootless;

		sampler_send(s);
		root = current_root(s);
		if (rootless)
			stack_collect(&s->stack, m, s->max_depth, false);
	}
	if (s->stack.depth) {
		trie_add(&s->trie, root, &s->stack, periods > UINT32_MAX ? UINT32_MAX : (uint32_t)periods);
		sampler_count(&s->counters.samples, periods);
	}
	ended = timer_now(TIMER_WALL);
	STROBE_ASSERT(ended >= started);
	count_time(&s->counters, (uint64_t)(ended - started));
	if (ended >= s->flush_ns && !m->more)
		sampler_send(s);
	else if (UNEXPECTED(sender_waits(&s->sender)))
		sender_drain(&s->sender, false);
	sampler_changed(s, began);
}
