/* test_json.c: tests that the writer's output is valid JSON. */
#include "json.h"
#include "test.h"
#include <math.h>

TEST(commas_stand_between_values_only)
{
	struct buf b;
	struct json j;

	buf_init(&b);
	json_init(&j, &b);
	json_open_object(&j);
	json_key(&j, "a");
	json_i64(&j, -1);
	json_key(&j, "b");
	json_open_array(&j);
	json_u64(&j, UINT64_MAX);
	json_bool(&j, true);
	json_bool(&j, false);
	json_str(&j, NULL);
	json_open_array(&j);
	json_end(&j);
	json_open_object(&j);
	json_end(&j);
	json_end(&j);
	json_key(&j, "c\"");
	json_str(&j, "x</");
	json_end(&j);
	CHECK_STR(b.data,
		  "{\"a\":-1,\"b\":[18446744073709551615,true,false,null,[],{}],\"c\\\"\":\"x\\u003c/\"}");
	CHECK_INT(j.depth, 0);
	buf_done(&b);
}

TEST(a_single_value_is_a_document)
{
	struct buf b;
	struct json j;

	buf_init(&b);
	json_init(&j, &b);
	json_bytes(&j, (struct str){ "\0\xff", 2 });
	CHECK_STR(b.data, "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	buf_done(&b);
}

TEST(doubles_survive_a_round_trip)
{
	static const double numbers[] = { 0, 0.1, 1.0 / 3, 1e300, 5e-324, 123456789.125, -2.5, 100 };
	struct buf b;
	struct json j;

	buf_init(&b);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		buf_reset(&b);
		json_init(&j, &b);
		json_double(&j, numbers[i]);
		CHECK(strtod(b.data, NULL) == numbers[i]);
	}
	buf_reset(&b);
	json_init(&j, &b);
	json_open_array(&j);
	json_double(&j, 0.1);
	json_double(&j, NAN);
	json_double(&j, -INFINITY);
	json_end(&j);
	CHECK_STR(b.data, "[0.1,null,null]");
	buf_done(&b);
}

TEST(nesting_is_allowed_up_to_the_limit)
{
	struct buf b;
	struct json j;

	buf_init(&b);
	json_init(&j, &b);
	for (int i = 0; i < JSON_DEPTH; i++)
		json_open_array(&j);
	json_i64(&j, 1);
	for (int i = 0; i < JSON_DEPTH; i++)
		json_end(&j);
	CHECK_INT(b.size, 2 * JSON_DEPTH + 1);
	buf_done(&b);
}

TEST_MAIN()
