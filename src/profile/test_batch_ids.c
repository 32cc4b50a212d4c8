/* test_batch_ids.c: tests which ids are known, and which are dropped. */
#include "batch_ids.h"

#include "mem.h"
#include "test.h"

TEST(added_ids_are_known_and_0_never_is)
{
	struct batch_ids b;

	batch_ids_init(&b);
	CHECK(!batch_ids_has(&b, 7));
	batch_ids_add(&b, 7);
	batch_ids_add(&b, 7);
	batch_ids_add(&b, 0);
	CHECK(batch_ids_has(&b, 7) && !batch_ids_has(&b, 8) && !batch_ids_has(&b, 0));
	CHECK_INT(b.count, 1);
	batch_ids_done(&b);
}

TEST(the_newest_and_all_open_ids_are_kept_in_order)
{
	const uint64_t open[] = { 3, 1000, 50 };
	struct batch_ids b;

	batch_ids_init(&b);
	for (uint64_t id = 1; id <= 100; id++)
		batch_ids_add(&b, id);
	batch_ids_keep(&b, open, 3, 200);
	CHECK_INT(b.count, 100);
	batch_ids_keep(&b, open, 3, 10);
	CHECK_INT(b.count, 12);
	CHECK_INT(b.ids[0], 3);
	CHECK_INT(b.ids[1], 50);
	CHECK_INT(b.ids[2], 91);
	CHECK_INT(b.ids[11], 100);
	CHECK(batch_ids_has(&b, 3) && batch_ids_has(&b, 50) && batch_ids_has(&b, 91) && !batch_ids_has(&b, 90) &&
	      !batch_ids_has(&b, 1000));
	batch_ids_keep(&b, NULL, 0, 1);
	CHECK_INT(b.count, 1);
	CHECK(batch_ids_has(&b, 100) && !batch_ids_has(&b, 3));
	batch_ids_done(&b);
}

TEST(the_older_half_of_the_ids_is_dropped_at_the_limit)
{
	struct batch_ids b;

	batch_ids_init(&b);
	for (uint64_t id = 1; id <= BATCH_IDS_MAX + 1; id++)
		batch_ids_add(&b, id);
	CHECK_INT(b.count, BATCH_IDS_MAX / 2 + 1);
	CHECK(batch_ids_has(&b, BATCH_IDS_MAX + 1) && !batch_ids_has(&b, BATCH_IDS_MAX / 2) &&
	      batch_ids_has(&b, BATCH_IDS_MAX / 2 + 1));
	batch_ids_done(&b);
}

TEST_MAIN()
