/* interrupts.h: PHP's interrupt flag, and the hook of the VM that is called when it is raised. */
#ifndef STROBE_INTERRUPTS_H
#define STROBE_INTERRUPTS_H

void interrupts_startup(void);
void interrupts_shutdown(void);

/* Brings this PHP thread to a safe point soon, where those are safe. */
void interrupt_raise(void);

#endif
