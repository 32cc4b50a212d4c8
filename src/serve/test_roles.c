/* test_roles.c: networks, sessions and attempts, and identifying the user of a request. */
#include "roles.h"

#include "test.h"

static struct ip ip_of(const char *text)
{
	struct ip ip = { 0 };

	CHECK(ip_parse(text, strlen(text), &ip));
	return ip;
}

static bool holds(const char *range, const char *address)
{
	struct ip ip = ip_of(address);
	struct network n;

	CHECK_INT(network_parse(range, &n, NULL), 0);
	return networks_contain(&n, 1, &ip);
}

TEST(a_network_contains_its_addresses_and_no_others)
{
	static const char *const bad[] = { "", "localhost", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/-1", "::/129", "10.0.0",
					   "10.0.0.0/8/8", "/8" };
	struct network n;
	struct err err;

	CHECK(holds("10.0.0.0/8", "10.255.1.2") && !holds("10.0.0.0/8", "11.0.0.0"));
	CHECK(holds("192.0.2.128/25", "192.0.2.255") && !holds("192.0.2.128/25", "192.0.2.127"));
	CHECK(holds("192.0.2.7", "192.0.2.7") && !holds("192.0.2.7", "192.0.2.6"));
	CHECK(holds("192.0.2.7", "::ffff:192.0.2.7") && holds("[::1]", "::1"));
	CHECK(holds("2001:db8::/33", "2001:db8:7fff::1") && !holds("2001:db8::/33", "2001:db8:8000::1"));
	CHECK(holds("0.0.0.0/0", "1.2.3.4") && !holds("0.0.0.0/0", "2001:db8::1") && holds("::/0", "1.2.3.4"));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_INT(network_parse(bad[i], &n, &err), -EINVAL);
}

TEST(a_session_ends_at_logout_when_idle_or_when_too_old)
{
	struct sessions *s = sessions_new();
	char a[SESSION_ID + 1], b[SESSION_ID + 1];
	int64_t now = 5, half = SESSION_IDLE_NS / 2;

	CHECK_INT(sessions_begin(s, ROLE_READ, now, a, NULL), 0);
	CHECK_INT(sessions_begin(s, ROLE_WRITE, now, b, NULL), 0);
	CHECK(strcmp(a, b) != 0);
	CHECK_INT(sessions_role(s, a, SESSION_ID, now), ROLE_READ);
	CHECK_INT(sessions_role(s, b, SESSION_ID, now), ROLE_WRITE);
	CHECK_INT(sessions_role(s, a, SESSION_ID - 1, now), ROLE_NONE);
	CHECK_INT(sessions_role(s, "", 0, now), ROLE_NONE);
	a[SESSION_ID - 1] ^= 1;
	CHECK_INT(sessions_role(s, a, SESSION_ID, now), ROLE_NONE);
	a[SESSION_ID - 1] ^= 1;
	sessions_end(s, a, SESSION_ID);
	CHECK_INT(sessions_role(s, a, SESSION_ID, now), ROLE_NONE);

	while (now + half < SESSION_LONGEST_NS)
		CHECK_INT(sessions_role(s, b, SESSION_ID, now += half), ROLE_WRITE);
	CHECK_INT(sessions_role(s, b, SESSION_ID, 5 + SESSION_LONGEST_NS), ROLE_NONE);
	CHECK_INT(sessions_begin(s, ROLE_READ, now, a, NULL), 0);
	CHECK_INT(sessions_role(s, a, SESSION_ID, now + SESSION_IDLE_NS), ROLE_NONE);
	CHECK_INT(sessions_role(s, a, SESSION_ID, now), ROLE_NONE);
	sessions_free(s);
}

TEST(above_the_limit_the_least_recently_used_session_is_evicted)
{
	struct sessions *s = sessions_new();
	char first[SESSION_ID + 1], second[SESSION_ID + 1], id[SESSION_ID + 1];

	CHECK_INT(sessions_begin(s, ROLE_READ, 1, first, NULL), 0);
	CHECK_INT(sessions_begin(s, ROLE_READ, 2, second, NULL), 0);
	CHECK_INT(sessions_role(s, first, SESSION_ID, 3), ROLE_READ);
	for (unsigned i = 2; i <= SESSIONS_MAX; i++)
		CHECK_INT(sessions_begin(s, ROLE_READ, 3 + i, id, NULL), 0);
	CHECK_INT(sessions_role(s, second, SESSION_ID, 5000), ROLE_NONE);
	CHECK_INT(sessions_role(s, first, SESSION_ID, 5000), ROLE_READ);
	sessions_free(s);
}

TEST(after_ten_wrong_tokens_one_attempt_every_six_seconds_is_allowed)
{
	struct ip here = ip_of("192.0.2.1"), there = ip_of("192.0.2.2"), v6 = ip_of("2001:db8::1"), same = ip_of("2001:db8::2");
	struct attempts *a = attempts_new();
	int64_t now = 1000;

	for (int i = 0; i < ATTEMPTS_BURST; i++) {
		CHECK_INT(attempts_retry_after(a, &here, now), 0);
		attempts_record_failure(a, &here, now);
		attempts_record_failure(a, &v6, now);
	}
	CHECK_INT(attempts_retry_after(a, &here, now), 6);
	CHECK_INT(attempts_retry_after(a, &there, now), 0);
	CHECK_INT(attempts_retry_after(a, &same, now), 6);
	now += ATTEMPT_COSTS_NS;
	CHECK_INT(attempts_retry_after(a, &here, now), 0);
	attempts_record_failure(a, &here, now);
	CHECK_INT(attempts_retry_after(a, &here, now), 6);
	CHECK_INT(attempts_retry_after(a, &here, now + ATTEMPTS_BURST * ATTEMPT_COSTS_NS), 0);
	attempts_free(a);
}

