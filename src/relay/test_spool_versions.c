/* test_spool_versions.c: spools that another version of Strobe has left. Version 1 is read to the end; newer ones are kept. */
#include "spool_fixture.h"

#include "clock.h"
#include "strobe_wire.h"
#include "window.h"

#include <xxhash.h>

#define OLD_INSTANCE	0x1122334455667788ULL

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", directory, name);
}

static void put_file(const char *name, const void *bytes, size_t n)
{
	_cleanup_(freep) char *path = path_of(name);

	CHECK_INT(io_write_file(path, bytes, n, NULL), 0);
}

static bool exists(const char *name)
{
	_cleanup_(freep) char *path = path_of(name);

	return access(path, F_OK) == 0;
}

/* An entry as version 1 wrote it: its header ended before the sums. */
static void put_old(struct buf *out, uint64_t sequence, const char *text, uint64_t samples)
{
	struct record r = {
		.kind = RECORD_ENTRY, .first = true, .last = true, .sequence = sequence, .window = 7,
		.time_ns = clock_wall_ns(), .samples = samples, .owner = OLD_INSTANCE,
	};
	uint8_t header[RECORD_HEADER];

	record_seal(&r, text, strlen(text), header);
	header[4] = 1;
	strobe_wire_put_le(header + 64, XXH3_64bits(header, 64), 8);
	buf_put(out, header, RECORD_HEADER_1);
	buf_put(out, text, strlen(text));
}

static void put_old_slot(struct buf *out, uint64_t writes, uint64_t done)
{
	uint8_t slot[32];

	strobe_wire_put_le(slot, writes, 8);
	strobe_wire_put_le(slot + 8, done, 8);
	strobe_wire_put_le(slot + 16, 7, 8);
	strobe_wire_put_le(slot + 24, XXH3_64bits(slot, 24), 8);
	buf_put(out, slot, sizeof(slot));
}

/* 1 is done; 2, 3, and 1005, which came after a crash, wait in two files. */
static void put_old_spool(void)
{
	_cleanup_(buf_done) struct buf first = { 0 }, second = { 0 }, position = { 0 };

	fresh();
	buf_init(&first);
	buf_init(&second);
	buf_init(&position);
	put_old(&first, 1, "done", 100);
	put_old(&first, 2, "two", 2);
	put_old(&second, 3, "three", 4);
	put_old(&second, 1005, "after a crash", 8);
	put_file("0000000000000001.spool", first.data, first.size);
	put_file("0000000000000003.spool", second.data, second.size);
	put_old_slot(&position, 3, 0);
	put_old_slot(&position, 4, 1);
	put_file("position", position.data, position.size);
}

TEST(a_version_1_spool_is_forwarded_to_its_end)
{
	struct spool_counters n;
	struct spool *s;

	put_old_spool();
	s = open_spool(&n, CAP);
	CHECK_INT(n.samples_recovered, 14);
	CHECK_INT(n.records_waiting, 3);
	CHECK_INT(spool_window(s), 7);
	CHECK_INT(add(s, "new", 16), 0);
	CHECK_STR(next(s), "two");
	CHECK_INT(entry.sequence, 2);
	CHECK_INT(entry.instance, OLD_INSTANCE);
	CHECK_STR(next(s), "three");
	CHECK_STR(next(s), "after a crash");
	CHECK_INT(entry.sequence, 1005);
	CHECK_STR(next(s), "new");
	CHECK_INT(entry.sequence, 1006);
	CHECK(entry.instance != OLD_INSTANCE);
	for (int i = 0; i < 4; i++)
		spool_done(s);
	CHECK_INT(n.samples_forwarded, 30);
	CHECK_INT(n.samples_waiting + n.records_waiting + n.records_damaged, 0);
	CHECK(is_exact(&n));
	spool_close(s);
	remove_all();
}

/* The position has the current format from the first start on, and one file has records of both versions. */
TEST(a_version_1_spool_is_resumed_after_each_restart)
{
	static const char *const texts[] = { "two", "three", "after a crash", "new" };
	uint64_t waiting = 30;
	struct spool_counters n;
	struct spool *s;

	put_old_spool();
	s = open_spool(&n, CAP);
	CHECK_INT(add(s, "new", 16), 0);
	spool_close(s);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		s = open_spool(&n, CAP);
		CHECK_INT(n.samples_recovered, waiting);
		CHECK_INT(n.records_waiting, ARRAY_SIZE(texts) - i);
		CHECK_STR(next(s), texts[i]);
		next(s);
		spool_done(s);
		spool_rewind(s);
		waiting = n.samples_waiting;
		CHECK_INT(n.records_damaged, 0);
		CHECK(is_exact(&n));
		spool_close(s);
	}
	CHECK_INT(waiting, 0);
	remove_all();
}

