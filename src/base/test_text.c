/* test_text.c: tests that names of any bytes are harmless in every target. */
#include "text.h"
#include "test.h"

static struct str s(const char *text)
{
	return (struct str){ text, strlen(text) };
}

typedef void (*put_fn)(struct buf *b, struct str s);

/* Returns the output of `put` for `n` bytes, valid until the next call. */
static const char *made_n(put_fn put, const char *bytes, size_t n)
{
	static char text[4096];
	struct buf b;

	buf_init(&b);
	put(&b, (struct str){ bytes, n });
	snprintf(text, sizeof(text), "%s", b.data);
	buf_done(&b);
	return text;
}

static const char *made(put_fn put, const char *text)
{
	return made_n(put, text, strlen(text));
}

/* An independent implementation of the UTF-8 rules: encodes every code point, to check that nothing else is accepted. */
static size_t encode(uint32_t c, char out[4])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

TEST(every_code_point_is_decoded_and_its_prefixes_are_not)
{
	for (uint32_t c = 0; c <= 0x10ffff; c++) {
		char bytes[4];
		size_t n = encode(c, bytes);
		uint32_t got;
		bool surrogate = c >= 0xd800 && c <= 0xdfff;
		unsigned length = text_decode(bytes, bytes + n, &got);

		if (surrogate ? length != 0 || got != 0xfffd : length != n || got != c) {
			CHECK(!"a code point is decoded as itself");
			return;
		}
		for (size_t i = 1; i < n; i++)
			if (text_decode(bytes, bytes + i, &got) != 0 || got != 0xfffd)
				CHECK(!"the beginning of a code point is a bad byte");
	}
}

TEST(invalid_utf_8_is_not_decoded)
{
	/* All sequences of up to four bytes whose first is not ASCII, sampled in the last two. */
	size_t accepted[5] = { 0 };

	for (unsigned a = 0x80; a < 0x100; a++)
		for (unsigned b = 0; b < 0x100; b++)
			for (unsigned c = 0; c < 0x100; c++) {
				char bytes[4] = { (char)a, (char)b, (char)c, (char)0x80 };
				uint32_t got;

				accepted[text_decode(bytes, bytes + 4, &got)]++;
			}
	CHECK_INT(accepted[1], 0);
	CHECK_INT(accepted[2], 30 * 64 * 256);
	CHECK_INT(accepted[3], 16 * 64 * 64 - 32 * 64 - 32 * 64);	/* without overlong ones and surrogates */
	CHECK_INT(accepted[4], (0x110000 - 0x10000) / 64);
}

TEST(a_NUL_is_a_code_point_and_empty_input_is_a_bad_byte)
{
	static const char nul[1];
	uint32_t c;

	CHECK_INT(text_decode(nul, nul + 1, &c), 1);
	CHECK_INT(c, 0);
	CHECK_INT(text_decode(nul, nul, &c), 0);
	CHECK_INT(c, 0xfffd);
}

TEST(columns_count_code_points_and_bad_bytes)
{
	CHECK_INT(text_columns(s("")), 0);
	CHECK_INT(text_columns(s("abc")), 3);
	CHECK_INT(text_columns(s("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x8e\x89")), 4);
	CHECK_INT(text_columns(s("\xff\xc3")), 2);
}

TEST(truncation_never_splits_a_code_point)
{
	struct str t = s("a\xc3\xa4\xe2\x82\xac" "b");

	CHECK_INT(text_cut(t, 0), 0);
	CHECK_INT(text_cut(t, 1), 1);
	CHECK_INT(text_cut(t, 2), 3);
	CHECK_INT(text_cut(t, 3), 6);
	CHECK_INT(text_cut(t, 4), 7);
	CHECK_INT(text_cut(t, 99), 7);
}

TEST(text_for_a_terminal_contains_no_escape_sequences)
{
	CHECK_STR(made(text_put_plain, "a\033[2Jb"), "a\xef\xbf\xbd[2Jb");
	CHECK_STR(made(text_put_plain, "a\tb\nc\rd"), "a b c\xef\xbf\xbd" "d");
	CHECK_STR(made(text_put_plain, "\xc2\x9b" "31m"), "\xef\xbf\xbd" "31m");
	CHECK_STR(made(text_put_plain, "x\xe2\x80\xaey"), "x\xef\xbf\xbdy");
	CHECK_STR(made_n(text_put_plain, "a\0b", 3), "a\xef\xbf\xbd" "b");
	CHECK_STR(made(text_put_plain, "\xc3\xa4 \xf0\x9f\x8e\x89"), "\xc3\xa4 \xf0\x9f\x8e\x89");
}

