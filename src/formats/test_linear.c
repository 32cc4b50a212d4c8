/* test_linear.c: tests that reading takes time linear in the size of the input, for any content.
 *
 * Into each sample, a run of something is inserted wherever a word begins or ends, in three lengths, and the steps of
 * reading are counted: of detection, and of each reader. Doubling the run may double the additional steps; if it
 * quadruples them, there is a loop within a loop. The steps for doubling arrays and tables are in between.
 */
#include "buf.h"
#include "count_steps.h"
#include "diff.h"
#include "format.h"
#include "mem.h"
#include "test.h"
#include "test_samples.h"
#include <ctype.h>
#include <stdlib.h>
#include <zlib.h>

#define SHORT		256u	/* bytes of the shortest run in a sample */
#define LONGER		8192u	/* the same for two things: copying or hashing only shows in long runs */
#define SLACK		6000u	/* steps, for tables that happen to grow */

static const struct format_options by_default;
static const struct format_options all_options = {
	.pid = true, .tid = true, .kernel = true, .jit = true, .addresses = true,
	.source_lines = true, .record_tid = true, .record_wake_stack = true, .recurse = true, .calls = true,
	.script_values = true,
};

/* --- Measuring --- */

/* Counts the steps of reading as `f`, or, with NULL, of detecting the format and reading it. */
static uint64_t steps_of_reading(const struct format *f, const struct format_options *options, const struct buf *text)
{
	struct format_options o = *options;
	struct profile *p = profile_new();
	struct input in;
	struct err err;

	o.format = f;
	steps = 0;
	if (input_memory(&in, "x", text->data, text->size, FORMAT_INPUT_MAX, &err) >= 0)
		format_load_input(&in, p, &o, &err);
	input_close(&in);
	profile_free(p);
	return steps;
}

/* Makes a text with about `n` bytes of repetitions. */
typedef void make_fn(const void *what, size_t n, struct buf *out);

static const char *described(const void *what, make_fn *make)
{
	static char text[400];
	struct buf b;
	size_t n = 0;

	buf_init(&b);
	make(what, 8, &b);
	for (size_t i = 0; i < b.size && n < sizeof(text) - 8; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, isprint((unsigned char)b.data[i]) ? "%c" : "\\x%02x",
				      (unsigned char)b.data[i]);
	buf_done(&b);
	return text;
}

/* If set, measures this instead of reading. */
static uint64_t (*measured)(const struct buf *text);

static uint64_t steps_of(const struct format *f, const struct format_options *o, const struct buf *text)
{
	return measured ? measured(text) : steps_of_reading(f, o, text);
}

static bool grows_linearly(const struct format *f, const struct format_options *o, const void *what, make_fn *make,
			   size_t shortest, uint64_t *s)
{
	for (unsigned i = 0; i < 3; i++) {
		struct buf text;

		buf_init(&text);
		make(what, shortest << i, &text);
		s[i] = steps_of(f, o, &text);
		buf_done(&text);
	}
	return s[2] < s[1] || s[1] < s[0] || s[2] - s[1] <= 3 * (s[1] - s[0]) + SLACK;
}

/* If a longer input is detected as another format, the steps jump; the jump disappears once all lengths are longer. */
static bool is_linear(const struct format *f, const struct format_options *o, const void *what, make_fn *make,
		      size_t shortest)
{
	uint64_t s[3];

	if (grows_linearly(f, o, what, make, shortest, s) || grows_linearly(f, o, what, make, shortest * 4, s))
		return true;
	printf("# %s: %llu, %llu, %llu steps with %zu, %zu, %zu bytes of what comes again in\n#   %s\n",
	       measured ? "comparing" : f ? f->name : "detection", (unsigned long long)s[0], (unsigned long long)s[1], (unsigned long long)s[2],
	       shortest * 4, shortest * 8, shortest * 16, described(what, make));
	return false;
}

/* --- Runs in samples --- */

struct run {
	const char *sample;
	size_t at;
	const char *first, *second;	/* half of the run is the first, half the second; NULL: all is the first */
	size_t first_size, second_size;
};

static void put_again(struct buf *out, const char *text, size_t size, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_putc(out, text[i % size]);
}

static void make_run(const void *what, size_t n, struct buf *out)
{
	const struct run *r = what;

	buf_put(out, r->sample, r->at);
	put_again(out, r->first, r->first_size, r->second ? n / 2 : n);
	if (r->second)
		put_again(out, r->second, r->second_size, n / 2);
	buf_puts(out, r->sample + r->at);
}

static int kind_of(char c)
{
	return isalpha((unsigned char)c) ? 'a' : isdigit((unsigned char)c) ? '0' : c;
}

/* Tells whether a word begins or ends before byte `i`, or whether it is the end. */
static bool is_boundary(const char *text, size_t i)
{
	return i == 0 || !text[i] || kind_of(text[i - 1]) != kind_of(text[i]);
}

