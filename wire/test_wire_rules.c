/* test_wire_rules.c: errors one by one, in the order of the rules in the header, and encoding of numbers. */
#include "cleanup.h"
#include "mem.h"
#include "test_wire.h"

static uint8_t buffer[1 << 16];

static const struct strobe_wire_info info = {
	.kind = STROBE_WIRE_SAMPLES, .clock = STROBE_CLOCK_WALL, .pid = 1, .start_ns = 1, .end_ns = 2, .period_ns = 3,
};

/* Makes a message with one of everything; returns its size. */
static size_t small(void)
{
	struct strobe_wire_writer w;
	const int64_t value = 5;

	strobe_wire_begin(&w, buffer, sizeof(buffer), &info);
	strobe_wire_string(&w, "entry", 5);
	strobe_wire_string(&w, "samples", 7);
	strobe_wire_label(&w, 1, 2);
	strobe_wire_column(&w, 2, 0);
	strobe_wire_drop(&w, STROBE_DROP_FULL, 9);
	strobe_wire_frame(&w, 1, 0, 7);
	strobe_wire_node(&w, 0, 0, &value);
	return strobe_wire_end(&w);
}

TEST(a_message_may_report_losses_without_samples)
{
	struct strobe_wire_message m;
	struct strobe_wire_writer w;
	const uint8_t *p;

	strobe_wire_begin(&w, buffer, sizeof(buffer), &info);
	strobe_wire_string(&w, "sapi", 4);
	strobe_wire_string(&w, "fpm-fcgi", 8);
	strobe_wire_string(&w, "samples", 7);
	strobe_wire_string(&w, "count", 5);
	strobe_wire_label(&w, 1, 2);
	strobe_wire_column(&w, 3, 4);
	strobe_wire_drop(&w, STROBE_DROP_JIT, 1000);
	CHECK_INT(parse_exactly(buffer, strobe_wire_end(&w), &m), STROBE_WIRE_OK);
	CHECK_INT(m.nodes, 0);
	CHECK_INT(m.samples, 0);
	CHECK_INT(m.drops, 1);
	p = m.at_drops;
	CHECK_INT(strobe_wire_next(&p), STROBE_DROP_JIT);
	CHECK_INT(strobe_wire_next(&p), 1000);
}

static enum strobe_wire_error with(size_t at, uint64_t v, unsigned bytes)
{
	struct strobe_wire_message m;
	size_t n = small();

	strobe_wire_put_le(buffer + at, v, bytes);
	return parse_exactly(buffer, n, &m);
}

TEST(the_header_is_checked_field_by_field)
{
	CHECK_INT(with(0, 'S', 1), STROBE_WIRE_OK);
	CHECK_INT(with(0, 'X', 1), STROBE_WIRE_BAD_MAGIC);
	CHECK_INT(with(4, 0, 1), STROBE_WIRE_UNKNOWN_VERSION);
	CHECK_INT(with(4, 3, 1), STROBE_WIRE_UNKNOWN_VERSION);
	CHECK_INT(with(5, 0, 1), STROBE_WIRE_UNKNOWN_KIND);
	CHECK_INT(with(5, 2, 1), STROBE_WIRE_OK);
	CHECK_INT(with(5, 4, 1), STROBE_WIRE_OK);
	CHECK_INT(with(5, 5, 1), STROBE_WIRE_UNKNOWN_KIND);
	CHECK_INT(with(6, 3, 1), STROBE_WIRE_BAD_HEADER);
	CHECK_INT(with(7, 1, 1), STROBE_WIRE_BAD_HEADER);
	CHECK_INT(with(8, STROBE_WIRE_MAX + 1, 4), STROBE_WIRE_TOO_LARGE);
	CHECK_INT(with(8, small() + 1, 4), STROBE_WIRE_TRUNCATED);
	CHECK_INT(with(8, small() - 1, 4), STROBE_WIRE_BAD_LENGTH);
	CHECK_INT(with(8, 0, 4), STROBE_WIRE_BAD_LENGTH);
	CHECK_INT(with(16, 3, 8), STROBE_WIRE_BAD_HEADER);
	CHECK_INT(with(24, UINT64_MAX, 8), STROBE_WIRE_BAD_HEADER);
	CHECK_INT(with(32, UINT64_MAX, 8), STROBE_WIRE_BAD_HEADER);
	CHECK_INT(with(46, 1, 2), STROBE_WIRE_BAD_HEADER);
	CHECK_INT(with(60, 1, 4), STROBE_WIRE_BAD_HEADER);
}

