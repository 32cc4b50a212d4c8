/* alarms.h: the state of a PHP thread that the ticker's thread accesses: the flags that it raises, its notes at ticks,
 * and the watchers.
 *
 * Allocated separately, since the ticker may still use it when the thread has ended.
 */
#ifndef STROBE_ALARMS_H
#define STROBE_ALARMS_H

#include "tick_snapshot.h"
#include "ticker.h"
#include "timers.h"
#include "watch.h"

/* The alarm of one lane. */
struct alarm {
	struct ticker_slot *slot;
	zend_atomic_bool *flag;
	bool interrupts;		/* the flag is PHP's */
	zend_execute_data *const *leaf;	/* the thread's pointer to its innermost frame; NULL: nothing is noted */
	struct tick_notes notes;
	struct tick_note taken[TICK_NOTES];	/* to read from, by the PHP thread */
	bool taking;				/* the PHP thread is reading them */
};

struct alarms {
	struct alarm of[LANES];		/* the first is what the ticker knows of all */
	struct watch watches[WATCHERS];
	struct found_functions found;	/* the PHP thread's own; here because thread-local memory is scarce */
	zend_atomic_bool call_due;	/* in thread-safe PHP */
};

void alarms_startup(void);

/* Ends the ticker and frees its slots, so that threads which end later return none. */
void alarms_shutdown(void);
bool alarms_have_ticker(void);

/* Starts the ticker's thread if it does not run. Returns 0 or an errno. */
int alarms_start_ticker(void);

/* Makes the calling thread's alarms: the ticker then raises flags for its calls. NULL without memory. */
struct alarms *alarms_new(void);

/* To be called before alarms_free of the thread's own alarms: the calling thread checks no flag any more. The
 * alarms of a thread that has ended are freed by another thread. */
void alarms_detach(void);
void alarms_free(struct alarms *a);

/* Discards pending ticks. */
void alarm_clear(struct alarm *a);

#endif