/* Any byte of the entry in the middle: its header or its body. */
TEST(damage_in_a_version_1_spool_costs_one_entry)
{
	_cleanup_(freep) char *path = NULL;
	off_t from = 2 * (off_t)RECORD_HEADER_1 + 4 + 3, size = (off_t)RECORD_HEADER_1 + 5;

	for (off_t at = from; at < from + size; at++) {
		_cleanup_(buf_done) struct buf bytes = { 0 };
		bool body = at >= from + (off_t)RECORD_HEADER_1;
		struct spool_counters n;
		struct spool *s;

		fresh();
		buf_init(&bytes);
		put_old(&bytes, 1, "done", 100);
		put_old(&bytes, 2, "two", 2);
		put_old(&bytes, 3, "three", 4);
		put_old(&bytes, 4, "four", 8);
		put_file("0000000000000001.spool", bytes.data, bytes.size);
		free(path);
		path = last_segment();
		change_byte(path, at);
		s = open_spool(&n, CAP);
		CHECK_INT(n.samples_recovered, body ? 114 : 110);
		CHECK_STR(next(s), "done");
		CHECK_STR(next(s), "two");
		CHECK_STR(next(s), "");
		spool_done(s);
		spool_done(s);
		CHECK_STR(next(s), "four");
		spool_done(s);
		CHECK_INT(n.samples_dropped[SPOOL_DROP_DAMAGED], body ? 4 : 0);
		CHECK_INT(n.records_damaged, 1);
		CHECK_INT(n.samples_waiting + n.records_waiting, 0);
		CHECK(is_exact(&n));
		spool_close(s);
		remove_all();
	}
}

/* Reads bytes that an earlier daemon wrote. The first one is the fuzzer's selector. */
static void put_from_corpus(const char *corpus, const char *name)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", CORPUS, corpus);
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	CHECK_INT(io_read_file(path, &b, CAP, NULL), 0);
	CHECK(b.size > 1);
	if (b.size > 1)
		put_file(name, b.data + 1, b.size - 1);
}

TEST(files_written_by_a_version_1_daemon_are_read)
{
	static const uint64_t samples[] = { 3, 0, 2, 12 };
	struct spool_counters n;
	struct window *w = NULL;
	struct spool *s;

	fresh();
	put_from_corpus("version_1_segment", "0000000000000001.spool");
	put_from_corpus("version_1_window", "window-0");
	put_from_corpus("version_1_window_old", "window-1");
	s = open_spool(&n, CAP);
	CHECK_INT(n.samples_recovered, 5);
	CHECK_INT(n.runs_recovered, 1);
	CHECK_INT(spool_window(s), 1);
	CHECK_INT(window_open(directory, "web1", s, &n, &w, NULL), 0);
	CHECK_INT(n.samples_recovered, 5 + 12);	/* window 1, in the other file, is in the segment */
	CHECK(!window_is_empty(w));
	CHECK_INT(window_close(w, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		CHECK_INT(spool_next(s, &entry), 1);
		CHECK_INT(entry.samples, samples[i]);
		spool_done(s);
	}
	CHECK_INT(n.samples_waiting + n.records_damaged, 0);
	CHECK(is_exact(&n));
	window_free(w);
	spool_close(s);
	remove_all();
}

/* Writes a record of a future version, of which only the beginning is defined. */
static void put_newer(struct buf *out)
{
	uint8_t bytes[200] = "SPLR\x03\x01\x03";

	memset(bytes + 8, 'n', sizeof(bytes) - 8);
	buf_put(out, bytes, sizeof(bytes));
}

TEST(files_of_a_newer_version_are_set_aside_and_counted)
{
	_cleanup_(buf_done) struct buf bytes = { 0 }, kept = { 0 };
	_cleanup_(freep) char *aside = NULL;
	struct spool_counters n;
	struct window *w = NULL;
	struct spool *s;

	fresh();
	buf_init(&bytes);
	buf_init(&kept);
	put_old(&bytes, 1, "one", 1);
	put_newer(&bytes);
	put_newer(&bytes);
	put_file("0000000000000001.spool", bytes.data, bytes.size);
	put_file("window-1", bytes.data, bytes.size);
	put_file("window-1.version-3", "x", 1);
	s = open_spool(&n, CAP);
	CHECK(s != NULL);
	CHECK_INT(n.files_set_aside, 1);
	CHECK_INT(n.records_set_aside, 3);
	CHECK_INT(window_open(directory, "web1", s, &n, &w, NULL), 0);
	CHECK_INT(n.files_set_aside, 2);
	CHECK_INT(n.records_set_aside, 6);
	aside = path_of("0000000000000001.spool.version-3");
	CHECK_INT(io_read_file(aside, &kept, CAP, NULL), 0);
	CHECK(kept.size == bytes.size && !memcmp(kept.data, bytes.data, kept.size));
	CHECK(exists("window-1.version-3-2"));
	CHECK_INT(add(s, "new", 16), 0);
	CHECK_STR(next(s), "new");
	spool_done(s);
	CHECK(is_exact(&n));
	window_free(w);
	spool_close(s);
	s = open_spool(&n, CAP);		/* once */
	CHECK_INT(n.files_set_aside, 0);
	spool_close(s);
	remove_all();
}

TEST_MAIN()
