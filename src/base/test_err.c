/* test_err.c: tests error sentences with any quoted text. */
#include "err.h"
#include "test.h"

TEST(an_error_is_a_code_and_a_message)
{
	struct err err;

	CHECK_INT(err_set(&err, -ENOENT, "cannot open '%s'", "x"), -ENOENT);
	CHECK_STR(err.text, "cannot open 'x'");
	CHECK_INT(err_prefix(&err, "loading %d", 7), -ENOENT);
	CHECK_STR(err.text, "loading 7: cannot open 'x'");
	CHECK_INT(err_set(NULL, -EPERM, "nobody hears"), -EPERM);
	CHECK(err_prefix(NULL, "nobody hears") < 0);
}

TEST(a_long_error_is_truncated_between_characters)
{
	struct err err;
	char name[3000];

	for (size_t shift = 0; shift < 4; shift++) {
		size_t n;

		memset(name, 'a', shift);
		for (size_t i = shift; i + 3 < sizeof(name); i += 3)
			memcpy(name + i, "\xe2\x82\xac", 4);
		err_set(&err, -EINVAL, "%s", name);
		n = strlen(err.text);
		CHECK(n >= sizeof(err.text) - 4 && n < sizeof(err.text));
		CHECK((n - shift) % 3 == 0);
		err_prefix(&err, "%s", name);
		CHECK(strlen(err.text) < sizeof(err.text));
	}
}

static const char *sentence(const char *quoted)
{
	static struct err err;

	CHECK_INT(err_set(&err, -EINVAL, "line 1 is odd: '%s'", quoted), -EINVAL);
	return err.text;
}

TEST(quoted_text_cannot_control_the_terminal)
{
	CHECK_STR(sentence("\033]0;x\007\033[31mred"), "line 1 is odd: '\ufffd]0;x\ufffd\ufffd[31mred'");
	CHECK_STR(sentence("a\nb\tc\xc2\x9b"), "line 1 is odd: 'a b c\ufffd'");
	CHECK_STR(sentence("Größe \xff"), "line 1 is odd: 'Größe \ufffd'");
}

TEST(prefixes_of_errors_cannot_control_the_terminal)
{
	struct err err = { 0 };

	err_set(&err, -EIO, "it is odd");
	CHECK_INT(err_prefix(&err, "cannot read '%s'", "\033[2J"), -EIO);
	CHECK_STR(err.text, "cannot read '\ufffd[2J': it is odd");
}

TEST(an_overlong_message_ends_with_a_whole_character)
{
	char quoted[3000];
	struct err err;

	/* Each byte becomes three, so the text is cut a second time. */
	memset(quoted, '\377', sizeof(quoted) - 1);
	quoted[sizeof(quoted) - 1] = 0;
	err_set(&err, -EINVAL, "%s", quoted);
	CHECK_INT(strlen(err.text), 1023);
	CHECK_STR(err.text + 1020, "\ufffd");
	err_set(&err, -EINVAL, "ab%s", quoted);
	CHECK_INT(strlen(err.text), 1022);
}

TEST_MAIN()