static const struct strobe_wire_info info_2 = { .kind = STROBE_WIRE_SAMPLES, .version = 2, .flags = STROBE_WIRE_LINES };

struct small_2 {
	uint64_t line, root, callee, call, since, duration;
};

/* Makes a message of version 2 with one of everything. */
static size_t small_2(const struct small_2 *o)
{
	struct strobe_wire_writer w;
	const int64_t value = 5;

	strobe_wire_begin(&w, buffer, sizeof(buffer), &info_2);
	strobe_wire_string(&w, "calls", 5);
	strobe_wire_column(&w, 1, 0);
	strobe_wire_frame(&w, 1, 0, 7);
	/* Like strobe_wire_node_at, but without limits. */
	strobe_wire_put_varint(&w, 1);
	strobe_wire_put_varint(&w, 0);
	strobe_wire_put_varint(&w, o->line);
	strobe_wire_put_values(&w, &value);
	w.nodes++;
	strobe_wire_edge_node(&w, 0, (uint32_t)o->root, 1, &value);
	strobe_wire_edge_node(&w, 1, 0, 0, &value);
	strobe_wire_edge_pair(&w, 0, (uint32_t)o->callee, &value);
	strobe_wire_call(&w, (uint32_t)o->call, o->since, 1);
	strobe_wire_call(&w, 1, 1, o->duration);
	return strobe_wire_end(&w);
}

static enum strobe_wire_error parse_small_2(struct small_2 o)
{
	struct strobe_wire_message m;

	return parse_exactly(buffer, small_2(&o), &m);
}

TEST(invalid_messages_of_version_2_are_rejected)
{
	const struct small_2 good = { .line = UINT32_MAX, .callee = 1, .call = 1, .since = INT64_MAX - 1, .duration = INT64_MAX };
	const struct small_2 bad[] = {
		{ .line = good.line + 1, .callee = 1, .call = 1 },
		{ .root = 1, .callee = 1, .call = 1 },
		{ .callee = 0, .call = 1 },
		{ .callee = 2, .call = 1 },
		{ .callee = 1, .call = 0 },
		{ .callee = 1, .call = 2 },
		{ .callee = 1, .call = 1, .since = good.since + 1 },
		{ .callee = 1, .call = 1, .duration = good.duration + 1 },
	};
	struct strobe_wire_message m;
	size_t n;

	CHECK_INT(parse_small_2(good), STROBE_WIRE_OK);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_INT(parse_small_2(bad[i]), STROBE_WIRE_BAD_REFERENCE);

	n = small_2(&good);
	for (size_t at = 46; at < STROBE_WIRE_HEADER_2; at++) {
		const uint8_t kept = buffer[at];

		buffer[at] = 0x88;
		if (at < 48 || at >= 72)
			CHECK_INT(parse_exactly(buffer, n, &m), STROBE_WIRE_BAD_HEADER);
		else if (at >= 60 && at % 4 == 3)
			CHECK_INT(parse_exactly(buffer, n, &m), STROBE_WIRE_TOO_MANY);
		else
			CHECK(parse_exactly(buffer, n, &m) != STROBE_WIRE_OK);
		buffer[at] = kept;
	}
	CHECK_INT(parse_exactly(buffer, STROBE_WIRE_HEADER, &m), STROBE_WIRE_TRUNCATED);
}

TEST(counts_above_their_limits_are_rejected_before_anything_is_read)
{
	CHECK_INT(with(40, STROBE_WIRE_LABELS + 1, 2), STROBE_WIRE_TOO_MANY);
	CHECK_INT(with(42, STROBE_WIRE_COLUMNS + 1, 2), STROBE_WIRE_TOO_MANY);
	CHECK_INT(with(44, STROBE_WIRE_DROPS + 1, 2), STROBE_WIRE_TOO_MANY);
	CHECK_INT(with(48, STROBE_WIRE_STRINGS + 1, 4), STROBE_WIRE_TOO_MANY);
	CHECK_INT(with(52, STROBE_WIRE_FRAMES + 1, 4), STROBE_WIRE_TOO_MANY);
	CHECK_INT(with(56, STROBE_WIRE_NODES + 1, 4), STROBE_WIRE_TOO_MANY);
	CHECK_INT(with(56, UINT32_MAX, 4), STROBE_WIRE_TOO_MANY);
	CHECK(with(56, STROBE_WIRE_NODES, 4) != STROBE_WIRE_OK);
	CHECK_INT(with(56, 0, 4), STROBE_WIRE_TRAILING);
}

