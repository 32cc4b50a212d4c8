/* login.c: the form, the cookie and the logout. */

#include "login.h"

#include "html.h"

#include <string.h>

#define ATTRIBUTES	"; Path=/; HttpOnly; SameSite=Lax"

/* --- Attempts --- */

unsigned login_retry_after(struct server_context *s, const struct request *q)
{
	const struct roles *r = &s->auth.roles;

	return r->attempts ? attempts_retry_after(r->attempts, &q->identity.address, clock_monotonic_ns()) : 0;
}

void login_record_failure(struct server_context *s, const struct request *q)
{
	if (s->auth.roles.attempts)
		attempts_record_failure(s->auth.roles.attempts, &q->identity.address, clock_monotonic_ns());
	s->http.logins_wrong++;
}

void login_refuse_throttled(struct server_context *s, unsigned seconds, struct response *r)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", seconds);

	r->retry_after = arena_copy(&r->bytes, text, (size_t)n);
	s->http.logins_limited++;
}

/* --- The form --- */

/* Whether it is a path on this server: browsers take "//host/" and "/\host/" for other servers. */
static bool is_own_path(const char *next)
{
	if (next[0] != '/' || next[1] == '/' || strlen(next) > STROBE_WIRE_LABEL_VALUE)
		return false;
	for (const char *p = next; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || *p == '\\')
			return false;
	return true;
}

static void put_form(struct response *r, int status, const char *sentence, const char *next)
{
	r->status = status;
	r->type = "text/html; charset=utf-8";
	buf_reset(&r->body);
	html_begin(&r->body, "Log in – Strobe");
	buf_puts(&r->body, "<main class=\"login\">\n<h1>Strobe</h1>\n<p>");
	html_text(&r->body, sentence);
	buf_puts(&r->body, "</p>\n<form method=\"post\" action=\"/login\">\n");
	if (next && is_own_path(next) && strcmp(next, "/") != 0) {
		buf_puts(&r->body, "<input type=\"hidden\" name=\"next\" value=\"");
		html_text(&r->body, next);
		buf_puts(&r->body, "\">\n");
	}
	buf_puts(&r->body, "<label>Token <input name=\"token\" type=\"password\" autocomplete=\"current-password\" required></label>\n"
			   "<button>Log in</button>\n</form>\n</main>\n");
	html_end(&r->body);
}

void login_form(const struct request *q, struct response *r, int status, const char *sentence)
{
	_cleanup_(buf_done) struct buf next = { 0 };

	buf_init(&next);
	buf_printf(&next, "%s%s%s", q->path, q->query ? "?" : "", q->query ? q->query : "");
	put_form(r, status, sentence, next.data);
}

static void lead_to(struct response *r, const char *path)
{
	r->status = 303;
	r->location = arena_copy(&r->bytes, path, strlen(path));
	buf_printf(&r->body, "see %s\n", path);
}

static void set_cookie(const struct request *q, struct response *r, const char *id, long long seconds)
{
	_cleanup_(buf_done) struct buf cookie = { 0 };

	buf_init(&cookie);
	buf_printf(&cookie, ROLES_COOKIE "=%s" ATTRIBUTES "; Max-Age=%lld%s", id, seconds,
		   roles_is_tls(&q->headers.roles) ? "; Secure" : "");
	r->set_cookie = arena_copy(&r->bytes, cookie.data, cookie.size);
}

/* --- Logging in --- */

static void enter(struct server_context *s, const struct request *q, struct response *r, enum role role, const char *next)
{
	char id[SESSION_ID + 1];
	struct err err = { 0 };

	if (sessions_begin(s->auth.roles.sessions, role, clock_monotonic_ns(), id, &err) < 0) {
		response_error(r, q, 500, "%s", err.text);
		return;
	}
	s->http.logins++;
	set_cookie(q, r, id, SESSION_LONGEST_NS / NS_PER_SECOND);
	lead_to(r, next && is_own_path(next) ? next : "/");
	explicit_bzero(id, sizeof(id));
}

static void try_token(struct server_context *s, const struct request *q, struct response *r, const char *token, const char *next)
{
	unsigned wait = login_retry_after(s, q);
	enum role role;

	if (wait) {
		login_refuse_throttled(s, wait, r);
		put_form(r, 429, "Too many wrong tokens from this address. Wait a minute and try again.", next);
		return;
	}
	role = roles_of_token(&s->auth.roles, token, strlen(token));
	if (role) {
		enter(s, q, r, role, next);
		return;
	}
	login_record_failure(s, q);
	put_form(r, 401, "This is not a token of this server.", next);
}

static void take_form(struct server_context *s, const struct request *q, struct response *r)
{
	struct params params;
	struct err err = { 0 };
	const char *body = q->body && strlen(q->body) == q->body_size ? q->body : NULL;
	bool is_fine = params_parse(&params, body, &err) >= 0;
	const char *token = is_fine ? params_get(&params, "token") : NULL;

	if (token && *token)
		try_token(s, q, r, token, params_get(&params, "next"));
	else
		put_form(r, 400, "The token is missing.", is_fine ? params_get(&params, "next") : NULL);
	params_done(&params);
}

static void show_form(struct server_context *s, const struct request *q, struct response *r)
{
	struct params params;
	struct err err = { 0 };
	bool is_fine = params_parse(&params, q->query, &err) >= 0;
	const char *next = is_fine ? params_get(&params, "next") : NULL;

	if (is_fine && params_get(&params, "token"))
		put_form(r, 400, "A token in a URL stays in histories and logs. Enter it here, and replace it with a new one.", next);
	else if (q->identity.role)
		lead_to(r, next && is_own_path(next) ? next : "/");
	else if (!s->auth.roles.options.token && !s->auth.roles.options.read_token)
		put_form(r, 401, "This server authenticates users by a proxy, and this request did not come through it.", next);
	else
		put_form(r, 200, "This server requires a token.", next);
	params_done(&params);
}

void login_answer(struct server_context *s, const struct request *q, struct response *r)
{
	if (strcmp(q->headers.method, "POST") != 0)
		show_form(s, q, r);
	else if (!roles_are_set(&s->auth.roles, false))
		lead_to(r, "/");
	else
		take_form(s, q, r);
}

/* --- Logging out --- */

void logout_answer(struct server_context *s, const struct request *q, struct response *r)
{
	size_t n = 0;
	const char *id = roles_session_in(q->headers.roles.cookie, &n);

	if (strcmp(q->headers.method, "POST") != 0) {
		r->type = "text/html; charset=utf-8";
		html_begin(&r->body, "Log out – Strobe");
		buf_puts(&r->body, "<main class=\"login\">\n<h1>Strobe</h1>\n<form method=\"post\" action=\"/logout\">\n"
				   "<button>Log out</button>\n</form>\n</main>\n");
		html_end(&r->body);
		return;
	}
	if (id && s->auth.roles.sessions)
		sessions_end(s->auth.roles.sessions, id, n);
	set_cookie(q, r, "", 0);
	lead_to(r, "/login");
}
