/* test_window.c: windows are merged, survive crashes, and become entries of the spool. */
#include "window_private.h"

#include "io.h"
#include "log.h"
#include "mem.h"
#include "test.h"
#include "wire_profile.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zstd.h>

#define BUCKET	(1700000000LL * 1000000000LL)

static char directory[64];
static struct spool_counters counters;
static struct spool *spool;
static struct window *window;

static void open_all(void)
{
	struct err err = { 0 };

	log_set_level(-1);
	memset(&counters, 0, sizeof(counters));
	if (spool_open(directory, (uint64_t)1 << 30, &counters, &spool, &err) < 0 ||
	    window_open(directory, "web1", spool, &counters, &window, &err) < 0)
		printf("# %s\n", err.text);
}

static void close_all(void)
{
	window = window_free(window);
	spool = spool_close(spool);
}

static void open_fresh(void)
{
	snprintf(directory, sizeof(directory), "/tmp/strobe-window-XXXXXX");
	if (!mkdtemp(directory))
		abort();
	open_all();
}

static void end(void)
{
	struct dirent *d;
	DIR *dir = opendir(directory);

	close_all();
	while (dir && (d = readdir(dir))) {
		_cleanup_(freep) char *path = xasprintf("%s/%s", directory, d->d_name);

		unlink(path);
	}
	closedir(dir);
	rmdir(directory);
}

/* A batch with one entry: one stack, so many samples. "f@12" is line 12 of f. */
static int add_labeled(uint64_t id, const char *labels_text, const char *function, int64_t samples, int64_t bucket_ns)
{
	struct profile *p = profile_new();
	struct labels labels;
	struct batch_entry e = {
		.bucket_ns = bucket_ns, .labels = &labels, .clock = STROBE_CLOCK_WALL, .period_ns = 10000000,
		.profile = p,
	};
	const struct batch b = { .id = id, .entries = &e, .count = 1 };
	uint32_t column = profile_column(p, "samples", "count");
	const char *at = strchr(function, '@');
	struct str name = { function, at ? (size_t)(at - function) : strlen(function) }, none = { "", 0 };
	struct err err = { 0 };
	int r;

	profile_keep_lines(p, true);
	profile_add(p, profile_child_at(p, PROFILE_ROOT, profile_frame(p, name, none, 0), at ? (uint32_t)atoi(at + 1) : 0), column,
		    samples);
	labels_init(&labels);
	labels_parse(labels_text, &labels, NULL);
	r = window_add(window, &b, &err);
	labels_done(&labels);
	profile_free(p);
	return r;
}

static int add(uint64_t id, const char *function, int64_t samples)
{
	return add_labeled(id, "entry=index", function, samples, BUCKET);
}

/* Three entries, so three messages: 1, 2 and 4 samples. */
static int add_three(uint64_t id)
{
	static const char *const names[] = { "entry=index", "entry=b", "entry=c" };
	struct batch_entry entries[3];
	const struct batch b = { .id = id, .entries = entries, .count = 3 };
	struct profile *profiles[3];
	struct labels labels[3];
	int r;

	for (size_t i = 0; i < 3; i++) {
		struct str name = { "a", 1 }, none = { "", 0 };
		struct profile *p = profiles[i] = profile_new();

		profile_add(p, profile_child(p, PROFILE_ROOT, profile_frame(p, name, none, 0)),
			    profile_column(p, "samples", "count"), 1 << i);
		labels_init(&labels[i]);
		labels_parse(names[i], &labels[i], NULL);
		entries[i] = (struct batch_entry){
			.bucket_ns = BUCKET, .labels = &labels[i], .clock = STROBE_CLOCK_WALL, .period_ns = 10000000,
			.profile = p,
		};
	}
	r = window_add(window, &b, NULL);
	for (size_t i = 0; i < 3; i++) {
		labels_done(&labels[i]);
		profile_free(profiles[i]);
	}
	return r;
}

static bool is_exact(void)
{
	const struct spool_counters *n = &counters;
	uint64_t dropped = 0;

	for (size_t i = 0; i < SPOOL_DROPS; i++)
		dropped += n->samples_dropped[i];
	return n->samples_recovered + n->samples_received == n->samples_forwarded + n->samples_deduplicated + dropped + n->samples_waiting;
}

