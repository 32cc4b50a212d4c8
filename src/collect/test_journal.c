/* test_journal.c: tests recovery of batches after a crash at any point. */

#include "journal.h"

#include "io.h"
#include "log.h"
#include "mem.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct fixture {
	char directory[64], path[96];
	struct journal *j;
	struct source source, other;
};

static void reopen(struct fixture *f)
{
	struct err err = { 0 };

	f->j = journal_close(f->j);
	CHECK(journal_open(f->path, &f->j, &err) == 0);
	CHECK_STR(err.text, "");
}

static void start(struct fixture *f)
{
	log_set_level(0);		/* their messages are not checked here */
	memset(f, 0, sizeof(*f));
	snprintf(f->directory, sizeof(f->directory), "/tmp/strobe-journal-XXXXXX");
	CHECK(mkdtemp(f->directory) != NULL);
	snprintf(f->path, sizeof(f->path), "%s/collect.journal", f->directory);
	f->source.url = (char *)"redis://one/?stream=a&group=g";
	f->other.url = (char *)"redis://two/?stream=a&group=g";
	reopen(f);
}

static void stop(struct fixture *f)
{
	char lock[128];

	journal_close(f->j);
	unlink(f->path);
	snprintf(lock, sizeof(lock), "%s.lock", f->path);
	unlink(lock);
	CHECK(rmdir(f->directory) == 0);
}

static long size_of(const struct fixture *f)
{
	struct stat st;

	return stat(f->path, &st) ? -1 : (long)st.st_size;
}

/* A batch with the ack tokens first to last of one millisecond each. */
static int begin(struct fixture *f, uint64_t id, uint64_t first, uint64_t last, uint64_t relay_id, struct err *err)
{
	struct open_batch *b = open_batch_new(id);
	int r;

	b->now_ns = (int64_t)id * 1000;
	for (uint64_t i = first; i <= last; i++) {
		struct ack_token t = { .stream = 2, .high = i, .low = i % 3 };

		open_batch_note(b, &(struct message_metadata){ .source = &f->source, .ack_token = &t }, 1);
	}
	if (relay_id) {
		size_t capacity = 0;

		GROW(&b->relay_ids, &capacity, 1);
		b->relay_ids[b->relay_id_count++] = relay_id;
	}
	r = journal_begin(f->j, b, err);
	CHECK_INT(b->journaled, r == 0);
	CHECK_INT(journal_begin(f->j, b, err), r);
	open_batch_free(b);
	return r;
}

static uint64_t batch_of(struct fixture *f, const struct source *s, uint64_t ms)
{
	const struct ack_token t = { .stream = 2, .high = ms, .low = ms % 3 };
	int64_t now = 0;
	uint64_t id = journal_batch_of(f->j, source_identity(s), &t, &now);

	CHECK_INT(now, (int64_t)id * 1000);
	return id;
}

TEST(ack_tokens_of_a_batch_in_flight_are_known_after_a_crash)
{
	struct fixture f;

	start(&f);
	CHECK_INT(begin(&f, 7, 1000, 1999, 0, NULL), 0);
	CHECK_INT(begin(&f, 8, 2000, 2001, 0, NULL), 0);
	CHECK_INT(batch_of(&f, &f.source, 1000), 0);		/* current ones are not redelivered */
	reopen(&f);
	CHECK_INT(batch_of(&f, &f.source, 1000), 7);
	CHECK_INT(batch_of(&f, &f.source, 1999), 7);
	CHECK_INT(batch_of(&f, &f.source, 2001), 8);
	CHECK_INT(batch_of(&f, &f.source, 999), 0);
	CHECK_INT(batch_of(&f, &f.source, 2002), 0);
	CHECK_INT(batch_of(&f, &f.other, 1000), 0);
	stop(&f);
}

TEST(a_truncated_record_leaves_earlier_records_readable)
{
	struct fixture f;
	long whole, end;

	start(&f);
	CHECK_INT(begin(&f, 7, 1, 9, 0, NULL), 0);
	whole = size_of(&f);
	CHECK_INT(begin(&f, 8, 10, 19, 0, NULL), 0);
	end = size_of(&f);
	CHECK(end > whole + 12);
	for (long at = end - 1; at >= whole; at--) {
		CHECK(truncate(f.path, at) == 0);
		reopen(&f);
		CHECK_INT(size_of(&f), whole);
		CHECK_INT(batch_of(&f, &f.source, 5), 7);
		CHECK_INT(batch_of(&f, &f.source, 15), 0);
		CHECK_INT(begin(&f, 8, 10, 19, 0, NULL), 0);	/* follows the last complete record */
		CHECK_INT(size_of(&f), end);
	}
	reopen(&f);
	CHECK_INT(batch_of(&f, &f.source, 15), 8);
	stop(&f);
}

TEST(records_before_a_damaged_byte_are_kept)
{
	struct fixture f;
	struct buf bytes;
	long whole;

	start(&f);
	CHECK_INT(begin(&f, 7, 1, 9, 0, NULL), 0);
	whole = size_of(&f);
	CHECK_INT(begin(&f, 8, 10, 19, 0, NULL), 0);
	buf_init(&bytes);
	CHECK(io_read_file(f.path, &bytes, 1 << 20, NULL) == 0);
	for (size_t i = (size_t)whole; i < bytes.size; i++) {
		bytes.data[i] ^= 0x40;
		CHECK(io_write_file(f.path, bytes.data, bytes.size, NULL) == 0);
		bytes.data[i] ^= 0x40;
		reopen(&f);
		CHECK_INT(batch_of(&f, &f.source, 5), 7);
		CHECK_INT(batch_of(&f, &f.source, 15), 0);
	}
	buf_done(&bytes);
	stop(&f);
}

