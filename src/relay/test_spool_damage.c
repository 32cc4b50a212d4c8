/* test_spool_damage.c: tests that truncated, damaged and missing parts are counted, and the rest is read. */
#include "spool_fixture.h"

TEST(a_tail_truncated_at_any_byte_is_removed)
{
	_cleanup_(freep) char *path = NULL;
	_cleanup_(buf_done) struct buf all = { 0 }, position = { 0 };
	struct spool_counters n;
	struct spool *s;
	off_t before, after;

	fresh();
	buf_init(&all);
	s = open_spool(&n, CAP);
	add(s, "one", 1);
	path = last_segment();
	keep_position(&position);
	before = size_of(path);
	add(s, "twotwotwo", 2);
	after = size_of(path);
	spool_close(s);
	CHECK_INT(io_read_file(path, &all, CAP, NULL), 0);
	for (off_t cut = before; cut < after; cut++) {
		io_write_file(path, all.data, (size_t)cut, NULL);
		restore_position(&position);
		s = open_spool(&n, CAP);
		CHECK_INT(n.samples_recovered, 1);
		CHECK_INT(n.bytes, before);
		CHECK_INT(size_of(path), before);
		CHECK_INT(add(s, "three", 3), 0);
		CHECK_STR(next(s), "one");
		CHECK_STR(next(s), "three");
		CHECK_INT(entry.sequence, 2);
		CHECK_INT(n.records_damaged, 0);
		spool_close(s);
	}
	remove_all();
}

TEST(entries_appended_together_are_kept_entirely_or_not_at_all)
{
	_cleanup_(freep) char *path = NULL;
	_cleanup_(buf_done) struct buf all = { 0 }, position = { 0 };
	const struct spool_piece pieces[] = { { "aaaa", 4, 1, 0 }, { "bbbb", 4, 2, 0 }, { "cccc", 4, 4, 0 } };
	struct spool_counters n;
	struct spool *s;

	fresh();
	buf_init(&all);
	s = open_spool(&n, CAP);
	keep_position(&position);
	CHECK_INT(spool_append(s, pieces, 3, 5, true, NULL), 0);
	spool_close(s);
	path = last_segment();
	CHECK_INT(io_read_file(path, &all, CAP, NULL), 0);
	for (size_t at = 0; at <= all.size; at++) {
		/* Truncated, and with one byte that never reached the disk. */
		io_write_file(path, all.data, at, NULL);
		restore_position(&position);
		s = open_spool(&n, CAP);
		CHECK_INT(n.samples_recovered, at == all.size ? 7 : 0);
		CHECK_INT(spool_window(s), at == all.size ? 5 : 0);
		spool_close(s);
		if (at == all.size)
			break;
		io_write_file(path, all.data, all.size, NULL);
		change_byte(path, (off_t)at);
		restore_position(&position);
		s = open_spool(&n, CAP);
		CHECK_INT(n.samples_recovered, 0);
		spool_close(s);
	}
	remove_all();
}

TEST(damaged_entries_are_skipped_and_counted)
{
	_cleanup_(freep) char *path = NULL;
	_cleanup_(buf_done) struct buf all = { 0 };
	struct spool_counters n;
	struct spool *s;
	off_t first, second;

	fresh();
	buf_init(&all);
	s = open_spool(&n, CAP);
	add(s, "one", 1);
	path = last_segment();
	first = size_of(path);
	add(s, "two", 2);
	second = size_of(path);
	add(s, "three", 4);
	spool_close(s);
	CHECK_INT(io_read_file(path, &all, CAP, NULL), 0);
	for (off_t at = first; at < second; at++) {
		io_write_file(path, all.data, all.size, NULL);
		change_byte(path, at);
		s = open_spool(&n, CAP);
		CHECK_INT(n.samples_recovered, 7);
		CHECK_INT(n.records_waiting, 3);
		CHECK_STR(next(s), "one");
		CHECK_STR(next(s), "");		/* entries before the damage come first */
		spool_done(s);
		CHECK_STR(next(s), "three");
		spool_done(s);
		CHECK_INT(n.records_damaged, 1);
		CHECK_INT(n.samples_dropped[SPOOL_DROP_DAMAGED], 2);
		CHECK_INT(n.samples_waiting, 0);
		CHECK(is_exact(&n));
		spool_close(s);
		unlink(path);
		_cleanup_(freep) char *position = xasprintf("%s/position", directory);
		unlink(position);
	}
	remove_all();
}

