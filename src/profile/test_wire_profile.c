/* test_wire_profile.c: tests that profiles survive the wire format. */
#include "wire_profile.h"
#include "mem.h"
#include "test.h"
#include "test_same_edges.h"

static struct str s(const char *text)
{
	return (struct str){ text, strlen(text) };
}

static struct profile *sample(void)
{
	struct profile *p = profile_new();
	uint32_t samples = profile_column(p, "samples", "count"), memory = profile_column(p, "memory_bytes", "bytes");
	uint32_t main = profile_frame(p, s("{main}"), s("/srv/index.php"), 0);
	uint32_t parse = profile_frame(p, s("Parser::parse"), s("/srv/Parser.php"), 42);
	uint32_t internal = profile_frame(p, (struct str){ "class@anonymous\0/x", 18 }, s(""), 0);

	profile_frame(p, s("never called"), s("unused.php"), 1);
	profile_add(p, profile_stack(p, (uint32_t[]){ main }, 1), samples, 1);
	profile_add(p, profile_stack(p, (uint32_t[]){ main, parse, internal }, 3), samples, INT64_MAX);
	profile_add(p, profile_stack(p, (uint32_t[]){ main, parse, internal }, 3), memory, -5);
	profile_add(p, profile_stack(p, (uint32_t[]){ main, internal }, 2), memory, INT64_MIN);
	p->start_ns = 1000;
	p->end_ns = 2000;
	p->period_ns = 10000000;
	labels_parse("entry=index,clock=cpu,host=web3", &p->labels, NULL);
	return p;
}

static bool same_tree(const struct profile *a, const struct profile *b)
{
	if (a->node_count != b->node_count || a->column_count != b->column_count)
		return false;
	for (uint32_t n = 1; n < a->node_count; n++) {
		uint32_t f = a->node_frames[n], g = b->node_frames[n];
		struct str x = profile_name(a, f), y = profile_name(b, g);

		if (a->parents[n] != b->parents[n] || a->frames[f].line != b->frames[g].line || x.n != y.n ||
		    memcmp(x.p, y.p, x.n) || strcmp(profile_file(a, f).p, profile_file(b, g).p))
			return false;
	}
	for (uint32_t c = 0; c < a->column_count; c++)
		if (strcmp(a->columns[c].name, b->columns[c].name) || strcmp(a->columns[c].unit, b->columns[c].unit) ||
		    memcmp(a->columns[c].self, b->columns[c].self, a->node_count * sizeof(int64_t)))
			return false;
	return true;
}

TEST(a_profile_survives_encoding_unchanged)
{
	struct profile *p = sample(), *back = profile_new();
	struct strobe_wire_message m;
	struct labels labels;
	struct buf b, text;

	buf_init(&b);
	buf_init(&text);
	labels_init(&labels);
	CHECK_INT(wire_profile_write(p, &b, NULL), 0);
	CHECK_INT(strobe_wire_parse(b.data, b.size, &m), STROBE_WIRE_OK);
	CHECK_INT(wire_profile_add(back, &m), 0);
	CHECK(same_tree(p, back));
	CHECK_INT(m.info.clock, STROBE_CLOCK_CPU);
	CHECK_INT(m.info.start_ns, 1000);
	CHECK_INT(m.info.end_ns, 2000);
	CHECK_INT(m.info.period_ns, 10000000);
	CHECK_INT(m.frames, 3);
	wire_profile_labels(&m, &labels);
	labels_put(&labels, &text);
	CHECK_STR(text.data, "clock=cpu,entry=index,host=web3");
	/* It only has functions that nodes call. */
	CHECK(!memmem(b.data, b.size, "unused.php", 10));
	CHECK_INT(back->labels.count, 0);
	CHECK_INT(back->end_ns, 0);
	profile_free(p);
	profile_free(back);
	labels_done(&labels);
	buf_done(&b);
	buf_done(&text);
}

TEST(a_run_is_written_as_one_and_rejected_with_an_invalid_name)
{
	struct profile *p = sample(), *back = profile_new();
	struct strobe_wire_message m;
	struct err err = { 0 };
	struct buf b;

	buf_init(&b);
	CHECK_INT(wire_profile_write_run(p, &b, NULL), 0);
	CHECK_INT(strobe_wire_parse(b.data, b.size, &m), STROBE_WIRE_OK);
	CHECK_INT(m.info.kind, STROBE_WIRE_RUN);
	CHECK_INT(wire_profile_add(back, &m), 0);
	CHECK(same_tree(p, back));
	labels_parse("source=shop,id=../x", &p->labels, NULL);
	CHECK_INT(wire_profile_write_run(p, &b, &err), -EINVAL);
	CHECK(strstr(err.text, "'../x' is not a valid id of a run") != NULL);
	profile_free(p);
	profile_free(back);
	buf_done(&b);
}

