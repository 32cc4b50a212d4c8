/* test_flame_data.c: tests the bytes for the canvas, reading them like a browser. */

#include "flame_data.h"
#include "flame_part.h"
#include "mem.h"
#include "test.h"

#include <endian.h>

struct boxes {
	uint32_t n, depths, value_size, left_out, joined;
	double total;
	const uint32_t *offsets, *start, *width, *frame;
	const char *text;
};

static uint32_t u32_at(const struct buf *b, size_t at)
{
	uint32_t v;

	memcpy(&v, b->data + at, sizeof(v));
	return le32toh(v);
}

static size_t take(const struct buf *b, size_t *at, size_t bytes)
{
	size_t here = *at;

	*at += (bytes + 7) / 8 * 8;
	CHECK(*at <= b->size);
	return here;
}

static void read_boxes(const struct buf *b, struct boxes *r)
{
	size_t at = FLAME_DATA_HEADER;
	uint32_t text_size = u32_at(b, 20);

	CHECK(memcmp(b->data, "SFLM", 4) == 0);
	CHECK_INT(u32_at(b, 4), 1);
	r->n = u32_at(b, 8);
	r->depths = u32_at(b, 12);
	r->value_size = u32_at(b, 16);
	memcpy(&r->total, b->data + 24, 8);
	r->left_out = u32_at(b, 32);
	r->joined = u32_at(b, 40);
	r->offsets = (const uint32_t *)(const void *)(b->data + take(b, &at, (r->depths + 1) * 4));
	r->start = (const uint32_t *)(const void *)(b->data + take(b, &at, (size_t)r->n * r->value_size));
	r->width = (const uint32_t *)(const void *)(b->data + take(b, &at, (size_t)r->n * r->value_size));
	r->frame = (const uint32_t *)(const void *)(b->data + take(b, &at, (size_t)r->n * 4));
	r->text = b->data + at;
	CHECK_INT(at + text_size, b->size);
}

static struct str str_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

/* Adds "a;b;c" as one-letter frames. */
static void add(struct profile *p, const char *stack, int64_t value)
{
	uint32_t frames[16], depth = 0;

	for (const char *c = stack; *c; c++)
		if (*c != ';')
			frames[depth++] = profile_frame(p, (struct str){ c, 1 }, str_of("f.php"), 1);
	profile_add(p, profile_stack(p, frames, depth), 0, value);
}

static struct profile *small(void)
{
	struct profile *p = profile_new();

	profile_column(p, "samples", "count");
	add(p, "b;c", 3);
	add(p, "a;z", 2);
	add(p, "a", 1);
	add(p, "b;a", 4);
	return p;
}

TEST(boxes_are_ordered_by_depth_and_name_with_children_within_their_parent)
{
	_cleanup_(profile_freep) struct profile *p = small();
	_cleanup_(buf_done) struct buf out;
	struct boxes b;
	static const uint32_t starts[] = { 0, 0, 3, 0, 3, 7 }, widths[] = { 10, 3, 7, 2, 4, 3 };

	buf_init(&out);
	flame_data_put(p, 0, UINT32_MAX, WIDTH_OF_MAXIMUM, FLAME_DATA_BOXES, &out, NULL, NULL);
	read_boxes(&out, &b);
	CHECK_INT(b.n, 6);
	CHECK_INT(b.depths, 3);
	CHECK_INT(b.value_size, 4);
	CHECK(b.total == 10.0);
	CHECK_INT(b.offsets[1], 1);
	CHECK_INT(b.offsets[2], 3);
	CHECK_INT(b.offsets[3], 6);
	CHECK(memcmp(b.start, starts, sizeof(starts)) == 0);
	CHECK(memcmp(b.width, widths, sizeof(widths)) == 0);
	CHECK_INT(b.frame[0], p->frame_count);
	CHECK_STR(b.text, "{\"frame_name\":[0,1,2,3,4],\"names\":[\"b\",\"c\",\"a\",\"z\",\"all\"],"
		  "\"frame_file\":[0,0,0,0,1],\"files\":[\"f.php\",\"\"],\"frame_line\":[1,1,1,1,0]}");
}

