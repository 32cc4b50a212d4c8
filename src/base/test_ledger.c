/* test_ledger.c: tests records truncated anywhere, damaged, replaced, and written to a full disk. */
#include "ledger.h"

#include "io.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char dir[] = "/tmp/strobe-ledger-XXXXXX", path[64], other[64];
static struct ledger *ledger;
static struct buf found;		/* the records read, each followed by "|" */
static struct err problem;

static void note(void *data, const uint8_t *body, size_t n)
{
	(void)data;
	buf_put(&found, body, n);
	buf_putc(&found, '|');
}

static size_t reopen(void)
{
	size_t cut = 0;

	ledger = ledger_close(ledger);
	buf_reset(&found);
	CHECK_INT(ledger_open(path, note, NULL, &cut, &ledger, &problem), 0);
	return cut;
}

static void start(void)
{
	if (!*path) {
		CHECK(mkdtemp(dir) != NULL);
		snprintf(path, sizeof(path), "%s/ledger", dir);
		snprintf(other, sizeof(other), "%s/ledger.new", dir);
		buf_init(&found);
	}
	unlink(path);
	CHECK_INT(reopen(), 0);
}

__attribute__((destructor)) static void tear_down(void)
{
	ledger_close(ledger);
	buf_done(&found);
	unlink(path);
	rmdir(dir);
}

static int append(const char *text)
{
	struct buf body;
	int r;

	buf_init(&body);
	buf_puts(&body, text);
	r = ledger_append(ledger, &body, true, &problem);
	buf_done(&body);
	return r;
}

static void put(struct buf *records, const char *text)
{
	ledger_put(records, text, strlen(text));
}

static size_t size_of_file(void)
{
	struct stat st;

	return stat(path, &st) ? 0 : (size_t)st.st_size;
}

TEST(records_are_read_in_order_including_empty_ones)
{
	start();
	CHECK_INT(append("one"), 0);
	CHECK_INT(append(""), 0);
	CHECK_INT(append("three"), 0);
	CHECK_INT(ledger_size(ledger), 3 * LEDGER_HEADER + 8);
	CHECK_INT(reopen(), 0);
	CHECK_STR(found.data, "one||three|");
	CHECK_INT(ledger_size(ledger), size_of_file());
}

TEST(the_format_matches_the_diagram_in_the_header)
{
	static const uint8_t head[] = { 3, 0, 0, 0, 0xa0, 0xe1, 0x1f, 0x32, 0xa7, 0xab, 0x1f, 0x91 };
	struct buf out;

	buf_init(&out);
	put(&out, "one");
	CHECK_INT(out.size, LEDGER_HEADER + 3);
	CHECK(!memcmp(out.data, head, sizeof(head)) && !memcmp(out.data + LEDGER_HEADER, "one", 3));
	buf_done(&out);
}

TEST(a_truncated_record_leaves_earlier_ones_readable)
{
	size_t whole, end;

	start();
	append("first");
	whole = size_of_file();
	append("second");
	end = size_of_file();
	for (size_t at = end - 1; at > whole; at--) {
		CHECK(truncate(path, (off_t)at) == 0);
		CHECK_INT(reopen(), at - whole);
		CHECK_STR(found.data, "first|");
		CHECK_INT(size_of_file(), whole);
		CHECK_INT(append("second"), 0);		/* follows the last complete one */
		CHECK_INT(size_of_file(), end);
	}
	CHECK_INT(reopen(), 0);
	CHECK_STR(found.data, "first|second|");
}

TEST(reading_ends_at_a_damaged_byte)
{
	struct buf bytes;
	size_t whole;

	start();
	append("first");
	whole = size_of_file();
	append("second");
	append("third");
	buf_init(&bytes);
	CHECK_INT(io_read_file(path, &bytes, 1000, NULL), 0);
	for (size_t i = whole; i < whole + LEDGER_HEADER + 6; i++) {
		bytes.data[i] ^= 0x40;
		CHECK_INT(io_write_file(path, bytes.data, bytes.size, NULL), 0);
		bytes.data[i] ^= 0x40;
		CHECK_INT(reopen(), bytes.size - whole);
		CHECK_STR(found.data, "first|");
	}
	buf_done(&bytes);
}

TEST(a_new_file_replaces_the_old_one)
{
	struct buf records;

	start();
	append("old");
	buf_init(&records);
	put(&records, "kept");
	put(&records, "too");
	CHECK_INT(ledger_replace(ledger, &records, &problem), 0);
	CHECK_INT(append("new"), 0);
	CHECK(access(other, F_OK) < 0);
	CHECK_INT(ledger_size(ledger), size_of_file());
	reopen();
	CHECK_STR(found.data, "kept|too|new|");
	buf_done(&records);
}

TEST(the_old_file_is_kept_if_the_new_one_cannot_be_created)
{
	struct buf records;

	start();
	append("old");
	CHECK(mkdir(other, 0700) == 0);
	buf_init(&records);
	put(&records, "kept");
	CHECK_INT(ledger_replace(ledger, &records, &problem), -EISDIR);
	CHECK(strstr(problem.text, "cannot renew '/tmp/strobe-ledger-") != NULL);
	rmdir(other);
	CHECK_INT(append("new"), 0);
	reopen();
	CHECK_STR(found.data, "old|new|");
	buf_done(&records);
}

TEST(a_partial_write_to_a_full_disk_is_rolled_back)
{
	struct rlimit before, small;

	start();
	append("first");
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = (struct rlimit){ ledger_size(ledger) + 4, before.rlim_max };
	setrlimit(RLIMIT_FSIZE, &small);
	CHECK_INT(append("second"), -EFBIG);
	CHECK(strstr(problem.text, "cannot write to '/tmp/strobe-ledger-") != NULL);
	CHECK_INT(size_of_file(), ledger_size(ledger));
	setrlimit(RLIMIT_FSIZE, &before);
	CHECK_INT(append("third"), 0);
	CHECK_INT(reopen(), 0);
	CHECK_STR(found.data, "first|third|");
}

TEST(a_file_of_another_format_is_not_read)
{
	struct ledger *l = NULL;
	size_t cut;

	start();
	CHECK(truncate(path, (off_t)LEDGER_MAX + 1) == 0);
	CHECK_INT(ledger_open(path, note, NULL, &cut, &l, &problem), -EFBIG);
	CHECK_INT(size_of_file(), LEDGER_MAX + 1);
	CHECK_INT(ledger_open("/nowhere/at/all", note, NULL, &cut, &l, &problem), -ENOENT);
	CHECK(l == NULL);
}

TEST_MAIN()
