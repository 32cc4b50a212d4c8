/* login.h: trades a token for the cookie of a session, so that a person types it once, and ends the session. */
#ifndef SERVE_LOGIN_H
#define SERVE_LOGIN_H

#include "http.h"

#define LOGIN_BODY_MAX	HTTP_BODY_SMALL

/* /login: a form, whose POST sets the cookie for a right token and leads to the page of "next". */
void login_answer(struct server_context *s, const struct request *q, struct response *r);

/* The form as the answer to a request for another page, which it leads back to. */
void login_form(const struct request *q, struct response *r, int status, const char *sentence);

/* /logout: its POST ends the session. */
void logout_answer(struct server_context *s, const struct request *q, struct response *r);

/* 0 if tokens of this sender are looked at, else the seconds until they are. */
unsigned login_retry_after(struct server_context *s, const struct request *q);
void login_record_failure(struct server_context *s, const struct request *q);
void login_refuse_throttled(struct server_context *s, unsigned seconds, struct response *r); /* Retry-After, and counts it */

#endif
