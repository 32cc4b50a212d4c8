/* test_spool.c: order, restarts, caps and full disks. */
#include "spool_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

TEST(entries_are_returned_in_fifo_order)
{
	struct spool_counters n;
	struct spool *s;

	fresh();
	s = open_spool(&n, CAP);
	CHECK_INT(add(s, "one", 1), 0);
	CHECK_INT(add(s, "two", 2), 0);
	CHECK_STR(next(s), "one");
	CHECK_STR(next(s), "two");
	CHECK_INT(entry.sequence, 2);
	CHECK_STR(next(s), "");
	CHECK_INT(n.samples_waiting, 3);
	spool_done(s);
	CHECK_INT(n.samples_waiting, 2);
	CHECK_INT(n.samples_forwarded, 1);
	spool_done(s);
	CHECK_INT(n.records_waiting, 0);
	CHECK_INT(n.oldest_ns, 0);
	CHECK(is_exact(&n));
	spool_close(s);
	remove_all();
}

TEST(outstanding_entries_are_returned_again)
{
	struct spool_counters n;
	struct spool *s;

	fresh();
	s = open_spool(&n, CAP);
	add(s, "one", 1);
	add(s, "two", 2);
	add(s, "three", 3);
	next(s);
	next(s);
	spool_done(s);
	spool_rewind(s);
	CHECK_STR(next(s), "two");
	CHECK_STR(next(s), "three");
	CHECK_STR(next(s), "");
	CHECK(is_exact(&n));
	spool_close(s);
	remove_all();
}

TEST(a_restart_recovers_queued_and_acknowledged_entries)
{
	struct spool_counters n;
	struct spool *s;
	uint64_t instance;

	fresh();
	s = open_spool(&n, CAP);
	add(s, "one", 10);
	add(s, "two", 20);
	next(s);
	instance = entry.instance;
	spool_done(s);
	spool_close(s);

	s = open_spool(&n, CAP);
	CHECK_INT(n.samples_recovered, 20);
	CHECK_INT(n.records_waiting, 1);
	add(s, "three", 30);
	CHECK_STR(next(s), "two");
	CHECK_INT(entry.sequence, 2);
	CHECK(entry.instance == instance);
	CHECK_STR(next(s), "three");
	CHECK_INT(entry.sequence, 3);
	CHECK(entry.instance != instance);
	CHECK(is_exact(&n));
	spool_close(s);
	remove_all();
}

/* A copied or restored directory has the same sequence numbers in two processes. */
TEST(each_opening_appends_under_a_new_instance)
{
	_cleanup_(buf_done) struct buf position = { 0 }, all = { 0 };
	uint64_t instances[3];

	fresh();
	for (int i = 0; i < 3; i++) {
		struct spool_counters n;
		struct spool *s = open_spool(&n, CAP);
		_cleanup_(freep) char *path = NULL;

		if (i == 0) {
			add(s, "one", 1);
			path = last_segment();
			keep_position(&position);
			buf_init(&all);
			CHECK_INT(io_read_file(path, &all, CAP, NULL), 0);
		}
		add(s, "two", 1);
		CHECK_STR(next(s), "one");
		CHECK_STR(next(s), "two");
		CHECK_INT(entry.sequence, 2);
		instances[i] = entry.instance;
		spool_close(s);
		restore_position(&position);
		free(path);
		path = last_segment();
		io_write_file(path, all.data, all.size, NULL);
	}
	CHECK(instances[0] != instances[1] && instances[1] != instances[2] && instances[0] != instances[2]);
	remove_all();
}

TEST(entries_that_the_broker_already_had_are_counted_separately)
{
	struct spool_piece run = { "run", 3, 0, 1 };
	struct spool_counters n;
	struct spool *s;

	fresh();
	s = open_spool(&n, CAP);
	add(s, "one", 1);
	add(s, "two", 2);
	CHECK_INT(spool_append(s, &run, 1, 0, true, NULL), 0);
	next(s);
	next(s);
	next(s);
	spool_deduplicated(s);
	spool_done(s);
	spool_deduplicated(s);
	CHECK_INT(n.samples_forwarded, 2);
	CHECK_INT(n.samples_deduplicated, 1);
	CHECK_INT(n.runs_deduplicated, 1);
	CHECK_INT(n.samples_waiting, 0);
	CHECK(is_exact(&n));
	spool_close(s);
	s = open_spool(&n, CAP);
	CHECK_INT(n.samples_recovered, 0);
	spool_close(s);
	remove_all();
}

