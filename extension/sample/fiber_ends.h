/* fiber_ends.h: finds the call that destroys a suspended fiber.
 *
 * PHP resumes such a fiber, so that its finally blocks run, but does not say in its bottom frame below which call: a stack would end
 * there. Only destructions are observed: switching fibers costs nothing.
 */
#ifndef STROBE_FIBER_ENDS_H
#define STROBE_FIBER_ENDS_H

#include "php.h"

/* In MINIT and MSHUTDOWN. */
void fiber_ends_startup(void);
void fiber_ends_shutdown(void);

/* At the end of each request. */
void fiber_ends_forget(void);

/* The frame that destroys the fiber whose bottom frame is given; NULL if none does, and of what PHP destroys when the program has
 * ended. */
const zend_execute_data *fiber_destroyed_by(const zend_execute_data *bottom);

#endif
