/* delivery.h: decides how callbacks of timers run in a PHP thread, if at all.
 *
 *	interrupts	PHP's interrupt flag is raised and the VM calls us at its next safe point. Costs nothing between ticks.
 *			Not used if compiled code may run (jit.h), nor on an untested version or kind of the VM.
 *	calls		the call observer checks a flag whenever a function begins or ends; what ran between two such events is
 *			known exactly. Needs strobe.instrument=1 and costs a few nanoseconds per call, but is safe with the JIT.
 */
#ifndef STROBE_DELIVERY_H
#define STROBE_DELIVERY_H

#include <stdbool.h>

#define DELIVERY_UNSAFE "interrupts are not safe while PHP's JIT compiler is on (opcache.jit)"

enum delivery { DELIVERY_INTERRUPTS, DELIVERY_CALLS, DELIVERY_NONE };

void delivery_startup(void);
void delivery_shutdown(void);
void delivery_request_start(void);

/* Returns the method for this request. */
enum delivery delivery_way(void);

/* Returns NULL if samples can be taken, else the reason in one sentence. */
const char *delivery_reason(void);

/* Returns a text for phpinfo(): how samples are taken. */
const char *delivery_text(void);

/* Whether notes at ticks tell at the next event which calls were running (tick_note.h), so that not every call has to
 * be an event. */
bool delivery_notes(void);

/* Registers the call observer. `watch` makes it check the flag in this thread, or stop doing so. */
void delivery_offer_calls(void (*watch)(bool on));
bool delivery_has_calls(void);
void delivery_watch_calls(bool on);

#endif
