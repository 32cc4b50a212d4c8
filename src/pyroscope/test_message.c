/* test_message.c: bytes and JSON of the same message, and errors in either. */
#include "messages.h"
#include "protobuf.h"
#include "test.h"

#include <string.h>

static void check_json(const struct message *m, const char *text, const char *canonical)
{
	_cleanup_(buf_done) struct buf bytes = { 0 }, json = { 0 };
	struct err err = { 0 };

	buf_init(&bytes);
	buf_init(&json);
	CHECK_INT(message_from_json(m, text, strlen(text), &bytes, &err), 0);
	CHECK_INT(message_to_json(m, bytes.data, bytes.size, &json, &err), 0);
	CHECK_STR(json.data, canonical);
}

static void check_refused(const struct message *m, const char *text, const char *part)
{
	_cleanup_(buf_done) struct buf bytes = { 0 };
	struct err err = { 0 };

	buf_init(&bytes);
	CHECK_INT(message_from_json(m, text, strlen(text), &bytes, &err), -EINVAL);
	CHECK(strstr(err.text, part) != NULL);
}

TEST(field_names_are_read_in_both_spellings_and_written_in_one)
{
	check_json(&message_stacktraces_request,
		   "{\"profile_typeID\":\"a:b:c:d:e\",\"labelSelector\":\"{}\",\"start\":1000,\"end\":\"4000\",\"max_nodes\":8192}",
		   "{\"profileTypeID\":\"a:b:c:d:e\",\"labelSelector\":\"{}\",\"start\":\"1000\",\"end\":\"4000\","
		   "\"maxNodes\":\"8192\"}");
	check_json(&message_profile_type, "{\"ID\":\"x\",\"sampleType\":\"y\"}", "{\"ID\":\"x\",\"sampleType\":\"y\"}");
}

TEST(zeros_nulls_and_unknown_fields_are_omitted)
{
	check_json(&message_select_series_request, "{\"start\":0,\"end\":null,\"step\":0,\"what\":[{}],\"groupBy\":[]}", "{}");
}

TEST(enums_are_names_or_numbers_and_unknown_names_become_the_default)
{
	check_json(&message_stacktraces_request, "{\"format\":\"PROFILE_FORMAT_PPROF\"}", "{\"format\":\"PROFILE_FORMAT_PPROF\"}");
	check_json(&message_stacktraces_request, "{\"format\":1}", "{\"format\":\"PROFILE_FORMAT_FLAMEGRAPH\"}");
	check_json(&message_stacktraces_request, "{\"format\":77}", "{\"format\":77}");
	check_json(&message_stacktraces_request, "{\"format\":\"PROFILE_FORMAT_SANDWICH\"}", "{}");
}

TEST(only_text_fields_may_contain_a_nul_byte)
{
	_cleanup_(buf_done) struct buf bytes = { 0 };
	struct err err = { 0 };
	static const char text[] = "{\"labelSelector\":\"a\\u0000b\"}";

	buf_init(&bytes);
	CHECK_INT(message_from_json(&message_stacktraces_request, text, sizeof(text) - 1, &bytes, &err), 0);
	CHECK(memmem(bytes.data, bytes.size, "a\0b", 3) != NULL);
	check_refused(&message_stacktraces_request, "{\"start\":\"5\\u0000x\"}", "the field 'start' is not text without a NUL byte");
	check_refused(&message_stacktraces_response, "{\"tree\":\"AAEC\\u0000\"}", "'tree'");
}

TEST(bytes_are_base64_and_lists_keep_zeros)
{
	check_json(&message_stacktraces_response, "{\"tree\":\"AAECAw==\"}", "{\"tree\":\"AAECAw==\"}");
	check_json(&message_stacktraces_response, "{\"tree\":\"AAECAwQ=\"}", "{\"tree\":\"AAECAwQ=\"}");
	check_json(&message_stacktraces_response, "{\"flamegraph\":{\"levels\":[{\"values\":[0,\"12\",0,-1]},{}]}}",
		   "{\"flamegraph\":{\"levels\":[{\"values\":[\"0\",\"12\",\"0\",\"-1\"]},{}]}}");
	check_json(&message_select_series_response, "{\"series\":[{\"points\":[{\"value\":1.5,\"timestamp\":7}]}]}",
		   "{\"series\":[{\"points\":[{\"value\":1.5,\"timestamp\":\"7\"}]}]}");
}

