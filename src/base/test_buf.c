/* test_buf.c: tests buf.h and mem.h. */
#include "buf.h"
#include "err.h"
#include "mem.h"
#include "test.h"
#include <inttypes.h>
#include <math.h>

static struct buf b;

static const char *fixed(double v, int decimals)
{
	buf_reset(&b);
	buf_put_fixed(&b, v, decimals);
	return b.data;
}

static void check_like_printf(double v, int decimals)
{
	char expected[400];

	snprintf(expected, sizeof(expected), "%.*f", decimals, v);
	CHECK_STR(fixed(v, decimals), expected);
}

static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

TEST(an_empty_buffer_is_an_empty_string)
{
	struct buf e;

	buf_init(&e);
	CHECK_STR(e.data, "");
	buf_put(&e, "", 0);
	CHECK_STR(e.data, "");
	CHECK_INT(e.size, 0);
	buf_done(&e);
	buf_done(&e);
	CHECK_STR(e.data, "");
}

TEST(bytes_are_appended_and_always_end_with_a_nul)
{
	buf_reset(&b);
	for (int i = 0; i < 10000; i++) {
		buf_putc(&b, (char)('a' + i % 26));
		CHECK(b.data[b.size] == 0);
	}
	buf_put(&b, "x\0y", 3);
	buf_puts(&b, "end");
	CHECK_INT(b.size, 10006);
	CHECK(!memcmp(b.data + 10000, "x\0yend", 7));
}