static void raw_begin(struct strobe_wire_writer *w)
{
	strobe_wire_begin(w, buffer, sizeof(buffer), &info);
}

static enum strobe_wire_error raw_end(struct strobe_wire_writer *w)
{
	struct strobe_wire_message m;

	return parse_exactly(buffer, strobe_wire_end(w), &m);
}

static enum strobe_wire_error label_with(const char *key, size_t key_size, const char *value, size_t value_size)
{
	struct strobe_wire_writer w;

	raw_begin(&w);
	strobe_wire_string(&w, key, key_size);
	strobe_wire_string(&w, value, value_size);
	strobe_wire_label(&w, 1, 2);
	return raw_end(&w);
}

TEST(invalid_labels_are_rejected)
{
	char longest[2000];

	memset(longest, 'k', sizeof(longest));
	CHECK_INT(label_with("entry", 5, "x", 1), STROBE_WIRE_OK);
	CHECK_INT(label_with("_a9", 3, "", 0), STROBE_WIRE_OK);
	CHECK_INT(label_with("9a", 2, "x", 1), STROBE_WIRE_BAD_LABEL);
	CHECK_INT(label_with("a-b", 3, "x", 1), STROBE_WIRE_BAD_LABEL);
	CHECK_INT(label_with("@", 1, "x", 1), STROBE_WIRE_BAD_LABEL);
	CHECK_INT(label_with("[", 1, "x", 1), STROBE_WIRE_BAD_LABEL);
	CHECK_INT(label_with("a\0", 2, "x", 1), STROBE_WIRE_BAD_LABEL);
	CHECK_INT(label_with("", 0, "x", 1), STROBE_WIRE_BAD_LABEL);
	CHECK_INT(label_with(longest, STROBE_WIRE_LABEL_KEY, longest, STROBE_WIRE_LABEL_VALUE), STROBE_WIRE_OK);
	CHECK_INT(label_with(longest, STROBE_WIRE_LABEL_KEY + 1, "", 0), STROBE_WIRE_BAD_LABEL);
	CHECK_INT(label_with("a", 1, longest, STROBE_WIRE_LABEL_VALUE + 1), STROBE_WIRE_BAD_LABEL);
}

static enum strobe_wire_error run_with(const char *key, const char *value, size_t value_size)
{
	struct strobe_wire_info run = info;
	struct strobe_wire_writer w;

	run.kind = STROBE_WIRE_RUN;
	run.clock = STROBE_CLOCK_NONE;
	run.period_ns = 0;
	strobe_wire_begin(&w, buffer, sizeof(buffer), &run);
	strobe_wire_string(&w, "entry", 5);
	strobe_wire_string(&w, key, strlen(key));
	strobe_wire_string(&w, value, value_size);
	strobe_wire_label(&w, 1, 1);
	strobe_wire_label(&w, 2, 3);
	return raw_end(&w);
}

TEST(run_ids_are_valid_in_urls_and_file_names)
{
	static const char *const good[] = { "a", "shop", "Shop.v2_3-x", "0", ".hidden", "...", "-" };
	static const char *const bad[] = { "", ".", "..", "a b", "a/b", "a%2f", "\xc3\xa4", "a\n", "@", "[", "`", "{",
					   ":" };
	char longest[STROBE_WIRE_RUN_KEY + 1];

	memset(longest, 'x', sizeof(longest));
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		CHECK_INT(run_with("source", good[i], strlen(good[i])), STROBE_WIRE_OK);
		CHECK_INT(run_with("id", good[i], strlen(good[i])), STROBE_WIRE_OK);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK_INT(run_with("source", bad[i], strlen(bad[i])), STROBE_WIRE_BAD_LABEL);
		CHECK_INT(run_with("id", bad[i], strlen(bad[i])), STROBE_WIRE_BAD_LABEL);
		/* Only these are restricted: other labels of a run, and the same keys of samples, are free. */
		CHECK_INT(run_with("url", bad[i], strlen(bad[i])), STROBE_WIRE_OK);
		CHECK_INT(label_with("id", 2, bad[i], strlen(bad[i])), STROBE_WIRE_OK);
	}
	CHECK_INT(run_with("id", "a\0b", 3), STROBE_WIRE_BAD_LABEL);
	CHECK_INT(run_with("id", longest, STROBE_WIRE_RUN_KEY), STROBE_WIRE_OK);
	CHECK_INT(run_with("id", longest, STROBE_WIRE_RUN_KEY + 1), STROBE_WIRE_BAD_LABEL);
	CHECK_INT(run_with("name", "any thing / at all", 18), STROBE_WIRE_OK);
}