TEST(packed_doubles_are_decoded_as_a_list)
{
	_cleanup_(buf_done) struct buf bytes = { 0 }, json = { 0 };
	const double values[] = { 0, 1.5 };
	struct buf slot, series;
	struct err err = { 0 };

	buf_init(&bytes);
	buf_init(&json);
	buf_init(&slot);
	buf_init(&series);
	protobuf_put_doubles(&slot, SLOT_Y_MIN, values, 2);
	protobuf_put_bytes(&series, HEATMAP_SLOTS, slot.data, slot.size);
	protobuf_put_bytes(&bytes, HEATMAP_SERIES, series.data, series.size);
	CHECK_INT(message_to_json(&message_heatmap_response, bytes.data, bytes.size, &json, &err), 0);
	CHECK_STR(json.data, "{\"series\":[{\"slots\":[{\"yMin\":[0,1.5]}]}]}");
	buf_done(&slot);
	buf_done(&series);
}

TEST(an_invalid_field_is_named)
{
	check_refused(&message_series_request, "{\"start\":\"yesterday\"}", "'start' is not an integer");
	check_refused(&message_series_request, "{\"label_names\":\"a\"}", "'labelNames' is not a list");
	check_refused(&message_diff_request, "{\"left\":[]}", "'left' is not an object");
	check_refused(&message_series_request, "", "not JSON");
	check_refused(&message_series_request, "[]", "not a JSON object");
}

static int check_bytes(const struct message *m, const void *bytes, size_t n)
{
	return message_check(m, bytes, n, NULL);
}

/* Pyroscope's recorded answer for four stacks. */
static const uint8_t recorded[] = {
	0x0a, 0x44, 0x0a, 0x05, 't', 'o', 't', 'a', 'l', 0x0a, 0x04, 'm', 'a', 'i', 'n', 0x0a, 0x06, 'r', 'e', 'n', 'd', 'e',
	'r', 0x0a, 0x05, 'q', 'u', 'e', 'r', 'y', 0x12, 0x06, 0x0a, 0x04, 0, 12, 0, 0, 0x12, 0x06, 0x0a, 0x04, 0, 12, 1, 1,
	0x12, 0x0a, 0x0a, 0x08, 1, 2, 2, 3, 0, 9, 4, 2, 0x12, 0x06, 0x0a, 0x04, 7, 5, 5, 3, 0x18, 0x0c, 0x20, 0x05,
};

TEST(recorded_bytes_become_the_json_of_the_same_response)
{
	_cleanup_(buf_done) struct buf json = { 0 };
	struct err err = { 0 };

	buf_init(&json);
	CHECK_INT(message_to_json(&message_stacktraces_response, recorded, sizeof(recorded), &json, &err), 0);
	CHECK_STR(json.data, "{\"flamegraph\":{\"names\":[\"total\",\"main\",\"render\",\"query\"],\"levels\":["
		  "{\"values\":[\"0\",\"12\",\"0\",\"0\"]},{\"values\":[\"0\",\"12\",\"1\",\"1\"]},"
		  "{\"values\":[\"1\",\"2\",\"2\",\"3\",\"0\",\"9\",\"4\",\"2\"]},{\"values\":[\"7\",\"5\",\"5\",\"3\"]}],"
		  "\"total\":\"12\",\"maxSelf\":\"5\"}}");
	for (size_t n = 1; n < sizeof(recorded); n++)
		CHECK_INT(check_bytes(&message_stacktraces_response, recorded, n), -EINVAL);
}

TEST(damaged_bytes_are_rejected)
{
	CHECK_INT(check_bytes(&message_series_request, "\x0a\x02{}", 4), 0);
	CHECK_INT(check_bytes(&message_series_request, "\x0a\x02{", 3), -EINVAL);	/* cut off */
	CHECK_INT(check_bytes(&message_series_request, "\x08\x01", 2), -EINVAL);	/* a number, not a string */
	CHECK_INT(check_bytes(&message_series_request, "\x0a\x01\xff", 3), -EINVAL);	/* not UTF-8 */
	CHECK_INT(check_bytes(&message_series_request, "\xfa\x01\x01x", 4), 0);		/* an unknown field */
}

TEST_MAIN()