TEST(printf_output_of_any_length_fits)
{
	char text[300];

	memset(text, 'q', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (size_t n = 0; n < 200; n++) {
		struct buf p;

		buf_init(&p);
		for (size_t i = 0; i < n; i++)
			buf_putc(&p, 'x');
		buf_printf(&p, "%s%d", text, 42);
		CHECK_INT(p.size, n + sizeof(text) - 1 + 2);
		CHECK_STR(p.data + p.size - 3, "q42");
		buf_done(&p);
	}
}

TEST(bytes_above_the_limit_and_all_later_ones_are_dropped)
{
	struct buf l;

	buf_init(&l);
	l.limit = 10;
	buf_puts(&l, "0123456");
	CHECK(!l.overflow);
	buf_puts(&l, "789ab");
	CHECK(l.overflow);
	buf_putc(&l, 'c');
	buf_printf(&l, "%d", 1);
	CHECK(!buf_reserve(&l, 1));
	CHECK_STR(l.data, "0123456");
	buf_reset(&l);
	CHECK(!l.overflow);
	buf_puts(&l, "0123456789");
	CHECK(!l.overflow);
	buf_printf(&l, "%s", "x");
	CHECK(l.overflow);
	CHECK_STR(l.data, "0123456789");
	buf_done(&l);
}

TEST(reserved_space_may_stay_unused)
{
	struct buf r;
	char *room;

	buf_init(&r);
	buf_puts(&r, "ab");
	room = buf_reserve(&r, 1000);
	room[0] = 'c';
	room[1] = 'd';
	buf_wrote(&r, 1);
	CHECK_INT(r.size, 3);
	CHECK_STR(r.data, "abc");
	buf_putc(&r, 'e');
	CHECK_STR(r.data, "abce");
	buf_done(&r);
}

TEST(taking_the_bytes_leaves_an_empty_buffer)
{
	struct buf t;
	size_t n = 99;
	char *taken;

	buf_init(&t);
	taken = buf_take(&t, &n);
	CHECK_STR(taken, "");
	CHECK_INT(n, 0);
	free(taken);
	buf_puts(&t, "hello");
	taken = buf_take(&t, &n);
	CHECK_STR(taken, "hello");
	CHECK_INT(n, 5);
	CHECK_STR(t.data, "");
	free(taken);
	buf_puts(&t, "again");
	CHECK_STR(t.data, "again");
	buf_done(&t);
}

TEST(whole_numbers_are_written_like_printf)
{
	uint64_t numbers[200];
	size_t n = 0;

	for (uint64_t v = 1; n < 60; v *= 3)
		numbers[n++] = v;
	for (uint64_t v = 10; n < 120; v *= 10) {
		numbers[n++] = v - 1;
		numbers[n++] = v;
		if (v > UINT64_MAX / 10)
			break;
	}
	numbers[n++] = 0;
	numbers[n++] = UINT64_MAX;
	numbers[n++] = (uint64_t)INT64_MAX + 1;
	numbers[n++] = INT64_MAX;
	for (size_t i = 0; i < n; i++) {
		char expected[64];

		snprintf(expected, sizeof(expected), "%" PRIu64 "%" PRId64, numbers[i], (int64_t)numbers[i]);
		buf_reset(&b);
		buf_put_u64(&b, numbers[i]);
		buf_put_i64(&b, (int64_t)numbers[i]);
		CHECK_STR(b.data, expected);
	}
}

TEST(digits_of_large_numbers_are_grouped_by_three)
{
	static const struct {
		int64_t v;
		const char *text;
	} cases[] = {
		{ 0, "0" }, { 999, "999" }, { 1000, "1,000" }, { -1000, "-1,000" }, { -999, "-999" },
		{ 123456, "123,456" }, { 1234567, "1,234,567" }, { INT64_MAX, "9,223,372,036,854,775,807" },
		{ INT64_MIN, "-9,223,372,036,854,775,808" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		buf_reset(&b);
		buf_put_grouped(&b, cases[i].v);
		CHECK_STR(b.data, cases[i].text);
	}
}

TEST(fixed_point_numbers_match_printf_at_the_edges)
{
	static const double edges[] = {
		0.0, -0.0, 0.5, 1.5, 2.5, 0.05, 0.15, 0.25, 0.35, 0.45, 1.005, 2.675, 1.115, 0.125, 0.375, 0.9999999,
		0.99999999999, 9.995, 99.995, 1e-9, -1e-9, 0.001, -0.001, 1e15, 1e16, 9007199254740991.0,
		9007199254740993.0, 90071992547409.925, 1e22, 1e300, INFINITY, -INFINITY, 4503599627370496.5,
		4503599627370495.5, 2251799813685248.25, 1190.5, 0.1, 0.2, 0.3,
	};

	for (size_t i = 0; i < ARRAY_SIZE(edges); i++)
		for (int d = 0; d <= 12; d++) {
			check_like_printf(edges[i], d);
			check_like_printf(-edges[i], d);
		}
	CHECK_STR(fixed(fabs(NAN), 2), "nan");
}

TEST(fixed_point_numbers_match_printf_at_random)
{
	for (int i = 0; i < 300000; i++) {
		uint64_t r = next_random();
		int decimals = (int)(r % 7);

		/* First coordinates, then numbers with few decimals at or near the middle, then any numbers of any
		 * size. */
		check_like_printf((double)(r >> 40) / 1000.0, decimals);
		check_like_printf((double)(int64_t)(r >> 44) / 200.0, decimals);
		check_like_printf(ldexp((double)(int64_t)r, -(int)(next_random() % 100)), decimals);
	}
}

TEST(a_varint_has_seven_bits_per_byte)
{
	static const struct {
		uint64_t v;
		const char *bytes;
		size_t n;
	} cases[] = {
		{ 0, "\0", 1 }, { 127, "\x7f", 1 }, { 128, "\x80\x01", 2 }, { 300, "\xac\x02", 2 },
		{ UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		buf_reset(&b);
		buf_put_varint(&b, cases[i].v);
		CHECK(b.size == cases[i].n && !memcmp(b.data, cases[i].bytes, cases[i].n));
	}
}

TEST(an_array_grows_and_keeps_its_items)
{
	int *list = NULL;
	size_t capacity = 0;

	for (int i = 0; i < 1000; i++) {
		GROW(&list, &capacity, (size_t)i + 1);
		CHECK(capacity > (size_t)i);
		list[i] = i;
	}
	for (int i = 0; i < 1000; i++)
		CHECK_INT(list[i], i);
	free(list);
}

TEST(copies_of_strings_are_exact)
{
	char *s = xstrndup("abcdef", 3);

	CHECK_STR(s, "abc");
	free(s);
	s = xasprintf("%s-%d", "x", 5);
	CHECK_STR(s, "x-5");
	free(s);
	free(xmalloc(0));
}

__attribute__((constructor)) static void set_up(void)
{
	buf_init(&b);
}

__attribute__((destructor)) static void tear_down(void)
{
	buf_done(&b);
}

struct pieces {
	struct buf_drain drain;
	struct buf taken;
	size_t largest, most;		/* largest allocation; total size */
};

static bool take_piece(struct buf_drain *d, const char *bytes, size_t n)
{
	struct pieces *p = (struct pieces *)d;

	p->largest = n > p->largest ? n : p->largest;
	if (p->taken.size + n > p->most)
		return false;
	buf_put(&p->taken, bytes, n);
	return true;
}

static void forget_pieces(struct buf_drain *d)
{
	buf_reset(&((struct pieces *)d)->taken);
}

static struct pieces drain_into(struct buf *out, size_t most)
{
	buf_init(out);
	return (struct pieces){ { take_piece, forget_pieces }, .most = most };
}

TEST(a_buffer_with_a_drain_holds_only_a_part_of_its_output)
{
	struct buf out, all;
	struct pieces p = drain_into(&out, SIZE_MAX);

	buf_init(&p.taken);
	buf_init(&all);
	out.drain = &p.drain;
	for (int i = 0; i < 300000; i++) {
		buf_printf(&out, "main;f%d %d\n", i % 7, i);
		buf_putc(&out, '#');
		buf_printf(&all, "main;f%d %d\n#", i % 7, i);
	}
	CHECK(out.capacity < 2 * BUF_DRAIN + 100);
	CHECK(p.largest >= BUF_DRAIN && p.largest < 2 * BUF_DRAIN);
	take_piece(&p.drain, out.data, out.size);
	CHECK(!out.overflow && p.taken.size == all.size && !memcmp(p.taken.data, all.data, all.size));
	buf_done(&out);
	buf_done(&all);
	buf_done(&p.taken);
}

TEST(a_failing_drain_is_an_overflow_and_reset_clears_drained_output)
{
	struct buf out;
	struct pieces p = drain_into(&out, 3 * BUF_DRAIN);

	buf_init(&p.taken);
	out.drain = &p.drain;
	for (int i = 0; i < 100000; i++)
		buf_puts(&out, "0123456789");
	CHECK(out.overflow && p.taken.size && p.taken.size <= p.most);
	buf_reset(&out);
	CHECK(!out.overflow && !out.size && !p.taken.size);
	buf_puts(&out, "short");
	CHECK_STR(out.data, "short");
	buf_done(&out);
	buf_done(&p.taken);
}

TEST_MAIN()
