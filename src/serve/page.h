/* page.h: the pages for people, with their content in the HTML; scripts make them better, not possible. */
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

#include "http.h"

void page_answer(struct server_context *s, const struct request *q, struct response *r);		/* / */

/* For the bar at the top: the user's name, or the button to log out; nothing where nobody has to log in. */
void page_put_identity(const struct request *q, struct buf *out);

#endif
