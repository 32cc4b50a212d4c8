/* login.h: exchanges a token for a session cookie, so that people enter it once, and ends the session. */
#ifndef SERVE_LOGIN_H
#define SERVE_LOGIN_H

#include "http.h"

#define LOGIN_BODY_MAX	HTTP_BODY_SMALL

/* /login: a form, whose POST sets the cookie for a valid token and redirects to "next". */
void login_answer(struct server_context *s, const struct request *q, struct response *r);

/* Shows the form in place of another page, to which it redirects after the login. */
void login_form(const struct request *q, struct response *r, int status, const char *sentence);

/* /logout: its POST ends the session. */
void logout_answer(struct server_context *s, const struct request *q, struct response *r);

/* Returns 0 if tokens from this sender are checked, else the seconds to wait. */
unsigned login_retry_after(struct server_context *s, const struct request *q);
void login_record_failure(struct server_context *s, const struct request *q);
void login_refuse_throttled(struct server_context *s, unsigned seconds, struct response *r); /* Retry-After, and counts it */

#endif
