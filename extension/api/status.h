/* status.h: the state of sampling and delivery in the running request, and the reason if samples do not arrive: for
 * phpinfo() and Strobe\status().
 *
 * This never connects to the daemon: it uses the last attempt of the process and the state of the file system.
 */
#ifndef STROBE_STATUS_H
#define STROBE_STATUS_H

#include "php.h"

/* In MINIT: notes where the root of the file system is, for processes that change it later. */
void status_startup(void);

/* One reason; there are no samples of this request in the daemon because of it. */
struct status_reason {
	const char *code;		/* such as "mode"; NULL: no problem */
	char sentence[512];
};

void status_reason(struct status_reason *ret);

/* Rows of phpinfo(). */
void status_info(void);

/* The array of Strobe\status(). */
void status_array(zval *ret);

#endif
