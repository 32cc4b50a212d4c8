/* test_login.c: tokens, sessions and proxies: access for each, and redirects of the login. */

#include "test_site.h"

#include <string.h>

#define TOKEN		"0123456789abcdef"
#define READ_TOKEN	"fedcba9876543210"

static struct server_context guarded_site(void)
{
	static const char *const proxies[] = { "192.0.2.1", "10.0.0.0/8" }, *const writers[] = { "ann" };
	struct server_context s = site_new();
	struct roles_options o = { .token = TOKEN, .read_token = READ_TOKEN, .proxies = proxies, .proxy_count = 2,
				   .writers = writers, .writer_count = 1 };

	CHECK_INT(roles_init(&s.auth.roles, &o, NULL), 0);
	return s;
}

static struct request form_of(const char *path, const char *body)
{
	struct request q = request_of(path, NULL);

	q.headers.method = "POST";
	q.headers.origin = "http://127.0.0.1:8787";
	q.headers.roles.origin = q.headers.origin;
	q.headers.roles.peer = "192.0.2.9";
	q.has_body = true;
	q.body = body;
	q.body_size = strlen(body);
	return q;
}

static int status_of(struct server_context *s, struct request q)
{
	_cleanup_(response_done) struct response r;

	return answer(s, q, &r);
}

/* "strobe_session=…" without its attributes. */
static void cookie_of(const struct response *r, char cookie[128])
{
	snprintf(cookie, 128, "%.*s", (int)strcspn(r->set_cookie ? r->set_cookie : "", ";"), r->set_cookie ? r->set_cookie : "");
}

TEST(a_posted_token_starts_a_session_that_ends_with_logout)
{
	_cleanup_(response_done) struct response in, again, page, out;
	struct server_context s = guarded_site();
	char cookie[128], second[128];
	struct request q = request_of("/", NULL);

	CHECK_INT(answer(&s, form_of("/login", "token=" TOKEN), &in), 303);
	CHECK_STR(in.location, "/");
	cookie_of(&in, cookie);
	CHECK_INT(strlen(cookie), strlen("strobe_session=") + SESSION_ID);
	CHECK_STR(in.set_cookie + strlen(cookie), "; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000");
	CHECK(!strstr(in.set_cookie, TOKEN));
	CHECK_INT(answer(&s, form_of("/login", "next=%2Fruns%3Fsource%3Da&token=" TOKEN), &again), 303);
	CHECK_STR(again.location, "/runs?source=a");
	cookie_of(&again, second);
	CHECK(strcmp(cookie, second) != 0);

	CHECK_INT(status_of(&s, q), 401);
	q.headers.roles.cookie = cookie;
	CHECK_INT(answer(&s, q, &page), 200);
	CHECK(strstr(page.body.data, "action=\"/logout\"") != NULL);

	q = form_of("/logout", "");
	q.headers.roles.cookie = cookie;
	CHECK_INT(answer(&s, q, &out), 303);
	CHECK_STR(out.location, "/login");
	CHECK_STR(out.set_cookie, "strobe_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
	q = request_of("/", NULL);
	q.headers.roles.cookie = cookie;
	CHECK_INT(status_of(&s, q), 401);
	q.headers.roles.cookie = second;
	CHECK_INT(status_of(&s, q), 200);
	roles_done(&s.auth.roles);
}

TEST(a_token_in_the_url_does_not_log_in)
{
	_cleanup_(response_done) struct response r;
	struct server_context s = guarded_site();

	CHECK_INT(answer(&s, request_of("/login", "token=" TOKEN), &r), 400);
	CHECK(!r.set_cookie && strstr(r.body.data, "method=\"post\"") && !strstr(r.body.data, TOKEN));
	roles_done(&s.auth.roles);
}

TEST(the_session_cookie_is_secure_behind_tls)
{
	_cleanup_(response_done) struct response by_origin, by_proxy, plain;
	struct server_context s = guarded_site();
	struct request q = form_of("/login", "token=" TOKEN);

	q.headers.roles.origin = q.headers.origin = "https://127.0.0.1:8787";
	CHECK_INT(answer(&s, q, &by_origin), 303);
	CHECK(strstr(by_origin.set_cookie, "; Secure") != NULL);
	q = form_of("/login", "token=" TOKEN);
	q.headers.roles.forwarded_proto = "https";
	CHECK_INT(answer(&s, q, &by_proxy), 303);
	CHECK(strstr(by_proxy.set_cookie, "; Secure") != NULL);
	q.headers.roles.forwarded_proto = "http";
	CHECK_INT(answer(&s, q, &plain), 303);
	CHECK(!strstr(plain.set_cookie, "Secure"));
	roles_done(&s.auth.roles);
}

TEST(the_login_redirects_only_to_pages_of_this_server)
{
	static const char *const elsewhere[] = { "//evil.example", "https://evil.example", "/%5Cevil.example", "evil",
						 "/a%0D%0ASet-Cookie:x", "/%09/evil.example", "" };
	struct server_context s = guarded_site();
	char body[200];

	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++) {
		_cleanup_(response_done) struct response r;

		snprintf(body, sizeof(body), "token=" TOKEN "&next=%s", elsewhere[i]);
		CHECK_INT(answer(&s, form_of("/login", body), &r), 303);
		CHECK_STR(r.location, "/");
	}
	roles_done(&s.auth.roles);
}

