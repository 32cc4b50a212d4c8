/* test_auth.c: tests access control at each entry point. */

#include "auth.h"
#include "test.h"

#define TOKEN "correct-horse-battery"

static int ask_rules(const struct auth_rules *a, struct auth_request q)
{
	_cleanup_(buf_done) struct buf why;
	struct identity identity;
	int status;

	buf_init(&why);
	if (!q.method)
		q.method = "GET";
	identity = roles_identify(&a->roles, &q.roles);
	status = auth_check(a, &q, &identity, &why);
	CHECK((status == 0) == (why.size == 0));
	return status;
}

static struct auth_rules rules_of(const char *listen_at, const char *token)
{
	struct auth_rules a = { .roles.options.token = token };

	CHECK(address_parse(listen_at, &a.listen) == 0);
	return a;
}

static int ask(struct auth_request q)
{
	struct auth_rules a = rules_of("127.0.0.1:8787", NULL);

	return ask_rules(&a, q);
}

static int ask_host(const char *host)
{
	return ask((struct auth_request){ .host = host });
}

TEST(addresses_are_parsed_strictly)
{
	struct address a;

	CHECK(address_parse("LocalHost:80", &a) == 0);
	CHECK_STR(a.host, "localhost");
	CHECK_INT(a.port, 80);
	CHECK(address_parse("[::1]", &a) == 0);
	CHECK_STR(a.host, "::1");
	CHECK_INT(a.port, -1);
	CHECK(address_is_loopback(&a));

	static const char *const bad[] = { "", ":80", "a:", "a:8 ", "a b", "[::1", "[::1]x", "[x]", "a/b",
					   "u@h",
		"a:80:90", "::1", "a\t", "[::1]:", "a:-1", "a:+1" };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_INT(address_parse(bad[i], &a), -EINVAL);
	CHECK_INT(address_parse("a:65536", &a), -ERANGE);
	CHECK_INT(address_parse("[::1]:99999999999999999999", &a), -ERANGE);
}

TEST(loopback_host_names_are_accepted_with_any_port)
{
	CHECK_INT(ask_host("localhost:9000"), 0);
	CHECK_INT(ask_host("127.0.0.1:80"), 0);
	CHECK_INT(ask_host("localhost"), 0);
	CHECK_INT(ask_host("127.0.0.1:8787"), 0);
	CHECK_INT(ask_host("localhost:8787"), 0);
	CHECK_INT(ask_host("LOCALHOST:8787"), 0);
	CHECK_INT(ask_host("[::1]:8787"), 0);
}

TEST(a_request_with_a_rebound_host_name_is_rejected_as_misdirected)
{
	CHECK_INT(ask_host("evil.example:8787"), 421);
	CHECK_INT(ask_host("localhost.evil.example:8787"), 421);
	CHECK_INT(ask_host("127.0.0.1.evil.example:8787"), 421);
	CHECK_INT(ask_host("192.168.1.1:8787"), 421);
	CHECK_INT(ask_host(""), 421);
	CHECK_INT(ask_host(NULL), 421);
	CHECK_INT(ask_host("localhost:8787@evil.example"), 421);
}

TEST(an_allowed_host_is_accepted_with_any_port_or_only_its_own)
{
	static const char *const names[] = { "strobe.example.org", "other.example.org:8443" };
	struct auth_rules a = rules_of("127.0.0.1:8787", NULL);

	a.allow_hosts = names;
	a.allow_host_count = 2;
	CHECK_INT(ask_rules(&a, (struct auth_request){ .host = "strobe.example.org" }), 0);
	CHECK_INT(ask_rules(&a, (struct auth_request){ .host = "strobe.example.org:444" }), 0);
	CHECK_INT(ask_rules(&a, (struct auth_request){ .host = "other.example.org:8443" }), 0);
	CHECK_INT(ask_rules(&a, (struct auth_request){ .host = "other.example.org" }), 421);
	CHECK_INT(ask_rules(&a, (struct auth_request){ .host = "x.strobe.example.org" }), 421);
}

TEST(a_server_on_all_addresses_accepts_the_address_connected_to_as_host)
{
	struct auth_rules a = rules_of("0.0.0.0:8787", TOKEN);
	struct auth_request q = { .host = "192.0.2.7:8787", .local_address = "192.0.2.7", .roles.authorization = "Bearer "
				  TOKEN };

	CHECK_INT(ask_rules(&a, q), 0);
	q.host = "192.0.2.8:8787";
	CHECK_INT(ask_rules(&a, q), 421);
}

TEST(requests_from_another_origin_are_rejected)
{
	CHECK_INT(ask((struct auth_request){ .host = "localhost:8787", .origin = "http://localhost:8787" }), 0);
	CHECK_INT(ask((struct auth_request){ .host = "localhost:8787", .origin = "https://evil.example" }), 403);
	CHECK_INT(ask((struct auth_request){ .host = "localhost:8787", .origin = "http://localhost:3000" }), 403);
	CHECK_INT(ask((struct auth_request){ .host = "localhost:8787", .origin = "http://127.0.0.1:8787" }), 403);
	CHECK_INT(ask((struct auth_request){ .host = "localhost:8787", .origin = "null" }), 403);
	CHECK_INT(ask((struct auth_request){ .host = "localhost:8787", .origin = "" }), 403);
	CHECK_INT(ask((struct auth_request){ .host = "localhost:8787", .origin = "http://localhost:8787/x" }), 403);
}

