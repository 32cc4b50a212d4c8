/* test_lines.c: tests that executed lines survive formats that support them, and change nothing in others. */
#include "format.h"
#include "round_trip.h"
#include "test.h"

static const char *const columns[] = { "samples", "count", "wall_ns", "nanoseconds" };
static struct err err;

static struct profile *example(bool lines)
{
	const struct tree_options o = { .nodes = 400, .names = 5, .columns = 2, .column_names = columns, .files = true,
					.executed = lines };

	return tree_by_chance(&o);
}

static struct profile *read_back(const struct buf *b, bool keep_lines)
{
	struct profile *p = profile_new();

	profile_keep_lines(p, keep_lines);
	CHECK_INT(format_load_bytes("bytes", b->data, b->size, p, &err), 0);
	return p;
}

static const struct format *const with_lines[] = { &format_strobe, &format_pprof, &format_speedscope };

TEST(lines_survive_a_round_trip)
{
	for (size_t i = 0; i < ARRAY_SIZE(with_lines) * 5; i++) {
		struct profile *p = example(true), *back = round_trip(with_lines[i / 5], p, UINT32_MAX);

		CHECK(p->node_lines && with_lines[i / 5]->has_lines);
		CHECK(back && back->node_lines && same_lines(p, back));
		profile_free(back);
		profile_free(p);
	}
}

TEST(profiles_that_keep_no_lines_get_functions_only)
{
	for (size_t i = 0; i < ARRAY_SIZE(with_lines); i++) {
		struct profile *p = example(true), *plain = profile_without_lines(p), *back;
		struct buf b;

		buf_init(&b);
		CHECK_INT(format_write(with_lines[i], p, UINT32_MAX, &b, &err), 0);
		back = read_back(&b, false);
		CHECK(!back->node_lines && same_lines(plain, back));
		CHECK(plain->node_count < p->node_count);
		profile_free(back);
		profile_free(plain);
		profile_free(p);
		buf_done(&b);
	}
}

/* Conversely, a profile without lines must not get any from a file with one number for definition and line. */
TEST(a_profile_without_lines_gets_none_from_a_round_trip)
{
	for (size_t i = 0; i < ARRAY_SIZE(with_lines); i++) {
		struct profile *p = example(false), *back;
		struct buf b;

		buf_init(&b);
		CHECK_INT(format_write(with_lines[i], p, UINT32_MAX, &b, &err), 0);
		back = read_back(&b, true);
		CHECK(!back->node_lines && same_lines(p, back));
		profile_free(back);
		profile_free(p);
		buf_done(&b);
	}
}

TEST(formats_without_lines_are_written_by_function)
{
	for (const struct format *const *f = formats; *f; f++) {
		struct profile *p = example(true), *plain = profile_without_lines(p);
		struct buf a, b;

		buf_init(&a);
		buf_init(&b);
		if ((*f)->write && !(*f)->has_lines) {
			CHECK(format_write(*f, p, 0, &a, &err) >= 0 && format_write(*f, plain, 0, &b, &err) >= 0);
			CHECK(a.size && a.size == b.size && !memcmp(a.data, b.data, a.size));
		}
		profile_free(plain);
		profile_free(p);
		buf_done(&a);
		buf_done(&b);
	}
}

/* A file with one function, and one of its lines, written by another program. */
TEST(speedscope_files_of_other_programs_have_one_line_per_frame)
{
	static const char text[] = "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":["
				   "{\"name\":\"f\",\"file\":\"a.php\",\"line\":7}]},\"profiles\":[{\"type\":\"sampled\",\"name\":\"x\","
				   "\"unit\":\"none\",\"startValue\":0,\"endValue\":1,\"samples\":[[0]],\"weights\":[1]}]}";
	struct profile *p = profile_new();

	profile_keep_lines(p, true);
	CHECK_INT(format_load_bytes("bytes", text, sizeof(text) - 1, p, &err), 0);
	CHECK(!p->node_lines);
	CHECK_INT(p->frames[0].line, 7);
	profile_free(p);
}

TEST_MAIN()
