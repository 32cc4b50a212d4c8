/* test_source.c: tests which lines, messages and entries are accepted, and the counters of the others. */
#include "source.h"

#include "buf.h"
#include "mem.h"
#include "source_entry.h"
#include "test.h"
#include "test_message.h"

struct fixture {
	struct source s;
	struct buf got;			/* lines, each with a newline */
	uint64_t messages, batch_id;
	char *host;			/* host in the last about */
	char *channel;
};

static void note_about(struct fixture *f, const struct message_metadata *about)
{
	const char *host = about->labels ? labels_get(about->labels, "host") : NULL;

	free(f->host);
	free(f->channel);
	f->host = host ? xstrdup(host) : NULL;
	f->channel = about->channel ? xstrdup(about->channel) : NULL;
	f->batch_id = about->batch_id;
	CHECK(about->source == &f->s);
}

static void on_line(void *data, const struct message_metadata *about, const char *line, size_t n)
{
	struct fixture *f = data;

	note_about(f, about);
	buf_put(&f->got, line, n);
	buf_putc(&f->got, '\n');
}

static void on_message(void *data, const struct message_metadata *about, const struct strobe_wire_message *m)
{
	struct fixture *f = data;

	note_about(f, about);
	f->messages++;
}

static void start(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	buf_init(&f->got);
	f->s.receiver = (struct source_receiver){ .message = on_message, .line = on_line, .data = f };
}

static void stop(struct fixture *f)
{
	buf_done(&f->got);
	free(f->host);
	free(f->channel);
}

static enum source_line_error line(struct fixture *f, const char *bytes, size_t n)
{
	return source_line(&f->s, (struct message_metadata){ .channel = "excimer" }, bytes, n);
}

static void check_line(const char *bytes, size_t n, enum source_line_error wanted)
{
	struct fixture f;

	start(&f);
	CHECK_INT(line(&f, bytes, n), wanted);
	CHECK_INT(f.s.counters.lines, wanted == SOURCE_LINE_OK);
	CHECK_INT(f.s.counters.bytes, wanted == SOURCE_LINE_OK ? n : 0);
	CHECK_INT(f.s.counters.last_message_ns != 0, wanted == SOURCE_LINE_OK);
	if (wanted)
		CHECK_INT(f.s.counters.rejected_lines[wanted], 1);
	else
		CHECK(f.got.size == n + 1 && !memcmp(f.got.data, bytes, n));
	if (!wanted)
		CHECK_STR(f.channel, "excimer");
	stop(&f);
}

#define CHECK_LINE(text, wanted)	check_line(text, sizeof(text) - 1, wanted)

TEST(lines_are_passed_on_unchanged)
{
	CHECK_LINE("main;work 12", SOURCE_LINE_OK);
	CHECK_LINE("main 1", SOURCE_LINE_OK);
	CHECK_LINE("/srv/w/index.php;class@anonymous\0/srv/a.php:3$0;odd \x1b[31m name\xff 3", SOURCE_LINE_OK);
	CHECK_LINE("main;work 12\r", SOURCE_LINE_OK);
	CHECK_LINE("main;work 1000000000000", SOURCE_LINE_OK);
}

TEST(invalid_lines_are_counted_by_reason)
{
	CHECK_LINE("", SOURCE_LINE_BLANK);
	CHECK_LINE(" \t ", SOURCE_LINE_BLANK);
	CHECK_LINE("main;work", SOURCE_LINE_NO_COUNT);
	CHECK_LINE("12", SOURCE_LINE_NO_COUNT);
	CHECK_LINE("; 12", SOURCE_LINE_NO_COUNT);
	CHECK_LINE("main;work x12", SOURCE_LINE_NO_COUNT);
	CHECK_LINE("main;work 0", SOURCE_LINE_BAD_COUNT);
	CHECK_LINE("main;work -3", SOURCE_LINE_BAD_COUNT);
	CHECK_LINE("main;work 1.5", SOURCE_LINE_BAD_COUNT);
	CHECK_LINE("main;work 1000000000001", SOURCE_LINE_BAD_COUNT);
	CHECK_LINE(";x 9223372036854775807", SOURCE_LINE_BAD_COUNT);
	CHECK_LINE("main;work 9223372036854775808", SOURCE_LINE_BAD_COUNT);
	CHECK_LINE("main;work 1\nmain;work 2", SOURCE_LINE_BAD_BYTE);
}

TEST(a_line_has_at_most_a_megabyte)
{
	size_t n = SOURCE_LINE_MAX;
	char *bytes = xmalloc(n + 1);

	memset(bytes, 'a', n + 1);
	memcpy(bytes + n - 2, " 1", 2);
	check_line(bytes, n, SOURCE_LINE_OK);
	memcpy(bytes + n - 2, "a 1", 3);
	check_line(bytes, n + 1, SOURCE_LINE_TOO_LONG);
	free(bytes);
}

