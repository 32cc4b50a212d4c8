/* open_call.c: reports a call in which the thread reaches no safe point; runs in the ticker's thread. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "sampler_private.h"

#include "open_samples.h"
#include "socket_path.h"
#include "watch.h"

/* A tick must be at least this late before its call is reported. */
#define LONG_CALL_NS 100000000

/* Detects changes of the reported data: every complete change modifies one of these. */
struct state {
	uint32_t sequence, labels_version;
	uint64_t periods_done;
	bool running;
};

static struct state state_of(const struct sampler *s)
{
	struct state now;

	memset(&now, 0, sizeof(now));		/* compared bytewise, so padding must be zero */
	now.sequence = atomic_load(&s->sequence);
	now.labels_version = __atomic_load_n(&s->globals->labels_version, __ATOMIC_ACQUIRE);
	now.periods_done = __atomic_load_n(&s->timer.done, __ATOMIC_ACQUIRE);
	now.running = __atomic_load_n(&s->timer.running, __ATOMIC_ACQUIRE);
	return now;
}

/* State of one inspection. */
struct context {
	const struct sampler *sampler;
	struct state state;
};

static bool holds(const void *owner)
{
	const struct context *l = owner;
	struct state now;

	atomic_thread_fence(memory_order_acquire);
	now = state_of(l->sampler);
	return memcmp(&now, &l->state, sizeof(now)) == 0;
}

/* Runs in the ticker's thread, and reads as explained in watch.h. The sampler and the globals of its thread live as
 * long as the thread is watched. */
static void report_open_call(void *owner, const struct watch_context *context)
{
	struct sampler *s = owner;
	struct context l = { s, state_of(s) };
	bool seen = memcmp(context->seen, &l.state, sizeof(l.state)) == 0;
	int64_t now = s->cpu ? context->cpu_ns : timer_now(TIMER_WALL);
	struct open_samples o = {
		.path = s->path,
		.trie = &s->trie,
		.sets = s->sets,
		.base = &s->labels,
		.own_labels = s->globals->own_labels,
		.homes = s->homes,
		.max_depth = s->max_depth,
		.lines = s->lines,
		.info = {
			.start_ns = s->start_ns,
			.end_ns = realtime_ns(),
			.period_ns = (uint64_t)s->period_ns,
			.cpu_clock = s->cpu,
			.open = true,
			.pid = (uint32_t)s->pid,
		},
		.holds = holds,
		.owner = &l,
	};

	/* A thread that makes progress reports by itself. */
	if (!seen || (l.state.sequence & 1)) {
		memcpy(context->seen, &l.state, sizeof(l.state));
		return;
	}
	if (s->timer.running && !s->globals->unsampled && timer_overdue(&s->timer, now) > LONG_CALL_NS)
		o.periods = timer_periods_due(&s->timer, now);
	if (o.info.start_ns <= o.info.end_ns)
		open_samples_send(&o, context);
}

void sampler_watch(struct sampler *s)
{
	s->globals = ZEND_MODULE_GLOBALS_BULK(strobe);
	s->homes = closure_homes_of_thread();
	if (STROBE_G(flush_waiting) > 0 && socket_path(s->path, sizeof(s->path)))
		watch_begin(WATCH_SAMPLES, report_open_call, s);
}
