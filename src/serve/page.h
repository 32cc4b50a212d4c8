/* page.h: the pages for people, with their content in the HTML; scripts make them better, not possible. */
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

#include "http.h"

void page_answer(struct server_context *s, const struct request *q, struct response *r);		/* / */

/* A page that says why there is no other one; `sentence` may stand in the body of `r`. */
void page_put_error(const struct request *q, struct response *r, int status, const char *sentence);

/* For the bar at the top: the user's name, or the button to log out; nothing where nobody has to log in. */
void page_put_identity(const struct request *q, struct buf *out);

#endif
