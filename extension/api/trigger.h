/* trigger.h: strobe.trigger_secret: a request that carries the secret is traced.
 *
 * The secret is expected in the header X-Strobe-Trace, the cookie STROBE_TRACE or the query parameter STROBE_TRACE.
 * They are read from SAPI, not from $_GET etc., which PHP creates only for programs that use them. The setting's
 * value is removed from PHP's tables as soon as it is known, so that no program can read it there.
 */
#ifndef STROBE_TRIGGER_H
#define STROBE_TRIGGER_H

#include "php.h"
#include "php_ini.h"

#define TRIGGER_PARAMETER "STROBE_TRACE"

ZEND_INI_MH(trigger_on_change);
void trigger_show(zend_ini_entry *entry, int type);

void trigger_startup(void);		/* call it after the settings were registered */
void trigger_request_start(void);	/* before any code of the program runs */

/* Whether php.ini has a secret, which requires the call observer from the start. */
bool trigger_is_configured(void);

/* For phpinfo(). */
const char *trigger_state(void);

/* Whether the running request carries the secret. */
bool trigger_matched(void);

/* Whether a text contains the secret, URL-encoded or not; such a text must not be sent anywhere. */
bool trigger_is_in(const char *p, size_t n);

#endif
