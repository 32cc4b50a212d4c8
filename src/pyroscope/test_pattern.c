/* test_pattern.c: tests matching, and patterns that are refused. */
#include "pattern.h"
#include "test.h"

#include <string.h>

static bool matches(const char *text, const char *value)
{
	struct pattern *p;
	struct err err = { 0 };
	bool is;

	CHECK_INT(pattern_new(text, &p, &err), 0);
	is = pattern_matches(p, value);
	pattern_free(p);
	return is;
}

TEST(a_pattern_matches_the_whole_value)
{
	CHECK(matches("abc", "abc") && !matches("abc", "abcd") && !matches("abc", "xabc") && !matches("abc", ""));
	CHECK(matches("", "") && !matches("", "a") && matches(".*", "") && matches(".+", "a") && !matches(".+", ""));
	CHECK(matches("^abc$", "abc") && matches("\\Aabc\\z", "abc") && !matches("a^bc", "abc") && matches("(^|x)a", "a"));
}

TEST(alternatives_groups_and_repetitions_are_supported)
{
	CHECK(matches("web1|web2", "web2") && !matches("web1|web2", "web12") && matches("a||b", ""));
	CHECK(matches("web(1|2)+", "web1212") && matches("(?:a|b)c", "bc") && matches("(?P<n>a)(?<m>b)", "ab"));
	CHECK(matches("a{2,3}", "aaa") && !matches("a{2,3}", "a") && !matches("a{2,3}", "aaaa") && matches("a{2}", "aa"));
	CHECK(matches("a{2,}", "aaaaaa") && matches("x{", "x{") && matches("a{,2}", "a{,2}"));
	CHECK(matches("a*?b+?c??", "aabb") && matches("(a*)*b", "aaab") && matches("(a|b*)*", "abba"));
}

TEST(character_classes_are_supported)
{
	CHECK(matches("[a-c]+[^a-c]", "abcd") && !matches("[a-c]+[^a-c]", "abcc") && matches("[]a]", "]"));
	CHECK(matches("\\d+\\w\\s\\D", "12a x") && matches("[\\w.-]+", "a.b-c_9") && matches("[a\\]]+", "a]a"));
	CHECK(matches("[[:alpha:]]+[[:digit:]]", "ab1") && matches("[a-]+", "a-a") && matches("\\x41\\.", "A."));
	CHECK(matches("api\\.v1\\+", "api.v1+") && !matches("api\\.v1", "apixv1") && matches("\\Qa.b\\E.", "a.bc"));
}

TEST(non_ascii_text_is_supported)
{
	CHECK(matches("k\xc3\xa4se", "k\xc3\xa4se") && matches("k.se", "k\xc3\xa4se") && !matches("k..se", "k\xc3\xa4se"));
	CHECK(matches("k[^x]se", "k\xc3\xa4se") && matches("\xc3\xa4{2}", "\xc3\xa4\xc3\xa4") && matches("\\D", "\xc3\xa4"));
}

TEST(case_insensitive_patterns_are_supported)
{
	CHECK(matches("(?i)Web[a-c]", "wEBB") && !matches("Web", "web"));
}

TEST(word_boundaries_are_supported)
{
	CHECK(matches(".*\\bparse\\b.*", "App\\Worker::parse") && matches("\\bab\\b", "ab") && matches("a\\Bb", "ab"));
	CHECK(!matches(".*\\bparse\\b.*", "App\\Worker::parse_all") && !matches("a\\bb", "ab") && !matches("\\b", "") && matches("\\B", ""));
	CHECK(matches("(\\b|x)*a\\b.*", "a-") && !matches("a\\B.*", "a\xc3\xa4"));
}

static bool finds(const char *text, bool ignore_case, const char *value)
{
	struct pattern *p;
	struct err err = { 0 };
	bool is;

	CHECK_INT(pattern_new_search(text, ignore_case, &p, &err), 0);
	is = pattern_matches(p, value);
	pattern_free(p);
	return is;
}

TEST(a_search_matches_anywhere)
{
	CHECK(finds("b", false, "abc") && finds("", false, "abc") && finds("a|c$", false, "xc") && !finds("^b", false, "abc"));
	CHECK(finds("B", true, "abc") && !finds("B", false, "abc") && finds("(?i)B", false, "abc") && finds("^$", false, ""));
}

TEST(errors_quote_the_search_as_entered)
{
	struct pattern *p;
	struct err err = { 0 };

	CHECK_INT(pattern_new_search("a(", true, &p, &err), -EINVAL);
	CHECK_STR(err.text, "the regular expression 'a(' has an unmatched ( at character 2");
}

/* A backtracking matcher would take 2^30 steps. */
TEST(no_pattern_backtracks)
{
	char value[2001];

	memset(value, 'a', sizeof(value) - 1);
	value[sizeof(value) - 1] = 0;
	CHECK(!matches("(a*)*(a*)*(a|aa)+(a+)+b", value));
}

static void check_refused(const char *text)
{
	struct pattern *p;
	struct err err = { 0 };

	CHECK_INT(pattern_new(text, &p, &err), -EINVAL);
	CHECK(strstr(err.text, "regular expression") != NULL);
}

TEST(invalid_and_unsupported_patterns_are_rejected_with_an_error)
{
	static const char *const bad[] = { "(", ")", "a(b", "*a", "[a", "[b-a]", "\\", "\\pL", "(?x)a", "a{5,2}", "a{2000}",
		"(((a{100}){100}){100})", "[\xc3\xa4]", "\\1", "[[:nothing:]]", "(?", "(?<", "a**", "a{2}{3}",
		"(((){1000}){1000}){1000}" };
	char deep[300];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		check_refused(bad[i]);
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = 0;
	check_refused(deep);
}

TEST_MAIN()
