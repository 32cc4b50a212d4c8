/* test_short_name.c: tests names of PHP, and bytes that are not a name. */
#include "short_name.h"

#include "test.h"

#include <string.h>

/* Returns all forms, separated by bars. */
static const char *forms(const char *name)
{
	static struct buf out;
	unsigned n = 0;

	buf_done(&out);
	buf_init(&out);
	while (short_name_put((struct str){ name, strlen(name) }, n, &out)) {
		buf_putc(&out, '|');
		n++;
	}
	return out.data;
}

TEST(namespaces_are_removed_before_classes_and_methods_are_kept)
{
	CHECK_STR(forms("Wiki\\Page\\Parser::parse"), "Wiki\\Page\\Parser::parse|Parser::parse|parse|");
	CHECK_STR(forms("Parser::parse"), "Parser::parse|Parser::parse|parse|");
	CHECK_STR(forms("Wiki\\run"), "Wiki\\run|run|");
	CHECK_STR(forms("run"), "run|run|");
}

TEST(files_keep_their_base_name)
{
	CHECK_STR(forms("/srv/wiki/index.php"), "/srv/wiki/index.php|index.php|");
}

TEST(closures_keep_file_and_line)
{
	CHECK_STR(forms("A\\B::{closure:/srv/a.php:7}"),
		  "A\\B::{closure:/srv/a.php:7}|B::{closure a.php:7}|{closure a.php:7}|closure|");
	CHECK_STR(forms("{closure:"), "{closure:|{closure }|{closure }|closure|");
}

TEST(names_of_any_form_are_accepted)
{
	CHECK_STR(forms(""), "||");
	CHECK_STR(forms("::"), "::|::|");
	CHECK_STR(forms("a::"), "a::|a::||");
	CHECK_STR(forms("\\"), "\\||");
	CHECK_STR(forms("/"), "/||");
}

TEST_MAIN()
