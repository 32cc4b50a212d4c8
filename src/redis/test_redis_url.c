#include "redis_url.h"

#include "mem.h"
#include "test.h"

TEST(all_parts_of_an_address_are_found)
{
	struct redis_url u;

	CHECK_INT(redis_url_parse("redis://us%3Aer:p%40ss%2Fw@redis.example:6380/5?channel=a,b&label.dc=eq%20iad&x", &u,
				  NULL), 0);
	CHECK_STR(u.user, "us:er");
	CHECK_STR(u.password, "p@ss/w");
	CHECK_STR(u.host, "redis.example");
	CHECK_INT(u.port, 6380);
	CHECK_INT(u.database, 5);
	CHECK_INT(u.parameter_count, 3);
	CHECK_STR(redis_url_get(&u, "channel"), "a,b");
	CHECK_STR(redis_url_get(&u, "label.dc"), "eq iad");
	CHECK_STR(redis_url_get(&u, "x"), "");
	CHECK(!redis_url_get(&u, "chan"));
	redis_url_done(&u);
}

TEST(what_is_not_said_has_its_usual_value)
{
	struct redis_url u;

	CHECK_INT(redis_url_parse("redis://localhost", &u, NULL), 0);
	CHECK_INT(u.port, 6379);
	CHECK_INT(u.database, 0);
	CHECK(!u.user && !u.password && !u.parameters);
	CHECK_STR(u.shown, "redis://localhost");
	redis_url_done(&u);
	CHECK_INT(redis_url_parse("redis://[::1]/", &u, NULL), 0);
	CHECK_STR(u.host, "::1");
	redis_url_done(&u);
	CHECK_INT(redis_url_parse("redis://[::1]:7000?stream=s", &u, NULL), 0);
	CHECK_INT(u.port, 7000);
	redis_url_done(&u);
}

TEST(a_host_may_be_the_path_of_a_socket)
{
	char *url = xasprintf("redis://%%2F%0*d?channel=a", 106, 0);
	struct redis_url u;
	struct err err;

	CHECK_INT(redis_url_parse("redis://:pw@%2Frun%2Fredis%2Fredis.sock/2?channel=a", &u, NULL), 0);
	CHECK_STR(u.host, "/run/redis/redis.sock");
	CHECK_STR(u.password, "pw");
	CHECK_INT(u.database, 2);
	CHECK_STR(u.shown, "redis://:***@%2Frun%2Fredis%2Fredis.sock/2?channel=a");
	redis_url_done(&u);
	CHECK_INT(redis_url_parse(url, &u, &err), 0);
	CHECK_INT(strlen(u.host), 107);
	redis_url_done(&u);
	free(url);
	url = xasprintf("redis://%%2F%0*d?channel=a", 107, 0);
	CHECK_INT(redis_url_parse(url, &u, &err), -EINVAL);
	CHECK(strstr(err.text, "the path of the socket is longer than 107 bytes"));
	redis_url_done(&u);
	free(url);
}

TEST(a_password_is_never_shown)
{
	static const char *const urls[][2] = {
		{ "redis://user:secret@host/?channel=a", "redis://user:***@host/?channel=a" },
		{ "redis://:secret@host:1", "redis://:***@host:1" },
		{ "redis://secret@host", "redis://***@host" },
		{ "redis://u:sec@ret@host", "redis://u:***@host" },
		{ "redis://u:sec:ret@[::1]:2", "redis://u:***@[::1]:2" },
		{ "redis://host/?channel=a&password=secret&x", "redis://host/?channel=a&password=***&x" },
		{ "redis://host/?pass%77ord=secret", "redis://host/?pass%77ord=***" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		struct redis_url u;

		CHECK_INT(redis_url_parse(urls[i][0], &u, NULL), 0);
		CHECK_STR(u.shown, urls[i][1]);
		CHECK(!strstr(u.shown, "sec") && !strstr(u.shown, "ret"));
		redis_url_done(&u);
	}
}

TEST(what_is_no_address_is_refused_with_an_example)
{
	static const char *const urls[][2] = {
		{ "rediss://host", "does not begin with redis://" }, { "redis:", "does not begin" },
		{ "redis://", "the host is missing" },
		{ "redis://:password@", "the host is missing" }, { "redis://host:0", "the port" },
		{ "redis://host:65536", "the port" }, { "redis://host:", "the port" },
		{ "redis://host:6379x", "the port" },
		{ "redis://host/x", "the database" }, { "redis://host/1/2", "the database" },
		{ "redis://[::1", "no closing bracket" }, { "redis://[::1]x", "a port is expected" },
		{ "redis://h%zz", "the host" }, { "redis://h%00", "the host" },
		{ "redis://u:%4@h", "bad percent escape" },
		{ "redis://h?a=%0", "a parameter has a bad" }, { "redis://h?%00=b", "a parameter has a bad" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		struct redis_url u;
		struct err err = { 0 };

		CHECK_INT(redis_url_parse(urls[i][0], &u, &err), -EINVAL);
		if (!strstr(err.text, urls[i][1]) || !strstr(err.text, "redis://host"))
			CHECK_STR(err.text, urls[i][1]);
		redis_url_done(&u);
	}
}

TEST(an_address_has_bounds)
{
	char url[URL_MAX + 2] = "redis://h?";
	struct redis_url u;

	for (unsigned i = 0; i < URL_PARAMETERS; i++)
		strcat(url, "a=b&");
	CHECK_INT(redis_url_parse(url, &u, NULL), 0);
	CHECK_INT(u.parameter_count, URL_PARAMETERS);
	redis_url_done(&u);
	strcat(url, "a=b");
	CHECK_INT(redis_url_parse(url, &u, NULL), -EINVAL);
	redis_url_done(&u);
	memset(url + strlen("redis://"), 'h', URL_MAX + 1 - strlen("redis://"));
	CHECK_INT(redis_url_parse(url, &u, NULL), -EINVAL);
	redis_url_done(&u);
}

TEST_MAIN()