TEST(xml_text_is_escaped)
{
	CHECK_STR(made(text_put_xml, "a<b>&\"'</script>"), "a&lt;b&gt;&amp;&quot;&#39;&lt;/script&gt;");
	CHECK_STR(made(text_put_xml, "\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_STR(made(text_put_xml, "\xef\xbf\xbe\xef\xbf\xbf"), "\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_STR(made(text_put_xml, "\x01\x7f"), "\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_STR(made(text_put_xml, "a\nb\tc"), "a&#10;b&#9;c");
}

TEST(json_text_is_escaped_and_safe_in_a_script_element)
{
	CHECK_STR(made(text_put_json, "\"\\\n\t"), "\\\"\\\\\\n\\t");
	CHECK_STR(made(text_put_json, "</script>&"), "\\u003c/script\\u003e\\u0026");
	CHECK_STR(made(text_put_json, "\xe2\x80\xa8\xe2\x80\xa9"), "\\u2028\\u2029");
	CHECK_STR(made(text_put_json, "\xc3\xa4\xff"), "\xc3\xa4\xef\xbf\xbd");
}

TEST(url_text_keeps_the_bytes)
{
	CHECK_STR(made(text_put_url, "aZ09-._~"), "aZ09-._~");
	CHECK_STR(made(text_put_url, "a b&c=\xc3\xa4\xff/?#%+"), "a%20b%26c%3D%C3%A4%FF%2F%3F%23%25%2B");
	CHECK_STR(made_n(text_put_url, "\0", 1), "%00");
}

static int unescaped(const char *text, size_t n, char *ret, size_t *ret_n)
{
	memcpy(ret, text, n);
	ret[n] = '\0';
	return text_unescape_url(ret, n, ret_n);
}

TEST(url_text_survives_a_round_trip_and_malformed_escapes_are_rejected)
{
	static const char *const bad[] = { "%", "%4", "a%zz", "%4g", "%g4", "50%", "% 20" };
	char text[64];
	size_t n;

	CHECK_INT(unescaped("a%20b%26%C3%a4+%ff", 18, text, &n), 0);
	CHECK_STR(text, "a b&\xc3\xa4+\xff");
	CHECK_INT(n, strlen(text));
	CHECK_INT(unescaped("", 0, text, &n), 0);
	CHECK_INT(n, 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_INT(unescaped(bad[i], strlen(bad[i]), text, &n), -EINVAL);
	CHECK_INT(unescaped("a%00b", 5, text, &n), -EILSEQ);
	CHECK_INT(unescaped("a\0b", 3, text, &n), -EILSEQ);
	CHECK_INT(unescaped("%41", 2, text, &n), -EINVAL);	/* bytes after the end are ignored */
}

TEST(folded_frames_keep_all_bytes_but_separators)
{
	CHECK_STR(made(text_put_folded, "a;b\nc\rd e\xff"), "a_b_c_d e\xff");
	CHECK_STR(made_n(text_put_folded, "class@anonymous\0/x", 18), "class@anonymous_/x");
	CHECK_STR(made(text_put_folded, ""), "");
}

/* For all single bytes and all pairs, the output must be UTF-8 without controls. */
TEST(all_pairs_of_bytes_become_valid_text)
{
	static const put_fn puts[] = { text_put_plain, text_put_xml, text_put_json };
	unsigned bad = 0;

	for (size_t k = 0; k < ARRAY_SIZE(puts); k++)
		for (unsigned pair = 0; pair < 0x10000; pair++) {
			char bytes[2] = { (char)(pair >> 8), (char)pair };
			struct buf b;

			buf_init(&b);
			puts[k](&b, (struct str){ bytes, 2 });
			for (const char *p = b.data, *end = p + b.size; p < end;) {
				uint32_t c;
				unsigned n = text_decode(p, end, &c);

				bad += n == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0) ||
				       (puts[k] != text_put_plain && (c == '<' || c == '>'));
				p += n ? n : 1;
			}
			buf_done(&b);
		}
	CHECK_INT(bad, 0);
}

TEST(case_insensitive_search_covers_all_alphabets)
{
	CHECK(text_has_in_any_case("/Cart/view", "CART"));
	CHECK(text_has_in_any_case("un Caf\u00c9 noir", "caf\u00e9"));
	CHECK(text_has_in_any_case("caf\u00e9", "\u00c9"));
	CHECK(text_has_in_any_case("\u041c\u043e\u0441\u043a\u0432\u0430", "\u043c\u041e\u0421"));
	CHECK(text_has_in_any_case("any", ""));
	CHECK(!text_has_in_any_case("cafe", "caf\u00e9"));
	CHECK(!text_has_in_any_case("caf\u00e9", "\u00e9s"));
	CHECK(!text_has_in_any_case("", "\u00e9"));
	/* Half of a letter, both in the text and in the search term. */
	CHECK(!text_has_in_any_case("caf\xc3", "\u00e9"));
	CHECK(!text_has_in_any_case("caf\u00e9", "\xc3"));
	CHECK(text_has_in_any_case("caf\xc3 \u00c9", "\xc3 \u00e9"));
}

TEST_MAIN()
