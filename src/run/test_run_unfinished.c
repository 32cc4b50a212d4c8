/* test_run_unfinished.c: tests that the last snapshots of killed processes are kept, and none counts twice. */

#include "run_unfinished.h"

#include "test.h"

#include <stdio.h>

static uint8_t bytes[4096];

/* `value` samples identify a message. Samples have no id. */
static struct strobe_wire_message message(enum strobe_wire_kind kind, const char *id, uint64_t start, uint64_t end, int64_t value)
{
	struct strobe_wire_info info = { .kind = kind, .pid = 7, .start_ns = start, .end_ns = end };
	struct strobe_wire_message m;
	struct strobe_wire_writer w;

	strobe_wire_begin(&w, bytes, sizeof(bytes), &info);
	strobe_wire_string(&w, "id", 2);
	strobe_wire_string(&w, id ? id : "", id ? strlen(id) : 0);
	strobe_wire_string(&w, "discarded", 9);
	strobe_wire_string(&w, "samples", 7);
	if (id)
		strobe_wire_label(&w, 1, 2);
	if (value < 0)
		strobe_wire_label(&w, 3, 3);
	strobe_wire_column(&w, 4, 4);
	if (value > 0) {
		strobe_wire_frame(&w, 4, 0, 0);
		strobe_wire_node(&w, 0, 0, &value);
	}
	CHECK_INT(strobe_wire_parse(bytes, strobe_wire_end(&w), &m), STROBE_WIRE_OK);
	return m;
}

static void put(struct unfinished *u, enum strobe_wire_kind kind, const char *id, uint64_t start, uint64_t end, int64_t value)
{
	struct strobe_wire_message m = message(kind, id, start, end, value);

	if (strobe_wire_is_open(kind))
		unfinished_put(u, &m);
	else
		unfinished_end(u, &m);
}

#define RUN(id, end, value) put(&u, STROBE_WIRE_OPEN_RUN, id, 1, end, value)
#define SAMPLES(start, end, value) put(&u, STROBE_WIRE_OPEN_SAMPLES, NULL, start, end, value)

static char left[200];

static void note(void *data, const struct strobe_wire_message *m)
{
	size_t n = strlen(left);

	snprintf(left + n, sizeof(left) - n, "%llu ", (unsigned long long)m->samples);
}

/* Returns the samples of the remaining messages. */
static const char *take(struct unfinished *u)
{
	left[0] = '\0';
	unfinished_take(u, note, NULL);
	CHECK(!u->first);
	return left;
}

TEST(the_latest_report_of_a_run_is_kept)
{
	struct unfinished u = { 0 };

	RUN("a", 1, 0);
	RUN("a", 2, 5);
	RUN("b", 2, 0);
	RUN("a", 4, 9);
	RUN("a", 3, 7);		/* took longer to arrive */
	CHECK_STR(take(&u), "0 9 ");
}

TEST(received_and_canceled_runs_are_removed)
{
	struct unfinished u = { 0 };

	RUN("a", 1, 5);
	RUN("b", 1, 6);
	put(&u, STROBE_WIRE_RUN, "a", 1, 3, 8);
	RUN("b", 2, -1);
	RUN("a", 2, 7);		/* late, on another connection */
	RUN("b", 2, 7);
	CHECK_STR(take(&u), "");
}

TEST(received_samples_are_removed)
{
	struct unfinished u = { 0 };

	SAMPLES(10, 12, 5);
	SAMPLES(10, 14, 6);
	SAMPLES(10, 14, 7);	/* with other labels, from the same moment */
	CHECK_STR(take(&u), "6 7 ");
	SAMPLES(20, 22, 5);
	put(&u, STROBE_WIRE_SAMPLES, NULL, 20, 23, 9);
	SAMPLES(20, 22, 5);	/* late */
	SAMPLES(23, 24, 3);
	SAMPLES(23, 24, 0);
	CHECK_STR(take(&u), "3 0 ");
}

TEST(memory_is_bounded_for_many_runs_and_intervals)
{
	struct unfinished u = { 0 };

	for (uint64_t i = 0; i < 10 * UNFINISHED_ENDED; i++) {
		SAMPLES(i, i + 1, 5);
		put(&u, STROBE_WIRE_SAMPLES, NULL, i, i + 1, 5);
		SAMPLES(i, i + 1, 5);
	}
	CHECK(!u.first);
	unfinished_done(&u);
}

TEST_MAIN()
