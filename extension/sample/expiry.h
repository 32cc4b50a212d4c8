/* expiry.h: reports expired periods to callbacks of timers, and the code that was running then.
 *
 * It also implements these functions of timers.h: timers_at_call, timer_catch_up, timer_deliver_rest, timer_periods_due and timer_overdue.
 */
#ifndef STROBE_EXPIRY_H
#define STROBE_EXPIRY_H

#include "timers.h"

/* Calls the due timers of a lane. `frame` is running, or was until now. A callback that runs PHP code may be
 * interrupted itself. */
void expiry_run(enum timer_lane lane, zend_execute_data *frame);

#endif
