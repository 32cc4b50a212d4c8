/* test_format.c: tests files of every format and compression, and the errors for other files. */
#include "format.h"
#include "io.h"
#include "mem.h"
#include "test.h"
#include "wire_profile.h"
#include <string.h>
#include <zlib.h>
#include <zstd.h>

static char path[] = "/tmp/strobe-test-format-XXXXXX";
static struct err err;

__attribute__((constructor)) static void set_up(void)
{
	int fd = mkstemp(path);

	fd_closep(&fd);
}

__attribute__((destructor)) static void tear_down(void)
{
	unlink(path);
}

/* Loads `n` bytes from a file; returns the result, and the sum of the first column in *ret_sum. */
static int load(const void *bytes, size_t n, int64_t *ret_sum)
{
	struct profile *p = profile_new();
	int r;

	err = (struct err){ 0 };
	io_write_file(path, bytes, n, NULL);
	r = format_load(path, p, NULL, &err);
	*ret_sum = p->column_count ? profile_sum(p, 0) : 0;
	profile_free(p);
	return r;
}

/* Returns the error for such a file, without its name. */
static const char *complaint(const void *bytes, size_t n)
{
	int64_t sum;
	const char *after;

	CHECK(load(bytes, n, &sum) < 0);
	after = strstr(err.text, path);
	CHECK(after != NULL);
	return after ? after + strlen(path) : "";
}

static void gzip(struct buf *out, const char *text)
{
	z_stream z = { 0 };
	size_t room = compressBound(strlen(text)) + 64;

	deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
	z.next_in = (Bytef *)text;
	z.avail_in = (uInt)strlen(text);
	z.next_out = (Bytef *)buf_reserve(out, room);
	z.avail_out = (uInt)room;
	deflate(&z, Z_FINISH);
	buf_wrote(out, z.total_out);
	deflateEnd(&z);
}

static void zstd(struct buf *out, const char *text)
{
	size_t room = ZSTD_compressBound(strlen(text));
	char *to = buf_reserve(out, room);

	buf_wrote(out, ZSTD_compress(to, room, text, strlen(text), 3));
}

TEST(formats_are_found_by_name_and_suffix)
{
	CHECK(format_by_name("folded") == &format_folded);
	CHECK(format_by_name("strobe") == &format_strobe);
	CHECK(!format_by_name("Folded") && !format_by_name("") && !format_by_name("fold"));
	CHECK(format_by_path("x.folded") == &format_folded);
	CHECK(format_by_path("/a.b/x.txt.gz") == &format_folded);
	CHECK(format_by_path("profile.strobe") == &format_strobe);
	CHECK(format_by_path("profile.strobe.zst") == &format_strobe);
	CHECK(format_by_path("x.xhprof") == &format_xhprof);
	CHECK(format_by_path("x.xhprof.json.gz") == &format_xhprof_json);
	CHECK(format_by_path("x.pb.gz") == &format_pprof);
	CHECK(format_by_path("x.pb") == &format_pprof);
	CHECK(format_by_path("a.speedscope.json") == &format_speedscope);
	CHECK(format_by_path("a.trace.json.gz") == &format_chrome);
	CHECK(format_by_path("/tmp/callgrind.out.1234") == &format_callgrind);
	CHECK(!format_by_path("x.json"));
	CHECK(!format_by_path("folded") && !format_by_path("x.gz") && !format_by_path("dir.folded/x") &&
	      !format_by_path("x.") && !format_by_path("x.fold"));
}

TEST(folded_text_is_recognized)
{
	int64_t sum;

	CHECK_INT(load("a;b 1\na;c 2\n", 12, &sum), 0);
	CHECK_INT(sum, 3);
	CHECK_INT(load("single 7", 8, &sum), 0);
	CHECK_INT(sum, 7);
	CHECK_INT(load("a;b 1\n# what is this\na;c 2\n", 27, &sum), 1);
	CHECK_INT(sum, 3);
	CHECK(strstr(err.text, "(folded): line 2 is not a folded stack"));
}

TEST(compressed_text_is_decompressed)
{
	struct buf b;
	int64_t sum;

	buf_init(&b);
	gzip(&b, "a;b 1\na;c 2\n");
	CHECK_INT(load(b.data, b.size, &sum), 0);
	CHECK_INT(sum, 3);
	gzip(&b, "a;d 4\n");		/* a second member */
	CHECK_INT(load(b.data, b.size, &sum), 0);
	CHECK_INT(sum, 7);
	buf_reset(&b);
	zstd(&b, "a;b 1\na;c 2\n");
	CHECK_INT(load(b.data, b.size, &sum), 0);
	CHECK_INT(sum, 3);
	zstd(&b, "a;d 4\n");
	CHECK_INT(load(b.data, b.size, &sum), 0);
	CHECK_INT(sum, 7);
	buf_done(&b);
}