TEST(the_narrowest_boxes_are_omitted_above_the_limit)
{
	_cleanup_(profile_freep) struct profile *p = small();
	_cleanup_(buf_done) struct buf out;
	struct boxes b;

	buf_init(&out);
	flame_data_put(p, 0, UINT32_MAX, WIDTH_OF_MAXIMUM, 4, &out, NULL, NULL);
	read_boxes(&out, &b);
	CHECK_INT(b.n, 3);
	CHECK_INT(b.left_out, 3);
	CHECK_INT(b.width[1], 7);
	CHECK_INT(b.width[2], 4);
}

TEST(an_empty_profile_is_one_box_without_width)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf out;
	struct boxes b;

	buf_init(&out);
	flame_data_put(p, 0, UINT32_MAX, WIDTH_OF_MAXIMUM, FLAME_DATA_BOXES, &out, NULL, NULL);
	read_boxes(&out, &b);
	CHECK_INT(b.n, 1);
	CHECK_INT(b.depths, 1);
	CHECK_INT(b.width[0], 0);
}

TEST(large_values_are_sent_as_doubles)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf out;
	struct boxes b;
	double width;

	profile_column(p, "wall_ns", "nanoseconds");
	add(p, "a", 5000000000);
	buf_init(&out);
	flame_data_put(p, 0, UINT32_MAX, WIDTH_OF_MAXIMUM, FLAME_DATA_BOXES, &out, NULL, NULL);
	read_boxes(&out, &b);
	CHECK_INT(b.value_size, 8);
	memcpy(&width, (const char *)b.width + 8, 8);
	CHECK(width == 5000000000.0);
}

TEST(a_stack_of_a_hundred_thousand_frames_is_laid_out)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf out;
	uint32_t node = PROFILE_ROOT, frame;
	struct boxes b;

	profile_column(p, "samples", "count");
	frame = profile_frame(p, str_of("f"), str_of(""), 0);
	for (unsigned i = 0; i < 100000; i++)
		node = profile_child(p, node, frame);
	profile_add(p, node, 0, 1);
	buf_init(&out);
	flame_data_put(p, 0, UINT32_MAX, WIDTH_OF_MAXIMUM, FLAME_DATA_BOXES, &out, NULL, NULL);
	read_boxes(&out, &b);
	CHECK_INT(b.n, 100001);
	CHECK_INT(b.depths, 100001);
}

TEST(negative_values_take_no_width_from_their_caller)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf out;
	struct boxes b;

	profile_column(p, "memory_bytes", "bytes");
	add(p, "a;b", 10);
	add(p, "a;c", -8);
	buf_init(&out);
	flame_data_put(p, 0, UINT32_MAX, WIDTH_OF_MAXIMUM, FLAME_DATA_BOXES, &out, NULL, NULL);
	read_boxes(&out, &b);
	CHECK_INT(b.n, 3);
	CHECK(b.total == 10.0);
	CHECK_INT(b.width[1], 10);
	CHECK_INT(b.width[2], 10);
}