TEST(a_batch_counts_once_although_redis_lost_its_acknowledgement)
{
	struct fixture f;

	start(&f);
	CHECK_INT(begin(&f, 7, 1, 9, 0, NULL), 0);
	journal_end(f.j, 7);
	reopen(&f);
	CHECK_INT(batch_of(&f, &f.source, 5), 7);
	reopen(&f);
	CHECK_INT(batch_of(&f, &f.source, 5), 7);
	stop(&f);
}

TEST(the_file_is_rewritten_without_finished_batches)
{
	struct fixture f;
	long largest = 0;

	journal_set_ended_kept(0);
	start(&f);
	CHECK_INT(begin(&f, 1, 1, 9, 0xabc, NULL), 0);		/* stays under way */
	for (uint64_t id = 2; id < 60; id++) {
		CHECK_INT(begin(&f, id, id * 100000, id * 100000 + 99999, id, NULL), 0);
		if (size_of(&f) > largest)
			largest = size_of(&f);
		journal_end(f.j, id);
	}
	CHECK(largest > 8 << 20 && largest < 10 << 20);
	CHECK(size_of(&f) < largest);
	CHECK_INT(begin(&f, 60, 10, 19, 0, NULL), 0);		/* written to the new file */
	reopen(&f);
	CHECK_INT(batch_of(&f, &f.source, 5), 1);
	CHECK_INT(batch_of(&f, &f.source, 15), 60);
	CHECK_INT(batch_of(&f, &f.source, 2 * 100000), 0);
	CHECK(journal_seen(f.j, 0xabc));
	CHECK(journal_seen(f.j, 59));
	CHECK(journal_batch_held(f.j, 1, 0xabc));
	stop(&f);
	journal_set_ended_kept(30LL * 1000000000);
}

TEST(entries_not_redelivered_are_dropped_once_the_source_has_caught_up)
{
	struct fixture f;
	long before;

	start(&f);
	CHECK_INT(begin(&f, 7, 1, 9, 0, NULL), 0);
	CHECK_INT(begin(&f, 8, 10, 19, 0, NULL), 0);
	reopen(&f);
	CHECK_INT(batch_of(&f, &f.source, 12), 8);
	before = size_of(&f);
	journal_caught_up(f.j, source_identity(&f.other));
	CHECK_INT(size_of(&f), before);
	journal_caught_up(f.j, source_identity(&f.source));	/* ends 7, which was not redelivered, but not 8 */
	CHECK_INT(size_of(&f), before + 12 + 2);
	journal_caught_up(f.j, source_identity(&f.source));
	CHECK_INT(size_of(&f), before + 12 + 2);
	stop(&f);
}

TEST(the_batch_that_holds_a_batch_of_a_relay_is_known_after_a_crash)
{
	struct fixture f;

	start(&f);
	CHECK(!journal_seen(f.j, 0x1111));
	CHECK(journal_seen(f.j, 0x1111));
	CHECK_INT(begin(&f, 7, 1, 9, 0x1111, NULL), 0);
	CHECK_INT(begin(&f, 8, 10, 19, 0, NULL), 0);
	CHECK(!journal_seen(f.j, 0x2222));			/* in no recorded batch */
	reopen(&f);
	CHECK(journal_seen(f.j, 0x1111));
	CHECK(!journal_seen(f.j, 0x2222));
	CHECK(journal_batch_held(f.j, 7, 0x1111));
	CHECK(!journal_batch_held(f.j, 8, 0x1111));
	stop(&f);
}

TEST(the_oldest_ids_of_relay_batches_are_forgotten_above_the_limit)
{
	struct fixture f;
	uint64_t id = 0;

	start(&f);
	for (; id < 6 * (uint64_t)JOURNAL_SEEN; id++)
		if (journal_seen(f.j, id * 0x9e3779b97f4a7c15))
			CHECK(!"a new id was seen");
	CHECK(journal_seen(f.j, (id - JOURNAL_SEEN) * 0x9e3779b97f4a7c15));
	CHECK(journal_seen(f.j, (id - 1) * 0x9e3779b97f4a7c15));
	CHECK(!journal_seen(f.j, (id - JOURNAL_SEEN - 2) * 0x9e3779b97f4a7c15));
	stop(&f);
}

TEST(two_collectors_never_share_a_journal)
{
	struct journal *second = NULL;
	struct err err = { 0 };
	struct fixture f;

	start(&f);
	CHECK_INT(journal_open(f.path, &second, &err), -EBUSY);
	CHECK(strstr(err.text, "its own state directory") != NULL);
	stop(&f);
}

TEST(recording_a_batch_in_the_journal_is_retried)
{
	struct rlimit before, small;
	struct err err = { 0 };
	struct fixture f;
	long size;

	start(&f);
	CHECK_INT(begin(&f, 7, 1, 9, 0, NULL), 0);
	size = size_of(&f);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = (struct rlimit){ (rlim_t)size + 20, before.rlim_max };
	setrlimit(RLIMIT_FSIZE, &small);
	CHECK_INT(begin(&f, 8, 10, 1000, 0, &err), -EIO);	/* EFBIG would count as permanent */
	CHECK_INT(size_of(&f), size);
	setrlimit(RLIMIT_FSIZE, &before);
	CHECK_INT(begin(&f, 8, 10, 1000, 0, &err), 0);
	reopen(&f);
	CHECK_INT(batch_of(&f, &f.source, 5), 7);
	CHECK_INT(batch_of(&f, &f.source, 500), 8);
	stop(&f);
}

TEST_MAIN()