/* All entries of the spool, as lines "labels function samples" of each message. */
static char *read_spool(void)
{
	struct spool_entry e = { 0 };
	struct buf out;

	buf_init(&out);
	buf_init(&e.body);
	while (spool_next(spool, &e) == 1) {
		size_t n = (size_t)ZSTD_getFrameContentSize(e.body.data, e.body.size), size;
		_cleanup_(freep) char *bytes = xmalloc(n + 1);

		CHECK(ZSTD_decompress(bytes, n, e.body.data, e.body.size) == n);
		for (size_t at = 0; at < n; at += size) {
			struct strobe_wire_message m;
			struct profile *p = profile_new();
			struct labels labels;

			size = strobe_wire_get_le((uint8_t *)bytes + at + 8, 4);
			CHECK_INT(strobe_wire_parse(bytes + at, size, &m), STROBE_WIRE_OK);
			CHECK_INT(m.info.clock, STROBE_CLOCK_WALL);
			CHECK_INT(m.info.period_ns, 10000000);
			profile_keep_lines(p, true);
			wire_profile_add(p, &m);
			labels_init(&labels);
			wire_profile_labels(&m, &labels);
			labels_put(&labels, &out);
			buf_printf(&out, " %lld",
				   (long long)(m.info.end_ns / BATCH_BUCKET_NS - BUCKET / BATCH_BUCKET_NS));
			for (uint32_t i = 1; i < p->node_count; i++) {
				buf_printf(&out, " %s", profile_name(p, p->node_frames[i]).p);
				if (profile_line(p, i))
					buf_printf(&out, "@%u", profile_line(p, i));
				buf_printf(&out, "=%lld", (long long)p->columns[0].self[i]);
			}
			buf_putc(&out, '\n');
			labels_done(&labels);
			profile_free(p);
		}
	}
	buf_done(&e.body);
	return buf_take(&out, NULL);
}

static void check_spool(const char *expected)
{
	_cleanup_(freep) char *text = read_spool();

	CHECK_STR(text, expected);
}

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", directory, name);
}

TEST(samples_of_a_window_are_merged_by_series_and_bucket)
{
	open_fresh();
	CHECK_INT(add(1, "a", 1), 0);
	CHECK_INT(add(2, "b", 2), 0);
	CHECK_INT(add(3, "a", 4), 0);
	CHECK_INT(add_labeled(4, "entry=api", "a", 8, BUCKET), 0);
	CHECK_INT(add_labeled(5, "entry=index", "a", 16, BUCKET + BATCH_BUCKET_NS), 0);
	CHECK_INT(counters.samples_waiting, 31);
	CHECK_INT(window_close(window, NULL), 0);
	CHECK(window_is_empty(window));
	check_spool("entry=index,host=web1 0 a=5 b=2\n"
		    "entry=api,host=web1 0 a=8\n"
		    "entry=index,host=web1 1 a=16\n");
	CHECK_INT(counters.records_waiting, 1);
	CHECK_INT(counters.samples_waiting, 31);
	CHECK(is_exact());
	end();
}

TEST(executed_lines_are_forwarded)
{
	open_fresh();
	CHECK_INT(add(1, "a@7", 1), 0);
	CHECK_INT(add(2, "a@8", 2), 0);
	CHECK_INT(add(3, "a", 4), 0);
	CHECK_INT(add(4, "a@7", 8), 0);
	CHECK_INT(window_close(window, NULL), 0);
	check_spool("entry=index,host=web1 0 a@7=9 a@8=2 a=4\n");
	end();
}

/* More than 8 MB of messages, so that some are merged before the window is closed. */
TEST(a_large_window_is_merged_incrementally_without_loss)
{
	_cleanup_(freep) char *name = xmalloc(60001), *text = NULL;
	size_t found = 0;

	open_fresh();
	memset(name, 'x', 60000);
	name[60000] = 0;
	for (unsigned i = 0; i < 300; i++) {
		name[i % 150] = i % 150 % 2 ? 'y' : 'z';
		name[59999] = i < 150 ? 'a' : 'b';
		CHECK_INT(add(i + 1, name, 1), 0);
	}
	CHECK_INT(counters.samples_waiting, 300);
	CHECK(window->series.waiting.bytes.bytes < (size_t)9 << 20);	/* for 18 MB */
	CHECK_INT(window_close(window, &(struct err){ 0 }), 0);
	CHECK(window_is_empty(window));
	CHECK_INT(counters.samples_waiting, 300);
	CHECK(is_exact());
	text = read_spool();
	for (const char *p = text; (p = strstr(p, "=1")); p++)
		found += p[2] == ' ' || p[2] == '\n';
	for (const char *p = text; (p = strstr(p, "=150")); p++)
		found += 150;
	CHECK_INT(found, 300);
	end();
}