/* Loses its last record, a whole file, and all files. */
TEST(lost_durable_entries_are_counted)
{
	struct spool_piece run = { "run", 3, 0, 1 };

	for (int kind = 0; kind < 4; kind++) {
		_cleanup_(freep) char *text = xcalloc(1, SEGMENT), *path = NULL;
		struct spool_counters n;
		struct spool *s;
		uint64_t lost;

		fresh();
		s = open_spool(&n, CAP);
		memset(text, 'x', SEGMENT - 1);
		for (int i = 0; i < 3; i++)
			add(s, text, 1u << i);		/* a segment each */
		add(s, "last", 8);
		CHECK_INT(spool_append(s, &run, 1, 0, true, NULL), 0);
		next(s);
		spool_done(s);
		spool_close(s);
		path = last_segment();
		if (kind == 0)
			change_byte(path, size_of(path) - 5);		/* in the run's header or body */
		if (kind == 1)
			CHECK_INT(truncate(path, 0), 0);
		if (kind == 2)
			unlink(path);
		if (kind == 3)
			remove_segments();
		lost = kind == 0 ? 0 : kind < 3 ? 8 : 14;
		for (int again = 0; again < 2; again++) {
			s = open_spool(&n, CAP);
			CHECK_INT(n.samples_recovered, again && kind == 3 ? 0 : 14);
			CHECK_INT(n.runs_recovered, again && kind == 3 ? 0 : 1);
			if (kind < 3) {
				CHECK_STR(next(s), text);
				CHECK_STR(next(s), text);
			}
			spool_close(s);
		}
		s = open_spool(&n, CAP);
		add(s, "new", 16);
		while (*next(s))
			spool_done(s);
		CHECK_INT(n.samples_dropped[SPOOL_DROP_DAMAGED], kind == 3 ? 0 : lost);
		CHECK_INT(n.runs_dropped[SPOOL_DROP_DAMAGED], kind != 3);
		CHECK_INT(n.samples_waiting + n.runs_waiting + n.records_waiting, 0);
		CHECK(is_exact(&n));
		spool_close(s);
		s = open_spool(&n, CAP);		/* nothing is counted twice */
		CHECK_INT(n.samples_recovered + n.runs_recovered, 0);
		spool_close(s);
		remove_all();
	}
}

TEST(without_a_position_file_all_entries_are_queued_again)
{
	_cleanup_(freep) char *path = NULL;
	struct spool_counters n;
	struct spool *s;

	fresh();
	s = open_spool(&n, CAP);
	add(s, "one", 1);
	add(s, "two", 2);
	next(s);
	spool_done(s);
	spool_close(s);
	path = xasprintf("%s/position", directory);
	unlink(path);
	s = open_spool(&n, CAP);
	CHECK_INT(n.samples_recovered, 3);
	CHECK_STR(next(s), "one");
	CHECK_STR(next(s), "two");
	CHECK_INT(entry.sequence, 2);
	spool_close(s);
	remove_all();
}

TEST(entries_dropped_by_the_cap_do_not_count_as_damage_after_a_restart)
{
	_cleanup_(freep) char *text = xcalloc(1, 10000);
	struct spool_counters n;
	struct spool *s;
	uint64_t waiting;

	fresh();
	s = open_spool(&n, CAP);
	memset(text, 'x', 9999);
	for (int i = 0; i < 300; i++)
		add(s, text, 7);
	waiting = n.samples_waiting;
	CHECK(waiting < 300 * 7);
	spool_close(s);
	s = open_spool(&n, CAP);
	CHECK_INT(n.samples_recovered, waiting);
	while (*next(s))
		spool_done(s);
	CHECK_INT(n.samples_forwarded, waiting);
	CHECK(is_exact(&n));
	spool_close(s);
	remove_all();
}

TEST(damage_is_not_counted_again_after_a_restart)
{
	_cleanup_(freep) char *path = NULL;
	struct spool_counters n;
	struct spool *s;

	fresh();
	s = open_spool(&n, CAP);
	add(s, "one", 1);
	path = last_segment();
	add(s, "two", 2);
	spool_close(s);
	change_byte(path, 20);
	s = open_spool(&n, CAP);
	CHECK_INT(n.samples_recovered, 3);
	CHECK_STR(next(s), "two");
	CHECK_INT(n.samples_dropped[SPOOL_DROP_DAMAGED], 1);
	spool_close(s);
	s = open_spool(&n, CAP);
	CHECK_INT(n.samples_recovered, 2);
	CHECK_STR(next(s), "two");
	CHECK_INT(n.samples_dropped[SPOOL_DROP_DAMAGED], 0);
	spool_close(s);
	remove_all();
}

