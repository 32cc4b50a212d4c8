/* test_speedscope.c: tests round trips of speedscope files, and those of other writers. */
#include "chart.h"
#include "test.h"
#include "test_charted.h"
#include "test_read.h"

static const char *const columns[] = { "calls", "count", "wall_ns", "nanoseconds", "memory_bytes", "bytes" };

TEST(a_profile_survives_a_round_trip)
{
	static const struct tree_options o = { .nodes = 500, .names = 7, .columns = 3, .column_names = columns,
					       .files = true };

	for (int i = 0; i < 10; i++) {
		struct profile *p = tree_by_chance(&o), *back;

		labels_parse("entry=a%2Cb,host=web1", &p->labels, NULL);
		p->start_ns = 1700000000000000001;
		p->end_ns = 1700000000500000002;
		p->period_ns = 10000000;
		/* More than a double can represent. */
		profile_add(p, 3, 1, (INT64_C(1) << 53) + 1);
		back = round_trip(&format_speedscope, p, UINT32_MAX);
		CHECK(back && same_lines(p, back));
		if (!back)
			return;
		CHECK_STR(labels_get(&back->labels, "entry"), "a,b");
		CHECK_INT(back->start_ns, p->start_ns);
		CHECK_INT(back->end_ns, p->end_ns);
		CHECK_INT(back->period_ns, p->period_ns);
		profile_free(p);
		profile_free(back);
	}
}

TEST(negative_values_are_omitted_and_counted)
{
	static const struct tree_options o = { .nodes = 50, .names = 7, .columns = 3, .column_names = columns,
					       .below_zero = true };
	struct profile *p = tree_by_chance(&o), *back;
	uint32_t nodes, left_out = 0;
	struct buf b;

	buf_init(&b);
	for (uint32_t c = 0; c < 3; c++) {
		profile_below_zero(p, c, &nodes);
		left_out += nodes;
	}
	CHECK_INT(format_speedscope.write(p, UINT32_MAX, &b, &err), left_out);
	CHECK(strstr(err.text, "with a value below zero"));
	back = round_trip(&format_speedscope, p, UINT32_MAX);
	for (uint32_t c = 0; back && c < 3; c++)
		CHECK_INT(profile_sum(back, c), profile_sum(p, c) - profile_below_zero(p, c, NULL));
	buf_done(&b);
	profile_free(p);
	profile_free(back);
}

TEST(names_of_any_bytes_yield_valid_json)
{
	struct profile *p = profile_new(), *back;
	uint32_t c = profile_column(p, "samples", "count");
	struct buf b;

	buf_init(&b);
	profile_add(p, profile_child(p, 0,
				     profile_frame(p, (struct str){ "a\0\"\\\n\x01\x7f</script>\xe2\x82\xac", 20 },
						   (struct str){ "", 0 }, 0)), c, 1);
	back = round_trip(&format_speedscope, p, UINT32_MAX);
	CHECK(back && same_lines(p, back));
	profile_free(back);
	profile_add(p, profile_child(p, 0, profile_frame(p, (struct str){ "bad\xff", 4 }, (struct str){ "", 0 }, 0)), c,
		    2);
	CHECK_INT(format_speedscope.write(p, UINT32_MAX, &b, &err), 1);
	back = read_text(b.data);
	CHECK(back && profile_find_column(back, "samples") == 0 && profile_sum(back, 0) == 3);
	buf_done(&b);
	profile_free(p);
	profile_free(back);
}

#define FILE_OF(profiles) "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":" \
	"[{\"name\":\"a\"},{\"name\":\"b\",\"file\":\"b.c\",\"line\":3,\"col\":1}]},\"profiles\":[" profiles "]}"

TEST(fractional_weights_keep_their_sum)
{
	struct profile *p = read_text(FILE_OF("{\"type\":\"sampled\",\"name\":\"t\",\"unit\":\"none\",\"startValue\":0,\"endValue\":3,"
		"\"samples\":[[0],[0,1],[0]],\"weights\":[0.75,1.5,0.75]}"));

	CHECK_STR(lines_of(p), "a[:0]; samples(millionths)=1500000\na[:0];b[b.c:3]; samples(millionths)=1500000\n");
	profile_free(p);
}

