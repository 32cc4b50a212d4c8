/* test_palette.c: tests the colors of names. */

#include "palette.h"

#include "test.h"

static const char *color(const char *palette, const char *name, bool hash)
{
	static char text[4][32];
	static unsigned next;
	char *out = text[next++ % 4];
	struct rgb c = palette_color(palette_find(palette), (struct str){ name, strlen(name) }, hash);

	snprintf(out, sizeof(text[0]), "%d,%d,%d", c.r, c.g, c.b);
	return out;
}

TEST(every_palette_has_a_name_and_yields_valid_colors)
{
	static const char *const names[] = { "", "main", "a::b", "java/x", "x_[k]", "x_[j]", "x_[i]", "x_[w]", "\xff" };

	for (size_t i = 0; palette_names[i]; i++) {
		for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
			struct str name = { names[n], strlen(names[n]) };
			struct rgb c = palette_color(palette_find(palette_names[i]), name, n & 1);

			CHECK(c.r >= 0 && c.r < 256 && c.g >= 0 && c.g < 256 && c.b >= 0 && c.b < 256);
		}
	}
	CHECK(palette_find("no such palette") == NULL);
}

/* srand(0); rand() of Perl 5.20 and later is 0.17082803610628972. */
TEST(the_default_color_is_the_first_random_number_after_the_sum_of_code_points)
{
	CHECK_STR(color("hot", "", false), "213,39,9");
	CHECK_STR(color("hot", "ab", false), color("hot", "ba", false));
	CHECK(strcmp(color("hot", "ab", false), color("hot", "ac", false)) != 0);
	/* Eight at a time or one by one: 16 a and an é are 1785, as are 7 é and U+009A. */
	CHECK_STR(color("hot", "aaaaaaaaaaaaaaaa\xc3\xa9", false),
		  color("hot", "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc2\x9a", false));
	CHECK_STR(color("hot", "aaa\xc3\xa9" "aaaaaaaaaaaaa", false), color("hot", "aaaaaaaaaaaaaaaa\xc3\xa9", false));
	CHECK_STR(color("hot", "zzzzzzzzzzzzzzzzzzzzzzzz", false), color("hot", "yzzzzzzzzzzzzzzzzzzzzzz{", false));
}

TEST(hashed_colors_depend_on_the_first_characters_after_the_module_name)
{
	CHECK_STR(color("red", "libc`read", true), color("red", "read", true));
	CHECK_STR(color("red", "readable", true), color("red", "reading", true));
}

TEST(language_palettes_color_frames_by_their_origin)
{
	CHECK_STR(color("java", "Foo_[j]", false), color("green", "Foo_[j]", false));
	CHECK_STR(color("java", "Ljava/lang/Object", false), color("green", "Ljava/lang/Object", false));
	CHECK_STR(color("java", "sys_read_[k]", false), color("orange", "sys_read_[k]", false));
	CHECK_STR(color("java", "a::b", false), color("yellow", "a::b", false));
	CHECK_STR(color("java", "inlined_[i]", false), color("aqua", "inlined_[i]", false));
	CHECK_STR(color("perl", "Perl_sv", false), color("green", "Perl_sv", false));
	CHECK_STR(color("js", "LazyCompile:~/a.js_[j]", false), color("green", "LazyCompile:~/a.js_[j]", false));
	CHECK_STR(color("js", "Builtin:x", false), color("aqua", "Builtin:x", false));
	CHECK_STR(color("chain", "waker_[w]", false), color("aqua", "waker_[w]", false));
	CHECK_STR(color("wakeup", "x", false), color("aqua", "x", false));
}

TEST(separators_between_stacks_are_gray)
{
	CHECK_STR(color("hot", "-", false), "200,200,200");
	CHECK_STR(color("hot", "--", true), "160,160,160");
}

TEST(backgrounds_are_names_or_hexadecimal_colors)
{
	const struct palette *p = palette_find("hot");
	char top[8], bottom[8];

	CHECK(palette_background(p, NULL, top, bottom));
	CHECK_STR(bottom, "#eeeeb0");
	CHECK(palette_background(p, "#AbC", top, bottom));
	CHECK_STR(top, "#AbC");
	CHECK(palette_background(p, "#012345", top, bottom));
	CHECK_STR(bottom, "#012345");
	CHECK(!palette_background(p, "#12345", top, bottom));
	CHECK(!palette_background(p, "#1234567", top, bottom));
	CHECK(!palette_background(p, "url(x)", top, bottom));
	CHECK(!palette_background(p, "", top, bottom));
}

TEST_MAIN()
