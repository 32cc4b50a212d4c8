/* expiry.h: tells callbacks which periods of their timers have expired, and what was running then.
 *
 * It also implements these functions of timers.h: timers_at_call, timer_catch_up, timer_deliver_rest, timer_periods_due and timer_overdue.
 */
#ifndef STROBE_EXPIRY_H
#define STROBE_EXPIRY_H

#include "timers.h"

/* Calls the due timers of a lane. `frame` runs, or ran until now. A callback that runs PHP code may be interrupted in its turn. */
void expiry_run(enum timer_lane lane, zend_execute_data *frame);

#endif
