/* status.h: the state of sampling and delivery in the running request, and the reason if samples do not arrive: for
 * phpinfo() and Strobe\status().
 *
 * Never connects to the daemon: uses the process's last attempt and the state of the file system.
 */
#ifndef STROBE_STATUS_H
#define STROBE_STATUS_H

#include "php.h"

/* Call it in MINIT: remembers the root directory, for processes that change it later. */
void status_startup(void);

/* A reason why samples of this request do not reach the daemon. */
struct status_reason {
	const char *code;		/* such as "mode"; NULL: no problem */
	char sentence[512];
};

void status_reason(struct status_reason *ret);

/* Prints rows of phpinfo(). */
void status_info(void);

/* Fills in the array of Strobe\status(). */
void status_array(zval *ret);

#endif
