/* test_drop_report.c: each drop is in one line, and lines are a minute apart. */
#include "drop_report.h"

#include "clock.h"
#include "test.h"

#include <string.h>

/* Notes these counts if a line may be written, and checks the line; NULL: no line. */
static void check_line(struct drop_report *r, int64_t seconds, uint64_t samples, uint64_t lines, const char *expected)
{
	_cleanup_(buf_done) struct buf line = { 0 };
	int64_t now = seconds * NS_PER_SECOND;
	bool said;

	buf_init(&line);
	if (drop_report_is_due(r, now)) {
		drop_report_note(r, samples, "samples (%s)", "queue_full");
		drop_report_note(r, lines, "lines (bad_count)");
	}
	said = drop_report_line(r, now, &line);
	CHECK_INT(said, expected != NULL);
	if (said && expected)
		CHECK_STR(line.data, expected);
}

TEST(the_first_drop_is_logged_immediately_and_later_ones_once_a_minute)
{
	struct drop_report r;

	drop_report_init(&r);
	check_line(&r, 101, 0, 0, NULL);
	check_line(&r, 105, 7, 0, "dropped: 7 samples (queue_full)");
	check_line(&r, 106, 9, 0, NULL);
	check_line(&r, 164, 20, 3, NULL);
	check_line(&r, 165, 21, 3, "dropped: 14 samples (queue_full), 3 lines (bad_count)");
	check_line(&r, 400, 21, 3, NULL);
	check_line(&r, 405, 21, 4, "dropped: 1 line (bad_count)");
	drop_report_done(&r);
}

TEST(a_reset_counter_is_counted_from_zero)
{
	struct drop_report r;

	drop_report_init(&r);
	check_line(&r, 1, 1000, 0, "dropped: 1000 samples (queue_full)");
	check_line(&r, 100, 5, 0, "dropped: 5 samples (queue_full)");
	check_line(&r, 200, 5, 0, NULL);
	drop_report_done(&r);
}

TEST_MAIN()
