/* test_chrome.c: tests trace events of other programs, and timelines made up from profiles. */
#include "chart.h"
#include "format.h"
#include "round_trip.h"
#include "test.h"
#include "test_charted.h"

static struct err err;

static const char *const columns[] = { "calls", "count", "wall_ns", "nanoseconds", "memory_bytes", "bytes" };

static const char *read_lines(const char *text)
{
	static char lines[8000];
	struct profile *p = profile_new();
	struct buf b;

	buf_init(&b);
	err = (struct err){ 0 };
	if (format_load_bytes("x", text, strlen(text), p, &err) < 0)
		buf_puts(&b, err.text);
	else
		put_lines(p, &b);
	snprintf(lines, sizeof(lines), "%s", b.data);
	buf_done(&b);
	profile_free(p);
	return lines;
}

#define EVENT(ph, name, ts, rest) "{\"ph\":\"" ph "\",\"name\":\"" name "\",\"ts\":" ts ",\"pid\":1,\"tid\":1" rest "}"

TEST(nested_spans_are_calls)
{
	CHECK_STR(read_lines("{\"traceEvents\":[" EVENT("X", "b", "12.5", ",\"dur\":3.25") ","
			     EVENT("M", "process_name", "0", "") ","
			     EVENT("X", "a", "10", ",\"dur\":20") "," EVENT("X", "b", "20", ",\"dur\":1") ","
			     EVENT("X", "c", "12.5", ",\"dur\":1") "]}"),
		  "a[:0]; calls(count)=1 wall_ns(nanoseconds)=15750\n"
		  "a[:0];b[:0]; calls(count)=2 wall_ns(nanoseconds)=3250\n"
		  "a[:0];b[:0];c[:0]; calls(count)=1 wall_ns(nanoseconds)=1000\n");
	CHECK_STR(err.text, "");
}

TEST(begin_and_end_events_are_matched_per_thread)
{
	CHECK_STR(read_lines("[" EVENT("B", "a", "10",
				       "") ",{\"ph\":\"B\",\"name\":\"other\",\"ts\":11,\"pid\":1,\"tid\":\"two\"},"
			     EVENT("B", "b", "12", "") ","
			     EVENT("E", "", "15", "") ",{\"ph\":\"E\",\"ts\":14,\"pid\":1,\"tid\":\"two\"},"
			     EVENT("E", "", "20", "") "]"),
		  "a[:0]; calls(count)=1 wall_ns(nanoseconds)=7000\n"
		  "a[:0];b[:0]; calls(count)=1 wall_ns(nanoseconds)=3000\n"
		  "other[:0]; calls(count)=1 wall_ns(nanoseconds)=3000\n");
}

TEST(a_truncated_trace_is_read_up_to_the_last_complete_event)
{
	CHECK_STR(read_lines("[" EVENT("B", "a", "10", "") ",\n" EVENT("B", "b", "12", "") ",\n"
			     EVENT("E", "", "15", "") ",\n{\"ph\":\"E"),
		  "a[:0]; calls(count)=1 wall_ns(nanoseconds)=2000\n"
		  "a[:0];b[:0]; calls(count)=1 wall_ns(nanoseconds)=3000\n");
}

TEST(overlapping_spans_are_cut_and_unmatched_ends_are_counted)
{
	CHECK_STR(read_lines("[" EVENT("E", "", "1", "") "," EVENT("X", "a", "10", ",\"dur\":10") ","
			     EVENT("X", "b", "15", ",\"dur\":10") "]"),
		  "a[:0]; calls(count)=1 wall_ns(nanoseconds)=5000\n"
		  "a[:0];b[:0]; calls(count)=1 wall_ns(nanoseconds)=5000\n");
	CHECK_STR(err.text, "'x' (chrome): 1 event ends a span that did not begin");
}