TEST(other_sites_can_neither_log_in_nor_log_out)
{
	struct server_context s = guarded_site();
	struct request q = form_of("/login", "token=" TOKEN);

	q.headers.origin = "http://evil.example";
	CHECK_INT(status_of(&s, q), 403);
	q.path = "/logout";
	CHECK_INT(status_of(&s, q), 403);
	q.headers.origin = NULL;
	q.headers.user_agent = "Mozilla/5.0";
	CHECK_INT(status_of(&s, q), 403);
	q.headers.user_agent = "curl/8";
	CHECK_INT(status_of(&s, q), 303);
	roles_done(&s.auth.roles);
}

TEST(an_address_with_ten_wrong_tokens_is_rate_limited)
{
	_cleanup_(response_done) struct response r;
	struct server_context s = guarded_site();
	struct request q = request_of("/metrics", NULL), other = form_of("/login", "token=" TOKEN);

	for (int i = 0; i < 5; i++)
		CHECK_INT(status_of(&s, form_of("/login", "token=wrong")), 401);
	q.headers.roles.peer = "192.0.2.9";
	q.headers.roles.authorization = "Bearer wrong";
	for (int i = 0; i < 5; i++)
		CHECK_INT(status_of(&s, q), 401);
	CHECK_INT(s.http.logins_wrong, 10);
	CHECK_INT(answer(&s, form_of("/login", "token=" TOKEN), &r), 429);
	CHECK(r.retry_after && atoi(r.retry_after) > 0 && !r.set_cookie);
	q.headers.roles.authorization = "Bearer " TOKEN;
	CHECK_INT(status_of(&s, q), 429);
	CHECK_INT(s.http.logins_limited, 2);
	CHECK_INT(s.http.logins_wrong, 10);

	other.headers.roles.peer = "192.0.2.10";
	CHECK_INT(status_of(&s, other), 303);
	other.headers.roles.peer = "192.0.2.1";		/* the proxy's header from another address, for another user */
	other.headers.roles.forwarded_for = "192.0.2.11";
	CHECK_INT(status_of(&s, other), 303);
	other.headers.roles.forwarded_for = "192.0.2.11, 192.0.2.9";
	CHECK_INT(status_of(&s, other), 429);
	roles_done(&s.auth.roles);
}

/* Clients that may post are offered the room for a body; others are refused. */
TEST(a_read_only_role_may_read_and_not_write)
{
	static const struct { const char *bearer, *user, *peer; int get, post; } cases[] = {
		{ "Bearer " TOKEN, NULL, "192.0.2.9", 200, 0 }, { "Bearer " READ_TOKEN, NULL, "192.0.2.9", 200, 403 },
		{ NULL, "ann", "10.1.2.3", 200, 0 }, { NULL, "bob", "10.1.2.3", 200, 403 },
		{ NULL, "ann", "11.1.2.3", 401, 401 }, { NULL, "", "10.1.2.3", 401, 401 },
		{ NULL, NULL, "10.1.2.3", 401, 401 }, { "Bearer wrong", "ann", "10.1.2.3", 200, 0 },
	};
	struct server_context s = guarded_site();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct request q = request_of("/", NULL);
		size_t most;

		q.headers.roles = (struct roles_request){ .authorization = cases[i].bearer, .user = cases[i].user,
							  .peer = cases[i].peer };
		CHECK_INT(status_of(&s, q), cases[i].get);
		q.path = "/api/v1/runs";
		q.headers.method = "POST";
		q.headers.origin = "http://127.0.0.1:8787";
		most = router_body_max(&s, &q);
		CHECK_INT(most, cases[i].post ? 0 : HTTP_BODY_MAX);
		if (cases[i].post)
			CHECK_INT(status_of(&s, q), cases[i].post);
	}
	roles_done(&s.auth.roles);
}

/* Requests the URL in an attribute of the page, and returns the status. */
static int ask_attribute(struct server_context *s, const char *page, const char *attribute)
{
	_cleanup_(response_done) struct response r;
	const char *at = strstr(page, attribute);
	char path[128] = "";
	struct request q;

	if (at)
		snprintf(path, sizeof(path), "%.*s", (int)strcspn(at + strlen(attribute), "\""), at + strlen(attribute));
	q = request_of(path, "");
	response_init(&r);
	router_answer(s, &q, &r);
	return r.status;
}

TEST(style_sheets_of_the_login_page_need_no_session)
{
	_cleanup_(response_done) struct response page;
	struct server_context s = site_new();
	struct request q = request_of("/login", "");

	s.auth.roles.options.token = TOKEN;
	response_init(&page);
	router_answer(&s, &q, &page);
	CHECK_INT(page.status, 200);
	CHECK_INT(ask_attribute(&s, page.body.data, "rel=\"stylesheet\" href=\""), 200);
	CHECK_INT(ask_attribute(&s, page.body.data, "type=\"image/svg+xml\" href=\""), 200);
	CHECK_INT(ask_attribute(&s, page.body.data, "type=\"module\" src=\""), 200);
	CHECK_INT(ask_attribute(&s, "p=\"/api/v1/status\"", "p=\""), 401);
}

TEST_MAIN()
