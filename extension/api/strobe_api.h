/* strobe_api.h: namespace Strobe, and the requests that are traced as a whole.
 *
 *	trace_class, sampler_class, profile_class, unit_class, functions	the API for PHP code; documented in strobe.stub.php
 *	api_thread						their common state per PHP thread
 *	scopes, work						current labels and unit of work
 *	folded, speedscope, pprof, flat				a tree in other formats
 *	request_trace, trace_keep, trigger, request_url		requests and units that become runs
 *	worker							requests that a worker handles inside one of PHP's
 *	send_runs						hands trees to the daemon
 *
 * This header is for strobe.c.
 */
#ifndef STROBE_STROBE_API_H
#define STROBE_STROBE_API_H

#include "php.h"

extern const zend_function_entry strobe_functions[];

void api_startup(int module_number);	/* in MINIT, after the settings */
void api_request_start(void);		/* after tracer and sampler: those do not belong to the request */
void api_request_end(void);		/* before theirs */

/* Prints rows of phpinfo(): about the request, and counts since the process began. */
void api_info_request(void);
void api_info_counts(void);
void api_info_row(const char *name, uint64_t value);

#endif