TEST(a_line_has_at_most_ten_thousand_frames)
{
	struct buf b;

	buf_init(&b);
	for (unsigned i = 1; i < SOURCE_LINE_DEPTH; i++)
		buf_puts(&b, "f;");
	buf_puts(&b, "f 1");
	check_line(b.data, b.size, SOURCE_LINE_OK);
	buf_reset(&b);
	for (unsigned i = 0; i < SOURCE_LINE_DEPTH; i++)
		buf_puts(&b, "f;");
	buf_puts(&b, "f 1");
	check_line(b.data, b.size, SOURCE_LINE_TOO_DEEP);
	buf_done(&b);
}

TEST(text_is_split_into_lines)
{
	const struct message_metadata about = { 0 };
	struct fixture f;
	struct err err = { 0 };

	start(&f);
	CHECK_INT(source_lines(&f.s, about, "a;b 1\nc 2", 9, &err), 2);
	CHECK_INT(source_lines(&f.s, about, "d 3\n", 4, &err), 1);
	CHECK_INT(source_lines(&f.s, about, "\n\ne 4\n\n", 7, &err), 1);
	CHECK_INT(source_lines(&f.s, about, "", 0, &err), 0);
	CHECK_STR(f.got.data, "a;b 1\nc 2\nd 3\ne 4\n");
	CHECK_STR(err.text, "");
	CHECK_INT(source_lines(&f.s, about, "f 5\nnone\nzero 0", 15, &err), 1);
	CHECK_STR(err.text, "line 2 is invalid: a folded line ends with a space and a count, as in main;work 12");
	CHECK_INT(f.s.counters.rejected_lines[SOURCE_LINE_NO_COUNT], 1);
	CHECK_INT(f.s.counters.rejected_lines[SOURCE_LINE_BAD_COUNT], 1);
	CHECK_INT(f.s.counters.rejected_lines[SOURCE_LINE_BLANK], 0);
	stop(&f);
}

static struct str str(const char *text)
{
	return (struct str){ text, strlen(text) };
}

TEST(an_entry_with_a_line_is_a_line_with_labels)
{
	struct labels url = { 0 };
	struct fixture f;

	start(&f);
	labels_set(&url, "host", 4, "of the url", 10);
	CHECK_INT(source_entry(&f.s, (struct message_metadata){ .labels = &url },
			       (struct str[]){ str("line"), str("a;b 2"), str("host"), str("web1") }, 4, NULL),
		  1);
	CHECK_STR(f.got.data, "a;b 2\n");
	CHECK_STR(f.host, "web1");
	CHECK_INT(source_entry(&f.s, (struct message_metadata){ .labels = &url },
			       (struct str[]){ str("line"), str("c 3") }, 2, NULL),
		  1);
	CHECK_STR(f.host, "of the url");
	CHECK_INT(f.s.counters.rejected_entries, 0);
	labels_done(&url);
	stop(&f);
}

TEST(each_message_of_an_entry_is_received)
{
	uint8_t bytes[8192];
	size_t n = test_message_write(&(struct test_message){ .samples = 3 }, bytes, sizeof(bytes) / 2);
	struct fixture f;

	start(&f);
	memcpy(bytes + n, bytes, n);
	CHECK_INT(source_entry(&f.s, (struct message_metadata){ 0 },
			       (struct str[]){ str("strobe"), { (char *)bytes, 2 * n }, str("id"), str("000000000000002a"), str("host"), str("web1") }, 6, NULL),
		  2);
	CHECK_INT(f.messages, 2);
	CHECK_INT(f.batch_id, 42);
	CHECK_STR(f.host, "web1");
	stop(&f);
}

TEST(an_empty_entry_is_counted)
{
	uint8_t bytes[4096];
	size_t n = test_message_write(&(struct test_message){ .samples = 3 }, bytes, sizeof(bytes));
	struct fixture f;
	struct err err;

	start(&f);
	CHECK_INT(source_entry(&f.s, (struct message_metadata){ 0 }, NULL, 0, &err), 0);
	CHECK_INT(source_entry(&f.s, (struct message_metadata){ 0 }, (struct str[]){ str("line"), str("none") }, 2, &err),
		  0);
	CHECK_STR(err.text, "line 1 is invalid: a folded line ends with a space and a count, as in main;work 12");
	CHECK_INT(source_entry(&f.s, (struct message_metadata){ 0 }, (struct str[]){ str("line"), str("") }, 2, &err), 0);
	CHECK_STR(err.text, "the entry is empty");
	CHECK_INT(source_entry(&f.s, (struct message_metadata){ 0 }, (struct str[]){ str("strobe"), str("STRB") }, 2, &err),
		  0);
	CHECK_INT(source_entry(&f.s, (struct message_metadata){ 0 },
			       (struct str[]){ str("strobe"), { (char *)bytes, n - 1 } }, 2, &err),
		  0);
	memset(bytes + 8, 0, 4);
	CHECK_INT(source_entry(&f.s, (struct message_metadata){ 0 }, (struct str[]){ str("strobe"), { (char *)bytes, n } },
			       2, &err),
		  0);
	CHECK_INT(f.messages, 0);
	CHECK_INT(f.s.counters.rejected_entries, 6);
	stop(&f);
}

TEST_MAIN()