TEST(an_existing_host_label_is_kept)
{
	open_fresh();
	add_labeled(1, "entry=index,host=db7", "a", 1, BUCKET);
	window_close(window, NULL);
	check_spool("entry=index,host=db7 0 a=1\n");
	end();
}

TEST(a_redelivered_batch_is_not_added_again)
{
	open_fresh();
	add(1, "a", 1);
	CHECK_INT(add(1, "a", 1), 0);
	CHECK_INT(counters.samples_received, 1);
	close_all();				/* as after a crash: nothing is written at the end */
	open_all();
	CHECK_INT(add(1, "a", 1), 0);
	CHECK_INT(counters.samples_recovered, 1);
	CHECK_INT(counters.samples_waiting, 1);
	CHECK_INT(window_close(window, NULL), 0);
	CHECK_INT(add(1, "a", 1), 0);
	CHECK(window_is_empty(window));
	/* Also batches of earlier windows, whose files are gone. */
	for (uint64_t i = 2; i < 8; i++) {
		add(i, "b", 1);
		window_close(window, NULL);
	}
	close_all();
	open_all();
	CHECK_INT(add(1, "a", 1), 0);
	CHECK_INT(add(5, "a", 1), 0);
	CHECK(window_is_empty(window));
	CHECK_INT(counters.samples_waiting, 7);
	CHECK(is_exact());
	end();
}

TEST(a_pending_batch_is_deduplicated_regardless_of_how_many_followed)
{
	const uint64_t open[] = { 2 };
	uint64_t handed;

	open_fresh();
	for (uint64_t id = 1; id <= WINDOW_IDS + 5; id++)
		CHECK_INT(add(id, "f", 1), 0);
	window_keep_ids(window, open, 1);
	CHECK_INT(window_close(window, NULL), 0);
	CHECK_INT(add(WINDOW_IDS + 6, "f", 1), 0);	/* a new file begins with the ids */
	CHECK_INT(window_close(window, NULL), 0);
	CHECK_INT(add(WINDOW_IDS + 7, "f", 1), 0);
	for (unsigned again = 0; again < 2; again++) {
		handed = counters.samples_received;
		CHECK_INT(add(2, "f", 1), 0);
		CHECK_INT(add(6, "f", 1), 0);
		CHECK_INT(add(WINDOW_IDS + 5, "f", 1), 0);
		CHECK_INT(counters.samples_received, handed);
		close_all();
		open_all();
	}
	CHECK_INT(add(5, "f", 1), 0);
	CHECK_INT(counters.samples_received, 1);		/* neither open nor among the last ones */
	end();
}

TEST(an_open_window_is_recovered_after_a_crash)
{
	open_fresh();
	add(1, "a", 1);
	window_close(window, NULL);
	add(2, "b", 2);
	add(3, "c", 4);
	close_all();
	open_all();
	CHECK_INT(counters.samples_recovered, 7);
	CHECK_INT(window_began_ns(window), 0);
	add(4, "d", 8);
	close_all();
	open_all();
	CHECK_INT(counters.samples_recovered, 15);
	window_close(window, NULL);
	check_spool("entry=index,host=web1 0 a=1\n"
		    "entry=index,host=web1 0 b=2 c=4 d=8\n");
	CHECK(is_exact());
	end();
}

TEST(a_spooled_window_is_not_recovered_from_its_parts_again)
{
	static const char *const names[] = { "window-0", "window-1" };

	for (int windows = 0; windows < 4; windows++) {
		open_fresh();
		for (int i = 0; i < windows; i++) {
			add((uint64_t)i + 1, "a", 1);
			window_close(window, NULL);
		}
		add(10, "b", 2);
		add(11, "b", 2);
		window_close(window, NULL);
		close_all();
		open_all();
		CHECK(window_is_empty(window));
		CHECK_INT(counters.samples_recovered, windows + 4);
		/* Without the files everything is in the spool already. */
		close_all();
		for (size_t i = 0; i < 2; i++) {
			_cleanup_(freep) char *path = path_of(names[i]);

			unlink(path);
		}
		open_all();
		CHECK_INT(counters.samples_recovered, windows + 4);
		end();
	}
}

