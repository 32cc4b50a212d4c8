/* test_folded.c: tests reading and writing folded stacks. */
#include "format.h"
#include "mem.h"
#include "test.h"

static struct err err;
static char written[1 << 16];

/* Reads `n` bytes as folded stacks and returns them as we write them; NULL after an error. *ret is the reader's
 * result. */
static struct err err_of_write;
static int below_zero;		/* stacks left out by the writer */

static const char *through_n(const char *text, size_t n, int *ret)
{
	struct profile *p = profile_new();
	struct buf out;

	err = (struct err){ 0 };
	buf_init(&out);
	*ret = format_read_bytes(&format_folded, p, text, n, &err);
	if (*ret >= 0) {
		below_zero = format_folded.write(p, UINT32_MAX, &out, &err_of_write);
		CHECK(out.size < sizeof(written));
		snprintf(written, sizeof(written), "%s", out.data);
		CHECK_STR(p->columns[0].name, p->column_count == 1 ? "samples" : "before");
		CHECK(profile_scale(p, 0) != 1 || !strcmp(p->columns[0].unit, "count"));
	}
	profile_free(p);
	buf_done(&out);
	return *ret < 0 ? NULL : written;
}

static const char *through(const char *text)
{
	int r;
	const char *result = through_n(text, strlen(text), &r);

	CHECK_INT(r, 0);
	return result ? result : "";
}

TEST(stacks_are_added_up_and_sorted_by_name)
{
	CHECK_STR(through("main;b 2\nmain;a;x 1\nmain 5\nmain;b 3\nother 1\n"),
		  "main 5\nmain;a;x 1\nmain;b 5\nother 1\n");
	CHECK_STR(through("b 1\na 2\n"), through("a 2\nb 1\n"));
}

/* The order of Perl's sort on whole stacks, rather than frame by frame: the dot and digits come before the semicolon. */
TEST(stacks_are_sorted_bytewise)
{
	CHECK_STR(through("f;x 1\nf 2\nf64 3\nf.cold 4\nf.cold;y 5\nfa 6\n"),
		  "f 2\nf.cold 4\nf.cold;y 5\nf64 3\nf;x 1\nfa 6\n");
	CHECK_STR(through("a;b;z 1\na;b 2;c 1\na;b 2 3\na;b;c 4\na; 1\n"), "a 1\na;b 2 3\na;b 2;c 1\na;b;c 4\n"
		  "a;b;z 1\n");
}

TEST(frames_of_equal_name_are_merged)
{
	struct profile *p = profile_new();
	uint32_t c = profile_column(p, "samples", "count"), nodes[2];
	struct str name = { "<main>", 6 }, f = { "f", 1 };
	struct buf out;

	buf_init(&out);
	for (int i = 0; i < 2; i++) {
		nodes[i] = profile_child(p, PROFILE_ROOT,
					 profile_frame(p, name, (struct str){ i ? "b.php" : "a.php", 5 }, 0));
		profile_add(p, nodes[i], c, 1);
		profile_add(p, profile_child(p, nodes[i], profile_frame(p, f, (struct str){ "", 0 }, 0)), c, 10);
	}
	CHECK_INT(format_folded.write(p, c, &out, NULL), 0);
	CHECK_STR(out.data, "<main> 2\n<main>;f 20\n");
	profile_free(p);
	buf_done(&out);
}

TEST(any_kind_of_line_ending_is_accepted)
{
	CHECK_STR(through("a;b 1\r\na;c 2\r\n"), "a;b 1\na;c 2\n");
	CHECK_STR(through("a;b 1"), "a;b 1\n");
	CHECK_STR(through("\n\na;b 1\n  \n\r\n"), "a;b 1\n");
	CHECK_STR(through("a;b\t1 \n"), "a;b 1\n");
}

