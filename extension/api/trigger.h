/* trigger.h: strobe.trigger_secret: a request that carries the secret is traced.
 *
 * It is looked for in the header X-Strobe-Trace, in the cookie STROBE_TRACE and in the query parameter STROBE_TRACE.
 * It reads what SAPI knows of the request, never $_GET and the like, which PHP makes only for programs that use them.
 * The value is removed from PHP's tables of settings as soon as it is known, so that no program can read it there.
 */
#ifndef STROBE_TRIGGER_H
#define STROBE_TRIGGER_H

#include "php.h"
#include "php_ini.h"

#define TRIGGER_PARAMETER "STROBE_TRACE"

ZEND_INI_MH(trigger_on_change);
void trigger_show(zend_ini_entry *entry, int type);

void trigger_startup(void);		/* after the settings were registered */
void trigger_request_start(void);	/* before any code of the program runs */

/* Whether php.ini has a secret: what needs the call observer from the start. */
bool trigger_is_configured(void);

/* For phpinfo(). */
const char *trigger_state(void);

/* Whether the running request carries the secret. */
bool trigger_matched(void);

/* Whether the secret is in a text, URL-encoded or not; such a text must not be sent anywhere. */
bool trigger_is_in(const char *p, size_t n);

#endif
