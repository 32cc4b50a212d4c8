/* fiber_ends.h: finds the call that destroys a suspended fiber.
 *
 * PHP resumes such a fiber to run its finally blocks, but its bottom frame does not link to the call that destroys
 * it, so a stack would end there. Only destructions are observed: switching fibers costs nothing.
 */
#ifndef STROBE_FIBER_ENDS_H
#define STROBE_FIBER_ENDS_H

#include "php.h"

/* Call these in MINIT and MSHUTDOWN. */
void fiber_ends_startup(void);
void fiber_ends_shutdown(void);

/* Call it at the end of each request. */
void fiber_ends_forget(void);

/* Returns the frame that destroys the fiber with this bottom frame; NULL if there is none, as for fibers that PHP
 * destroys after the program's end. */
const zend_execute_data *fiber_destroyed_by(const zend_execute_data *bottom);

#endif
