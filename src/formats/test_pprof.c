/* test_pprof.c: tests round trips of profile.proto, and files of other writers. */
#include "format.h"
#include "pprof.h"
#include "protobuf.h"
#include "round_trip.h"
#include "test.h"

static struct err err;

static const char *const columns[] = {
	"calls", "count", "wall_ns", "nanoseconds", "memory_bytes", "bytes", "odd.name", "furlongs",
};

static struct profile *example(void)
{
	static const struct tree_options o = {
		.nodes = 500, .names = 7, .columns = 4, .column_names = columns, .below_zero = true, .files = true,
	};
	struct profile *p = tree_by_chance(&o);

	p->start_ns = 1700000000000000001;
	p->end_ns = 1700000000500000002;
	p->period_ns = 10000000;
	labels_parse("clock=cpu,entry=index.php,host=web1", &p->labels, NULL);
	profile_add(p, PROFILE_ROOT, 1, 77);
	profile_add(p, 1, 1, INT64_MAX);
	profile_add(p, 2, 2, INT64_MIN);
	return p;
}

TEST(a_profile_survives_a_round_trip)
{
	for (int i = 0; i < 10; i++) {
		struct profile *p = example(), *back = round_trip(&format_pprof, p, UINT32_MAX);
		struct buf labels;

		CHECK(back != NULL);
		if (!back)
			return;
		buf_init(&labels);
		labels_put(&back->labels, &labels);
		CHECK(same_lines(p, back));
		CHECK_STR(labels.data, "clock=cpu,entry=index.php,host=web1");
		CHECK_INT(back->start_ns, p->start_ns);
		CHECK_INT(back->end_ns, p->end_ns);
		CHECK_INT(back->period_ns, p->period_ns);
		CHECK_STR(back->columns[0].name, "calls");
		CHECK_STR(back->columns[3].unit, "furlongs");
		buf_done(&labels);
		profile_free(p);
		profile_free(back);
	}
}

TEST(a_single_column_is_written)
{
	struct profile *p = example(), *back = round_trip(&format_pprof, p, 2);

	CHECK(back != NULL);
	if (back) {
		CHECK_INT(back->column_count, 1);
		CHECK_INT(profile_sum(back, 0), profile_sum(p, 2));
	}
	profile_free(p);
	profile_free(back);
}

/* "\0" is a normal character there, but invalid UTF-8 is not allowed. */
TEST(invalid_bytes_in_names_are_replaced_and_reported)
{
	struct profile *p = profile_new(), *back;
	uint32_t c = profile_column(p, "samples", "count");
	struct buf b;

	profile_add(p, profile_child(p, 0, profile_frame(p, (struct str){ "class@anonymous\0/x.php", 22 },
							 (struct str){ "", 0 }, 0)), c, 1);
	back = round_trip(&format_pprof, p, UINT32_MAX);
	CHECK(back && same_lines(p, back));
	profile_free(back);
	profile_add(p, profile_child(p, 0, profile_frame(p, (struct str){ "bad\xff", 4 }, (struct str){ "", 0 }, 0)), c,
		    2);
	buf_init(&b);
	CHECK_INT(format_pprof.write(p, UINT32_MAX, &b, &err), 1);
	CHECK_STR(err.text, "1 name contains bytes that the format cannot hold, which were replaced by U+FFFD");
	back = profile_new();
	CHECK_INT(format_load_bytes("x", b.data, b.size, back, &err), 0);
	CHECK_STR(profile_name(back, 1).p, "bad\xef\xbf\xbd");
	buf_done(&b);
	profile_free(p);
	profile_free(back);
}

/* --- Files of other writers --- */

static void put(struct buf *to, uint32_t field, struct buf *message)
{
	protobuf_put_bytes(to, field, message->data, message->size);
	buf_reset(message);
}

static void put_pair(struct buf *to, uint32_t field, uint64_t one, uint64_t two)
{
	struct buf m;

	buf_init(&m);
	protobuf_put_number(&m, 1, one);
	protobuf_put_number(&m, 2, two);
	put(to, field, &m);
	buf_done(&m);
}

static void put_strings(struct buf *to)
{
	static const char *const strings[] = { "", "samples", "count", "cpu", "milliseconds", "main.main", "main.go",
					       "inlined", "/bin/prog", "pod", "a1", "b2", "zone", "eu" };

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		protobuf_put_bytes(to, 6, strings[i], strlen(strings[i]));
}

static void put_label(struct buf *sample, uint64_t key, uint64_t value)
{
	struct buf m;

	buf_init(&m);
	protobuf_put_number(&m, 1, key);
	protobuf_put_number(&m, 2, value);
	protobuf_put_bytes(sample, 3, m.data, m.size);
	buf_done(&m);
}