TEST(memory_for_attempts_is_bounded_for_any_number_of_addresses)
{
	struct attempts *a = attempts_new();
	struct ip first = ip_of("192.0.2.1"), ip = ip_of("10.0.0.0");

	for (int i = 0; i < ATTEMPTS_BURST; i++)
		attempts_record_failure(a, &first, 0);
	for (unsigned i = 0; i < 3 * ATTEMPTS_ADDRESSES; i++) {
		ip.bytes[14] = (uint8_t)(i >> 8);
		ip.bytes[15] = (uint8_t)i;
		attempts_record_failure(a, &ip, 1);
	}
	CHECK(attempts_retry_after(a, &first, 1) > 0);
	attempts_free(a);
}

TEST(the_session_id_is_read_from_its_cookie_only)
{
	size_t n = 0;
	const char *id = roles_session_in("a=b; " ROLES_COOKIE "=0123; c=d", &n);

	CHECK(id && n == 4 && memcmp(id, "0123", 4) == 0);
	CHECK(!roles_session_in("x" ROLES_COOKIE "=0123", &n));
	CHECK(!roles_session_in(ROLES_COOKIE "x=0123", &n));
	CHECK(!roles_session_in(";;;", &n) && !roles_session_in("", &n) && !roles_session_in(NULL, &n));
	CHECK(roles_session_in(ROLES_COOKIE "=", &n) && n == 0);
}

static struct identity identity_of(struct roles_request q)
{
	static const char *const proxies[] = { "10.0.0.0/8", "::1" }, *const writers[] = { "ann" };
	struct roles_options o = { .proxies = proxies, .proxy_count = 2, .writers = writers, .writer_count = 1 };
	struct roles r;
	struct identity identity;

	CHECK_INT(roles_init(&r, &o, NULL), 0);
	identity = roles_identify(&r, &q);
	roles_done(&r);
	return identity;
}

TEST(user_names_are_accepted_from_trusted_proxies_only)
{
	CHECK_INT(identity_of((struct roles_request){ .user = "ann", .peer = "10.0.0.1" }).role, ROLE_WRITE);
	CHECK_INT(identity_of((struct roles_request){ .user = "bob", .peer = "::1" }).role, ROLE_READ);
	CHECK_STR(identity_of((struct roles_request){ .user = "bob", .peer = "::ffff:10.0.0.1" }).user, "bob");
	CHECK_INT(identity_of((struct roles_request){ .user = "ann", .peer = "192.0.2.1" }).role, ROLE_NONE);
	CHECK_INT(identity_of((struct roles_request){ .user = "ann", .peer = "192.0.2.1", .forwarded_for = "10.0.0.1" }).role, ROLE_NONE);
	CHECK_INT(identity_of((struct roles_request){ .user = "ann", .peer = NULL }).role, ROLE_NONE);
	CHECK_INT(identity_of((struct roles_request){ .user = "", .peer = "10.0.0.1" }).role, ROLE_NONE);
	CHECK_INT(identity_of((struct roles_request){ .user = "a\tb", .peer = "10.0.0.1" }).role, ROLE_NONE);
	CHECK_INT(identity_of((struct roles_request){ .peer = "10.0.0.1" }).role, ROLE_NONE);
}

TEST(the_client_address_is_the_last_one_that_is_not_a_proxy)
{
	static const char *const cases[][3] = {
		{ "192.0.2.1", "8.8.8.8", "192.0.2.1" }, { "10.0.0.1", "8.8.8.8, 192.0.2.1", "192.0.2.1" },
		{ "10.0.0.1", "8.8.8.8,192.0.2.1 , 10.0.0.2", "192.0.2.1" }, { "10.0.0.1", NULL, "10.0.0.1" },
		{ "10.0.0.1", "", "10.0.0.1" }, { "10.0.0.1", "8.8.8.8, junk", "10.0.0.1" },
		{ "::1", "[2001:db8::1]", "2001:db8::1" }, { "10.0.0.1", "10.0.0.3,10.0.0.2", "10.0.0.3" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct identity identity = identity_of((struct roles_request){ .peer = cases[i][0], .forwarded_for = cases[i][1] });
		struct ip want = ip_of(cases[i][2]);

		CHECK(memcmp(&identity.address, &want, sizeof(want)) == 0);
	}
}

TEST(invalid_options_are_rejected_with_an_error)
{
	static const char *const range[] = { "10.0.0.0/99" }, *const fine[] = { "10.0.0.1" }, *const writer[] = { "ann" };
	static const struct {
		struct roles_options o;
		const char *sentence;
	} cases[] = {
		{ { .proxies = range, .proxy_count = 1 }, "invalid --trusted-proxy '10.0.0.0/99'; use 0 to 32 after the slash" },
		{ { .token = "short" }, "5 characters" },
		{ { .read_token = "short" }, "5 characters" },
		{ { .token = "0123456789abcdef", .read_token = "0123456789abcdef" }, "use different ones" },
		{ { .proxies = fine, .proxy_count = 1, .user_header = "a b" }, "invalid --user-header 'a b'; use letters" },
		{ { .writers = writer, .writer_count = 1 }, "--trusted-proxy" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = { 0 };
		struct roles r;

		CHECK_INT(roles_init(&r, &cases[i].o, &err), -EINVAL);
		if (!strstr(err.text, cases[i].sentence))
			CHECK_STR(err.text, cases[i].sentence);
		roles_done(&r);
	}
}

TEST_MAIN()