TEST(names_may_contain_spaces_digits_and_any_bytes)
{
	CHECK_STR(through("main {x} 1\nmain {x};operator new 5 12\n"), "main {x} 1\nmain {x};operator new 5 12\n");
	CHECK_STR(through("a;\xff\xfe\x01 3\n"), "a;\xff\xfe\x01 3\n");
	CHECK_STR(through("  lead;x 3\n"), "  lead;x 3\n");
	CHECK_STR(through("a;;b 3\n"), "a;;b 3\n");
	CHECK_STR(through("a;b; 3\n"), "a;b 3\n");
	CHECK_STR(through("a\rb;c 3\n"), "a_b;c 3\n");
}

TEST(an_anonymous_class_keeps_its_nul_in_the_profile)
{
	static const char text[] = "a;class@anonymous\0/x.php:3 7\n";
	struct profile *p = profile_new();

	CHECK_INT(format_read_bytes(&format_folded, p, text, sizeof(text) - 1, &err), 0);
	CHECK_INT(profile_name(p, p->node_frames[2]).n, 24);
	CHECK(!memcmp(profile_name(p, p->node_frames[2]).p, "class@anonymous\0/x.php:3", 24));
	profile_free(p);
}

TEST(fractional_counts_are_kept)
{
	CHECK_STR(through("a 0.4\na 0.4\na 0.4\na 0.4\na 0.4\n"), "a 2\n");
	CHECK_STR(through("a 1.5\nb 1.5\nc 2.0\nd 7.\n"), "a 1.5\nb 1.5\nc 2\nd 7\n");
	CHECK_STR(through("a 2.5\nb -0.5\n"), "a 2.5\n");
	/* Rounded to a millionth, keeping the sum. */
	CHECK_STR(through("a 0.0000004\nb 0.0000004\nc 0.0000004\n"), "b 0.000001\n");
}

TEST(counts_may_be_zero_or_large)
{
	CHECK_STR(through("b 0\nc 9223372036854775807\nc 1\n"), "c 9223372036854775807\n");
	CHECK_INT(below_zero, 0);
}

TEST(negative_values_are_read_but_omitted_with_a_report_when_writing)
{
	static const char text[] = "a -5\na;b 3\nd -9\n";
	struct profile *p = profile_new();

	CHECK_INT(format_read_bytes(&format_folded, p, text, sizeof(text) - 1, &err), 0);
	CHECK_INT(profile_sum(p, 0), -11);
	profile_free(p);
	CHECK_STR(through(text), "a;b 3\n");
	CHECK_INT(below_zero, 2);
	CHECK_STR(err_of_write.text, "2 stacks with a value below zero (-14 of samples in all) are left out");
}

TEST(lines_without_a_stack_are_counted_and_the_first_is_shown)
{
	int r;

	CHECK_STR(through_n("a 1\nno count\n;;; 5\n12\nb 2\nc x1\n", 31, &r), "a 1\nb 2\n");
	CHECK_INT(r, 4);
	CHECK_STR(err.text, "line 2 is not a folded stack (frames separated by ; and a count): 'no count'");
	CHECK_STR(through_n("a 1\nb 99999999999999999999\n", 27, &r), "a 1\n");
	CHECK_INT(r, 1);
	CHECK_STR(err.text, "line 2 has a count above 9223372036854775807");
}

TEST(input_without_any_stack_is_an_error)
{
	int r;

	CHECK(!through_n("\nhello\nworld\n", 13, &r));
	CHECK_INT(r, -EINVAL);
	CHECK_STR(err.text, "line 2 is not a folded stack (frames separated by ; and a count): 'hello'");
	CHECK(!through_n("\n \n", 3, &r));
	CHECK_INT(r, -ENODATA);
	CHECK(!through_n("5", 1, &r));
	CHECK(!through_n("a 1e5\n", 6, &r));
	CHECK(!through_n("a 1.2.3\n", 8, &r));
	CHECK(!through_n("a --1\n", 6, &r));
	CHECK(!through_n("a +1\n", 5, &r));
}