TEST(damage_to_an_open_spool_is_counted)
{
	for (off_t at = 0; at < (off_t)RECORD_HEADER + 3; at++) {
		struct spool_counters n;
		struct spool *s;

		fresh();
		s = open_spool(&n, CAP);
		add(s, "one", 1);
		_cleanup_(freep) char *path = last_segment();
		add(s, "two", 2);
		change_byte(path, at);
		CHECK_STR(next(s), "two");
		spool_done(s);
		CHECK_STR(next(s), "");
		CHECK_INT(n.samples_dropped[SPOOL_DROP_DAMAGED], 1);
		CHECK_INT(n.samples_waiting, 0);
		CHECK(is_exact(&n));
		spool_close(s);
		remove_all();
	}
}

/* --- Random damage in random order --- */

static void damage_anything(unsigned *seed)
{
	_cleanup_(freep) char *path = last_segment();
	off_t size;

	if (path && rand_r(seed) % 2) {		/* the first one is being read */
		free(path);
		path = first_segment();
	}
	size = path ? size_of(path) : 0;
	if (size > 0)
		change_byte(path, rand_r(seed) % size);
}

static void append_some(struct spool *s, unsigned *seed)
{
	static char bytes[40000];
	struct spool_piece pieces[3];
	size_t count = 1 + (size_t)rand_r(seed) % 3;

	for (size_t i = 0; i < count; i++)
		pieces[i] = (struct spool_piece){
			bytes, (size_t)rand_r(seed) % sizeof(bytes), (uint64_t)(rand_r(seed) % 50), (uint32_t)(rand_r(seed) % 3),
		};
	CHECK_INT(spool_append(s, pieces, count, 0, true, NULL), 0);
}

/* Settles the first entry in flight, in a random way. */
static void end_one(struct spool *s, unsigned *seed)
{
	switch (rand_r(seed) % 4) {
	case 0:
		spool_deduplicated(s);
		break;
	case 1:
		spool_rejected(s);
		break;
	default:
		spool_done(s);
	}
}

static void do_anything(struct spool *s, unsigned *seed, bool damage, unsigned *under_way)
{
	int what = rand_r(seed) % 16;

	if (what < 4) {
		append_some(s, seed);
	} else if (what < 10) {
		*under_way += spool_next(s, &entry) == 1;
	} else if (what < 13 && *under_way) {
		end_one(s, seed);
		--*under_way;
	} else if (what == 13) {
		spool_rewind(s);
		*under_way = 0;
	} else if (what == 14 && damage) {
		damage_anything(seed);
	}
}

/* A restart finds exactly what was waiting, including damaged entries, and at the end nothing is waiting. */
TEST(counters_add_up_after_random_operations_and_restarts_recover_queued_entries)
{
	for (unsigned seed = 1; seed <= 40; seed++) {
		unsigned random = seed, under_way;
		uint64_t samples = 0, runs = 0;
		struct spool_counters n;
		struct spool *s;

		fresh();
		for (int start = 0; start < 6; start++) {
			s = open_spool(&n, CAP);
			CHECK_INT(n.samples_recovered, samples);
			CHECK_INT(n.runs_recovered, runs);
			under_way = 0;
			for (int i = 0; i < 80; i++) {
				do_anything(s, &random, seed % 2, &under_way);
				CHECK(is_exact(&n));
			}
			spool_rewind(s);
			samples = n.samples_waiting;
			runs = n.runs_waiting;
			CHECK(seed % 2 || n.samples_dropped[SPOOL_DROP_DAMAGED] == 0);
			spool_close(s);
		}
		s = open_spool(&n, CAP);
		while (spool_next(s, &entry) == 1)
			spool_done(s);
		CHECK_INT(n.samples_waiting + n.runs_waiting + n.records_waiting, 0);
		CHECK(seed % 2 || n.samples_forwarded == samples);
		CHECK(is_exact(&n));
		spool_close(s);
		remove_all();
	}
}

TEST_MAIN()
