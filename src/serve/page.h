/* page.h: HTML pages that work without scripts, and better with them. */
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

#include "http.h"

void page_answer(struct server_context *s, const struct request *q, struct response *r);		/* / */

/* An error page; `sentence` may be in the body of `r`. */
void page_put_error(const struct request *q, struct response *r, int status, const char *sentence);

/* Appends the user's name or the logout button for the top bar; nothing without access control. */
void page_put_identity(const struct request *q, struct buf *out);

#endif
