/* timer_forks.h: timers of a thread that forks go on in the child, with a ticker of its own. */
#ifndef STROBE_TIMER_FORKS_H
#define STROBE_TIMER_FORKS_H

/* `in_child`: see timers_startup. */
void timer_forks_startup(void (*in_child)(void));

/* At the first safe point, call or start of a timer in a child, if TIMER_THREAD.forked says so: the timers run again. */
void timers_resume(void);

#endif
