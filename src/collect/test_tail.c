/* test_tail.c: the offset of a file advances with its acknowledged lines. */

#include "tail.h"
#include "test.h"

TEST(the_checkpoint_is_before_the_first_unacknowledged_line)
{
	struct tail *t = tail_new(-1, 1, 2, 3, 100);

	CHECK_INT(tail_offset(t), 100);
	for (unsigned i = 0; i < 1000; i++)
		tail_note(t, 100 + i * 10);
	t->feed.line_at = 10100;
	CHECK(tail_acknowledge(t, 110));
	CHECK_INT(tail_offset(t), 100);
	CHECK(tail_acknowledge(t, 100));
	CHECK_INT(tail_offset(t), 120);
	CHECK(!tail_acknowledge(t, 125));
	for (unsigned i = 999; i >= 2; i--)
		CHECK(tail_acknowledge(t, 100 + i * 10));
	CHECK(tail_is_done(t));
	CHECK_INT(tail_offset(t), 10100);
	tail_free(t);
}

TEST_MAIN()