/* Returns "name+own/own2", depth by depth. */
static const char *tree_text(const struct profile *p, uint32_t max_nodes, uint32_t *ret_left_out)
{
	const uint32_t columns[] = { 0, 1 };
	static char text[400];
	struct buf out, said;
	size_t at = FLAME_DATA_HEADER;
	uint32_t n, depths, parents = 0;
	const uint32_t *sizes, *offsets, *children, *frames;
	const int32_t *first;
	const double *second;

	buf_init(&out);
	buf_init(&said);
	flame_data_put_tree(p, columns, 2, 0, max_nodes, &out);
	CHECK(memcmp(out.data, "STRE", 4) == 0);
	CHECK_INT(u32_at(&out, 4), 1);
	n = u32_at(&out, 8);
	depths = u32_at(&out, 12);
	CHECK_INT(u32_at(&out, 16), 2);
	*ret_left_out = u32_at(&out, 24);
	sizes = (const uint32_t *)(const void *)(out.data + take(&out, &at, 8));
	CHECK_INT(sizes[0], 4);
	CHECK_INT(sizes[1], 8);
	offsets = (const uint32_t *)(const void *)(out.data + take(&out, &at, (size_t)(depths + 1) * 4));
	children = (const uint32_t *)(const void *)(out.data + take(&out, &at, (size_t)n * 4));
	frames = (const uint32_t *)(const void *)(out.data + take(&out, &at, (size_t)n * 4));
	first = (const int32_t *)(const void *)(out.data + take(&out, &at, (size_t)n * 4));
	second = (const double *)(const void *)(out.data + take(&out, &at, (size_t)n * 8));
	CHECK_INT(at + u32_at(&out, 20), out.size);
	CHECK_INT(offsets[depths], n);
	for (uint32_t d = 0; d < depths; d++) {
		buf_puts(&said, d ? "|" : "");
		for (uint32_t i = offsets[d]; i < offsets[d + 1]; i++) {
			buf_printf(&said, "%s%s%d/%.0f", i > offsets[d] ? " " : "", frames[i] == p->frame_count ? "all" : profile_name(p, frames[i]).p,
				   first[i], second[i]);
			parents += children[i];
		}
	}
	CHECK_INT(parents, n - 1);
	snprintf(text, sizeof(text), "%s", said.data);
	buf_done(&out);
	buf_done(&said);
	return text;
}

TEST(a_tree_has_self_values_of_all_columns_and_no_empty_stacks)
{
	struct profile *p = small();
	uint32_t memory = profile_column(p, "memory_bytes", "bytes"), left_out, node;

	node = profile_child(p, PROFILE_ROOT, profile_frame(p, str_of("n"), str_of(""), 0));
	profile_child(p, node, profile_frame(p, str_of("z"), str_of(""), 0));
	node = profile_child(p, PROFILE_ROOT, profile_frame(p, str_of("m"), str_of(""), 0));
	profile_add(p, node, memory, -7);
	profile_add(p, profile_child(p, PROFILE_ROOT, p->node_frames[1]), memory, INT64_C(5000000000));
	CHECK_STR(tree_text(p, 1000, &left_out), "all0/0|a1/0 b0/5000000000 m0/-7|z2/0 a4/0 c3/0");
	CHECK_INT(left_out, 0);
	CHECK_STR(tree_text(p, 4, &left_out), "all0/0|b0/5000000000|a4/0");
	CHECK_INT(left_out, 4);
	profile_free(p);
}

/* --- The visible part --- */

static struct profile *narrow(void)
{
	struct profile *p = profile_new();

	profile_column(p, "samples", "count");
	add(p, "a", 1000);
	add(p, "b;x", 3);
	add(p, "c", 4);
	add(p, "m", 1000);
	add(p, "n", 1);
	add(p, "z;y", 500);
	return p;
}

/* Checks boxes by their frames' first letters, depth by depth; "[" is a gray one. */
static void check_part(const struct profile *p, const char *zoom, const char *letters, const uint32_t *widths, uint32_t joined)
{
	const struct flame_part part = { .pixels = 10, .zoom = zoom };
	_cleanup_(buf_done) struct buf out;
	const char *names;
	struct boxes b;

	buf_init(&out);
	flame_part_put(p, 0, UINT32_MAX, &part, &out, NULL, NULL);
	read_boxes(&out, &b);
	CHECK_INT(b.n, strlen(letters));
	CHECK_INT(b.joined, joined);
	CHECK_INT(b.left_out, 0);
	names = strstr(b.text, "\"names\":[");
	CHECK(names && strstr(names, ",\"all\",\"[too narrow]\"],"));
	for (uint32_t i = 0; i < b.n; i++) {
		const char *name = names + strlen("\"names\":[");

		for (uint32_t f = 0; f < b.frame[i]; f++)
			name = strchr(name, ',') + 1;
		CHECK_INT(i ? name[1] : '.', letters[i]);
		CHECK_INT(b.width[i], widths[i]);
	}
}

