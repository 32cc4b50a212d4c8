/* test_chart_data.c: tests windows of a chart as boxes, compared with the individual calls. */
#include "chart_data.h"

#include "chart.h"
#include "flame_data.h"
#include "mem.h"
#include "test.h"
#include "test_random.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

struct boxes {
	uint32_t count, depths;
	const uint32_t *offsets, *start, *width, *frame;
};

static const uint32_t *take(const struct buf *b, size_t *at, uint32_t count)
{
	const uint32_t *here = (const uint32_t *)(const void *)(b->data + *at);

	*at += ((size_t)count * 4 + 7) / 8 * 8;
	CHECK(*at <= b->size);
	return here;
}

static struct boxes read_boxes(const struct buf *b)
{
	const uint32_t *head = (const uint32_t *)(const void *)b->data;
	struct boxes r = { head[2], head[3], NULL, NULL, NULL, NULL };
	size_t at = FLAME_DATA_HEADER;

	CHECK(b->size > at && !memcmp(b->data, "SFLM", 4) && head[4] == 4);
	r.offsets = take(b, &at, r.depths + 1);
	r.start = take(b, &at, r.count);
	r.width = take(b, &at, r.count);
	r.frame = take(b, &at, r.count);
	CHECK_INT(at + head[5], b->size);
	CHECK_INT(r.offsets[r.depths], r.count);
	return r;
}

static uint32_t frame(struct profile *p, const char *name)
{
	return profile_frame(p, (struct str){ name, strlen(name) }, (struct str){ "", 0 }, 0);
}

/* Returns "name+start/width", depth by depth. */
static const char *text_of(struct profile *p, struct chart_window w)
{
	static char text[4000];
	struct boxes boxes;
	struct buf b, out;

	buf_init(&b);
	buf_init(&out);
	w.max_boxes = w.max_boxes ? w.max_boxes : 1000;
	chart_data_put(p, &w, &b, NULL, NULL);
	boxes = read_boxes(&b);
	for (uint32_t d = 0; d < boxes.depths; d++) {
		buf_puts(&out, d ? "\n" : "");
		for (uint32_t i = boxes.offsets[d]; i < boxes.offsets[d + 1]; i++)
			buf_printf(&out, "%s%s+%u/%u", i > boxes.offsets[d] ? " " : "",
				   boxes.frame[i] == p->frame_count ? "all" : profile_name(p, boxes.frame[i]).p, boxes.start[i], boxes.width[i]);
	}
	snprintf(text, sizeof(text), "%s", out.data);
	buf_done(&b);
	buf_done(&out);
	return text;
}

/* Makes a call of a, three of b inside it, and calls of c inside the first two of these: 50 of 1 ns, one of 3 and one
 * of 2 ns. */
static struct profile *nested_calls(void)
{
	struct profile *p = profile_new();
	uint32_t a = profile_child(p, 0, frame(p, "a")), b = profile_child(p, a, frame(p, "b")), c = profile_child(p, b, frame(p, "c"));

	p->chart = chart_new(0);
	chart_add(p->chart, p, a, 0, 1000);
	chart_add(p->chart, p, b, 100, 300);
	for (int i = 0; i < 50; i++)
		chart_add(p->chart, p, c, 110 + i * 2, 1);
	chart_add(p->chart, p, c, 300, 3);
	chart_add(p->chart, p, b, 500, 4);
	chart_add(p->chart, p, c, 501, 2);
	chart_add(p->chart, p, b, 800, 100);
	return p;
}

TEST(visible_calls_have_boxes_and_short_ones_are_joined)
{
	struct profile *p = nested_calls();

	CHECK_STR(text_of(p, (struct chart_window){ 0, 0, 100, 0, NULL }),
		  "all+0/1000\na+0/1000\nb+100/300 b+500/4 b+800/100\n[short calls]+110/99 c+300/3");
	CHECK_STR(text_of(p, (struct chart_window){ 0, 0, 20000, 6, NULL }), "all+0/1000\na+0/1000\nb+100/300 b+500/4 b+800/100\n[short calls]+110/99 c+300/3");
	CHECK_STR(text_of(p, (struct chart_window){ 495, 510, 100, 0, NULL }), "all+0/1000\na+0/1000\nb+500/4\nc+501/2");
	CHECK_STR(text_of(p, (struct chart_window){ 110, 114, 100, 0, NULL }), "all+0/1000\na+0/1000\nb+100/300\nc+110/1 c+112/1");
	CHECK_STR(text_of(p, (struct chart_window){ 5000, 6000, 100, 0, NULL }), "all+0/1000");
	profile_free(p);
}

static void put_search(struct json *j, void *data)
{
	const void **of = data;

	json_key(j, "search");
	chart_data_json_search(j, of[0], of[1]);
}