TEST(other_sites_may_link_to_pages_but_not_fetch_or_embed_them)
{
	struct auth_request q = { .host = "localhost:8787", .fetch_site = "cross-site", .fetch_mode = "navigate",
				  .fetch_dest = "document", .is_page = true };

	CHECK_INT(ask(q), 0);
	q.fetch_dest = "iframe";
	CHECK_INT(ask(q), 403);
	q.fetch_dest = "image";
	q.fetch_mode = "no-cors";
	CHECK_INT(ask(q), 403);
	q.fetch_dest = "document";
	q.fetch_mode = "navigate";
	q.is_page = false;
	CHECK_INT(ask(q), 403);
	q.is_page = true;
	q.method = "POST";
	CHECK_INT(ask(q), 403);
}

TEST(another_port_of_localhost_counts_as_another_site)
{
	CHECK_INT(ask((struct auth_request){ .host = "localhost:8787", .fetch_site = "same-site" }), 403);
	CHECK_INT(ask((struct auth_request){ .host = "localhost:8787", .fetch_site = "same-origin" }), 0);
	CHECK_INT(ask((struct auth_request){ .host = "localhost:8787", .fetch_site = "none" }), 0);
}

TEST(write_requests_must_be_same_origin_or_carry_a_token)
{
	struct auth_rules a = rules_of("127.0.0.1:8787", TOKEN);
	struct auth_request q = { .host = "localhost:8787", .method = "POST" };
	char id[SESSION_ID + 1], cookie[128];

	a.roles.sessions = sessions_new();
	CHECK_INT(sessions_begin(a.roles.sessions, ROLE_WRITE, clock_monotonic_ns(), id, NULL), 0);
	snprintf(cookie, sizeof(cookie), ROLES_COOKIE "=%s", id);
	q.roles.cookie = cookie;


	CHECK_INT(ask_rules(&a, q), 403);
	q.fetch_site = "same-origin";
	CHECK_INT(ask_rules(&a, q), 0);
	q.fetch_site = NULL;
	q.origin = "http://localhost:8787";
	CHECK_INT(ask_rules(&a, q), 0);
	q.origin = NULL;
	q.roles.authorization = "Bearer " TOKEN;
	CHECK_INT(ask_rules(&a, q), 0);
	sessions_free(a.roles.sessions);
}

TEST(without_a_token_only_local_programs_and_no_browsers_may_write)
{
	struct auth_rules a = rules_of("127.0.0.1:8787", NULL);
	struct auth_request q = { .host = "localhost:8787", .method = "POST" };

	CHECK_INT(ask_rules(&a, q), 0);
	q.user_agent = "curl/7.88.1";
	CHECK_INT(ask_rules(&a, q), 0);
	q.user_agent = "Mozilla/5.0 (an old browser that tells no origin)";
	CHECK_INT(ask_rules(&a, q), 403);
	q.user_agent = "curl/7.88.1";
	q.fetch_site = "none";
	CHECK_INT(ask_rules(&a, q), 403);
	q.fetch_site = NULL;
	q.origin = "null";
	CHECK_INT(ask_rules(&a, q), 403);
	q.origin = "http://evil.example";
	CHECK_INT(ask_rules(&a, q), 403);
	q.origin = NULL;
	q.host = "evil.example:8787";
	CHECK_INT(ask_rules(&a, q), 421);
}

TEST(a_bearer_token_must_match_completely)
{
	struct auth_rules a = rules_of("127.0.0.1:8787", TOKEN);
	struct auth_request q = { .host = "localhost:8787" };

	CHECK_INT(ask_rules(&a, q), 401);
	q.roles.authorization = "Bearer " TOKEN;
	CHECK_INT(ask_rules(&a, q), 0);
	q.roles.authorization = "bearer  " TOKEN;
	CHECK_INT(ask_rules(&a, q), 0);
	q.roles.authorization = "Bearer " TOKEN "x";
	CHECK_INT(ask_rules(&a, q), 401);
	q.roles.authorization = "Bearer correct";
	CHECK_INT(ask_rules(&a, q), 401);
	q.roles.authorization = "Bearer " TOKEN TOKEN;
	CHECK_INT(ask_rules(&a, q), 401);
	q.roles.authorization = "Bearer ";
	CHECK_INT(ask_rules(&a, q), 401);
	q.roles.authorization = TOKEN;
	CHECK_INT(ask_rules(&a, q), 401);

	q.roles.authorization = NULL;
	q.is_public = true;
	CHECK_INT(ask_rules(&a, q), 0);
}

TEST(a_token_does_not_allow_other_hosts_or_origins)
{
	struct auth_rules a = rules_of("127.0.0.1:8787", TOKEN);
	struct auth_request q = { .host = "evil.example:8787", .roles.authorization = "Bearer " TOKEN };

	CHECK_INT(ask_rules(&a, q), 421);
	q.host = "localhost:8787";
	q.origin = "https://evil.example";
	CHECK_INT(ask_rules(&a, q), 403);
}

TEST(weak_tokens_and_invalid_host_names_are_rejected_with_an_error)
{
	struct err err = { 0 };

	CHECK_INT(roles_check_token("short", &err), -EINVAL);
	CHECK(strstr(err.text, "5 characters") != NULL);
	CHECK_INT(roles_check_token("0123456789abcdef;", &err), -EINVAL);
	CHECK_INT(roles_check_token("0123456789abcdef", &err), 0);
	CHECK_INT(auth_check_allow_host("http://x", &err), -EINVAL);
	CHECK_INT(auth_check_allow_host("x.example:1", &err), 0);
}

TEST_MAIN()