/* The shortcut by the previous line must compare whole frames. */
TEST(stacks_with_a_common_prefix_are_distinguished)
{
	CHECK_STR(through("a;bc 1\na;b 2\na;bcd 3\na 4\nab 5\na;bc;d 6\na;b;c 7\na;bc 8\n;x 9\nx 10\n;x;y 11\n"),
		  ";x 9\n;x;y 11\na 4\na;b 2\na;b;c 7\na;bc 9\na;bc;d 6\na;bcd 3\nab 5\nx 10\n");
}

TEST(two_counts_on_every_line_form_a_difference)
{
	static const char text[] = "a;b 10 12\na;c 0 3\r\na\t4  1\n\nd 2.5 0\nd 2.5 0.5";
	struct profile *p = profile_new();

	CHECK_INT(format_read_bytes(&format_folded, p, text, sizeof(text) - 1, &err), 0);
	CHECK_INT(p->column_count, 2);
	CHECK_STR(p->columns[0].name, "before");
	CHECK_STR(p->columns[1].name, "after");
	CHECK_STR(p->columns[1].unit, PROFILE_MILLIONTHS);
	CHECK_INT(profile_sum(p, 0), 19000000);
	CHECK_INT(profile_sum(p, 1), 16500000);
	CHECK_INT(profile_pick_column(p, NULL), 1);
	profile_free(p);
	CHECK_STR(through(text), "a 1\na;b 12\na;c 3\nd 0.5\n");
}

TEST(a_file_with_a_line_of_one_count_is_not_a_difference)
{
	CHECK_STR(through("a;php 8 12\na;php 7 3\na;b 1\n"), "a;b 1\na;php 7 3\na;php 8 12\n");
}

/* After the lines that are used to detect a difference. */
TEST(a_later_line_with_one_count_in_a_difference_is_named)
{
	struct profile *p = profile_new();
	struct buf text;

	buf_init(&text);
	for (int i = 0; i < 30000; i++)
		buf_printf(&text, "a;f%d 1 2\n", i);
	buf_puts(&text, "a;late 7\na;huge 99999999999999999999 1\n");
	CHECK_INT(format_read_bytes(&format_folded, p, text.data, text.size, &err), 2);
	CHECK_STR(err.text, "line 30001 has one count; the lines of a difference have two: 'a;late 7'");
	CHECK_INT(profile_sum(p, 0), 30000);
	CHECK_INT(profile_sum(p, 1), 60000);
	profile_free(p);
	buf_done(&text);
}

TEST(a_difference_may_begin_with_a_line_of_any_length)
{
	struct profile *p = profile_new();
	struct buf text;

	buf_init(&text);
	for (int i = 0; i < 100000; i++)
		buf_printf(&text, "f%d;", i);
	buf_puts(&text, "leaf -1 9223372036854775807\nb 1 2\n");
	CHECK_INT(format_read_bytes(&format_folded, p, text.data, text.size, &err), 0);
	CHECK_INT(p->column_count, 2);
	CHECK_INT(p->columns[0].self[100001], -1);
	CHECK(p->columns[1].self[100001] == INT64_MAX);
	CHECK_INT(profile_depth(p), 100001);
	profile_free(p);
	buf_done(&text);
}

static uint64_t state = 42;

