/* test_code_name.c: names with paths, lines and hashes of generated code are recognized. */
#include "code_name.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

/* Returns the name with its path as <path>, followed by the line. */
static const char *shown(const char *name)
{
	static char text[300];
	_cleanup_(buf_done) struct buf b = { 0 };
	struct str s = { name, strlen(name) }, path = code_name_path(s);
	char instead[200];
	uint32_t line;
	int n = snprintf(instead, sizeof(instead), "<%.*s>", (int)path.n, path.p);

	buf_init(&b);
	code_name_put(&b, s, (struct str){ instead, (size_t)n }, &line);
	snprintf(text, sizeof(text), "%.*s %u", (int)b.size, b.data, line);
	return text;
}

TEST(paths_and_lines_in_names_of_closures_are_recognized)
{
	CHECK_STR(shown("{closure:/srv/shop/cart.php(41)}"), "{closure:</srv/shop/cart.php>} 41");
	CHECK_STR(shown("{closure:/srv/shop/cart.php(41)#2}"), "{closure:</srv/shop/cart.php>#2} 41");
	CHECK_STR(shown("App\\Cart::{closure:/srv/a.php(7)}"), "App\\Cart::{closure:</srv/a.php>} 7");
	CHECK_STR(shown("{closure:/srv/(1)/a.php:7}"), "{closure:</srv/(1)/a.php>} 7");
	CHECK_STR(shown("{closure:App\\Cart::total():41}"), "{closure:App\\Cart::total()} 41");
	CHECK_STR(shown("{closure:{closure:App\\run():3}:9}"), "{closure:{closure:App\\run()}} 9");
	CHECK_STR(shown("App\\Cart::{closure}"), "App\\Cart::{closure} 0");
	CHECK_STR(shown("App\\Cart::{closure}/3-5"), "App\\Cart::{closure} 3");
	CHECK_STR(shown("App\\Cart::{closure}/3"), "App\\Cart::{closure} 3");
	CHECK_STR(shown("{closure}::shop/cart.php/3-5"), "{closure}::<shop/cart.php> 3");
	CHECK_STR(shown("{closure:/srv/a.php(12) : eval()'d code(3)}"), "{closure:</srv/a.php> : eval()'d code} 3");
}

TEST(paths_in_names_of_files_evals_and_anonymous_classes_are_recognized)
{
	CHECK_STR(shown("/srv/shop/index.php"), "</srv/shop/index.php> 0");
	CHECK_STR(shown("compile /srv/shop/index.php"), "compile </srv/shop/index.php> 0");
	CHECK_STR(shown("run_init::shop/index.php"), "run_init::<shop/index.php> 0");
	CHECK_STR(shown("/srv/a.php(12) : eval()'d code"), "</srv/a.php> : eval()'d code 12");
	CHECK_STR(shown("class@anonymous_/srv/a.php:12$1f::run"), "class@anonymous_</srv/a.php>::run 12");
}

TEST(paths_after_the_scheme_of_a_stream_are_recognized)
{
	CHECK_STR(shown("phar:///srv/shop.phar/cart.php"), "phar://</srv/shop.phar/cart.php> 0");
	CHECK_STR(shown("compile phar:///srv/shop.phar/cart.php"), "compile phar://</srv/shop.phar/cart.php> 0");
	CHECK_STR(shown("A::{closure:phar:///srv/shop.phar/cart.php(7)#2}"),
		  "A::{closure:phar://</srv/shop.phar/cart.php>#2} 7");
	CHECK_STR(shown("{closure:{closure:phar:///srv/shop.phar/cart.php:3}:9}"),
		  "{closure:{closure:phar://</srv/shop.phar/cart.php>}} 9");
	CHECK_STR(shown("phar:///srv/a.phar/b.php(12) : eval()'d code"), "phar://</srv/a.phar/b.php> : eval()'d code 12");
	CHECK_STR(shown("class@anonymous_phar:///srv/a.phar/b.php:12$1f::run"),
		  "class@anonymous_phar://</srv/a.phar/b.php>::run 12");
	CHECK_STR(shown("{closure:phar://shop.phar/cart.php:3}"), "{closure:phar://shop.phar/cart.php} 3");
}

static const char *generated(const char *name)
{
	static char text[200];
	_cleanup_(buf_done) struct buf b = { 0 };
	bool any;

	buf_init(&b);
	any = code_name_put_generated(&b, (struct str){ name, strlen(name) });
	snprintf(text, sizeof(text), "%d %.*s", any, (int)b.size, b.data);
	return text;
}

TEST(hashes_in_names_of_generated_classes_are_recognized)
{
	CHECK_STR(generated("Mock_Cart_59d6f7a8::total"), "1 Mock_Cart_*::total");
	CHECK_STR(generated("/cache/0f/0f3e9a71c2d4.php"), "1 /cache/0f/*.php");
	CHECK_STR(generated("Mock_Cart_59d6f7"), "0 Mock_Cart_59d6f7");
	CHECK_STR(generated("a_deadbeef"), "0 a_deadbeef");
	CHECK_STR(generated("v1234567890"), "0 v1234567890");
}

TEST(other_names_are_left_unchanged)
{
	CHECK_STR(shown("App\\Cart::total"), "App\\Cart::total 0");
	CHECK_STR(shown("operator/(int)"), "operator/(int) 0");
	CHECK_STR(shown("std::vector<int, 3>::at(4)"), "std::vector<int, 3>::at(4) 0");
	CHECK_STR(shown("a:1"), "a:1 0");
	CHECK_STR(shown(""), " 0");
	CHECK_STR(shown("("), "( 0");
	CHECK_STR(shown("12"), "12 0");
	CHECK(code_name_is_closure((struct str){ "A::{closure}/3", 14 }));
	CHECK(!code_name_is_closure((struct str){ "closure", 7 }));
}

TEST_MAIN()
