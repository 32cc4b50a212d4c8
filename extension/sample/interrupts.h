/* interrupts.h: PHP's interrupt flag, and the VM hook that is called when it is raised. */
#ifndef STROBE_INTERRUPTS_H
#define STROBE_INTERRUPTS_H

void interrupts_startup(void);
void interrupts_shutdown(void);

/* Makes this PHP thread reach a safe point soon, if those are safe. */
void interrupt_raise(void);

#endif
