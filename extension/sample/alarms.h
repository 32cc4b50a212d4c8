/* alarms.h: the state of a PHP thread that the ticker's thread accesses: the flags to raise, notes at ticks, and
 * watchers.
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
	bool interrupts;		/* the flag is PHP's own */
	zend_execute_data *const *leaf;	/* the thread's pointer to its innermost frame; NULL: no notes are taken */
	struct tick_notes notes;
	struct tick_note taken[TICK_NOTES];	/* buffer for the PHP thread to read from */
	bool taking;				/* the PHP thread is reading notes */
};

struct alarms {
	struct alarm of[LANES];		/* the ticker knows all of them by the first */
	struct watch watches[WATCHERS];
	struct found_functions found;	/* the PHP thread's own; here because thread-local memory is scarce */
	zend_atomic_bool call_due;	/* in thread-safe PHP */
};

void alarms_startup(void);

/* Stops the ticker and frees its slots, so that threads ending later do not return any. */
void alarms_shutdown(void);
bool alarms_have_ticker(void);

/* Starts the ticker's thread unless it is running. Returns 0 or an errno. */
int alarms_start_ticker(void);

/* Creates the calling thread's alarms: the ticker then raises flags for its calls. NULL without memory. */
struct alarms *alarms_new(void);

/* Call this before alarms_free for the thread's own alarms: it stops checking any flag. The alarms of a thread that
 * has already ended are freed by another thread. */
void alarms_detach(void);
void alarms_free(struct alarms *a);

/* Discards pending ticks. */
void alarm_clear(struct alarm *a);

#endif