/* Calls `check` for each sample, as its own format and as the one detected, at each boundary. */
static void at_each_boundary(bool (*check)(const struct format *f, const char *sample, size_t at))
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		const struct format *f = format_by_name(samples[i].format);
		bool fine = true;

		for (size_t at = 0; fine && at <= strlen(samples[i].text); at++)
			if (is_boundary(samples[i].text, at)) {
				fine = check(f, samples[i].text, at) && check(NULL, samples[i].text, at);
				if (f == &format_perf && strstr(samples[i].text, "sched:"))
					fine = fine && check(&format_perf_sched, samples[i].text, at);
			}
		CHECK(fine);
	}
}

/* Bytes that have a meaning in some format, and one of each other kind. */
static const char odd[] = "\0\t\n\v\f\r !\"#$%&'()*+,-./09:;<=>?@AR[\\]^_`aefx{|}~\x7f\x80\xc3\xff";

/* In full runs, every byte at each boundary; otherwise every sixth, and others at the next boundary. */
static bool check_bytes(const struct format *f, const char *sample, size_t at)
{
	for (size_t i = at % test_every(6); i + 1 < sizeof(odd); i += test_every(6)) {
		const struct run r = { .sample = sample, .at = at, .first = odd + i, .first_size = 1 };

		if (!is_linear(f, &by_default, &r, make_run, SHORT))
			return false;
	}
	return true;
}

TEST(a_run_of_any_byte_takes_linear_time)
{
	at_each_boundary(check_bytes);
}

static bool check_words(const struct format *f, const char *sample, size_t at)
{
	for (size_t i = at % test_every(6); i + 1 < sizeof(odd); i += test_every(6)) {
		const char word[] = { ' ', odd[i] };
		const struct run r = { sample, at, " ", word, 1, 2 };

		if (!is_linear(f, &by_default, &r, make_run, SHORT))
			return false;
	}
	return true;
}

TEST(blanks_followed_by_words_of_any_byte_take_linear_time)
{
	at_each_boundary(check_words);
}

/* Repeats the text from here to the next boundary, to the end of its line, and to the end of the next line. */
static bool check_pieces(const struct format *f, const char *sample, size_t at)
{
	const char *p = sample + at, *end = p, *line = p;

	if (!*p)
		return true;
	for (end++; !is_boundary(sample, (size_t)(end - sample));)
		end++;
	for (int i = 0; i < 3; i++) {
		struct run r = { .sample = sample, .at = at, .first = p, .first_size = (size_t)(end - p) };

		if (!is_linear(f, &by_default, &r, make_run, SHORT) || !is_linear(f, &all_options, &r, make_run, SHORT))
			return false;
		line += strcspn(line, "\n");
		line += *line == '\n';
		end = line;
	}
	return true;
}

TEST(a_repeated_string_takes_linear_time)
{
	at_each_boundary(check_pieces);
}

/* --- Two repeated things, each of which is harmless alone --- */

static const struct pair {
	const char *format, *head, *first, *middle, *second, *tail;	/* % is the number of repetitions */
} pairs[] = {
	/* Names that share a long module. */
	{ "perf", "php 1 1.0: 1 cycles:\n\t 1 ", "a->", "b (/", "m", ")\n\n" },
	{ "perf", "php 1 1.0: 1 cycles:\n\t 1 ", "[unknown]->", "[unknown] (/", "m", ")\n\n" },
	{ "perf", "php 1 1.0: 1 cycles:\n", "\t 1 a (/b)\n", "\t 1 ", "x", " (/b)\n\n" },
	{ "perf", "php 1 1.0: 1 cycles:\n\t 1 a (/b)\n ", "[", "x", "]", "\n\t 1 b (/b)\n\n" },
	{ "perf-sched", "php 1/1 1.0: sched:sched_switch: prev_comm=php", " next_comm=", " prev_pid=1", " next_pid=",
	  "\n\n" },
	/* Functions that share a long file. */
	{ "callgrind", "events: Ir\nfl=(1) ", "x", "\n", "fn=f%\n1 1\n", "" },
	{ "callgrind", "events: Ir\nfn=(1) ", "x", "\n", "fl=f%\nfn=(1)\n1 1\n", "" },
	{ "callgrind", "events: Ir\nob=(1) ", "x", "\n", "fn=f%\n1 1\n", "" },
	{ "folded", "", "a;", "b", ";c", " 1\n" },
	{ "folded", "", "a;b% 1\n", "a", ";b", " 1\n" },
	{ "bpftrace", "@[", "x", ", \n    a\n]: 1\n", "@[\n    b%\n]: 1\n", "" },
	{ "stap", "", "a%\n", "", "\t1\n", "" },
	{ "xdebug", "TRACE START\n", "%\t0\t0\t0.1\t5\tf\t1\t\t/a.php\t0\t0\n", "", "1\t0\t1\t0.2\t5\n", "" },
	{ "xhprof", "a:9:{", "s:7:\"a==>a%", "", "\";a:1:{s:2:\"ct\";i:1;}", "}" },
	{ "go", "Samples:\na/count\n1: ", "1 ", "\nLocations\n1: 0x1 f\n", "  g%\n", "" },
	{ "spx", "[events]\n", "0 1 0.0 0.0\n", "", "0 0 1.0 0.0\n", "[functions]\nm\n" },
};

