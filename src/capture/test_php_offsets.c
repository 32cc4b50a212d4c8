/* test_php_offsets.c: tests the table of offsets, and the errors for invalid ones. */

#include "php_offsets.h"
#include "test.h"

static struct php_offsets o;

TEST(the_table_has_every_documented_version)
{
	static const unsigned versions[][2] = { { 7, 4 }, { 8, 0 }, { 8, 1 }, { 8, 2 }, { 8, 3 }, { 8, 4 }, { 8, 5 } };

	php_offsets_init(&o);
	for (unsigned i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		CHECK(php_offsets_by_version(&o, versions[i][0], versions[i][1]) != NULL);
	CHECK_INT(php_offsets_by_api(&o, 20220829)->minor, 2);
	CHECK(php_offsets_by_version(&o, 9, 9) == NULL);
}

TEST(a_file_can_add_a_version)
{
	static const char text[] = "all opline=0 func=24 type_info=40 prev=48 fn_flags=4 fn_name=8 fn_scope=16 class_name=8 op_line=24\n"
				   "all string_hash=8 string_size=16 string_text=24 request_method=8 path_translated=40 immutable=128\n"
				   "all current_execute_data=488 call_top=131072\n"
				   "9.0 api=20270101 fn_line_start=160 fn_line_end=164 fn_filename=152\n";

	php_offsets_init(&o);
	CHECK_INT(php_offsets_add(&o, "t", text, sizeof(text) - 1, NULL), 0);
	CHECK_INT(php_offsets_by_version(&o, 9, 0)->layout.function_bytes, 168);
}

TEST(an_invalid_line_is_named_and_adds_nothing)
{
	struct err err = { 0 };
	size_t before;

	php_offsets_init(&o);
	before = o.count;
	CHECK_INT(php_offsets_add(&o, "t", "9.0 func=99\n", 12, &err), -EINVAL);
	CHECK_STR(err.text, "t, line 1: impossible number in 'func=99'");
	CHECK_INT(php_offsets_add(&o, "t", "9.0 api=1\n", 10, &err), -EINVAL);
	CHECK_INT(o.count, before);
}

TEST_MAIN()
