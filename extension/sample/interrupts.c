/* interrupts.c: the hook of the VM. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "interrupts.h"

#include "expiry.h"
#include "jit.h"
#include "lanes.h"
#include "timer_forks.h"

#include "zend_observer.h"

static void (*next_interrupt)(zend_execute_data *frame);

void interrupt_raise(void)
{
	if (!jit_may_run())
		zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
}

static void rearm(void)
{
	struct lane *l = &TIMER_THREAD.lanes[LANE_INTERRUPTS];
	int64_t now[CLOCKS];

	l->again = true;
	lane_read_clocks(l, now);
	lane_publish(l, now);
}

/* The hook of the VM. If a callback of ours throws, other hooks in the chain (pcntl's signal handlers) are not called
 * at once, because their callbacks would not run and be lost; they are called when the exception has been handled. */
static void interrupt(zend_execute_data *frame)
{
	bool had_exception = EG(exception) != NULL;
	struct alarms *a = TIMER_THREAD.alarms;

	if (UNEXPECTED(TIMER_THREAD.forked))
		timers_resume();
	if (a && (ticker_take(a->of[LANE_INTERRUPTS].slot) || TIMER_THREAD.lanes[LANE_INTERRUPTS].again))
		expiry_run(LANE_INTERRUPTS, EG(current_execute_data));
	else if (a)
		alarm_clear(&a->of[LANE_INTERRUPTS]);	/* a note that was written after its tick had been taken */
	if (!next_interrupt)
		return;
	if (a && EG(exception) && (!had_exception || TIMER_THREAD.postponed)) {
		TIMER_THREAD.postponed = true;
		rearm();
		return;
	}
	TIMER_THREAD.postponed = false;
	next_interrupt(frame);
}

/* A fatal error can replace the interrupt, as that of max_execution_time does. Shutdown functions follow. */
static void error_seen(int type, zend_string *file, uint32_t line, zend_string *message)
{
	struct lane *l = &TIMER_THREAD.lanes[LANE_INTERRUPTS];

	if (l->first && (type & (E_ERROR | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR))) {
		l->again = true;
		interrupt_raise();
	}
}

void interrupts_startup(void)
{
	zend_observer_error_register(error_seen);
	next_interrupt = zend_interrupt_function;
	zend_interrupt_function = interrupt;
}

void interrupts_shutdown(void)
{
	if (zend_interrupt_function == interrupt)
		zend_interrupt_function = next_interrupt;
}