TEST(malformed_input_is_an_error_with_the_reason)
{
	CHECK_STR(read_lines("{\"traceEvents\":3}"), "'x' (chrome): it has no \"traceEvents\" array");
	CHECK_STR(read_lines("{\"traceEvents\":[{\"ph\":\"i\",\"ts\":1}]}"), "'x' (chrome): none of its 1 events is a "
		  "span (X, or B and E)");
	CHECK_STR(read_lines("{\"traceEvents\":["), "'x' (chrome): line 1: ']' expected near end of file");
}

/* Tests each column separately, since the format only has one. */
TEST(each_column_survives_a_round_trip)
{
	static const struct tree_options o = { .nodes = 300, .names = 7, .columns = 3, .column_names = columns,
					       .files = true };

	for (uint32_t c = 0; c < 3; c++) {
		struct profile *p = tree_by_chance(&o), *back, *alone;

		profile_add(p, 3, c, (INT64_C(1) << 53) + 1);
		labels_parse("entry=x", &p->labels, NULL);
		back = round_trip(&format_chrome, p, c);
		alone = round_trip(&format_strobe, p, c);
		CHECK(back && alone && same_lines(alone, back));
		if (back)
			CHECK_STR(labels_get(&back->labels, "entry"), "x");
		profile_free(p);
		profile_free(back);
		profile_free(alone);
	}
}

/* A reader that ignores our additions sees the same values, from durations alone. */
TEST(durations_in_the_timeline_match_the_profile)
{
	static const struct tree_options o = { .nodes = 300, .names = 7, .columns = 2, .column_names = columns };
	struct profile *p = tree_by_chance(&o), *back = profile_new(), *alone = round_trip(&format_strobe, p, 1);
	struct buf b;
	char *facts;
	uint32_t wall;

	buf_init(&b);
	CHECK_INT(format_chrome.write(p, 1, &b, &err), 0);
	facts = strstr(b.data, "\"strobe\"");
	CHECK(facts != NULL);
	if (facts)
		memcpy(facts, "\"nobody\"", 8);
	CHECK_INT(format_load_bytes("x", b.data, b.size, back, &err), 0);
	wall = profile_find_column(back, "wall_ns");
	CHECK_INT(profile_sum(back, wall), profile_sum(p, 1));
	/* Except for calls, which cannot be known. */
	memset(back->columns[profile_find_column(back, "calls")].self, 0, back->node_count * sizeof(int64_t));
	CHECK(alone && same_lines(alone, back));
	buf_done(&b);
	profile_free(p);
	profile_free(back);
	profile_free(alone);
}

TEST(a_flame_chart_is_written_as_the_timeline)
{
	struct profile *p = charted();
	struct buf b;

	buf_init(&b);
	CHECK_INT(format_chrome.write(p, UINT32_MAX, &b, &err), 0);
	CHECK(strstr(b.data, "{\"traceEvents\":[\n"
		"{\"ph\":\"X\",\"name\":\"a\",\"ts\":0.010,\"dur\":5.000,\"pid\":1,\"tid\":1,\"args\":{\"file\":\"/a.php\",\"line\":3}},\n"
		"{\"ph\":\"X\",\"name\":\"b\",\"ts\":1.000,\"dur\":0.500,\"pid\":1,\"tid\":1,\"args\":{}},\n"
		"{\"ph\":\"X\",\"name\":\"c\",\"ts\":2.000,\"dur\":0.000,\"pid\":1,\"tid\":1,\"args\":{}},\n"
		"{\"ph\":\"X\",\"name\":\"b\",\"ts\":2.000,\"dur\":1.001,\"pid\":1,\"tid\":1,\"args\":{}}],\n") == b.data);
	CHECK_STR(read_lines(b.data), "a[/a.php:3]; calls(count)=1 wall_ns(nanoseconds)=3499\n"
				      "a[/a.php:3];b[:0]; calls(count)=2 wall_ns(nanoseconds)=1501\n"
				      "a[/a.php:3];c[:0]; calls(count)=1\n");
	/* The timeline is made up if the values are not times. */
	buf_reset(&b);
	CHECK_INT(format_chrome.write(p, 0, &b, &err), 0);
	CHECK(strstr(b.data, "\"self\":2") != NULL);
	buf_done(&b);
	profile_free(p);
}

TEST_MAIN()