TEST(a_part_truncated_at_any_byte_is_discarded)
{
	_cleanup_(freep) char *path = NULL;
	_cleanup_(buf_done) struct buf all = { 0 };
	struct stat st;

	open_fresh();
	buf_init(&all);
	path = path_of("window-1");
	add(1, "a", 1);
	CHECK_INT(stat(path, &st), 0);
	add(2, "b", 2);
	close_all();
	CHECK_INT(io_read_file(path, &all, 1 << 20, NULL), 0);
	for (size_t cut = (size_t)st.st_size; cut < all.size; cut++) {
		io_write_file(path, all.data, cut, NULL);
		open_all();
		CHECK_INT(counters.samples_recovered, 1);
		CHECK_INT(counters.records_damaged, 0);
		CHECK_INT(add(2, "b", 2), 0);
		CHECK_INT(counters.samples_waiting, 3);
		CHECK(is_exact());
		close_all();
		open_all();
		CHECK_INT(counters.samples_recovered, 3);
		close_all();
	}
	open_all();
	end();
}

TEST(a_damaged_part_is_counted_and_other_parts_are_kept)
{
	_cleanup_(freep) char *path = NULL;
	struct stat st;
	int fd;

	open_fresh();
	path = path_of("window-1");
	add(1, "a", 1);
	CHECK_INT(stat(path, &st), 0);
	add(2, "b", 2);
	add(3, "c", 4);
	close_all();
	fd = open(path, O_WRONLY);
	CHECK(pwrite(fd, "\xff\xff", 2, st.st_size + (off_t)RECORD_HEADER + 10) == 2);
	close(fd);
	open_all();
	CHECK_INT(counters.samples_recovered, 7);
	CHECK_INT(counters.samples_dropped[SPOOL_DROP_DAMAGED], 2);
	CHECK_INT(counters.samples_waiting, 5);
	window_close(window, NULL);
	check_spool("entry=index,host=web1 0 a=1 c=4\n");
	CHECK(is_exact());
	end();
}

/* Damages any byte except those of the last record, which may have been in flight when the machine stopped. */
TEST(damage_at_any_byte_is_counted_in_samples_and_later_parts_are_kept)
{
	_cleanup_(freep) char *path = NULL;
	_cleanup_(buf_done) struct buf all = { 0 };
	struct stat ids, first, second;

	open_fresh();
	buf_init(&all);
	path = path_of("window-1");
	add(1, "a", 1);
	CHECK_INT(stat(path, &first), 0);
	add(2, "b", 2);
	CHECK_INT(stat(path, &second), 0);
	add(3, "c", 4);
	close_all();
	CHECK_INT(io_read_file(path, &all, 1 << 20, NULL), 0);
	ids.st_size = RECORD_HEADER;			/* it names no earlier batch */
	for (off_t at = 0; at < second.st_size; at++) {
		int64_t lost = at < ids.st_size ? 0 : at < first.st_size ? 1 : 2;

		all.data[at] ^= 0x55;
		io_write_file(path, all.data, all.size, NULL);
		all.data[at] ^= 0x55;
		open_all();
		CHECK_INT(counters.samples_recovered, 7);
		CHECK_INT(counters.samples_dropped[SPOOL_DROP_DAMAGED], lost);
		CHECK_INT(counters.records_damaged, 1);
		CHECK(is_exact());
		CHECK_INT(window->samples, 7);			/* before what comes next */
		CHECK_INT(add(4, "d", 8), 0);
		close_all();
		open_all();
		CHECK_INT(counters.samples_recovered, 15);
		CHECK_INT(counters.samples_dropped[SPOOL_DROP_DAMAGED], lost);
		close_all();
	}
	open_all();
	end();
}

/* Writes the last part of window-1, whose record is at `at`, again with other bytes in its messages. */
static void rewrite_part(off_t at, void (*change)(char *bytes))
{
	_cleanup_(freep) char *path = path_of("window-1"), *bytes = xmalloc(4096);
	_cleanup_(buf_done) struct buf body = { 0 };
	int fd = open(path, O_RDWR);
	uint8_t header[RECORD_HEADER], packed[4096];
	struct record r;
	struct stat st;
	size_t n;

	buf_init(&body);
	CHECK_INT(fstat(fd, &st), 0);
	CHECK_INT(record_at(fd, at, st.st_size, &r), 1);
	CHECK_INT(record_body(fd, at, &r, &body), 0);
	n = ZSTD_decompress(bytes, 4096, body.data, body.size);
	CHECK(!ZSTD_isError(n));
	change(bytes);
	n = ZSTD_compress(packed, sizeof(packed), bytes, n, 1);
	CHECK(!ZSTD_isError(n));
	record_seal(&r, packed, n, header);
	CHECK_INT(record_write(fd, at, header, sizeof(header)), 0);
	CHECK_INT(record_write(fd, at + (off_t)RECORD_HEADER, packed, n), 0);
	CHECK_INT(ftruncate(fd, at + (off_t)(RECORD_HEADER + n)), 0);
	close(fd);
}

