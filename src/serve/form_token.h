/* form_token.h: proof that a form came from a page of this server.
 *
 * Origin and Sec-Fetch-Site (auth.h) are the first door; this is a second one, for browsers or proxies that lose them. The
 * number is made at each start and stands only in forms for users who may write, which pages elsewhere cannot read.
 */
#ifndef SERVE_FORM_TOKEN_H
#define SERVE_FORM_TOKEN_H

#include "err.h"
#include <stdbool.h>

#define FORM_TOKEN	32u		/* hexadecimal digits */
#define FORM_TOKEN_NAME	"form_token"	/* of the field */

int form_token_make(char ret[FORM_TOKEN + 1], struct err *err);	/* -EIO if the system gives no random numbers */

/* False without one; takes the same time wherever the two differ. */
bool form_token_matches(const char *ours, const char *theirs);

#endif
