/* login.c: trades a token for the cookie that carries it, so that a person types it once. */

#include "page.h"

#include "html.h"

#include <string.h>

void login_form(const struct request *q, struct response *r, int status, const char *sentence)
{
	(void)q;
	r->status = status;
	r->type = "text/html; charset=utf-8";
	buf_reset(&r->body);
	html_begin(&r->body, "Log in – Strobe");
	buf_puts(&r->body, "<main class=\"login\">\n<h1>Strobe</h1>\n<p>");
	html_text(&r->body, sentence);
	buf_puts(&r->body, "</p>\n<form method=\"get\" action=\"/login\">\n"
			   "<label>Token <input name=\"token\" type=\"password\" autocomplete=\"current-password\" required></label>\n"
			   "<button>Log in</button>\n</form>\n</main>\n");
	html_end(&r->body);
}

static void enter(struct response *r, const char *token)
{
	_cleanup_(buf_done) struct buf cookie = { 0 };

	buf_init(&cookie);
	if (token)
		buf_printf(&cookie, AUTH_COOKIE "=%s; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000", token);
	r->status = 303;
	r->location = "/";
	if (token)
		r->set_cookie = arena_copy(&r->bytes, cookie.data, cookie.size);
	buf_puts(&r->body, "see /\n");
}

void login_answer(struct site *s, const struct request *q, struct response *r)
{
	struct params params;
	struct err err = { 0 };
	const char *token;

	if (!s->auth.token) {
		enter(r, NULL);
		return;
	}
	token = params_parse(&params, q->query, &err) < 0 ? NULL : params_get(&params, "token");
	if (token && auth_token_is(&s->auth, token, strlen(token)))
		enter(r, s->auth.token);
	else if (token)
		login_form(q, r, 401, "This is not the token that the server was started with.");
	else
		login_form(q, r, 200, "This server listens beyond its own machine and asks for its token.");
	params_done(&params);
}
