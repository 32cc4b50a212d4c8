/* settings_report.h: reports invalid settings to administrators, never in a page.
 *
 *	set by			reported
 *	php.ini, -d		E_CORE_WARNING, as PHP shows startup warnings
 *	a pool, .user.ini,	one line in the error log when the next request begins: by then the log of the pool is
 *	the web server		known, and what is written goes to the web server's log rather than to /dev/null. Each
 *				line comes once for all processes that have one parent, not with each request.
 *	ini_set()		nothing; it answers false
 *
 * phpinfo() and Strobe\status() list all that hold for the running request.
 */
#ifndef STROBE_SETTINGS_REPORT_H
#define STROBE_SETTINGS_REPORT_H

#include "php.h"

/* Call these in MINIT, before the settings are registered; in MSHUTDOWN; and in GSHUTDOWN. */
void settings_report_startup(void);
void settings_report_shutdown(void);
struct setting_problem;
void settings_report_thread_end(struct setting_problem *problems);

/* Call these in RINIT (writes queued reports to the error log) and in RSHUTDOWN (discards those of this request). */
void settings_report_request_start(void);
void settings_report_request_end(void);

/* Whether this stage is reported at all; if not, no message is needed. */
bool settings_report_wanted(int stage);

/* Reports one sentence, without a full stop; `stage` is that passed to the setting's handler. */
void settings_report(int stage, const char *format, ...) ZEND_ATTRIBUTE_FORMAT(printf, 2, 3);

/* Reports that a value is ignored, with the reason, the allowed values, and a suggestion (NULL: none). Always returns
 * FAILURE, for the handler to return. */
int setting_refuse(int stage, const zend_ini_entry *entry, const zend_string *value, const char *why,
		   const char *allowed, const char *meant);

/* A value prepared for display: truncated, without control characters. */
struct shown_value {
	char text[84];
};
struct shown_value shown_value(const char *p, size_t n);

/* Calls `each` for every report that applies to the running request. */
void settings_report_list(void (*each)(const char *sentence, void *data), void *data);

#endif
