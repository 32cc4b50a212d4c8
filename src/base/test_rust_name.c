/* test_rust_name.c: tests names from the specification, and others compared with GNU's c++filt and the compiler's own
 * library. */
#include "rust_name.h"

#include "mem.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static const char *plain_bytes(const char *name, size_t n)
{
	static char text[1000];
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	if (!rust_name_put(&b, (struct str){ name, n })) {
		CHECK_INT(b.size, 0);
		return "none";
	}
	snprintf(text, sizeof(text), "%.*s", (int)b.size, b.data);
	return text;
}

static const char *plain(const char *name)
{
	return plain_bytes(name, strlen(name));
}

TEST(examples_of_the_specification_are_demangled)
{
	CHECK_STR(plain("_RNvCskwGfYPst2Cb_3foo16example_function"), "foo::example_function");
	CHECK_STR(plain("_RNvNvCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
	CHECK_STR(plain("_RNvMs_Cs4Cv8Wi1oAIB_7mycrateNtB4_7Example3foo"), "<mycrate::Example>::foo");
	CHECK_STR(plain("_RNvXCs15kBYyAo9fc_7mycrateNtB2_7ExampleNtB2_5Trait3foo"),
		  "<mycrate::Example as mycrate::Trait>::foo");
	CHECK_STR(plain("_RNvYNtCsbPWOVzpVOfa_7mycrate7ExampleNtB4_5Trait3foo"),
		  "<mycrate::Example as mycrate::Trait>::foo");
	CHECK_STR(plain("_RINvCsgStHSCytQ6I_7mycrate7examplelKj1_EB2_"), "mycrate::example::<i32, 1>");
	CHECK_STR(plain("_RINvCs7qp2U7fqm6G_7mycrate7exampleFG0_RL1_hRL0_tEuEB2_"),
		  "mycrate::example::<for<'a, 'b> fn(&'a u8, &'b u16)>");
	CHECK_STR(plain("_RINvCs7qp2U7fqm6G_7mycrate7exampleKVNtB2_3BarS1xKhffEB2_"), "none");
	CHECK_STR(plain("_RNvC7mycrateu8gdel_5qa"), "mycrate::g\xc3\xb6" "del");
}

TEST(paths_are_demangled)
{
	CHECK_STR(plain("_RNvC6_123foo3bar"), "123foo::bar");
	CHECK_STR(plain("_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_"), "cc::spawn::{closure#0}::{closure#0}");
	CHECK_STR(plain("_RNCNvC3foo3bars_3fun"), "foo::bar::{closure:fun#1}");
	CHECK_STR(plain("_RNSNvC3foo3bar6vtable"), "foo::bar::{shim:vtable#0}");
	CHECK_STR(plain("_RNZs0_C3foo3bar"), "none");
	CHECK_STR(plain("_RNZC3foos0_3bar"), "foo::{Z:bar#2}");
	CHECK_STR(plain("_RNCs_NvC3foo3bar3fun"), "none");
	CHECK_STR(plain("_RNCINvC3foo3barReE0B4_"), "foo::bar::<&str>::{closure#0}");
	CHECK_STR(plain("_RNCINvC3foo3barReE0C3app"), "foo::bar::<&str>::{closure#0}");
	CHECK_STR(plain("_RINvNtC3std3mem8align_ofjdE"), "std::mem::align_of::<usize, f64>");
	CHECK_STR(plain("_RNvMINtC3foo3BarpE3baz"), "none");
	CHECK_STR(plain("_RNvMC3fooINtB2_3BarpE3baz"), "<foo::Bar<_>>::baz");
	CHECK_STR(plain("_RNvC3foo3bar.llvm.9D1C9369"), "foo::bar");
	CHECK_STR(plain("_RNvC3foo3bar.cold.1"), "foo::bar.cold.1");
	CHECK_STR(plain("__RNvC3foo3bar"), "foo::bar");
}

TEST(types_are_demangled)
{
	CHECK_STR(plain("_RMC0TabcdefE"), "<(i8, bool, char, f64, str, f32)>");
	CHECK_STR(plain("_RMC0ThijlmnoE"), "<(u8, isize, usize, i32, u32, i128, u128)>");
	CHECK_STR(plain("_RMC0TpstuvxyzE"), "<(_, i16, u16, (), ..., i64, u64, !)>");
	CHECK_STR(plain("_RMC0TSRhQtPlOmAyj10_E"), "<([&u8], &mut u16, *const i32, *mut u32, [u64; 16])>");
	CHECK_STR(plain("_RMC0TTEThEE"), "<((), (u8,))>");
	CHECK_STR(plain("_RINvC3foo3barFG_RL0_hEuE"), "foo::bar::<for<'a> fn(&'a u8)>");
	CHECK_STR(plain("_RMC0FUKChEl"), "<unsafe extern \"C\" fn(u8) -> i32>");
	CHECK_STR(plain("_RMC0FK15system_dash_abiEu"), "<extern \"system-dash-abi\" fn()>");
	CHECK_STR(plain("_RINvC3foo3barDG_INtC4core2FnTRL0_hEEp6OutputuEL_E"),
		  "foo::bar::<dyn for<'a> core::Fn<(&'a u8,), Output = ()>>");
	CHECK_STR(plain("_RMC0DNtC3foo4Iterp4ItemhNtB5_4SendEL_"), "<dyn foo::Iter<Item = u8> + foo::Send>");
	CHECK_STR(plain("_RMC0RL0_h"), "none");			/* nothing binds it */
}

TEST(constants_are_demangled)
{
	CHECK_STR(plain("_RINvC3foo3barKj1f_Kb1_Kb0_Kc76_KpE"), "foo::bar::<31, true, false, 'v', _>");
	CHECK_STR(plain("_RINvC3foo3barKan80_Kx7fffffffffffffff_KsnffE"), "none");
	CHECK_STR(plain("_RINvC3foo3barKan80_Kx7fffffffffffffff_E"), "foo::bar::<-128, 9223372036854775807>");
	CHECK_STR(plain("_RINvC3foo3barKyffffffffffffffff_Ko10000000000000000_E"),
		  "foo::bar::<18446744073709551615, 0x10000000000000000>");
	CHECK_STR(plain("_RINvC3foo3barKc27_Kca_Kc1_Kc2202_E"), "foo::bar::<'\\'', '\\n', '\\u{1}', '\xe2\x88\x82'>");
	CHECK_STR(plain("_RINvC3foo3barKRe616263_E"), "foo::bar::<\"abc\">");
	CHECK_STR(plain("_RINvC3foo3barKe22c3a9_E"), "foo::bar::<{*\"\\\"\xc3\xa9\"}>");
	CHECK_STR(plain("_RINvC3foo3barKRAh1_h2_EKTh3_EE"), "foo::bar::<{&[1, 2]}, {(3,)}>");
	CHECK_STR(plain("_RINvC3foo3barKVNtINtC4core6OptionjE4NoneUE"), "foo::bar::<{core::Option::<usize>::None}>");
	CHECK_STR(plain("_RINvC3foo3barKVNvINtC4core6OptionjE4SomeTj0_EE"), "foo::bar::<{core::Option::<usize>::Some(0)}>");
	CHECK_STR(plain("_RINvC3foo3barKVNtC3foo1PS1xh1_1yh2_EE"), "foo::bar::<{foo::P { x: 1, y: 2 }}>");
	CHECK_STR(plain("_RINvC3foo3barKb2_E"), "none");
	CHECK_STR(plain("_RINvC3foo3barKcd800_E"), "none");
	CHECK_STR(plain("_RINvC3foo3barKe80_E"), "none");
}

TEST(non_ascii_names_are_demangled)
{
	CHECK_STR(plain("_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y"),
		  "utf8_idents::\xe1\x83\xa1\xe1\x83\x90\xe1\x83\xad\xe1\x83\x9b\xe1\x83\x94\xe1\x83\x9a\xe1\x83\x90\xe1\x83\x93"
		  "_\xe1\x83\x92\xe1\x83\x94\xe1\x83\x9b\xe1\x83\xa0\xe1\x83\x98\xe1\x83\x94\xe1\x83\x9a\xe1\x83\x98_"
		  "\xe1\x83\xa1\xe1\x83\x90\xe1\x83\x93\xe1\x83\x98\xe1\x83\x9a\xe1\x83\x98");
	CHECK_STR(plain("_RNvC3foou3999"), "none");
	CHECK_STR(plain("_RNvC3foo3b\xc3\xa4"), "none");
}

TEST(truncated_names_are_rejected_unless_they_are_complete)
{
	static const char name[] = "_RINvXs_C3fooINtB5_3BarQShENtB5_5Trait3runFG_RL0_eEbDNtB5_4SendEL_KRe616263_EB5_";

	CHECK_STR(plain(name), "<foo::Bar<&mut [u8]> as foo::Trait>::run::<for<'a> fn(&'a str) -> bool, dyn foo::Send, \"abc\">");
	for (size_t n = 0; n + 1 < sizeof(name) - 1; n++) {
		_cleanup_(freep) char *copy = xstrndup(name, n);	/* exact size, for the sanitizer */

		CHECK_STR(plain_bytes(copy, n), n == sizeof(name) - 4 ? plain(name) : "none");
	}
}

/* Each part repeats the previous one twice, so forty of them would be a name of terabytes. */
TEST(names_that_expand_without_bound_are_rejected)
{
	char name[2000] = "_RMC0TuuE", deep[3000] = "_RMC0";
	size_t at = strlen(name), from = 3;

	for (int i = 0; i < 40; i++) {
		size_t here = at - 2;

		at -= i ? 1 : 0;
		at += (size_t)snprintf(name + at - (i ? 0 : 1), sizeof(name) - at, "TB%zu_B%zu_EE", from, from) - (i ? 0 : 1);
		from = here % 10;
	}
	CHECK_STR(plain(name), "none");
	memset(deep + 5, 'R', 2000);
	deep[2005] = 'h';
	CHECK_STR(plain(deep), "none");
	CHECK_STR(plain("_RB_"), "none");
	CHECK_STR(plain("_RNvB_3foo"), "none");
	CHECK_STR(plain("_RMC0FGzzzzzzzzz_EuE"), "none");
	CHECK_STR(plain("_RNvC99999999999999999999foo3bar"), "none");
	CHECK_STR(plain("_RNvC3foos99999999999999999999_3bar"), "none");
}

TEST(other_names_are_rejected)
{
	static const char *const names[] = { "", "_", "_R", "__R", "_R0NvC3foo3bar", "_RPC_init", "_RNvC3foo3bar C3app",
					     "_RNvC3foo3bar+0x12", "RNvC3foo3bar", "_ZN3foo3barE", "_Rb_tree" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		CHECK_STR(plain(names[i]), "none");
}

TEST_MAIN()
