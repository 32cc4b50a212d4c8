/* test_compress.c: data compressed in pieces is read back unchanged. */
#include "compress.h"

#include "buf.h"
#include "input.h"
#include "io.h"
#include "mem.h"
#include "test.h"

#include <fcntl.h>

static char path[64];

static void make(const struct compress_options *o, const char *piece, size_t times)
{
	_cleanup_(compress_freep) struct compressor *c = NULL;
	struct err err = { 0 };
	int fd;

	snprintf(path, sizeof(path), "/tmp/strobe-compress-XXXXXX");
	fd = mkostemp(path, O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_INT(compress_start(fd, o, &c, &err), 0);
	for (size_t i = 0; i < times; i++)
		CHECK_INT(compress_put(c, piece, strlen(piece), &err), 0);
	CHECK_INT(compress_end(c, &err), 0);
	close(fd);
}

static uint64_t count_lines(const char *piece)
{
	struct err err = { 0 };
	struct input in;
	struct str line;
	uint64_t n = 0;

	CHECK_INT(input_open(&in, path, UINT64_MAX, &err), 0);
	while (input_line(&in, &line))
		n += line.n + 1 == strlen(piece) && !memcmp(line.p, piece, line.n);
	CHECK_INT(input_end(&in, &err), 0);
	input_close(&in);
	unlink(path);
	return n;
}

TEST(gzip_and_zstd_data_survives_a_round_trip)
{
	const char *piece = "main;Cart::total;Tax::of 12\n";

	make(&(struct compress_options){ .level = 9, .name = "a.log", .mtime = 5 }, piece, 100000);
	CHECK_INT(count_lines(piece), 100000);
	make(&(struct compress_options){ .zstd = true, .level = 9 }, piece, 100000);
	CHECK_INT(count_lines(piece), 100000);
	make(&(struct compress_options){ .level = 9 }, "", 0);
	CHECK_INT(count_lines(piece), 0);
	make(&(struct compress_options){ .zstd = true, .level = 3 }, "", 0);
	CHECK_INT(count_lines(piece), 0);
}

/* Returns the comment, or "-". */
static const char *comment(size_t room)
{
	static char out[64];
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	CHECK_INT(io_read_file(path, &b, 1 << 20, NULL), 0);
	unlink(path);
	return compress_comment((const uint8_t *)b.data, b.size, out, room) ? out : "-";
}

TEST(the_comment_of_a_gzip_file_can_be_read)
{
	make(&(struct compress_options){ .level = 9, .name = "a.log", .comment = "drawn" }, "x\n", 1);
	CHECK_STR(comment(64), "drawn");
	make(&(struct compress_options){ .level = 9, .comment = "drawn" }, "x\n", 1);
	CHECK_STR(comment(6), "drawn");
	make(&(struct compress_options){ .level = 9, .comment = "drawn" }, "x\n", 1);
	CHECK_STR(comment(5), "-");
	make(&(struct compress_options){ .level = 9, .name = "a.log" }, "x\n", 1);
	CHECK_STR(comment(64), "-");
	make(&(struct compress_options){ .zstd = true, .level = 9, .comment = "drawn" }, "x\n", 1);
	CHECK_STR(comment(64), "-");
}

/* The same for a file of either kind, which must still be complete. */
static const char *comment_in_file(void)
{
	static char out[COMPRESS_COMMENT_MAX + 1];
	_cleanup_(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool has = compress_read_comment(fd, out);

	CHECK_INT(count_lines("x\n"), 3);
	return has ? out : "-";
}

TEST(both_formats_store_a_comment_that_decompressors_ignore)
{
	const char *longest = "0123456789012345678901234567890123456789012345678901234567890123"
			      "012345678901234567890123456789012345678901234567890123456789012";

	for (int zstd = 0; zstd < 2; zstd++) {
		make(&(struct compress_options){ .zstd = zstd, .level = 3, .name = "a.log", .comment = "made of" },
		     "x\n", 3);
		CHECK_STR(comment_in_file(), "made of");
		make(&(struct compress_options){ .zstd = zstd, .level = 3, .comment = longest }, "x\n", 3);
		CHECK_STR(comment_in_file(), longest);
		make(&(struct compress_options){ .zstd = zstd, .level = 3 }, "x\n", 3);
		CHECK_STR(comment_in_file(), "-");
	}
}

TEST(a_truncated_header_has_no_comment)
{
	const uint8_t bytes[] = { 0x1f, 0x8b, 8, 0x18, 0, 0, 0, 0, 0, 3, 'a', 0, 'b', 0 };
	char out[8];

	CHECK(compress_comment(bytes, sizeof(bytes), out, sizeof(out)) && !strcmp(out, "b"));
	for (size_t n = 0; n < sizeof(bytes); n++)
		CHECK(!compress_comment(bytes, n, out, sizeof(out)));
}

TEST(a_full_disk_is_an_error)
{
	_cleanup_(compress_freep) struct compressor *c = NULL;
	_cleanup_(fd_closep) int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct err err = { 0 };

	CHECK(fd >= 0);
	CHECK_INT(compress_start(fd, &(struct compress_options){ .level = 9 }, &c, &err), 0);
	CHECK(compress_put(c, "x", 1, &err) < 0 || compress_end(c, &err) == -ENOSPC);
}

TEST_MAIN()
