/* test_frame_dict.c: frames by number and by their parts. */
#include "cleanup.h"
#include "frame_dict.h"
#include "test.h"

static struct str str_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

static struct frame_parts parts(const char *name, const char *file, uint32_t line)
{
	struct frame_parts f = { .name = str_of(name), .file = str_of(file), .line = line };

	f.name_hash = intern_hash(f.name);
	f.file_hash = intern_hash(f.file);
	return f;
}

static uint32_t add(struct frame_dict *d, struct frame_parts f, struct buf *records)
{
	return frame_dict_add(d, &f, records);
}

static uint32_t find(const struct frame_dict *d, struct frame_parts f)
{
	return frame_dict_find(d, &f);
}

/* Loads the dictionary like another process would: from the records alone. */
static bool load(struct frame_dict *d, const struct frame_dict *from)
{
	frame_dict_init(d);
	for (uint32_t i = 0; i < from->count; i++)
		if (!frame_dict_load(d, from->records[i]))
			return false;
	return true;
}

TEST(frames_differ_by_name_file_and_line)
{
	_cleanup_(buf_done) struct buf records = { 0 };
	struct frame_dict d, again;

	buf_init(&records);
	frame_dict_init(&d);
	CHECK_INT(find(&d, parts("main", "a.php", 1)), FRAME_NONE);
	CHECK_INT(add(&d, parts("main", "a.php", 1), &records), 0);
	CHECK_INT(add(&d, parts("main", "a.php", 2), &records), 1);
	CHECK_INT(add(&d, parts("main", "b.php", 1), &records), 2);
	CHECK_INT(add(&d, parts("other", "a.php", 1), &records), 3);
	CHECK_INT(add(&d, parts("", "", 0), &records), 4);
	CHECK_INT(add(&d, parts("main", "a.php", 2), &records), 1);
	CHECK_INT(find(&d, parts("", "", 0)), 4);
	CHECK_INT(find(&d, parts("main", "b.php", 2)), FRAME_NONE);
	/* Equal frames share one record, and readers need only the records. */
	CHECK_STR(records.data, "\4main\5a.php\1\4main\5a.php\2\4main\5b.php\1\5other\5a.php\1");
	CHECK_INT(records.size, 3 * 12 + 13 + 3);
	CHECK(load(&again, &d));
	CHECK_INT(find(&again, parts("other", "a.php", 1)), 3);
	CHECK_INT(find(&again, parts("", "", 0)), 4);
	frame_dict_done(&again);
	frame_dict_done(&d);
}

TEST(frames_with_equal_hashes_are_distinguished)
{
	enum { N = 100 };
	_cleanup_(buf_done) struct buf records = { 0 };
	struct frame_parts f[N];
	struct frame_dict d;
	char names[N][8];
	unsigned wrong = 0;

	buf_init(&records);
	frame_dict_init(&d);
	for (uint32_t i = 0; i < N; i++) {
		snprintf(names[i], sizeof(names[i]), "f%u", i);
		f[i] = (struct frame_parts){ str_of(names[i]), str_of("x"), 7, 7, 7 };
		wrong += frame_dict_find(&d, &f[i]) != FRAME_NONE;
		wrong += frame_dict_add(&d, &f[i], &records) != i;
	}
	frame_dict_prefetch(&d, f, N);
	for (uint32_t i = 0; i < N; i++)
		wrong += frame_dict_add(&d, &f[i], &records) != i;
	CHECK_INT(wrong, 0);
	CHECK_INT(d.count, N);
	frame_dict_done(&d);
}

TEST(a_removed_frame_that_recurs_gets_a_new_number)
{
	static const uint8_t kept[] = { 1, 0, 1 };
	_cleanup_(buf_done) struct buf records = { 0 };
	struct frame_dict d;

	buf_init(&records);
	frame_dict_init(&d);
	for (uint32_t i = 0; i < 3; i++)
		add(&d, parts("f", "f.php", i), &records);
	frame_dict_make_holes(&d, kept);
	buf_reset(&records);
	CHECK_INT(find(&d, parts("f", "f.php", 1)), FRAME_NONE);
	CHECK_INT(add(&d, parts("f", "f.php", 2), &records), 2);
	CHECK_INT(records.size, 0);
	CHECK_INT(add(&d, parts("f", "f.php", 1), &records), 3);
	CHECK_STR(records.data, "\1f\5f.php\1");
	CHECK_INT(find(&d, parts("f", "f.php", 1)), 3);
	frame_dict_done(&d);
}

TEST(holes_keep_their_numbers_and_duplicate_frames_are_rejected)
{
	static const struct str hole = { "\0\0\0", 3 }, frame = { "\1f\0\5", 4 };
	struct frame_dict d;

	frame_dict_init(&d);
	CHECK(frame_dict_load(&d, hole));
	CHECK(frame_dict_load(&d, frame));
	CHECK(frame_dict_load(&d, hole));
	CHECK(!frame_dict_load(&d, frame));
	CHECK_INT(d.count, 3);
	CHECK_INT(find(&d, parts("", "", 0)), 0);
	CHECK_INT(find(&d, parts("f", "", 5)), 1);
	frame_dict_done(&d);
}

TEST_MAIN()