TEST(two_processes_cannot_use_one_spool)
{
	struct spool_counters n, other = { 0 };
	struct spool *s, *second = NULL;
	struct err err = { 0 };

	fresh();
	s = open_spool(&n, CAP);
	CHECK_INT(spool_open(directory, CAP, &other, &second, &err), -EBUSY);
	CHECK(strstr(err.text, "another process") != NULL);
	spool_close(s);
	remove_all();
}

TEST(above_the_cap_the_oldest_entries_are_dropped_and_counted)
{
	struct spool_counters n;
	struct spool *s;
	char text[10000];
	uint64_t first;

	fresh();
	s = open_spool(&n, CAP);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 300; i++)
		CHECK_INT(add(s, text, 7), 0);
	CHECK(n.bytes <= CAP);
	CHECK(n.bytes > CAP * 8 / 10);
	CHECK(n.samples_dropped[SPOOL_DROP_FULL] > 0);
	CHECK_INT(n.samples_dropped[SPOOL_DROP_FULL] + n.samples_waiting, 300 * 7);
	next(s);
	first = entry.sequence;
	CHECK_INT(first, 300 - n.records_waiting + 1);
	for (uint64_t i = first; i <= 300; i++) {
		CHECK_INT(entry.sequence, i);
		spool_done(s);
		next(s);
	}
	CHECK_INT(n.samples_waiting, 0);
	CHECK(is_exact(&n));
	CHECK(n.bytes < CAP / 8);
	spool_close(s);
	remove_all();
}

TEST(an_entry_in_flight_when_it_is_dropped_is_counted_once)
{
	struct spool_counters n;
	struct spool *s;
	char text[10000];

	fresh();
	s = open_spool(&n, CAP);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	add(s, text, 1);
	add(s, text, 2);
	next(s);
	next(s);
	for (int i = 0; i < 300; i++)
		add(s, text, 7);
	CHECK(is_exact(&n));
	spool_done(s);				/* the first arrived all the same */
	CHECK_INT(n.samples_forwarded, 1);
	spool_rewind(s);			/* the second did not */
	CHECK(is_exact(&n));
	CHECK_STR(next(s), text);
	CHECK(entry.sequence > 2);
	CHECK_INT(n.samples_dropped[SPOOL_DROP_FULL] % 7, 2);
	spool_close(s);
	remove_all();
}

TEST(an_entry_larger_than_the_cap_is_rejected)
{
	struct spool_counters n;
	struct spool *s;
	_cleanup_(freep) char *text = xcalloc(1, 2 * CAP);
	struct spool_piece p = { text, 2 * CAP, 1, 0 };
	struct err err = { 0 };

	fresh();
	s = open_spool(&n, CAP);
	add(s, "one", 1);
	CHECK_INT(spool_append(s, &p, 1, 0, true, &err), -EFBIG);
	CHECK_STR(next(s), "one");
	CHECK(is_exact(&n));
	spool_close(s);
	remove_all();
}

/* The reader continues with a third segment while one entry of the first, which was dropped, and one of the second
 * are in flight. */
TEST(a_segment_is_kept_while_one_of_its_entries_is_in_flight)
{
	_cleanup_(freep) char *text = xcalloc(1, SEGMENT);
	struct spool_counters n;
	struct spool *s;

	fresh();
	s = open_spool(&n, CAP);
	memset(text, 'x', SEGMENT - 1);
	for (int i = 0; i < 3; i++)
		add(s, text, 1u << i);
	CHECK_STR(next(s), text);
	CHECK_STR(next(s), text);
	for (int i = 0; n.samples_dropped[SPOOL_DROP_FULL] == 0 && i < 100 && n.bytes + SEGMENT < CAP; i++)
		add(s, text, 8);
	add(s, text, 8);		/* this drops the first one */
	CHECK_STR(next(s), text);
	spool_done(s);
	spool_done(s);
	spool_done(s);
	CHECK_INT(n.samples_forwarded, 7);
	CHECK(is_exact(&n));
	CHECK_INT(n.samples_dropped[SPOOL_DROP_FULL] + n.samples_dropped[SPOOL_DROP_DAMAGED], 0);
	spool_close(s);
	remove_all();
}

