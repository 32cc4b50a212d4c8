/* test_file_summary.c: tests the summary of file I/O: the calls counted, and those left out. */

#include "record_summary.h"
#include "test.h"

static const char *text_of(const struct record_summary *s)
{
	static struct buf b;

	if (b.data)
		buf_done(&b);
	buf_init(&b);
	record_summary_put(s, &b);
	return b.data;
}

TEST(calls_are_counted_by_operation)
{
	struct record_summary s = {
		.file_io = true, .seconds = 10, .processes = 2, .refused = "",
		.files = { [FILE_READ] = { 1000, 2, 123456, 5000000 }, [FILE_WRITE] = { 3, 0, 1, 7000000 }, [FILE_OPEN] = { 20, 10, 0, 0 } },
		.counters = { [COUNTER_FILE_OTHER_KINDS] = 1, [COUNTER_FILE_BEGUN_BEFORE] = 2, [COUNTER_LOST_TABLE] = 4 },
	};

	CHECK(!record_summary_is_empty(&s));
	CHECK_STR(text_of(&s),
		  "strobe: 1,023 calls of PHP in 10.0 s (1,000 read of 123,456 bytes, 3 write of 1 byte, 20 open, 0 stat, 0 fsync), took "
		  "0.012 s, 12 failed\n"
		  "strobe: 1 call is left out: of sockets, pipes and anonymous files; add --all-files\n"
		  "strobe: 2 calls are left out: begun before the recording\n"
		  "strobe: 4 samples were lost: the table of counts was full\n");
}

TEST(an_empty_recording_gives_processes_without_calls_as_the_reason)
{
	struct record_summary s = { .file_io = true, .processes = 1, .refused = "", .counters[COUNTER_FILE_OTHER_KINDS] = 7 };

	CHECK(record_summary_is_empty(&s));
	CHECK_STR(text_of(&s), "strobe: the process made no calls that are recorded; send traffic, or record for longer\n"
			       "strobe: 7 calls are left out: of sockets, pipes and anonymous files; add --all-files\n");
	s.processes = 0;
	CHECK_STR(text_of(&s), "strobe: no call of PHP was recorded: no selected PHP process is running; start one, or record for "
			       "longer\n");
}

TEST_MAIN()
