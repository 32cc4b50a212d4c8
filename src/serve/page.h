/* page.h: the pages for people, with their content in the HTML; scripts make them better, not possible. */
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

#include "http.h"

void page_answer(struct site *s, const struct request *q, struct response *r);		/* / */

/* /login: sets the cookie for a right ?token= and leads to the page. */
void login_answer(struct site *s, const struct request *q, struct response *r);
void login_form(const struct request *q, struct response *r, int status, const char *sentence);

#endif