static char *second(char *bytes)
{
	return bytes + strobe_wire_get_le((uint8_t *)bytes + 8, 4);
}

static void break_magic(char *bytes)
{
	second(bytes)[0] ^= 1;
}

static void break_content(char *bytes)
{
	second(bytes)[STROBE_WIRE_HEADER] ^= 0x7f;
}

static void break_length(char *bytes)
{
	second(bytes)[8] ^= 1;
}

static void break_length_beyond_all(char *bytes)
{
	second(bytes)[11] = 0x7f;
}

static void break_length_to_nothing(char *bytes)
{
	memset(second(bytes) + 8, 0, 4);
}

TEST(an_unreadable_message_of_a_part_is_counted_and_the_others_are_kept)
{
	static const struct {
		void (*change)(char *bytes);
		int64_t dropped;
		const char *expected;
	} cases[] = {
		{ break_magic, 2, "entry=index,host=web1 0 a=17\nentry=c,host=web1 0 a=4\n" },
		{ break_content, 2, "entry=index,host=web1 0 a=17\nentry=c,host=web1 0 a=4\n" },
		/* The start of the third one is lost. */
		{ break_length, 6, "entry=index,host=web1 0 a=17\n" },
		{ break_length_beyond_all, 6, "entry=index,host=web1 0 a=17\n" },
		{ break_length_to_nothing, 6, "entry=index,host=web1 0 a=17\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *path = NULL;
		struct stat st;

		open_fresh();
		path = path_of("window-1");
		CHECK_INT(add(1, "a", 16), 0);
		CHECK_INT(stat(path, &st), 0);
		CHECK_INT(add_three(2), 0);
		close_all();
		rewrite_part(st.st_size, cases[i].change);
		open_all();
		CHECK_INT(counters.samples_recovered, 23);
		CHECK_INT(counters.samples_dropped[SPOOL_DROP_DAMAGED], cases[i].dropped);
		CHECK_INT(counters.samples_waiting, 23 - cases[i].dropped);
		CHECK_INT(counters.records_damaged, 1);
		CHECK_INT(add_three(2), 0);		/* the batch is deduplicated */
		CHECK_INT(window_close(window, NULL), 0);
		check_spool(cases[i].expected);
		CHECK(is_exact());
		end();
	}
}

TEST(a_batch_rejected_on_a_full_disk_is_accepted_later)
{
	struct rlimit old, low;
	int kept = 0, r = 0;

	open_fresh();
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	low = old;
	low.rlim_cur = 2000;
	setrlimit(RLIMIT_FSIZE, &low);
	for (; r == 0; kept += r == 0)
		r = add((uint64_t)kept + 1, "a", 1);
	CHECK_INT(r, -ENOSPC);
	CHECK(kept > 3);
	CHECK_INT(counters.samples_waiting, kept);
	CHECK_INT(add((uint64_t)kept + 1, "a", 1), -ENOSPC);
	setrlimit(RLIMIT_FSIZE, &old);
	CHECK_INT(add((uint64_t)kept + 1, "a", 1), 0);
	close_all();
	open_all();
	CHECK_INT(counters.samples_recovered, kept + 1);
	/* A window that cannot be moved to the spool is not lost either. */
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 10, old.rlim_max });
	CHECK_INT(window_close(window, NULL), -ENOSPC);
	setrlimit(RLIMIT_FSIZE, &old);
	CHECK_INT(counters.samples_waiting, kept + 1);
	CHECK_INT(window_close(window, NULL), 0);
	CHECK_INT(counters.samples_waiting, kept + 1);
	CHECK_INT(counters.records_waiting, 1);
	CHECK(is_exact());
	end();
}

TEST(samples_too_large_for_a_message_are_dropped_without_delaying_the_rest)
{
	_cleanup_(freep) char *name = xcalloc(1, STROBE_WIRE_STRING + 2);

	open_fresh();
	memset(name, 'x', STROBE_WIRE_STRING + 1);
	CHECK_INT(add(1, name, 3), 0);
	CHECK_INT(add(2, "a", 1), 0);
	CHECK_INT(counters.samples_received, 4);
	CHECK_INT(counters.samples_dropped[SPOOL_DROP_TOO_LARGE], 3);
	CHECK_INT(counters.samples_waiting, 1);
	CHECK(is_exact());
	end();
}

TEST_MAIN()
