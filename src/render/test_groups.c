/* test_groups.c: tests the groups of frames, with names written by profilers. */

#include "groups.h"
#include "test.h"

#include <string.h>

static struct str of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

static enum group_layer layer(const char *name, const char *file)
{
	return group_layer(of(name), of(file));
}

static void check_package(const char *name, const char *file, const char *wanted)
{
	struct str found = group_package(of(name), of(file));

	CHECK_INT(found.n, strlen(wanted));
	CHECK(!memcmp(found.p, wanted, found.n));
}

TEST(the_layer_of_a_frame_follows_from_its_name)
{
	CHECK_INT(layer("Wiki\\Parser::parse", ""), LAYER_PHP);
	CHECK_INT(layer("{main}", ""), LAYER_PHP);
	CHECK_INT(layer("{closure:/srv/a.php:3}", ""), LAYER_PHP);
	CHECK_INT(layer("Cart::{closure:/srv/a.php(3)}", ""), LAYER_PHP);
	CHECK_INT(layer("parse", "/srv/wiki/Parser.php"), LAYER_PHP);
	CHECK_INT(layer("/srv/index.php", ""), LAYER_PHP);
	CHECK_INT(layer("PDO::query", ""), LAYER_PHP);
	CHECK_INT(layer("[unknown php]", ""), LAYER_PHP);
	CHECK_INT(layer("[outside PHP functions]", ""), LAYER_PHP);
	CHECK_INT(layer("Pod::Simple::parse_lines", "/usr/share/perl/5.36.0/Pod/Simple/BlackBox.pm"), LAYER_PERL);
	CHECK_INT(layer("main::by_price", "/srv/report"), LAYER_PERL);
	CHECK_INT(layer("Shop::__ANON__[/srv/a.pl:7]", ""), LAYER_PERL);
	CHECK_INT(layer("(eval)", "/srv/report"), LAYER_PERL);
	CHECK_INT(layer("require Pod/Usage.pm", "/srv/report"), LAYER_PERL);
	CHECK_INT(layer("main::STDOUT (format)", ""), LAYER_PERL);
	CHECK_INT(layer("/srv/a.pl", ""), LAYER_PERL);
	CHECK_INT(layer("[unknown perl]", ""), LAYER_PERL);
	CHECK_INT(layer("Perl_pp_split", "/usr/bin/perl"), LAYER_NATIVE);
	CHECK_INT(layer("strlen", ""), LAYER_NATIVE);
	CHECK_INT(layer("std::vector<int>::push_back", ""), LAYER_NATIVE);
	CHECK_INT(layer("icu::Collator::compare(icu::UnicodeString)", ""), LAYER_NATIVE);
	CHECK_INT(layer("malloc [libc.so.6]", ""), LAYER_NATIVE);
	CHECK_INT(layer("myapp::store::Key::hash", "/usr/lib/php/20220829/myapp.so"), LAYER_NATIVE);
	CHECK_INT(layer("__nanosleep", "/usr/lib/x86_64-linux-gnu/libc.so.6"), LAYER_NATIVE);
	CHECK_INT(layer("TRACE-1_[j]", ""), LAYER_JIT);
	CHECK_INT(layer("do_syscall_64_[k]", ""), LAYER_KERNEL);
	CHECK_INT(layer("[kernel.kallsyms]", ""), LAYER_KERNEL);
	CHECK_INT(layer("vfs_read", "/usr/lib/debug/boot/vmlinux-6.1.0-25-amd64"), LAYER_KERNEL);
	CHECK_INT(layer("xfs_open", "/lib/modules/6.1.0/kernel/fs/xfs.ko"), LAYER_KERNEL);
}

TEST(a_path_without_a_suffix_is_a_script)
{
	CHECK(!group_is_script(of("/srv/cache/a"), of("")));
	CHECK(group_is_script(of("/usr/bin/podchecker"), of("/usr/bin/podchecker")));
	CHECK(!group_is_script(of("/srv/a.php"), of("")));
	CHECK(!group_is_script(of("/usr/lib/libc.so.6"), of("")));
	CHECK(!group_is_script(of("main"), of("/usr/bin/perl")));
}

TEST(composer_packages_take_precedence_over_namespaces)
{
	check_package("Symfony\\Component\\Console\\Application::run", "/srv/vendor/symfony/console/Application.php",
		      "symfony/console");
	check_package("/srv/vendor/autoload.php", "", "/srv/vendor");
	check_package("Wiki\\Parser\\Lexer\\State::next", "", "Wiki\\Parser");
	check_package("Wiki\\Parser::parse", "", "Wiki");
	check_package("Wiki\\helper", "/srv/wiki/helper.php", "Wiki");
	check_package("PDO::query", "", "PDO");
	check_package("{main}", "/srv/wiki/index.php", "/srv/wiki");
	check_package("libc.so.6`malloc", "", "libc.so.6");
	check_package("malloc [libc.so.6]", "", "libc.so.6");
	check_package("java/lang/String.indexOf", "", "java/lang");
	check_package("do_syscall_64_[k]", "", "kernel");
	check_package("__nanosleep", "/usr/lib/x86_64-linux-gnu/libc.so.6", "libc.so.6");
	check_package("", "", "");
	check_package("]", "", "");
	check_package("::", "", "");
}

/* Returns the contrast of black on this color, as defined by WCAG. */
static double contrast(struct rgb c)
{
	return (0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b) / 255;
}

TEST(black_text_is_legible_on_every_group)
{
	char name[8];

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		for (int l = 0; l < LAYERS; l++)
			CHECK(contrast(group_layer_color(l, of(name))) > 0.45);
		CHECK(contrast(group_package_color(of(name), of("x"))) > 0.35);
	}
}

TEST_MAIN()
