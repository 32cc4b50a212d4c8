/* test_secrets.c: tests that passwords are removed from texts, and nothing else. */
#include "secrets.h"

#include "err.h"
#include "log.h"
#include "test.h"

#include <string.h>

static const char *hidden(const char *text)
{
	static char copy[300];

	snprintf(copy, sizeof(copy), "%s", text);
	CHECK_INT(secrets_redact(copy, sizeof(copy)), strcmp(copy, text) != 0);
	return copy;
}

TEST(passwords_of_urls_and_parameters_are_hidden)
{
	CHECK_STR(hidden("redis://ann:hunter2@host:1/?channel=a"), "redis://ann:***@host:1/?channel=a");
	CHECK_STR(hidden("redis://:hunter2@host"), "redis://:***@host");
	CHECK_STR(hidden("redis://hunter2@host"), "redis://***@host");
	CHECK_STR(hidden("redis://a:hun@ter2@host"), "redis://a:***@host");
	CHECK_STR(hidden("redis://a:hun/ter2@host/?x"), "redis://a:***@host/?x");
	CHECK_STR(hidden("redis://h/?channel=a&password=hunter2"), "redis://h/?channel=a&password=***");
	CHECK_STR(hidden("redis://h/?password=hunter2&channel=a"), "redis://h/?password=***&channel=a");
	CHECK_STR(hidden("redis://h/?pass%77ord=hunter2"), "redis://h/?pass%77ord=***");
	CHECK_STR(hidden("-?PASSWORD=hunter2 x"), "-?PASSWORD=*** x");
	CHECK_STR(hidden("GET /login?token=hunter2 HTTP/1.1"), "GET /login?token=*** HTTP/1.1");
	CHECK_STR(hidden("'redis://h?password=hunter2': no"), "'redis://h?password=***': no");
	CHECK_STR(hidden("--from=redis://a:b@h --to=redis://c:d@i"), "--from=redis://a:***@h --to=redis://c:***@i");
	CHECK_STR(hidden("otlp://ann:hunter2@host"), "otlp://ann:***@host");
	CHECK_STR(hidden("--to clickhouse://ann@h --to redis://b@h"), "--to clickhouse://ann@h --to redis://***@h");
	CHECK_STR(hidden("redis://a:b@h?secret=x&token=y"), "redis://a:***@h?secret=***&token=***");
}

TEST(text_without_a_password_is_left_unchanged)
{
	static const char *const texts[] = {
		"", "redis://host:6379/0?channel=a@b", "http://127.0.0.1:8787/?from=-1h&entry=a", "a ? b : c & d",
		"redis://h/?password-file=/etc/x&label.token=y", "ann@example.org", "resp://HOST:PORT", "?password=", "?password", "://",
		"pyroscope://ann@host/?password-file=/etc/x", "clickhouse://ann@db1:8123/strobe?token-file=/x",
		"is a token=x right?", "%", "?%=", "?%4",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK_STR(hidden(texts[i]), texts[i]);
}

TEST(redacting_in_place_never_grows_the_text)
{
	char word[] = "redis://:x@h";

	CHECK(secrets_redact(word, sizeof(word)));
	CHECK_STR(word, "redis://:***");
}

TEST(errors_contain_no_passwords)
{
	struct err err;

	err_set(&err, -EINVAL, "cannot read '%s'", "redis://:hunter2@h/?password=hunter2");
	CHECK_STR(err.text, "cannot read 'redis://:***@h/?password=***'");
	err_prefix(&err, "%s", "redis://:hunter2@h");
	CHECK(!strstr(err.text, "hunter2"));
}

TEST_MAIN()
