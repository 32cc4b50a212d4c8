/* test_redis_url.c: the parts of Redis URLs, and invalid ones. */
#include "redis_url.h"

#include "mem.h"
#include "redis_address.h"
#include "redis_tls_options.h"
#include "test.h"

TEST(all_parts_of_a_url_are_parsed)
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

TEST(missing_parts_have_default_values)
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

TEST(the_host_may_be_the_path_of_a_socket)
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

TEST(rediss_means_tls)
{
	struct redis_url u;
	struct redis_tls_options o;

	CHECK_INT(redis_url_parse("rediss://:pw@host/?channel=a&ca-file=%2Fca.pem&cert-file=/c&server-name=n&verify=no", &u,
				  NULL),
		  0);
	CHECK(u.tls);
	CHECK_INT(u.port, 6379);
	CHECK_STR(u.shown, "rediss://:***@host/?channel=a&ca-file=%2Fca.pem&cert-file=/c&server-name=n&verify=no");
	redis_tls_options_init(&o, &u);
	CHECK(o.is_wanted && o.is_unverified);
	CHECK_STR(o.ca_file, "/ca.pem");
	CHECK_STR(o.cert_file, "/c");
	CHECK_STR(o.key_file, "/c");
	CHECK_STR(o.server_name, "n");
	redis_tls_options_done(&o);
	CHECK_INT(redis_url_is_own(&u, "ca-file", NULL), 1);
	CHECK_INT(redis_url_is_own(&u, "password-file", NULL), 1);
	CHECK_INT(redis_url_is_own(&u, "channel", NULL), 0);
	redis_url_done(&u);
	CHECK_INT(redis_url_parse("rediss://host", &u, NULL), 0);
	redis_tls_options_init(&o, &u);
	CHECK(o.is_wanted && !o.is_unverified && !o.ca_file && !o.cert_file && !o.key_file && !o.server_name);
	redis_tls_options_done(&o);
	redis_url_done(&u);
}

TEST(tls_parameters_require_a_tls_url)
{
	struct err err = { 0 };
	struct redis_url u;

	CHECK_INT(redis_url_parse("redis://host?ca-file=/c", &u, NULL), 0);
	CHECK_INT(redis_url_is_own(&u, "ca-file", &err), -EINVAL);
	CHECK_STR(err.text, "ca-file= requires TLS; use rediss:// instead of redis://");
	CHECK_INT(redis_url_is_own(&u, "password-file", &err), 1);
	redis_url_done(&u);
}

TEST(invalid_tls_parameters_are_rejected)
{
	static const char *const urls[][2] = {
		{ "rediss://%2Frun%2Fredis.sock", "is a unix socket, which needs no TLS" },
		{ "rediss://h?verify=maybe", "verify=maybe" },
		{ "rediss://h?key-file=/k", "key-file= needs cert-file=" },
		{ "rediss://h?server-name=", "server-name=" },
		{ "rediss://", "a Redis URL with TLS looks like rediss://" },
		{ "rediss:", "does not begin with rediss://" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		struct redis_url u;
		struct err err = { 0 };

		CHECK_INT(redis_url_parse(urls[i][0], &u, &err), -EINVAL);
		if (!strstr(err.text, urls[i][1]))
			CHECK_STR(err.text, urls[i][1]);
		redis_url_done(&u);
	}
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

TEST(an_invalid_redis_url_is_rejected_with_an_example)
{
	static const char *const urls[][2] = {
		{ "redisss://host", "does not begin with redis://" },
		{ "redis:", "does not begin" },
		{ "redis://", "the host is missing" },
		{ "redis://:password@", "the host is missing" },
		{ "redis://host:0", "the port" },
		{ "redis://host:65536", "the port" },
		{ "redis://host:", "the port" },
		{ "redis://host:6379x", "the port" },
		{ "redis://host/x", "the database" },
		{ "redis://host/1/2", "the database" },
		{ "redis://[::1", "no closing bracket" },
		{ "redis://[::1]x", "a port is expected" },
		{ "redis://h%zz", "the host" },
		{ "redis://h%00", "the host" },
		{ "redis://u:%4@h", "bad percent escape" },
		{ "redis://h?a=%0", "a parameter has a bad" },
		{ "redis://h?%00=b", "a parameter has a bad" },
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

TEST(the_length_and_parameters_of_a_url_are_limited)
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

static bool is_canonical(const char *host, const char *wanted)
{
	_cleanup_(freep) char *found = address_canonical(host);

	return strcmp(found, wanted) == 0;
}

TEST(hosts_of_one_server_compare_equal_without_a_lookup)
{
	CHECK(is_canonical("127.0.0.1", "localhost"));
	CHECK(is_canonical("127.1", "localhost"));
	CHECK(is_canonical("::1", "localhost"));
	CHECK(is_canonical("LocalHost", "localhost"));
	CHECK(is_canonical("127.0.0.2", "127.0.0.2"));
	CHECK(is_canonical("2001:DB8:0::1", "2001:db8::1"));
	CHECK(is_canonical("Redis.Example", "redis.example"));
	CHECK(is_canonical("/run/Redis.sock", "/run/Redis.sock"));
}

TEST_MAIN()