TEST(reading_a_message_twice_doubles_its_values)
{
	struct profile *p = profile_new(), *back = profile_new();
	struct strobe_wire_message m;
	struct buf b;

	buf_init(&b);
	profile_add(p, profile_child(p, 0, profile_frame(p, s("f"), s(""), 0)), profile_column(p, "samples", "count"),
		    21);
	wire_profile_write(p, &b, NULL);
	CHECK_INT(strobe_wire_parse(b.data, b.size, &m), STROBE_WIRE_OK);
	wire_profile_add(back, &m);
	wire_profile_add(back, &m);
	CHECK_INT(profile_sum(back, 0), 42);
	CHECK_INT(back->node_count, 2);
	profile_free(p);
	profile_free(back);
	buf_done(&b);
}

TEST(an_empty_profile_is_a_message_without_nodes)
{
	struct profile *p = profile_new();
	struct strobe_wire_message m;
	struct buf b;

	buf_init(&b);
	CHECK_INT(wire_profile_write(p, &b, NULL), 0);
	CHECK_INT(strobe_wire_parse(b.data, b.size, &m), STROBE_WIRE_OK);
	CHECK_INT(m.nodes, 0);
	CHECK_INT(b.size, STROBE_WIRE_HEADER);
	profile_free(p);
	buf_done(&b);
}

TEST(columns_above_the_limit_add_nothing)
{
	struct profile *p = sample(), *full = profile_new();
	struct strobe_wire_message m;
	char name[16];
	struct buf b;

	buf_init(&b);
	for (unsigned i = 0; i < PROFILE_COLUMNS - 1; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		profile_column(full, name, "count");
	}
	wire_profile_write(p, &b, NULL);
	CHECK_INT(strobe_wire_parse(b.data, b.size, &m), STROBE_WIRE_OK);
	CHECK_INT(wire_profile_add(full, &m), -E2BIG);
	CHECK_INT(full->node_count, 1);
	CHECK_INT(full->column_count, PROFILE_COLUMNS - 1);
	profile_free(p);
	profile_free(full);
	buf_done(&b);
}

TEST(a_name_above_the_cap_is_rejected_by_its_size)
{
	struct profile *p = profile_new();
	char *name = xcalloc(1, STROBE_WIRE_STRING + 1);
	struct err err;
	struct buf b;

	buf_init(&b);
	buf_puts(&b, "kept");
	memset(name, 'x', STROBE_WIRE_STRING + 1);
	profile_child(p, 0, profile_frame(p, (struct str){ name, STROBE_WIRE_STRING + 1 }, s(""), 0));
	CHECK_INT(wire_profile_write(p, &b, &err), -E2BIG);
	CHECK_STR(err.text, "cannot write a frame whose name has 65537 bytes: at most 65536 fit");
	CHECK_STR(b.data, "kept");
	p = profile_free(p);
	p = profile_new();
	profile_child(p, 0, profile_frame(p, (struct str){ name, STROBE_WIRE_STRING }, s(""), 0));
	CHECK_INT(wire_profile_write(p, &b, &err), 0);
	profile_free(p);
	free(name);
	buf_done(&b);
}

/* Reads consecutive messages of one profile. */
static struct profile *read_all(const struct buf *b, unsigned *ret_messages)
{
	struct profile *p = profile_new();
	size_t at = 0;

	*ret_messages = 0;
	while (at < b->size) {
		struct strobe_wire_message m;
		size_t size = (size_t)strobe_wire_get_le((const uint8_t *)b->data + at + 8, 4);

		CHECK_INT(strobe_wire_parse(b->data + at, size, &m), STROBE_WIRE_OK);
		CHECK_INT(wire_profile_add_whole(p, &m, NULL), 0);
		CHECK_INT(!(m.info.flags & STROBE_WIRE_CONTINUED), m.info.version == 1 || at + size == b->size);
		at += size;
		(*ret_messages)++;
	}
	return p;
}

TEST(a_profile_too_large_for_one_message_becomes_several_that_add_up)
{
	struct profile *p = profile_new(), *back;
	uint32_t c = profile_column(p, "samples", "count"), parent = PROFILE_ROOT;
	char *name = xcalloc(1, 60001);
	unsigned messages;
	struct buf b;

	buf_init(&b);
	memset(name, 'n', 60000);
	/* 1,500 names of 60 kB are 90 MB; stacks of 20, so that pieces share ancestors. */
	for (uint32_t i = 0; i < 1500; i++) {
		uint32_t node;

		memcpy(name + snprintf(name, 20, "%u", i), "n", 1);
		node = profile_child(p, parent, profile_frame(p, (struct str){ name, 60000 }, s("f.php"), i));
		profile_add(p, node, c, (int64_t)i + 1);
		parent = i % 20 == 19 ? PROFILE_ROOT : node;
	}
	CHECK_INT(wire_profile_write(p, &b, NULL), 0);
	back = read_all(&b, &messages);
	CHECK(messages >= 2 && messages <= 4);
	CHECK(same_tree(p, back));
	free(name);
	profile_free(p);
	profile_free(back);
	buf_done(&b);
}

