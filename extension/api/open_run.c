/* open_run.c: announcements, and the timer that hands over. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "open_run.h"

#include "php_strobe.h"
#include "send_runs.h"
#include "socket_path.h"

#include <stdlib.h>
#include <string.h>

/* A hand-over takes time that grows with the tree: a tenth of the program's time at most is spent on them, as long as none of
 * them comes too late for what was promised, a second. */
#define COST_SHARE	10
#define GAP_MAX_NS	700000000

static void announce(struct api_thread *a, const struct work *w, bool discarded)
{
	const struct run_info info = { .source = w->source, .id = w->id, .pid = (uint32_t)a->pid };
	char path[108];

	if (socket_path(path, sizeof(path)))
		run_message_announce(&a->sender, path, &info, discarded);
	runs_drain(a);
}

static void hand_over(struct strobe_timer *timer, uint64_t periods, const struct moment *m)
{
	struct work *w = timer->owner;
	int64_t began = timer_now(TIMER_WALL), gap;
	struct api_thread *a = api_thread();
	struct call_tree *t;

	if (!a || began < w->open.next_ns)
		return;
	t = tracer_look(w->session);
	if (t)
		runs_send_open(a, t, w);
	call_tree_free(t);
	gap = (timer_now(TIMER_WALL) - began) * COST_SHARE;
	w->open.next_ns = began + (gap < GAP_MAX_NS ? gap : GAP_MAX_NS);
}

static void take_id(struct api_thread *a, struct work *w)
{
	random_id(&a->random, w->id);
	w->open.pid = a->pid;
	w->open.next_ns = 0;
	announce(a, w, false);
}

void open_run_begin(struct api_thread *a, struct work *w)
{
	int64_t period = (int64_t)(STROBE_G(trace_flush) * 1e9);

	take_id(a, w);
	if (period <= 0)
		return;
	w->open.timer = (struct strobe_timer){ .expired = hand_over, .owner = w, .passive = true };
	timer_start(&w->open.timer, TIMER_WALL, period, period);
}

void open_run_began_anew(void *owner)
{
	struct api_thread *a = api_thread();

	if (a)
		take_id(a, owner);
}

void open_run_end(struct work *w)
{
	timer_stop(&w->open.timer);
}

/* A child that has not begun anew has nothing to take back: the run is its parent's. */
void open_run_discard(struct api_thread *a, struct work *w)
{
	open_run_end(w);
	if (w->open.pid == a->pid)
		announce(a, w, true);
}
