/* test_batch_ids.c: tests which ids are known, and which are dropped. */
#include "batch_ids.h"

#include "mem.h"
#include "test.h"

TEST(an_id_is_known_once_it_was_added_and_0_never)
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

TEST(the_last_ids_and_open_ones_are_kept_in_their_order)
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

TEST(there_is_a_limit_at_which_the_older_half_goes)
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
