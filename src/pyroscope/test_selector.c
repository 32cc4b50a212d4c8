/* test_selector.c: selectors of series, and profile types. */
#include "pattern.h"
#include "profile_type.h"
#include "selector.h"
#include "test.h"

#include <string.h>

static bool takes(const char *text, const char *label, const char *value)
{
	struct selector s;
	struct err err = { 0 };
	bool is;

	selector_init(&s);
	CHECK_INT(selector_add(&s, text, &err), 0);
	is = selector_takes(&s, label, value);
	selector_done(&s);
	return is;
}

TEST(matchers_accept_and_reject_labels)
{
	CHECK(takes("{a=\"x\"}", "a", "x") && !takes("{a=\"x\"}", "a", "y") && takes("{a=\"x\"}", "b", "y"));
	CHECK(takes("{a!=\"x\"}", "a", "") && !takes("{a!=\"x\"}", "a", "x") && takes("{a=\"\"}", "a", ""));
	CHECK(takes("{a=~\"x|y\"}", "a", "y") && !takes("{a=~\"x|y\"}", "a", "xy") && !takes("{a!~\"x|y\"}", "a", "x"));
	CHECK(takes("{a=~\"x.*\", a!=\"x1\",}", "a", "x2") && !takes("{a=~\"x.*\", a!=\"x1\"}", "a", "x1"));
	CHECK(takes("", "a", "x") && takes("{}", "a", "x") && takes(" { } ", "a", "x"));
}

TEST(quoted_names_and_strings_are_parsed)
{
	CHECK(takes("{\"service.name\"=\"x\"}", "service.name", "x") && !takes("{\"service.name\"=\"x\"}", "service.name", ""));
	CHECK(takes("process_cpu{a='x'}", "__name__", "process_cpu") && !takes("process_cpu", "__name__", "wall"));
	CHECK(takes("{a=`x\\y`}", "a", "x\\y") && takes("{a=\"x\\\\y\\n\\x41\\101\\u00e4\\\"\"}", "a", "x\\y\nAA\xc3\xa4\""));
	CHECK(takes("{\"cpu\"}", "__name__", "cpu"));
}

TEST(invalid_selectors_are_rejected_with_the_position)
{
	static const char *const bad[] = { "{", "{a}", "{a=}", "{a=x}", "{a=\"x}", "{a=\"x\" b=\"y\"}", "{a=\"x\"}}", "{a==\"x\"}",
		"{a=\"\\q\"}", "{a=\"\\x00\"}", "{a=\"\\400\"}", "{=\"x\"}", "a b", "{a=~\"(\"}", "{,}" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct selector s;
		struct err err = { 0 };

		selector_init(&s);
		CHECK_INT(selector_add(&s, bad[i], &err), -EINVAL);
		CHECK(strstr(err.text, "character") != NULL);
		selector_done(&s);
	}
}

static void check_type(const char *column, const char *unit, const char *clock, const char *id)
{
	struct profile_type made, parsed;
	char text[PROFILE_TYPE_ID];
	struct err err = { 0 };

	profile_type_of(column, unit, clock, &made);
	profile_type_id(&made, text);
	CHECK_STR(text, id);
	CHECK_INT(profile_type_parse(id, &parsed, &err), 0);
	CHECK(profile_type_is(&made, &parsed));
}

TEST(columns_have_profile_types_known_to_grafana)
{
	check_type("samples", "count", "cpu", "process_cpu:samples:count:cpu:nanoseconds");
	check_type("samples", "count", "wall", "wall:samples:count:cpu:nanoseconds");
	check_type("samples", "count", NULL, "samples:samples:count::");
	check_type("cpu_ns", "nanoseconds", "cpu", "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
	check_type("wall_ns", "nanoseconds", NULL, "wall:wall:nanoseconds:cpu:nanoseconds");
	check_type("off_cpu_ns", "nanoseconds", NULL, "off_cpu:off_cpu:nanoseconds::");
	check_type("calls", "count", NULL, "calls:calls:count::");
	check_type("memory_bytes", "bytes", NULL, "memory:memory:bytes::");
	check_type("inuse_space", "bytes", NULL, "memory:inuse_space:bytes::");
	check_type("a:b", "c:d", NULL, "a_b:a_b:c_d::");
}

TEST(a_type_has_five_parts)
{
	struct profile_type t;
	struct err err = { 0 };

	CHECK_INT(profile_type_parse("a:b:c:d:e:delta", &t, &err), 0);
	CHECK_STR(t.period_unit, "e");
	CHECK_INT(profile_type_parse("::::", &t, &err), 0);
	CHECK_INT(profile_type_parse("a:b:c:d", &t, &err), -EINVAL);
	CHECK_INT(profile_type_parse("a:b:c:d:e:f", &t, &err), -EINVAL);
	CHECK_INT(profile_type_parse("", &t, &err), -EINVAL);
}

TEST_MAIN()