TEST(invisible_neighbors_become_one_gray_box)
{
	_cleanup_(profile_freep) struct profile *p = narrow();

	check_part(p, NULL, ".a[m[zy", (uint32_t[]){ 2508, 1000, 7, 1000, 1, 500, 500 }, 4);
	check_part(p, "nothing;x", ".a[m[zy", (uint32_t[]){ 2508, 1000, 7, 1000, 1, 500, 500 }, 4);
}

TEST(boxes_above_the_zoomed_one_are_sent_in_finer_resolution)
{
	_cleanup_(profile_freep) struct profile *p = narrow();

	check_part(p, "b", ".ab[m[zxy", (uint32_t[]){ 2508, 1000, 3, 4, 1000, 1, 500, 3, 500 }, 2);
	check_part(p, "%62;x", ".ab[m[zxy", (uint32_t[]){ 2508, 1000, 3, 4, 1000, 1, 500, 3, 500 }, 2);
	check_part(p, "b@f.php:1", ".ab[m[zxy", (uint32_t[]){ 2508, 1000, 3, 4, 1000, 1, 500, 3, 500 }, 2);
	check_part(p, "b@f.php:12", ".a[m[zy", (uint32_t[]){ 2508, 1000, 7, 1000, 1, 500, 500 }, 4);
}

TEST(the_widest_of_several_boxes_with_one_name_is_zoomed)
{
	_cleanup_(profile_freep) struct profile *p = narrow();
	uint32_t other = profile_child(p, PROFILE_ROOT, profile_frame(p, str_of("b"), str_of("g.php"), 0));

	profile_add(p, other, 0, 5);
	check_part(p, "b", ".a[b[m[zy", (uint32_t[]){ 2513, 1000, 3, 5, 4, 1000, 1, 500, 500 }, 4);
	check_part(p, "b@g.php", ".a[b[m[zy", (uint32_t[]){ 2513, 1000, 3, 5, 4, 1000, 1, 500, 500 }, 4);
	check_part(p, "b@f.php:1", ".ab[m[zxy", (uint32_t[]){ 2513, 1000, 3, 9, 1000, 1, 500, 3, 500 }, 3);
}

TEST(small_trees_are_sent_completely)
{
	_cleanup_(profile_freep) struct profile *p = narrow();
	const struct flame_part part = { .pixels = 10, .all = FLAME_PART_ALL };
	_cleanup_(buf_done) struct buf out, all;

	buf_init(&out);
	buf_init(&all);
	flame_part_put(p, 0, UINT32_MAX, &part, &out, NULL, NULL);
	flame_data_put(p, 0, UINT32_MAX, WIDTH_OF_MAXIMUM, FLAME_DATA_BOXES, &all, NULL, NULL);
	CHECK(out.size == all.size && !memcmp(out.data, all.data, all.size));
}

TEST(gray_boxes_of_a_difference_have_both_sides)
{
	_cleanup_(profile_freep) struct profile *p = narrow();
	const struct flame_part part = { .pixels = 10 };
	_cleanup_(buf_done) struct buf out;
	const uint32_t *before, *after;
	struct boxes b;
	uint32_t old = profile_column(p, "before", "count"), n = profile_frame(p, str_of("c"), str_of("f.php"), 1);

	profile_add(p, profile_child(p, PROFILE_ROOT, n), old, 9);
	buf_init(&out);
	flame_part_put(p, 0, old, &part, &out, NULL, NULL);
	CHECK_INT(u32_at(&out, 36), 1);
	memset(&b, 0, sizeof(b));
	b.n = u32_at(&out, 8);
	CHECK_INT(b.n, 7);
	before = (const uint32_t *)(const void *)(out.data + FLAME_DATA_HEADER + 16 + 3 * 32);
	after = before + 8;
	CHECK(before[2] == 9 && after[2] == 7 && before[1] == 0 && after[1] == 1000);
}

TEST_MAIN()
