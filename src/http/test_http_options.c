/* test_http_options.c: tests parsing of HTTP servers' URLs. */
#include "http_client.h"

#include "test.h"
#include "url.h"

static const struct url_kind kind = {
	.scheme = "otlp", .port = 4318, .name_is_user = true, .form = "it looks like otlp://host:4318",
};

TEST(a_url_contains_all_settings_of_a_client)
{
	struct http_options o;
	struct url u;

	CHECK_INT(url_parse("otlp://ann:pass%40word@[::1]/v1?tls=yes&ca-file=%2Fetc%2Fca.pem&more=x", &kind, &u, NULL), 0);
	CHECK_INT(http_options_from_url(&o, &u, NULL), 0);
	CHECK_STR(o.host, "::1");
	CHECK_INT(o.port, 4318);
	CHECK_STR(o.prefix, "/v1");
	CHECK_STR(o.user, "ann");
	CHECK_STR(o.password, "pass@word");
	CHECK_STR(o.ca_file, "/etc/ca.pem");
	CHECK(o.tls && !o.password_file && !o.token_file && o.connect_ns > 0 && o.total_ns > o.connect_ns);
	CHECK(http_is_parameter("tls") && http_is_parameter("token-file") && !http_is_parameter("more"));
	CHECK_STR(u.shown, "otlp://ann:***@[::1]/v1?tls=yes&ca-file=%2Fetc%2Fca.pem&more=x");
	url_done(&u);
}

TEST(a_user_name_can_be_combined_with_a_password_file)
{
	struct http_options o;
	struct url u;

	CHECK_INT(url_parse("otlp://ann@host?password-file=/run/secret", &kind, &u, NULL), 0);
	CHECK_INT(http_options_from_url(&o, &u, NULL), 0);
	CHECK_STR(o.user, "ann");
	CHECK(!o.password && !o.tls);
	CHECK_STR(o.password_file, "/run/secret");
	CHECK_STR(o.prefix, "");
	url_done(&u);
}

TEST(contradictory_parameters_are_rejected)
{
	static const char *const urls[][2] = {
		{ "otlp://host?tls=maybe", "tls=maybe" },
		{ "otlp://a:b@host?token-file=/t", "token-file=" },
		{ "otlp://host?password-file=/p&token-file=/t", "token-file=" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		struct http_options o;
		struct err err = { 0 };
		struct url u;

		CHECK_INT(url_parse(urls[i][0], &kind, &u, &err), 0);
		CHECK_INT(http_options_from_url(&o, &u, &err), -EINVAL);
		CHECK(strstr(err.text, urls[i][1]));
		url_done(&u);
	}
}

TEST(an_invalid_url_is_rejected_with_an_example)
{
	static const char *const urls[] = { "http://host", "otlp:/host", "otlp", "", "otlp://", "otlp://a%zz@h", "otlp://:%zz@h" };

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		struct err err = { 0 };
		struct url u;

		CHECK_INT(url_parse(urls[i], &kind, &u, &err), -EINVAL);
		CHECK(strstr(err.text, "otlp://host:4318"));
		url_done(&u);
	}
}

TEST_MAIN()