static const struct edges_options all = { .column = UINT32_MAX };

static void set_pair(struct edges *e, uint32_t caller, uint32_t callee, uint32_t column, int64_t value)
{
	uint32_t pair = edges_pair(e, caller, callee);

	e->pairs[pair].value[column] = value;
}

TEST(edges_survive_encoding_unchanged)
{
	_cleanup_(profile_freep) struct profile *p = sample(), *back = NULL;
	_cleanup_(buf_done) struct buf b = { 0 };
	struct strobe_wire_message m;
	unsigned messages;

	buf_init(&b);
	p->edges = edges_of(p, &all);
	p->estimated = true;
	/* Functions that occur only in pairs. */
	set_pair(p->edges, 1, edges_node(p->edges, profile_frame(p, s("elsewhere"), s("e.php"), 3), 7), 1, INT64_MIN);
	p->edges->nodes[EDGES_ROOT].self[0] = 12;
	edges_not_once(p->edges, 2);
	CHECK_INT(wire_profile_write(p, &b, NULL), 0);
	CHECK_INT(b.data[4], 2);
	back = read_all(&b, &messages);
	CHECK_INT(messages, 1);
	CHECK(same_tree(p, back) && same_edges(p->edges, back->edges) && back->estimated);
	/* They are not added to a profile with other content: its edges would be incomplete. */
	profile_free(TAKE_PTR(back));
	back = profile_new();
	CHECK_INT(strobe_wire_parse(b.data, b.size, &m), STROBE_WIRE_OK);
	CHECK_INT(wire_profile_add(back, &m), 0);
	CHECK(!back->edges && !back->estimated);
}

TEST(an_estimate_without_edges_survives_encoding)
{
	_cleanup_(profile_freep) struct profile *p = sample(), *back = NULL;
	_cleanup_(buf_done) struct buf b = { 0 };
	unsigned messages;

	buf_init(&b);
	p->estimated = true;
	CHECK_INT(wire_profile_write(p, &b, NULL), 0);
	back = read_all(&b, &messages);
	CHECK(back->estimated && !back->edges && same_tree(p, back));
}

TEST(edges_too_large_for_one_message_become_several_that_add_up)
{
	_cleanup_(profile_freep) struct profile *p = profile_new(), *back = NULL;
	_cleanup_(freep) char *name = xcalloc(1, 60001);
	_cleanup_(buf_done) struct buf b = { 0 };
	uint32_t c = profile_column(p, "calls", "count"), main = profile_frame(p, s("main"), s(""), 0), top;
	unsigned messages;

	buf_init(&b);
	memset(name, 'n', 60000);
	p->edges = edges_new();
	p->estimated = true;
	top = edges_node(p->edges, main, 0);
	profile_add(p, profile_child(p, PROFILE_ROOT, main), c, 1);
	set_pair(p->edges, EDGES_ROOT, top, c, 1);
	for (uint32_t i = 0; i < 1500; i++) {
		uint32_t node;

		memcpy(name + snprintf(name, 20, "%u", i), "n", 1);
		node = edges_node(p->edges, profile_frame(p, (struct str){ name, 60000 }, s("f.php"), i), 0);
		p->edges->nodes[node].self[c] = i;
		set_pair(p->edges, top, node, c, (int64_t)i + 1);
	}
	CHECK_INT(wire_profile_write(p, &b, NULL), 0);
	back = read_all(&b, &messages);
	CHECK(messages >= 2 && messages <= 8);
	CHECK(same_tree(p, back) && back->estimated);
	CHECK(same_edges(p->edges, back->edges));
}

TEST(a_stack_of_200000_frames_fits)
{
	struct profile *p = profile_new(), *back;
	uint32_t c = profile_column(p, "samples", "count"), f = profile_frame(p, s("f"), s(""), 0), node = PROFILE_ROOT;
	unsigned messages;
	struct buf b;

	buf_init(&b);
	for (int i = 0; i < 200000; i++)
		node = profile_child(p, node, f);
	profile_add(p, node, c, 1);
	CHECK_INT(wire_profile_write(p, &b, NULL), 0);
	back = read_all(&b, &messages);
	CHECK_INT(messages, 1);
	CHECK_INT(profile_depth(back), 200000);
	CHECK(same_tree(p, back));
	profile_free(p);
	profile_free(back);
	buf_done(&b);
}

TEST_MAIN()