TEST(compressed_input_truncated_anywhere_is_reported_as_truncated)
{
	struct buf b;
	int64_t sum;

	for (int kind = 0; kind < 2; kind++) {
		buf_init(&b);
		(kind ? zstd : gzip)(&b, "main;a;b;c;d;e 1\nmain;a;b;x;y;z 2\nmain;q;r;s 3\n");
		for (size_t n = 4; n < b.size; n++) {
			CHECK_INT(load(b.data, n, &sum), -EINVAL);
			CHECK(strstr(err.text, "truncated"));
		}
		buf_done(&b);
	}
}

TEST(damaged_compressed_input_is_an_error)
{
	struct buf b;
	int64_t sum;

	buf_init(&b);
	gzip(&b, "main;a;b;c;d;e 1\n");
	b.data[b.size - 6] ^= 1;	/* in the checksum */
	CHECK_INT(load(b.data, b.size, &sum), -EINVAL);
	CHECK(strstr(err.text, "damaged"));
	buf_reset(&b);
	buf_put(&b, "\x28\xb5\x2f\xfd garbage follows here", 25);
	CHECK_INT(load(b.data, b.size, &sum), -EINVAL);
	CHECK(strstr(err.text, "damaged"));
	buf_done(&b);
}

TEST(decompressing_stops_at_the_limit)
{
	char *text = xcalloc(1, 1 << 20);
	struct profile *p = profile_new();
	struct buf b;

	memset(text, '\n', (1 << 20) - 1);
	memcpy(text, "a;b 1", 5);
	for (int kind = 0; kind < 2; kind++) {
		buf_init(&b);
		(kind ? zstd : gzip)(&b, text);
		CHECK_INT(format_load_limited("bomb", b.data, b.size, (1 << 20) - 2, p, &err), -EFBIG);
		CHECK(strstr(err.text, "exceeds the limit of 1048574 bytes once decompressed"));
		CHECK_INT(format_load_limited("bomb", b.data, b.size, (1 << 20) - 1, p, &err), 0);
		buf_done(&b);
	}
	profile_free(p);
	free(text);
}

TEST(files_that_are_not_profiles_are_identified)
{
	CHECK_STR(complaint("", 0), "' is empty, so it has no profile");
	CHECK_STR(complaint("\x89PNG\r\n\x1a\n....", 12), "' is not in a known profile format: it looks like a PNG image");
	CHECK_STR(complaint("<?xml version=\"1.0\"?>\n", 22), "' is not in a known profile format: it looks like XML");
	CHECK_STR(complaint("<?php\necho 1;\n", 14), "' is not in a known profile format: it looks like PHP source");
	CHECK_STR(complaint("\xef\xbb\xbf {\"a\": 1}\n", 13), "' is not in a known profile format: it looks like JSON");
	CHECK_STR(complaint("Hello world\nthis is a text\n", 27),
		  "' is not in a known profile format: it is text, but its lines do not end with a count as folded "
		  "stacks do, such as line 1: 'Hello world'");
	CHECK_STR(complaint("\1\2\3\4\5\6\7", 7),
		  "' is not in a known profile format: it is binary data of an unknown kind");
	CHECK_STR(complaint(" \n\n ", 4), "' is not in a known profile format: it contains only white space");
}

TEST(quoted_lines_are_cut_between_characters_and_cannot_control_the_terminal)
{
	const char *long_line = "Größe Größe Größe Größe Größe Größe Größe Größe Größe Größe Größe\n";

	CHECK_STR(complaint(long_line, strlen(long_line)),
		  "' is not in a known profile format: it is text, but its lines do not end with a count as folded "
		  "stacks do, such as line 1: 'Größe Größe Größe Größe Größe Größe Größe Größe Größe Größe …'");
	CHECK_STR(complaint("\033[31mx \377\n", 9),
		  "' is not in a known profile format: it is text, but its lines do not end with a count as folded "
		  "stacks do, such as line 1: '\ufffd[31mx \ufffd'");
}

TEST(missing_files_and_directories_are_named)
{
	struct profile *p = profile_new();

	CHECK_INT(format_load("/no/such/file", p, NULL, &err), -ENOENT);
	CHECK_STR(err.text, "cannot open '/no/such/file': No such file or directory");
	CHECK_INT(format_load("/tmp", p, NULL, &err), -EISDIR);
	CHECK_STR(err.text, "'/tmp' is a directory, not a file");
	profile_free(p);
}

TEST(a_file_above_the_limit_is_rejected)
{
	struct profile *p = profile_new();

	if (truncate(path, (off_t)FORMAT_INPUT_MAX + 1) < 0)
		SKIP("no sparse files here");
	CHECK_INT(format_load(path, p, NULL, &err), -EFBIG);
	CHECK(strstr(err.text, "; the limit is "));
	CHECK_INT(truncate(path, 0), 0);
	profile_free(p);
}