/* Location 10 is inlined() within main.main(), 11 an address; values are not packed; two labels per sample. */
static void put_foreign(struct buf *b, uint64_t location)
{
	struct buf m, line;

	buf_init(&m);
	buf_init(&line);
	put_pair(b, 1, 1, 2);
	put_pair(b, 1, 3, 4);
	for (uint64_t i = 0; i < 2; i++) {
		protobuf_put_number(&m, 1, 11);
		protobuf_put_number(&m, 1, location);
		protobuf_put_number(&m, 2, 1);
		protobuf_put_number(&m, 2, 20 + i);
		put_label(&m, 9, 10 + i);
		put_label(&m, 12, 13);
		put(b, 2, &m);
	}
	protobuf_put_number(&m, 1, 1);
	protobuf_put_number(&m, 5, 8);
	put(b, 3, &m);
	protobuf_put_number(&m, 1, 10);
	for (uint64_t function = 2; function; function--) {
		protobuf_put_number(&line, 1, function);
		protobuf_put_number(&line, 2, 99);
		protobuf_put_bytes(&m, 4, line.data, line.size);
		buf_reset(&line);
	}
	put(b, 4, &m);
	protobuf_put_number(&m, 1, 11);
	protobuf_put_number(&m, 2, 1);
	protobuf_put_number(&m, 3, 0x4010);
	put(b, 4, &m);
	for (uint64_t function = 1; function <= 2; function++) {
		protobuf_put_number(&m, 1, function);
		protobuf_put_number(&m, 2, function == 1 ? 5 : 7);
		protobuf_put_number(&m, 4, 6);
		protobuf_put_number(&m, 5, 30 + function);
		put(b, 5, &m);
	}
	put_strings(b);
	put_pair(b, 11, 3, 4);
	protobuf_put_number(b, 12, 10);
	buf_done(&m);
	buf_done(&line);
}

TEST(inlining_addresses_units_and_labels_of_other_writers_are_read)
{
	struct profile *p = profile_new();
	struct buf b, lines;

	buf_init(&b);
	buf_init(&lines);
	put_foreign(&b, 10);
	CHECK_INT(format_load_bytes("x", b.data, b.size, p, &err), 0);
	put_lines(p, &lines);
	CHECK_STR(lines.data, "main.main[main.go:31];inlined[main.go:32];0x4010[/bin/prog:0]; "
		  "cpu_ns(nanoseconds)=41000000 samples(count)=2\n");
	CHECK_INT(p->period_ns, 10000000);
	CHECK_STR(labels_get(&p->labels, "zone"), "eu");
	CHECK_STR(labels_get(&p->labels, "clock"), "cpu");
	CHECK(!labels_get(&p->labels, "pod"));
	buf_done(&b);
	buf_done(&lines);
	profile_free(p);
}

TEST(the_first_column_is_the_default_of_pprof)
{
	for (int named = 0; named < 2; named++) {
		struct profile *p = profile_new();
		struct buf b;

		buf_init(&b);
		put_foreign(&b, 10);
		if (named)
			protobuf_put_number(&b, 14, 1);
		CHECK_INT(format_load_bytes("x", b.data, b.size, p, &err), 0);
		CHECK_STR(p->columns[0].name, named ? "samples" : "cpu_ns");
		CHECK_STR(p->columns[1].name, named ? "cpu_ns" : "samples");
		buf_done(&b);
		profile_free(p);
	}
}

static int count_samples(void *data, const struct pprof_sample *s, struct err *e)
{
	++*(int *)data;
	return 0;
}

/* The same time again in seconds, and the same number of samples again. */
TEST(redundant_values_of_one_column_are_not_added_up)
{
	struct profile *p = profile_new();
	struct buf b, m;
	int samples = 0;

	buf_init(&b);
	buf_init(&m);
	put_pair(&b, 1, 1, 2);
	put_pair(&b, 1, 3, 4);
	put_pair(&b, 1, 1, 2);
	put_pair(&b, 1, 3, 2);
	for (uint64_t i = 1; i <= 4; i++)
		protobuf_put_number(&m, 2, i * 5);
	put(&b, 2, &m);
	put_strings(&b);
	CHECK_INT(format_load_bytes("x", b.data, b.size, p, &err), 0);
	CHECK_INT(p->column_count, 3);
	CHECK_INT(profile_sum(p, profile_find_column(p, "samples")), 5);
	CHECK_INT(profile_sum(p, profile_find_column(p, "cpu_ns")), 10000000);
	CHECK_INT(pprof_each(b.data, b.size, 100, count_samples, &samples, &err), -EINVAL);
	CHECK_STR(err.text, "its sample types 1 and 3 are both the column 'samples'; send each type once");
	CHECK_INT(samples, 0);
	buf_done(&b);
	buf_done(&m);
	profile_free(p);
}

TEST(malformed_input_is_an_error_with_the_reason)
{
	struct profile *p = profile_new();
	struct buf b;

	buf_init(&b);
	put_foreign(&b, 12);
	CHECK_INT(format_load_bytes("x", b.data, b.size, p, &err), -EINVAL);
	CHECK_STR(err.text, "'x' (pprof): sample 1 refers to location 12, which does not exist");
	buf_reset(&b);
	put_foreign(&b, 10);
	put_pair(&b, 2, 0, 1);
	CHECK_INT(format_load_bytes("x", b.data, b.size, p, &err), -EINVAL);
	CHECK_STR(err.text, "'x' (pprof): sample 3 has 1 values for 2 sample types");
	buf_reset(&b);
	put_foreign(&b, 10);
	for (size_t n = 1; n < b.size; n++)
		if (format_read_bytes(&format_pprof, p, b.data, n, &err) < 0)
			CHECK(*err.text);
	buf_done(&b);
	profile_free(p);
}

TEST_MAIN()