TEST(entries_of_several_segments_can_be_dropped_while_in_flight)
{
	_cleanup_(freep) char *text = xcalloc(1, SEGMENT);
	struct spool_counters n;
	struct spool *s;

	fresh();
	s = open_spool(&n, CAP);
	memset(text, 'x', SEGMENT - 1);
	for (int i = 0; i < 3; i++)
		add(s, text, 1u << i);
	for (int i = 0; i < 3; i++)
		CHECK_STR(next(s), text);
	for (int i = 0; i < 40; i++)
		add(s, text, 8);
	spool_done(s);
	spool_done(s);
	spool_rewind(s);
	CHECK_INT(n.samples_forwarded, 3);
	CHECK_INT(n.samples_dropped[SPOOL_DROP_FULL] % 8, 4);
	CHECK(is_exact(&n));
	while (*next(s))
		spool_done(s);
	CHECK_INT(n.samples_waiting + n.records_waiting, 0);
	CHECK_INT(n.samples_dropped[SPOOL_DROP_DAMAGED], 0);
	CHECK(is_exact(&n));
	spool_close(s);
	remove_all();
}

TEST(stored_entries_survive_a_full_disk_and_writing_resumes_when_space_is_free)
{
	struct rlimit old, low;
	struct spool_counters n;
	struct spool *s;
	char text[3000];
	int kept = 0, r = 0;

	fresh();
	signal(SIGXFSZ, SIG_IGN);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	s = open_spool(&n, CAP);
	getrlimit(RLIMIT_FSIZE, &old);
	low = old;
	low.rlim_cur = 20000;
	setrlimit(RLIMIT_FSIZE, &low);
	for (; r == 0; kept += r == 0)
		r = add(s, text, 5);
	CHECK_INT(r, -ENOSPC);
	CHECK_INT(kept, 6);
	CHECK_INT(add(s, text, 5), -ENOSPC);
	CHECK_INT(n.samples_waiting, kept * 5);
	setrlimit(RLIMIT_FSIZE, &old);
	CHECK_INT(add(s, "space", 5), 0);
	for (int i = 0; i < kept; i++)
		CHECK_STR(next(s), text);
	CHECK_STR(next(s), "space");
	CHECK(is_exact(&n));
	spool_close(s);
	s = open_spool(&n, CAP);
	CHECK_INT(n.samples_recovered, (kept + 1) * 5);
	spool_close(s);
	remove_all();
}

/* Adds and forwards until it is killed, and writes to the pipe which entries are durable and which are settled. */
static void run_until_killed(int out)
{
	struct spool_counters n;
	struct spool *s = open_spool(&n, (uint64_t)1 << 30);
	struct spool_entry e = { 0 };
	char text[64];

	buf_init(&e.body);
	for (uint64_t i = 0; s; i++) {
		const struct spool_piece pieces[] = { { text, sizeof(text), 1, 0 }, { text, 20, 1, 0 } };
		char line[2] = { 'a', '\n' };

		memset(text, (int)('a' + i % 26), sizeof(text));
		if (spool_append(s, pieces, 2, 0, true, NULL) < 0 || write(out, line, 1) != 1)
			break;
		if (i % 3 || spool_next(s, &e) != 1)
			continue;
		line[0] = 'd';
		spool_done(s);
		if (write(out, line, 1) != 1)
			break;
	}
	_exit(0);
}

TEST(a_process_killed_at_any_moment_loses_no_acknowledged_entry)
{
	uint64_t waiting = 0, last = 0;
	struct spool_counters n;
	struct spool *s;

	fresh();
	srand(7);
	for (int round = 0; round < 60; round++) {
		uint64_t appended = 0, done = 0;
		int pipe_fds[2];
		char c;
		pid_t pid;

		if (pipe(pipe_fds))
			abort();
		pid = fork();
		if (pid == 0)
			run_until_killed(pipe_fds[1]);
		close(pipe_fds[1]);
		usleep((useconds_t)(rand() % 20000));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		while (read(pipe_fds[0], &c, 1) == 1) {
			appended += c == 'a' ? 2 : 0;
			done += c == 'd';
		}
		close(pipe_fds[0]);

		/* Appends in flight at the kill may be there or not: two at most, which are written together. */
		s = open_spool(&n, (uint64_t)1 << 30);
		CHECK(s != NULL);
		CHECK(n.samples_recovered <= waiting + appended + 2 - done);
		CHECK(n.samples_recovered + 1 >= waiting + appended - done);
		CHECK_INT(n.samples_dropped[SPOOL_DROP_FULL], 0);
		CHECK_INT(n.records_damaged, 0);
		waiting = n.samples_recovered;
		/* All entries can be read, and numbers are never reused. */
		uint64_t before = 0, count = 0;
		while (*next(s)) {
			CHECK(entry.sequence > before);
			before = entry.sequence;
			count++;
		}
		CHECK_INT(count, waiting);
		CHECK(before >= last);
		last = before;
		spool_close(s);
	}
	remove_all();
}

TEST_MAIN()
