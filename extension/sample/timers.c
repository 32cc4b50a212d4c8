/* timers.c: the timers of timers.h. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "timers.h"

#include <errno.h>

int timer_start(struct strobe_timer *t, enum timer_clock clock, int64_t first_ns, int64_t period_ns)
{
	return ENOSYS;
}

void timer_stop(struct strobe_timer *t)
{
	t->running = false;
}