TEST(references_must_exist_and_stay_within_their_limits)
{
	struct strobe_wire_writer w;
	int64_t none = 0;

	raw_begin(&w);
	strobe_wire_string(&w, "a", 1);
	strobe_wire_label(&w, 1, 2);
	CHECK_INT(raw_end(&w), STROBE_WIRE_BAD_REFERENCE);

	raw_begin(&w);
	strobe_wire_column(&w, 0, 0);
	CHECK_INT(raw_end(&w), STROBE_WIRE_BAD_LABEL);

	for (uint32_t at = STROBE_WIRE_NAMED; at <= STROBE_WIRE_NAMED + 1; at++) {
		raw_begin(&w);
		for (uint32_t i = 0; i <= STROBE_WIRE_NAMED; i++)
			strobe_wire_string(&w, "a", 1);
		strobe_wire_column(&w, at, 1);
		CHECK_INT(raw_end(&w), at == STROBE_WIRE_NAMED ? STROBE_WIRE_OK : STROBE_WIRE_BAD_LABEL);
	}

	raw_begin(&w);
	strobe_wire_frame(&w, 1, 0, 0);
	CHECK_INT(raw_end(&w), STROBE_WIRE_BAD_REFERENCE);

	raw_begin(&w);
	strobe_wire_node(&w, 0, 0, &none);
	CHECK_INT(raw_end(&w), STROBE_WIRE_BAD_REFERENCE);

	/* A node that is its own parent, and one whose parent would be before the root. */
	for (uint32_t distance = 0; distance <= 2; distance++) {
		raw_begin(&w);
		strobe_wire_frame(&w, 0, 0, 0);
		strobe_wire_node(&w, 1 - distance, 0, &none);
		CHECK_INT(raw_end(&w), distance == 1 ? STROBE_WIRE_OK : STROBE_WIRE_BAD_REFERENCE);
	}
}

TEST(the_length_of_strings_is_limited)
{
	static char longest[STROBE_WIRE_STRING + 1];
	static uint8_t large[STROBE_WIRE_STRING + 1000];

	for (size_t n = STROBE_WIRE_STRING; n <= STROBE_WIRE_STRING + 1; n++) {
		struct strobe_wire_message m;
		struct strobe_wire_writer w;

		strobe_wire_begin(&w, large, sizeof(large), &info);
		strobe_wire_string(&w, longest, n);
		CHECK_INT(strobe_wire_parse(large, strobe_wire_end(&w), &m),
			  n == STROBE_WIRE_STRING ? STROBE_WIRE_OK : STROBE_WIRE_TOO_MANY);
	}
}

TEST(varints_have_one_to_ten_bytes_and_64_bits)
{
	static const struct {
		const char *bytes;
		size_t n;
		int good;
		uint64_t v;
	} cases[] = {
		{ "\x00", 1, 1, 0 }, { "\x7f", 1, 1, 127 }, { "\x80\x01", 2, 1, 128 }, { "\x80\x00", 2, 1, 0 },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, 1, UINT64_MAX },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, 0, 0 },
		{ "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, 0, 0 }, { "\x80", 1, 0, 0 }, { "", 0, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const uint8_t *p = (const uint8_t *)cases[i].bytes;
		struct strobe_wire_cursor c = { p, p + cases[i].n };
		uint64_t v = 99;

		CHECK_INT(strobe_wire_get_varint(&c, &v), cases[i].good);
		CHECK(!cases[i].good || v == cases[i].v);
		CHECK(c.p == (cases[i].good ? p + cases[i].n : p));
	}
}