/* Returns the answer to a search for the calls of one function. */
static const char *search_of(struct profile *p, uint32_t name, struct chart_window w, struct chart_search s)
{
	static char text[4000];
	bool frames[8] = { false };
	const void *of[] = { p, &s };
	struct buf b;
	char *at;

	CHECK(name < ARRAY_SIZE(frames) && p->frame_count <= ARRAY_SIZE(frames));
	frames[name] = true;
	s.frames = frames;
	w.search = &s;
	w.max_boxes = 1000;
	buf_init(&b);
	chart_data_put(p, &w, &b, put_search, of);
	at = memmem(b.data, b.size, "\"search\":", 9);
	CHECK(at != NULL);
	snprintf(text, sizeof(text), "%.*s", (int)(b.data + b.size - 1 - (at + 9)), at + 9);
	buf_done(&b);
	return text;
}

TEST(a_search_counts_matches_in_joined_boxes_and_steps_through_them)
{
	struct profile *p = nested_calls();
	struct chart_window all = { .pixels = 100 }, part = { 300, 505, 100, 0, NULL };

	/* all, a, b and the short b with a c in it, b, 50 joined c, c */
	CHECK_STR(search_of(p, frame(p, "c"), all, (struct chart_search){ 0 }), "{\"calls\":52,\"boxes\":[0,0,0,1,0,50,1]}");
	CHECK_STR(search_of(p, frame(p, "b"), all, (struct chart_search){ 0 }), "{\"calls\":3,\"boxes\":[0,0,1,1,1,0,0]}");
	CHECK_STR(search_of(p, frame(p, "none"), all, (struct chart_search){ .wants_call = true }), "{\"calls\":0,\"boxes\":[0,0,0,0,0,0,0]}");
	CHECK_STR(search_of(p, frame(p, "c"), part, (struct chart_search){ 0 }), "{\"calls\":52,\"boxes\":[0,0,0,0,1,1]}");
	CHECK(strstr(search_of(p, frame(p, "c"), part, (struct chart_search){ .wants_call = true, .nth = 1 }),
		     "\"call\":{\"number\":51,\"from_ns\":300,\"to_ns\":303,\"depth\":3}"));
	CHECK(strstr(search_of(p, frame(p, "c"), part, (struct chart_search){ .wants_call = true, .nth = 0 }), "\"number\":50,\"from_ns\":208,"));
	CHECK(strstr(search_of(p, frame(p, "c"), part, (struct chart_search){ .wants_call = true, .nth = 3 }), "\"number\":1,\"from_ns\":110,"));
	CHECK(strstr(search_of(p, frame(p, "c"), all, (struct chart_search){ .wants_call = true, .nth = 0 }), "\"number\":52,\"from_ns\":501,"));
	profile_free(p);
}

/* The boxes must be those of any window as wide that has the call in it. */
TEST(the_window_moves_to_the_selected_call)
{
	static const struct {
		int64_t from, to, nth, moved_from, moved_to;
	} cases[] = {
		{ 0, 0, 1, 8, 212 },			/* the first one, at 110 */
		{ 0, 100, 51, 199, 403 },		/* the call of 3 ns at 300 */
		{ 900, 1000, 1, 8, 212 },		/* the same, after the last one */
		{ 600, 700, 0, 400, 604 },		/* the one before, at 501 */
		{ 0, 150, 1, 0, 262 },			/* no time before 0 */
		{ 0, 60, 1, 8, 212 },			/* no less than can be shown */
	};
	struct profile *p = nested_calls();
	bool frames[8] = { false };

	frames[frame(p, "c")] = true;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct chart_search s = { .frames = frames, .wants_call = true, .nth = cases[i].nth };
		struct chart_window w = { cases[i].from, cases[i].to, 100, 1000, &s };
		struct buf b;

		buf_init(&b);
		chart_data_put(p, &w, &b, NULL, NULL);
		CHECK_INT(w.from_ns, cases[i].moved_from);
		CHECK_INT(w.to_ns, cases[i].moved_to);
		buf_done(&b);
	}
	profile_free(p);
}

TEST(the_window_of_a_short_call_is_narrow_enough_to_see_it)
{
	struct profile *p = profile_new();
	uint32_t a = profile_child(p, 0, frame(p, "a")), b = profile_child(p, a, frame(p, "b"));
	bool frames[8] = { false };
	struct chart_search s = { .frames = frames, .wants_call = true, .nth = 1 };
	struct chart_window w = { 0, 0, 100, 1000, &s };
	struct buf out;

	p->chart = chart_new(0);
	chart_add(p->chart, p, a, 0, 1000000);
	chart_add(p->chart, p, b, 500000, 10);
	frames[frame(p, "b")] = true;
	buf_init(&out);
	chart_data_put(p, &w, &out, NULL, NULL);
	CHECK_INT(w.from_ns, 500005 - 300 - 2);
	CHECK_INT(w.to_ns, 500005 + 300 + 2);
	buf_done(&out);
	profile_free(p);
}

