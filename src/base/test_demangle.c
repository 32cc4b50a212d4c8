/* test_demangle.c: mangled names of Rust and C++ become readable. */
#include "demangle.h"

#include "test.h"
#include "test_rust_names.h"

#include <stdio.h>
#include <string.h>

static const char *plain(const char *name)
{
	static char text[1000];
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	if (!demangle_put(&b, (struct str){ name, strlen(name) }))
		return "as it is";
	snprintf(text, sizeof(text), "%.*s", (int)b.size, b.data);
	return text;
}

TEST(rust_names_are_demangled)
{
	CHECK_STR(plain("_ZN5myapp4main17h0123456789abcdefE"), "myapp::main");
	CHECK_STR(plain("_ZN48_$LT$Foo$u20$as$u20$core..fmt..Debug$C$$RF$A$GT$3fmt17h0123456789abcdefE"),
		  "<Foo as core::fmt::Debug,&A>::fmt");
	CHECK_STR(plain("log::set_logger::_$u7b$$u7b$closure$u7d$$u7d$::hcb7821323b596727"),
		  "log::set_logger::{{closure}}");
	CHECK_STR(plain("_$LT$$RF$$u27$a$u20$mut$u20$I$u20$as$u20$core..iter..Iterator$GT$::next::h01cfe524df2e1837"),
		  "<&'a mut I as core::iter::Iterator>::next");
	CHECK_STR(plain("term::from_env::h7aa5bbfa652bcb0d"), "term::from_env");
	CHECK_STR(plain("_RINvNtC3std3mem8align_ofjdE"), "std::mem::align_of::<usize, f64>");
}

TEST(names_written_by_compilers_are_demangled_as_by_their_own_library)
{
	for (size_t i = 0; i < ARRAY_SIZE(rust_names); i++)
		CHECK_STR(plain(rust_names[i].symbol), rust_names[i].name);
}

TEST(other_names_are_left_unchanged)
{
	CHECK_STR(plain("main"), "as it is");
	CHECK_STR(plain("std::x<int>::h0123456789abcde"), "as it is");
	CHECK_STR(plain("h0123456789abcdef"), "as it is");
	CHECK_STR(plain("::h0123456789abcdef"), "as it is");
	CHECK_STR(plain("_ZN"), "as it is");
	CHECK_STR(plain("_ZN99a"), "as it is");
	CHECK_STR(plain("_Z"), "as it is");
	CHECK_STR(plain("_R"), "as it is");
	CHECK_STR(plain(""), "as it is");
}

TEST(cpp_names_are_demangled_where_the_cpp_library_is_present)
{
	const char *name = plain("_ZNSt6vectorIiSaIiEE9push_backEOi");

	CHECK(!strcmp(name, "as it is") || !strcmp(name, "std::vector<int, std::allocator<int> >::push_back(int&&)"));
}

TEST_MAIN()