TEST(times_of_threads_are_added_up_in_nanoseconds)
{
	struct profile *p = read_text(FILE_OF(
		"{\"type\":\"sampled\",\"name\":\"t1\",\"unit\":\"milliseconds\",\"samples\":[[0]],\"weights\":[1.5]},"
		"{\"type\":\"sampled\",\"name\":\"t2\",\"unit\":\"seconds\",\"samples\":[[0]],\"weights\":[2]},"
		"{\"type\":\"sampled\",\"name\":\"heap\",\"unit\":\"bytes\",\"samples\":[[1],[]],\"weights\":[7, 1]}"));

	CHECK_STR(lines_of(p), " memory_bytes(bytes)=1\na[:0]; wall_ns(nanoseconds)=2001500000\n"
		  "b[b.c:3]; memory_bytes(bytes)=7\n");
	profile_free(p);
}

TEST(time_between_events_belongs_to_the_innermost_open_frame)
{
	struct profile *p = read_text(FILE_OF("{\"type\":\"evented\",\"name\":\"t\",\"unit\":\"microseconds\",\"startValue\":100,"
		"\"endValue\":120,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":100},{\"type\":\"O\",\"frame\":1,\"at\":102.5},"
		"{\"type\":\"C\",\"frame\":1,\"at\":110},{\"type\":\"C\",\"frame\":0,\"at\":111},"
		"{\"type\":\"O\",\"frame\":0,\"at\":115},{\"type\":\"C\",\"frame\":0,\"at\":120}]}"));

	CHECK_STR(lines_of(p), "a[:0]; wall_ns(nanoseconds)=8500\na[:0];b[b.c:3]; wall_ns(nanoseconds)=7500\n");
	CHECK_STR(err.text, "");
	profile_free(p);
	p = read_text(FILE_OF("{\"type\":\"evented\",\"unit\":\"none\",\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":1},"
		"{\"type\":\"C\",\"frame\":1,\"at\":3},{\"type\":\"C\",\"frame\":0,\"at\":4}]}"));
	CHECK_STR(lines_of(p), "a[:0]; samples(count)=3\n");
	CHECK_STR(err.text, "'x' (speedscope): 1 event closes a frame that is not open");
	profile_free(p);
}

TEST(malformed_input_is_an_error_with_the_reason)
{
	CHECK_STR(lines_of(read_text(FILE_OF("{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[2]],\"weights\":[1]}"))),
		  "'x' (speedscope): sample 0 of profile 1 has a frame that does not exist");
	CHECK_STR(lines_of(read_text(FILE_OF("{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[1]],\"weights\":[]}"))),
		  "'x' (speedscope): the weights and samples of profile 1 differ in number");
	CHECK_STR(lines_of(read_text(FILE_OF("{\"type\":\"sampled\",\"unit\":\"miles\",\"samples\":[[1]],\"weights\":[]}"))),
		  "'x' (speedscope): profile 1 has the unknown unit 'miles'");
	CHECK_STR(lines_of(read_text(FILE_OF("{\"type\":\"magic\"}"))), "'x' (speedscope): profile 1 is neither "
		  "sampled nor evented");
	CHECK_STR(lines_of(read_text(FILE_OF(""))), "'x' (speedscope): it has no profile");
	CHECK_STR(lines_of(read_text("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"")),
		  "'x' (speedscope): line 1: '}' expected near end of file");
}

TEST(a_flame_chart_is_written_as_an_evented_profile_of_time)
{
	struct profile *p = charted(), *back;
	struct buf b;

	buf_init(&b);
	CHECK_INT(format_speedscope.write(p, UINT32_MAX, &b, &err), 0);
	CHECK(strstr(b.data, "{\"type\":\"sampled\",\"name\":\"calls\"") != NULL);
	CHECK(strstr(b.data, "{\"type\":\"evented\",\"name\":\"wall_ns\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":5010,\n\"events\":[\n"
		"{\"type\":\"O\",\"frame\":0,\"at\":10},\n{\"type\":\"O\",\"frame\":1,\"at\":1000},\n{\"type\":\"C\",\"frame\":1,\"at\":1500},\n"
		"{\"type\":\"O\",\"frame\":2,\"at\":2000},\n{\"type\":\"C\",\"frame\":2,\"at\":2000},\n{\"type\":\"O\",\"frame\":1,\"at\":2000},\n"
		"{\"type\":\"C\",\"frame\":1,\"at\":3001},\n{\"type\":\"C\",\"frame\":0,\"at\":5010}]}") != NULL);
	back = read_text(b.data);
	CHECK_INT(profile_sum(back, profile_find_column(back, "wall_ns")), 5000);
	CHECK_INT(profile_sum(back, profile_find_column(back, "calls")), 4);
	buf_done(&b);
	profile_free(back);
	profile_free(p);
}

TEST_MAIN()