static void put_numbered(struct buf *out, const char *text, size_t n)
{
	size_t size = out->size + n;

	for (unsigned i = 0; out->size < size; i++)
		for (const char *p = text; *p; p++)
			if (*p == '%')
				buf_printf(out, "%u", i);
			else
				buf_putc(out, *p);
}

static void make_pair(const void *what, size_t n, struct buf *out)
{
	const struct pair *p = what;

	buf_puts(out, p->head);
	put_numbered(out, p->first, n);
	buf_puts(out, p->middle);
	put_numbered(out, p->second, n);
	buf_puts(out, p->tail);
}

TEST(two_repeated_strings_take_linear_time)
{
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		const struct format *f = format_by_name(pairs[i].format);

		CHECK(is_linear(f, &by_default, &pairs[i], make_pair, LONGER));
		CHECK(is_linear(f, &all_options, &pairs[i], make_pair, LONGER));
	}
}

/* --- Input that comes in pieces --- */

static void put_member(struct buf *out, char c)
{
	uLong crc = crc32(0, (const Bytef *)&c, 1);
	const uint8_t member[] = {
		0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 1, 0, 0xfe, 0xff, (uint8_t)c, (uint8_t)crc, (uint8_t)(crc >> 8),
		(uint8_t)(crc >> 16), (uint8_t)(crc >> 24), 1, 0, 0, 0,
	};

	buf_put(out, member, sizeof(member));
}

/* A gzip file with a byte per member is decompressed byte by byte, after the bytes used for detection. */
static void make_members(const void *what, size_t n, struct buf *out)
{
	const char *const *parts = what;
	struct buf text;

	buf_init(&text);
	buf_puts(&text, parts[0]);
	put_again(&text, parts[1], strlen(parts[1]), n);
	buf_puts(&text, parts[2]);
	for (size_t i = 0; i < text.size; i++)
		put_member(out, text.data[i]);
	buf_done(&text);
}

TEST(input_that_arrives_byte_by_byte_takes_linear_time)
{
	static const char *const parts[][3] = {
		{ "php 1 1.0: 1 cycles:\n\t 1 a (/b)\n\t 1 ", "a", " (/b)\n\n" },
		{ "php 1 1.0: 1 cycles:\n", "\t 1 a (/b)\n", "\n" },
		{ "main;", "a", " 1\n" },
		{ "@[\n", "a", "\n]: 1\n" },
		{ " 0xffff : a [kernel]\n\t1\n", " 0xffff : b [kernel]\n", "\t1\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		CHECK(is_linear(NULL, &by_default, parts[i], make_members, FORMAT_SNIFF_MAX));
}

/* --- Comparing --- */

/* Makes a function of each line, replacing each \1 with the directory of a release. */
static struct profile *functions_of(const struct buf *text, const char *release)
{
	struct profile *p = profile_new();
	uint32_t column = profile_column(p, "calls", "count");
	struct buf name;

	buf_init(&name);
	for (size_t i = 0; i <= text->size; i++) {
		if (i < text->size && text->data[i] == '\1')
			buf_puts(&name, release);
		else if (i < text->size && text->data[i] != '\n')
			buf_putc(&name, text->data[i]);
		else {
			struct str s = { name.data, name.size };
			uint32_t frame = profile_frame(p, s, (struct str){ "", 0 }, 0);

			profile_add(p, profile_child(p, PROFILE_ROOT, frame), column, 1);
			buf_reset(&name);
		}
	}
	buf_done(&name);
	return p;
}

static uint64_t steps_of_comparing(const struct buf *text)
{
	static const struct diff_options options;
	_cleanup_(profile_freep) struct profile *before = functions_of(text, "/a"), *after = functions_of(text, "/b");
	struct diff d;
	struct err err;

	steps = 0;
	if (profile_diff(before, 0, after, 0, &options, &d, &err) >= 0)
		diff_done(&d);
	return steps;
}

TEST(comparing_names_with_a_run_of_any_byte_takes_linear_time)
{
	static const char *const names[] = {
		"\1/x.php", "{closure:\1/x.php(12)#2}", "A::{closure}/3-5", "class@anonymous_\1/x.php:12$1f::run",
		"{closure:{closure:phar://\1/x.php:3}:9}", "A_59d6f7a8::b", "\1/x.php(12) : eval()'d code",
	};

	measured = steps_of_comparing;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		for (size_t at = 0; at <= strlen(names[i]); at++)
			if (is_boundary(names[i], at))
				CHECK(check_bytes(NULL, names[i], at));
	measured = NULL;
}

TEST(comparing_files_in_distinct_directories_takes_linear_time)
{
	static const struct pair files = { .head = "", .first = "\1%/x%.php\n", .middle = "", .second = "/both/%\n", .tail = "" };

	measured = steps_of_comparing;
	CHECK(is_linear(NULL, &by_default, &files, make_pair, 4 * LONGER));
	measured = NULL;
}

TEST_MAIN()