static uint32_t below(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

/* Compares with a model without any shortcut: the same lines through profile_stack. */
TEST(random_stacks_form_the_same_tree_as_when_added_one_by_one)
{
	for (int round = 0; round < 30; round++) {
		struct profile *model = profile_new(), *p = profile_new();
		struct buf text, a, b;
		uint32_t c = profile_column(model, "samples", "count");

		buf_init(&text);
		buf_init(&a);
		buf_init(&b);
		for (unsigned i = 0; i < 500; i++) {
			uint32_t stack[12], depth = 1 + below(12), count = below(9);

			for (uint32_t d = 0; d < depth; d++) {
				char name[8];
				int n = snprintf(name, sizeof(name), "%.*s%u", (int)below(3), "xx",
						 below(d < 6 ? 2 : 40));

				stack[d] = profile_frame(model, (struct str){ name, (size_t)n }, (struct str){ "", 0 },
							 0);
				buf_printf(&text, "%s%s", d ? ";" : "", name);
			}
			buf_printf(&text, " %u\n", count);
			profile_add(model, profile_stack(model, stack, depth), c, count);
		}
		CHECK_INT(format_read_bytes(&format_folded, p, text.data, text.size, &err), 0);
		CHECK_INT(p->node_count, model->node_count);
		format_folded.write(model, 0, &a, NULL);
		format_folded.write(p, 0, &b, NULL);
		CHECK_STR(b.data, a.data);
		profile_free(model);
		profile_free(p);
		buf_done(&text);
		buf_done(&a);
		buf_done(&b);
	}
}

TEST(stacks_of_200000_frames_are_written)
{
	struct profile *p = profile_new(), *back = profile_new();
	uint32_t f = profile_frame(p, (struct str){ "f", 1 }, (struct str){ "", 0 }, 0), node = PROFILE_ROOT;
	uint32_t c = profile_column(p, "samples", "count");
	struct buf out;

	buf_init(&out);
	for (int i = 0; i < 200000; i++)
		node = profile_child(p, node, f);
	profile_add(p, node, c, 3);
	CHECK_INT(format_folded.write(p, c, &out, NULL), 0);
	CHECK_INT(out.size, 200000 * 2 - 1 + 3);
	CHECK_INT(format_read_bytes(&format_folded, back, out.data, out.size, NULL), 0);
	CHECK_INT(profile_depth(back), 200000);
	profile_free(p);
	profile_free(back);
	buf_done(&out);
}

TEST(a_leaf_without_a_name_is_written_as_unknown)
{
	struct profile *p = profile_new();
	uint32_t c = profile_column(p, "samples", "count"),
		f = profile_frame(p, (struct str){ "f", 1 }, (struct str){ "", 0 }, 0);
	uint32_t none = profile_frame(p, (struct str){ "", 0 }, (struct str){ "", 0 }, 0);
	struct buf out;

	buf_init(&out);
	profile_add(p, profile_stack(p, (uint32_t[]){ none }, 1), c, 1);
	profile_add(p, profile_stack(p, (uint32_t[]){ none, f }, 2), c, 2);
	profile_add(p, profile_stack(p, (uint32_t[]){ f, none }, 2), c, 3);
	CHECK_INT(format_folded.write(p, c, &out, NULL), 0);
	CHECK_STR(out.data, "[unknown] 1\n;f 2\nf;[unknown] 3\n");
	profile_free(p);
	buf_done(&out);
}

TEST(a_profile_without_columns_is_an_error)
{
	struct profile *p = profile_new();
	struct buf out;

	buf_init(&out);
	CHECK_INT(format_folded.write(p, UINT32_MAX, &out, &err), -ENODATA);
	profile_free(p);
	buf_done(&out);
}

TEST(stacks_after_a_subtree_without_values_are_written)
{
	struct profile *p = profile_new();
	uint32_t column = profile_column(p, "samples", "count"), frames[3];
	struct buf out;

	for (int i = 0; i < 3; i++)
		frames[i] = profile_frame(p, (struct str){ &"abc"[i], 1 }, (struct str){ "", 0 }, 0);
	profile_stack(p, (uint32_t[]){ frames[0], frames[1] }, 2);
	profile_add(p, profile_stack(p, (uint32_t[]){ frames[2] }, 1), column, 3);
	buf_init(&out);
	CHECK_INT(format_folded.write(p, column, &out, &err), 0);
	CHECK_STR(out.data, "c 3\n");
	buf_done(&out);
	profile_free(p);
}

TEST_MAIN()
