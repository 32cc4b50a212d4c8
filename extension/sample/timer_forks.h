/* timer_forks.h: keeps the timers of a forking thread running in the child, which gets its own ticker. */
#ifndef STROBE_TIMER_FORKS_H
#define STROBE_TIMER_FORKS_H

/* `in_child`: see timers_startup. */
void timer_forks_startup(void (*in_child)(void));

/* Restarts the timers, if TIMER_THREAD.forked is set: at the first safe point, call or start of a timer in a child. */
void timers_resume(void);

#endif