/* Fast encoding of a number gives the same bytes as the plain loop. */
TEST(numbers_are_encoded_identically_on_the_fast_and_slow_path)
{
	struct strobe_wire_info run = { .kind = STROBE_WIRE_RUN };

	for (unsigned bit = 0; bit < 64; bit++) {
		for (int64_t by = -1; by <= 1; by++) {
			const uint64_t v = ((uint64_t)1 << bit) + (uint64_t)by;
			uint8_t quick[STROBE_WIRE_VARINT_MAX], plain[STROBE_WIRE_HEADER + STROBE_WIRE_VARINT_MAX];
			struct strobe_wire_writer w;
			size_t n = (size_t)(strobe_wire_encode_varint(quick, v) - quick);

			strobe_wire_begin(&w, plain, sizeof(plain), &run);
			strobe_wire_put_varint(&w, v);
			CHECK_INT(n, w.size - STROBE_WIRE_HEADER);
			CHECK(memcmp(quick, plain + STROBE_WIRE_HEADER, n) == 0);
		}
	}
}

TEST(zigzag_encoding_preserves_sign_and_size)
{
	static const int64_t values[] = { 0, 1, -1, 2, -2, INT64_MAX, INT64_MIN, INT64_MIN + 1 };

	CHECK(strobe_wire_zigzag(-1) == 1 && strobe_wire_zigzag(1) == 2 && strobe_wire_zigzag(INT64_MIN) == UINT64_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		CHECK(strobe_wire_unzigzag(strobe_wire_zigzag(values[i])) == values[i]);
	for (int i = 0; i < 10000; i++) {
		int64_t v = any_value();

		CHECK(strobe_wire_unzigzag(strobe_wire_zigzag(v)) == v);
	}
}

TEST(an_envelope_carries_a_size_within_the_limit)
{
	uint8_t e[STROBE_WIRE_ENVELOPE + 1] = { 0 };
	struct strobe_wire_message m;
	uint64_t size = 0;

	strobe_wire_put_envelope(e, 200000);
	CHECK_INT(strobe_wire_open_envelope(e, STROBE_WIRE_ENVELOPE, &size), STROBE_WIRE_OK);
	CHECK_INT(size, 200000);
	CHECK_INT(strobe_wire_open_envelope(e, STROBE_WIRE_ENVELOPE + 1, &size), STROBE_WIRE_BAD_LENGTH);
	CHECK_INT(strobe_wire_open_envelope(e, 5, &size), STROBE_WIRE_BAD_LENGTH);
	CHECK_INT(strobe_wire_open_envelope(e, 3, &size), STROBE_WIRE_BAD_MAGIC);
	CHECK_INT(strobe_wire_open_envelope(e, 0, &size), STROBE_WIRE_BAD_MAGIC);
	e[4] = 2;
	CHECK_INT(strobe_wire_open_envelope(e, STROBE_WIRE_ENVELOPE, &size), STROBE_WIRE_UNKNOWN_VERSION);
	strobe_wire_put_envelope(e, STROBE_WIRE_MAX);
	CHECK_INT(strobe_wire_open_envelope(e, STROBE_WIRE_ENVELOPE, &size), STROBE_WIRE_OK);
	strobe_wire_put_envelope(e, (uint64_t)STROBE_WIRE_MAX + 1);
	CHECK_INT(strobe_wire_open_envelope(e, STROBE_WIRE_ENVELOPE, &size), STROBE_WIRE_TOO_LARGE);
	small();
	CHECK_INT(strobe_wire_open_envelope(buffer, STROBE_WIRE_ENVELOPE, &size), STROBE_WIRE_BAD_MAGIC);
	CHECK_INT(strobe_wire_parse(e, STROBE_WIRE_ENVELOPE, &m), STROBE_WIRE_TRUNCATED);
}

TEST(errors_and_drops_have_names_for_metrics)
{
	for (unsigned i = 0; i < STROBE_WIRE_ERRORS; i++)
		for (unsigned k = 0; k < i; k++)
			CHECK(strcmp(strobe_wire_error_name((enum strobe_wire_error)i),
				     strobe_wire_error_name((enum strobe_wire_error)k)));
	CHECK_STR(strobe_wire_error_name(STROBE_WIRE_ERRORS), "other");
	CHECK_STR(strobe_drop_name(STROBE_DROP_FULL), "socket_full");
	CHECK_STR(strobe_drop_name(STROBE_DROP_JIT), "jit");
	for (unsigned i = 0; i < STROBE_DROP_REASONS; i++)
		for (unsigned k = 0; k < i; k++)
			CHECK(strcmp(strobe_drop_name(i), strobe_drop_name(k)));
	CHECK_STR(strobe_drop_name(0), "other");
	CHECK_STR(strobe_drop_name(12345), "other");
}

TEST_MAIN()
