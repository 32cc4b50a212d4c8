/* test_push.c: messages of Pub/Sub are recognized in place. */
#include "cleanup.h"
#include "push.h"

#include "test.h"

#define MESSAGE		"*3\r\n$7\r\nmessage\r\n$7\r\nexcimer\r\n$5\r\na;b 1\r\n"
#define PATTERN		"*4\r\n$8\r\npmessage\r\n$2\r\ne*\r\n$7\r\nexcimer\r\n$5\r\na;b 1\r\n"

static bool is(struct str s, const char *text)
{
	return s.n == strlen(text) && !memcmp(s.p, text, s.n);
}

TEST(a_complete_message_is_parsed_in_place)
{
	static const char *const wholes[] = { MESSAGE, PATTERN };

	for (size_t i = 0; i < ARRAY_SIZE(wholes); i++) {
		size_t size = strlen(wholes[i]);
		char twice[256];
		struct str channel, text;

		snprintf(twice, sizeof(twice), "%s%s", wholes[i], wholes[i]);
		for (size_t n = 0; n < size; n++)
			CHECK_INT(push_parse(twice, n, &channel, &text), 0);
		for (size_t n = size; n <= 2 * size; n++)
			CHECK_INT(push_parse(twice, n, &channel, &text), size);
		CHECK(is(channel, "excimer") && is(text, "a;b 1"));
		CHECK(text.p > twice && text.p < twice + size);
	}
}

TEST(text_may_be_empty_or_contain_any_bytes)
{
	static const char bytes[] = "*3\r\n$7\r\nmessage\r\n$0\r\n\r\n$4\r\n\0\r\n$\r\n";
	struct str channel, text;

	CHECK_INT(push_parse(bytes, sizeof(bytes) - 1, &channel, &text), sizeof(bytes) - 1);
	CHECK_INT(channel.n, 0);
	CHECK(text.n == 4 && !memcmp(text.p, "\0\r\n$", 4));
}

TEST(other_replies_are_not_parsed)
{
	static const char *const others[] = {
		"+PONG\r\n", "*2\r\n$4\r\npong\r\n$0\r\n\r\n", "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n",
		"*3\r\n$7\r\nmessage\r\n:1\r\n$1\r\na\r\n", "*3\r\n$7\r\nmessage\r\n$-1\r\n$1\r\na\r\n",
		"*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$99999999999999999999\r\na\r\n",
		"*3\r\n$7\r\nmessage\r\n$\r\na\r\n$1\r\nb\r\n",
		"*3\r\n$7\r\nmessage\r\n$1\r\nab\r\n$1\r\nb\r\n", "*3\r\n$7\r\nmessage\r\n$ 1\r\na\r\n$1\r\nb\r\n",
	};
	struct str channel, text;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CHECK_INT(push_parse(others[i], strlen(others[i]), &channel, &text), 0);
}

TEST_MAIN()
