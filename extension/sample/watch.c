/* watch.c: lets watchers inspect PHP threads. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "watch.h"

#include "lanes.h"
#include "php_strobe.h"

/* Inspections take longer for large programs. They use at most a tenth of a CPU, but are frequent enough that at most
 * a second is lost. Time during which the thread was preempted does not count, because otherwise inspections would be
 * rarest when ticks are latest. */
#define WATCH_SHARE	10
#define WATCH_MAX_NS	600000000

/* Runs in the ticker's thread. */
static int64_t context(void *target, const struct ticker_slot *slot, int64_t cpu_ns)
{
	struct alarms *a = target;
	int64_t began = timer_now(TIMER_CPU);

	for (enum watcher which = 0; which < WATCHERS; which++) {
		struct watch *w = &a->watches[which];
		const struct watch_context l = { a->of[LANE_INTERRUPTS].leaf, cpu_ns, slot, w->seen };
		watch_function *watch = atomic_load(&w->watch);

		if (watch)
			watch(atomic_load(&w->owner), &l);
	}
	return MIN((timer_now(TIMER_CPU) - began) * WATCH_SHARE, WATCH_MAX_NS);
}

bool watch_settles(const struct watch_context *l)
{
	return ticker_settles(l->slot);
}

void watch_begin(enum watcher which, watch_function *watch, void *owner)
{
	int64_t every_ns = (int64_t)(STROBE_G(flush_waiting) * 1e9);
	struct alarms *a = TIMER_THREAD.alarms;

	if (!every_ns || !a || !a->of[LANE_INTERRUPTS].leaf)
		return;
	atomic_store(&a->watches[which].owner, owner);
	atomic_store(&a->watches[which].watch, watch);
	ticker_watch(a->of[LANE_INTERRUPTS].slot, every_ns, context);
}

void watch_end(enum watcher which)
{
	struct alarms *a = TIMER_THREAD.alarms;
	bool any = false;

	if (!a || !atomic_load(&a->watches[which].watch))
		return;
	atomic_store(&a->watches[which].watch, NULL);
	for (unsigned i = 0; i < WATCHERS; i++)
		any |= atomic_load(&a->watches[i].watch) != NULL;
	if (!any)
		ticker_watch(a->of[LANE_INTERRUPTS].slot, 0, NULL);
}