TEST(a_large_file_is_read_like_a_small_one)
{
	struct buf b;
	int64_t sum, expected = 0;

	buf_init(&b);
	for (int64_t i = 0; b.size < ((size_t)33 << 20); i++) {
		buf_printf(&b, "main;some/long/name/of/a/function;and::another one %lld;leaf %lld\n",
			   (long long)i % 1000, (long long)i % 7);
		expected += i % 7;
	}
	CHECK_INT(load(b.data, b.size, &sum), 0);
	CHECK_INT(sum, expected);
	buf_done(&b);
}

static struct profile *native(const char *labels, int64_t start, int64_t end, int64_t value)
{
	struct profile *p = profile_new();
	uint32_t c = profile_column(p, "samples", "count");
	uint32_t f = profile_frame(p, (struct str){ "main", 4 }, (struct str){ "x.php", 5 }, 3);

	profile_add(p, profile_child(p, PROFILE_ROOT, f), c, value);
	p->start_ns = start;
	p->end_ns = end;
	p->period_ns = 10000000;
	labels_parse(labels, &p->labels, NULL);
	return p;
}

static void put_native(struct buf *b, const char *labels, int64_t start, int64_t end, int64_t value)
{
	struct profile *p = native(labels, start, end, value);

	CHECK_INT(format_strobe.write(p, UINT32_MAX, b, NULL), 0);
	profile_free(p);
}

TEST(native_messages_are_added_up)
{
	struct profile *p = profile_new();
	struct buf b, text;

	buf_init(&b);
	buf_init(&text);
	put_native(&b, "entry=index,host=a,clock=wall", 1000, 2000, 3);
	put_native(&b, "entry=index,host=b,clock=wall", 500, 1500, 4);
	CHECK_INT(format_load_bytes("two", b.data, b.size, p, &err), 0);
	CHECK_INT(profile_sum(p, 0), 7);
	CHECK_INT(p->node_count, 2);
	CHECK_INT(p->start_ns, 500);
	CHECK_INT(p->end_ns, 2000);
	CHECK_INT(p->period_ns, 10000000);
	CHECK(!p->mixed_periods);
	labels_put(&p->labels, &text);
	CHECK_STR(text.data, "clock=wall,entry=index");
	CHECK_INT(p->frames[0].line, 3);
	profile_free(p);
	buf_done(&b);
	buf_done(&text);
}

TEST(complete_messages_of_a_truncated_native_file_are_kept)
{
	struct buf b;
	int64_t sum;
	size_t one;

	buf_init(&b);
	put_native(&b, "host=a", 1000, 2000, 3);
	one = b.size;
	put_native(&b, "host=a", 1000, 2000, 4);
	for (size_t n = one + 1; n < b.size; n++) {
		CHECK_INT(load(b.data, n, &sum), 1);
		CHECK_INT(sum, 3);
		CHECK(strstr(err.text, "is truncated: the file is incomplete"));
	}
	for (size_t n = 5; n < one; n++)
		CHECK_INT(load(b.data, n, &sum), -EINVAL);
	b.data[one + 4] = 9;
	CHECK_INT(load(b.data, b.size, &sum), -EINVAL);
	CHECK(strstr(err.text, "was written by a newer Strobe"));
	buf_done(&b);
}

TEST(a_single_column_can_be_written)
{
	struct profile *p = native("host=a", 1, 2, 3), *back = profile_new();
	uint32_t calls = profile_column(p, "calls", "count");
	struct buf b;

	buf_init(&b);
	profile_add(p, 1, calls, 99);
	CHECK_INT(format_strobe.write(p, calls, &b, NULL), 0);
	CHECK_INT(format_load_bytes("x", b.data, b.size, back, NULL), 0);
	CHECK_INT(back->column_count, 1);
	CHECK_STR(back->columns[0].name, "calls");
	CHECK_INT(profile_sum(back, 0), 99);
	profile_free(p);
	profile_free(back);
	buf_done(&b);
}

TEST(folded_and_native_together_have_no_common_period)
{
	struct profile *p = profile_new();
	struct buf b;

	buf_init(&b);
	put_native(&b, "host=a", 1000, 2000, 3);
	CHECK_INT(format_load_bytes("n", b.data, b.size, p, NULL), 0);
	CHECK_INT(format_load_bytes("f", "main 5\n", 7, p, NULL), 0);
	CHECK_INT(profile_sum(p, 0), 8);
	CHECK(p->mixed_periods);
	CHECK_INT(p->labels.count, 0);
	profile_free(p);
	buf_done(&b);
}

TEST_MAIN()
