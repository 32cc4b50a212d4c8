/* form_token.h: proof that a form came from a page of this server.
 *
 * Origin and Sec-Fetch-Site (auth.h) are the first check; this is the second, for browsers or proxies that drop these
 * headers. The number is generated at each start and is only in forms for users who may write, which other sites
 * cannot read.
 */
#ifndef SERVE_FORM_TOKEN_H
#define SERVE_FORM_TOKEN_H

#include "err.h"
#include <stdbool.h>

#define FORM_TOKEN	32u		/* hexadecimal digits */
#define FORM_TOKEN_NAME	"form_token"	/* name of the form field */

int form_token_make(char ret[FORM_TOKEN + 1], struct err *err);	/* -EIO if there are no random numbers */

/* False if `theirs` is missing; takes constant time. */
bool form_token_matches(const char *ours, const char *theirs);

#endif
