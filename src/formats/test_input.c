/* test_input.c: tests reading by line and as a whole, from memory and files, plain and compressed, of any length. */
#include "input.h"

#include "io.h"
#include "mem.h"
#include "test.h"

#include <zlib.h>

static struct err err;

/* The lines of `text` must be returned unchanged, and finally all of it in one piece. */
static void check_lines(struct input *in, const char *text, size_t n)
{
	size_t at = 0;
	uint64_t number = 0;
	struct str line;

	while (input_line(in, &line)) {
		const char *newline = memchr(text + at, '\n', n - at);
		size_t expected = newline ? (size_t)(newline - text) - at : n - at;

		CHECK_INT(line.n, expected);
		CHECK(line.n == expected && !memcmp(line.p, text + at, expected));
		CHECK_INT(in->line, ++number);
		at += expected + (newline != NULL);
	}
	CHECK_INT(at, n);
	CHECK_INT(input_end(in, &err), 0);
}

static void check_memory(const char *text, size_t n)
{
	struct input in;

	CHECK_INT(input_memory(&in, "m", text, n, UINT64_MAX, &err), 0);
	check_lines(&in, text, n);
	input_close(&in);
}

static void write_gzip(const char *path, const char *text, size_t n)
{
	gzFile f = gzopen(path, "wb1");

	CHECK(f && (n == 0 || gzwrite(f, text, (unsigned)n) == (int)n));
	gzclose(f);
}

/* The same from a file, plain and compressed. */
static void check_file(const char *text, size_t n)
{
	const char *path = "/tmp/strobe-test-input";
	struct input in;

	CHECK_INT(io_write_file(path, text, n, &err), 0);
	for (int packed = 0; packed < 2; packed++) {
		struct str all;

		if (packed)
			write_gzip(path, text, n);
		CHECK_INT(input_open(&in, path, n, &err), 0);
		check_lines(&in, text, n);
		input_close(&in);
		CHECK_INT(input_open(&in, path, n, &err), 0);
		input_peek(&in, 10);
		CHECK_INT(input_all(&in, &all, &err), 0);
		CHECK(all.n == n && !memcmp(all.p, text, n));
		input_close(&in);
		if (n > 1) {
			CHECK_INT(input_open(&in, path, n - 1, &err), packed ? 0 : -EFBIG);
			CHECK_INT(packed ? input_all(&in, &all, &err) : -EFBIG, -EFBIG);
			input_close(&in);
		}
	}
	unlink(path);
}

TEST(lines_are_returned_unchanged)
{
	const char *texts[] = { "", "\n", "a", "a\n", "a\nb", "\n\na\n", "a\r\nb\r\n" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		check_memory(texts[i], strlen(texts[i]));
		if (*texts[i])
			check_file(texts[i], strlen(texts[i]));
	}
}

TEST(lines_of_any_length_cross_the_buffer)
{
	size_t n = 9 << 20, at = 0;
	char *text = xmalloc(n);

	memset(text, 'x', n);
	for (size_t length = 1; at + length < n; length = length * 3 / 2 + 7) {
		at += length;
		text[at++] = '\n';
	}
	check_memory(text, n);
	check_file(text, n);
	memset(text, '\n', n / 2);
	check_file(text, n);
	free(text);
}

TEST(peeked_bytes_stay_unread)
{
	struct input in;
	struct str all, line;

	CHECK_INT(input_memory(&in, "m", "one\ntwo\n", 8, 8, &err), 0);
	CHECK_INT(input_peek(&in, 3).n, 3);
	CHECK_INT(input_peek(&in, 100).n, 8);
	CHECK(input_line(&in, &line) && line.n == 3);
	CHECK_INT(input_all(&in, &all, &err), 0);
	CHECK(all.n == 4 && !memcmp(all.p, "two\n", 4));
	CHECK(!input_line(&in, &line));
	input_close(&in);
	CHECK_INT(input_memory(&in, "m", "too much", 8, 7, &err), -EFBIG);
	input_close(&in);
}

TEST_MAIN()