/* Each match in the window must be counted by exactly one box. */
TEST(a_search_counts_each_match_once_in_random_windows)
{
	for (unsigned round = 0; round < 300; round++) {
		struct profile *p = profile_new();
		struct chart_window w = { below(500), 0, 1 + below(200), 4000, NULL };
		bool frames[8] = { false };
		struct chart_search s = { .frames = frames };
		uint32_t inside = 0, sum = 0;
		const void *of[] = { p, &s };
		struct buf b;
		char *at;

		for (uint32_t i = 0; i < 15; i++)
			profile_child(p, below(p->node_count), frame(p, (char[]){ (char)('a' + below(4)), 0 }));
		frames[below(p->frame_count)] = true;
		p->chart = chart_new(0);
		for (int64_t at_ns = 0; p->chart->count < 300 && at_ns < 1500; at_ns += below(4))
			chart_add(p->chart, p, 1 + below(p->node_count - 1), at_ns, 1 + below(below(5) ? 20 : 400));
		w.to_ns = w.from_ns + 1 + below(900);
		w.search = &s;
		for (uint32_t i = 0; i < p->chart->count; i++)
			inside += frames[p->node_frames[p->chart->calls[i].node]] && p->chart->calls[i].start_ns < w.to_ns && p->chart->calls[i].end_ns >= w.from_ns;
		buf_init(&b);
		chart_data_put(p, &w, &b, put_search, of);
		at = memmem(b.data, b.size, "\"boxes\":[", 9);
		CHECK(at != NULL);
		for (at += 8; *at != ']';)
			sum += (uint32_t)strtoul(at + 1, &at, 10);
		CHECK_INT(sum, inside);
		buf_done(&b);
		profile_free(p);
	}
}

/* At a fine enough resolution each call has its box; at any resolution, boxes are nested and fit. */
TEST(boxes_of_random_charts_fit_and_nest_in_random_windows)
{
	for (unsigned round = 0; round < 500; round++) {
		struct profile *p = profile_new();
		struct chart_window w = { below(500), 0, 1 + below(200), 4000, NULL };
		uint32_t inside = 1, depth = 0;
		struct boxes boxes;
		struct buf b;

		for (uint32_t i = 0; i < 15; i++)
			profile_child(p, below(p->node_count), frame(p, (char[]){ (char)('a' + below(4)), 0 }));
		p->chart = chart_new(0);
		for (int64_t at = 0; p->chart->count < 300 && at < 1500; at += below(4))
			chart_add(p->chart, p, 1 + below(p->node_count - 1), at, 1 + below(below(5) ? 20 : 400));
		if (!p->chart->count) {
			profile_free(p);
			continue;
		}
		w.to_ns = w.from_ns + 1 + below(900);
		if (round % 2)
			w.pixels = 20000;
		for (uint32_t i = 0; i < p->chart->count; i++) {
			inside += p->chart->calls[i].start_ns < w.to_ns && p->chart->calls[i].end_ns >= w.from_ns;
			depth = p->chart->calls[i].depth > depth ? p->chart->calls[i].depth : depth;
		}
		buf_init(&b);
		chart_data_put(p, &w, &b, NULL, NULL);
		boxes = read_boxes(&b);
		CHECK(boxes.depths <= depth + 2);
		if (w.pixels == 20000)
			CHECK(boxes.count <= inside && boxes.count * 2 + 20 > inside);
		for (uint32_t d = 1; d < boxes.depths; d++)
			for (uint32_t i = boxes.offsets[d], up = boxes.offsets[d - 1]; i < boxes.offsets[d + 1]; i++) {
				while (up < boxes.offsets[d] && boxes.start[up] + boxes.width[up] < boxes.start[i] + boxes.width[i])
					up++;
				CHECK(up < boxes.offsets[d] && boxes.start[up] <= boxes.start[i]);
				CHECK(i == boxes.offsets[d] || boxes.start[i - 1] + boxes.width[i - 1] <= boxes.start[i]);
			}
		buf_done(&b);
		profile_free(p);
	}
}

TEST(all_calls_have_boxes_in_a_file)
{
	struct profile *p = profile_new();
	uint32_t a = profile_child(p, 0, frame(p, "a")), b = profile_child(p, a, frame(p, "b"));
	struct boxes boxes;
	struct buf out;

	p->chart = chart_new(0);
	chart_add(p->chart, p, a, 0, 1000000);
	for (int i = 0; i < 5000; i++)
		chart_add(p->chart, p, b, 10 + 100 * i, i % 2 ? 20 : 1);
	buf_init(&out);
	chart_data_put_calls(p, 10000, &out);
	boxes = read_boxes(&out);
	CHECK_INT(boxes.count, 5002);
	CHECK_INT(boxes.depths, 3);
	CHECK_INT(boxes.start[5001], 499910);
	CHECK_INT(boxes.width[5000], 1);
	CHECK_INT(p->frame_count, 2);
	buf_done(&out);
	buf_init(&out);
	chart_data_put_calls(p, 100, &out);
	boxes = read_boxes(&out);
	CHECK(boxes.count <= 101 && boxes.count > 2);
	for (uint32_t i = 2; i < boxes.count; i++)
		CHECK(boxes.frame[i] == 1 || boxes.frame[i] == 3);
	buf_done(&out);
	profile_free(p);
}

TEST_MAIN()
