/* alarms.c: raises the flags of alarms.h. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "alarms.h"

#include "guarded_read.h"
#include "jit.h"

#include <stdlib.h>

/* While timers wait for its calls, a thread that may be blocked is checked at least this often. */
#define MAX_DELAY_NS	1000000000

#ifdef ZTS
static zend_atomic_bool never_due;
TSRM_TLS zend_atomic_bool *strobe_call_due TSRM_TLS_MODEL_ATTR = &never_due;
#else
zend_atomic_bool strobe_call_due;
#endif

static bool have_ticker;

/* Runs in the ticker's thread. A blocked program is left alone: with safe points it is noticed as soon as it
 * continues; with calls it may continue without one, so it is checked less and less often. If no note can be written,
 * as for CPU time that the thread may not be using now, the sample goes to the function running at the safe point. */
static int64_t raise_alarm(void *target, bool works, _Atomic bool *fired)
{
	int64_t now = ticker_now(0), before;
	struct alarm *a = target;
	bool waits = true;

	if (a->interrupts && jit_may_run()) {
		atomic_store(fired, true);
		return TICKER_NEVER;	/* another process or thread has just enabled it */
	}
	before = a->notes.tick_ns;
	if (a->leaf)
		waits = tick_note_write(&a->notes, a->leaf, now, works);
	atomic_store(fired, true);
	zend_atomic_bool_store_ex(a->flag, true);
	if (!waits)
		return 0;
	return a->interrupts ? TICKER_NEVER : MIN(now - before, MAX_DELAY_NS);
}

void alarms_startup(void)
{
	have_ticker = true;
}

void alarms_shutdown(void)
{
	have_ticker = false;
	ticker_stop();
}

bool alarms_have_ticker(void)
{
	return have_ticker;
}

int alarms_start_ticker(void)
{
	return ticker_start(raise_alarm);
}

struct alarms *alarms_new(void)
{
	struct alarms *a = calloc(1, sizeof(*a));
	const char *reason;

	if (!a)
		return NULL;
	a->of[LANE_INTERRUPTS].flag = &EG(vm_interrupt);
	a->of[LANE_INTERRUPTS].interrupts = true;
	for (enum timer_lane lane = 0; guarded_read_works(&reason) && lane < LANES; lane++) {
		a->of[lane].leaf = &EG(current_execute_data);
		tick_notes_init(&a->of[lane].notes);
	}
#ifdef ZTS
	strobe_call_due = &a->call_due;
#endif
	a->of[LANE_CALLS].flag = &STROBE_CALL_DUE;
	for (enum timer_lane lane = 0; lane < LANES; lane++)
		if (!(a->of[lane].slot = ticker_join(&a->of[lane]))) {
			alarms_detach();
			alarms_free(a);
			return NULL;
		}
	return a;
}

void alarms_detach(void)
{
#ifdef ZTS
	strobe_call_due = &never_due;
#endif
}

/* The slots of threads that outlive the module are already freed. */
void alarms_free(struct alarms *a)
{
	for (enum timer_lane lane = 0; have_ticker && lane < LANES; lane++)
		if (a->of[lane].slot)
			ticker_leave(a->of[lane].slot);
	free(a);
}

void alarm_clear(struct alarm *a)
{
	ticker_take(a->slot);
	if (!a->taking)
		tick_notes_take(&a->notes, a->taken, timer_now(TIMER_WALL));
}
