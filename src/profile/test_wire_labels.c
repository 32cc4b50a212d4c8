/* test_wire_labels.c: tests that labels are added to a message, and all else is unchanged. */
#include "mem.h"
#include "test.h"
#include "wire_labels.h"
#include "wire_profile.h"

static struct str s(const char *text)
{
	return (struct str){ text, strlen(text) };
}

static void set(struct labels *l, const char *key, const char *value)
{
	labels_set(l, key, strlen(key), value, strlen(value));
}

/* Makes a run with a label and `functions` functions: its bytes in `b`, parsed in `m`. */
static void make(uint32_t functions, struct buf *b, struct strobe_wire_message *m)
{
	struct profile *p = profile_new();
	uint32_t wall, node = PROFILE_ROOT;

	profile_keep_lines(p, true);
	wall = profile_column(p, "wall_ns", "nanoseconds");
	set(&p->labels, "url", "/cart");
	for (uint32_t i = 0; i < functions; i++) {
		char name[32];

		node = profile_child_at(p, i % 7 ? node : PROFILE_ROOT, profile_frame(p, (struct str){ name,
					(size_t)snprintf(name, sizeof(name), "f%u", i) }, s("a.php"), i), i % 3);
		profile_add(p, node, wall, (int64_t)i - 3);
	}
	p->start_ns = 5;
	p->end_ns = 9;
	buf_init(b);
	CHECK_INT(wire_profile_write_run(p, b, NULL), 0);
	CHECK_INT(strobe_wire_parse(b->data, b->size, m), STROBE_WIRE_OK);
	profile_free(p);
}

static char *folded_labels(const struct strobe_wire_message *m)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	struct labels l = { 0 };

	buf_init(&b);
	labels_init(&l);
	wire_profile_labels(m, &l);
	for (size_t i = 0; i < l.count; i++)
		buf_printf(&b, "%s=%s;", l.items[i].key, l.items[i].value);
	labels_done(&l);
	return buf_take(&b, NULL);
}

/* Checks that nodes, frames, lines and values are the same. */
static void check_same(const struct strobe_wire_message *a, const struct strobe_wire_message *b)
{
	struct profile *p = profile_new(), *q = profile_new();

	profile_keep_lines(p, true);
	profile_keep_lines(q, true);
	CHECK_INT(wire_profile_add_whole(p, a, NULL), 0);
	CHECK_INT(wire_profile_add_whole(q, b, NULL), 0);
	CHECK(p->node_count == q->node_count && p->column_count == q->column_count);
	for (uint32_t n = 1; n < p->node_count && n < q->node_count; n++) {
		CHECK(p->parents[n] == q->parents[n] && profile_line(p, n) == profile_line(q, n));
		CHECK_STR(profile_name(p, p->node_frames[n]).p, profile_name(q, q->node_frames[n]).p);
		CHECK_STR(profile_file(p, p->node_frames[n]).p, profile_file(q, q->node_frames[n]).p);
		CHECK_INT(p->columns[0].self[n], q->columns[0].self[n]);
	}
	CHECK_STR(p->columns[0].name, q->columns[0].name);
	CHECK(a->info.start_ns == b->info.start_ns && a->info.end_ns == b->info.end_ns && a->info.pid == b->info.pid);
	profile_free(p);
	profile_free(q);
}

TEST(a_message_gets_the_labels_that_it_lacks)
{
	_cleanup_(buf_done) struct buf b = { 0 }, out = { 0 };
	_cleanup_(freep) char *text = NULL;
	struct strobe_wire_message m, with;
	struct labels more = { 0 };

	make(300, &b, &m);
	buf_init(&out);
	labels_init(&more);
	set(&more, "pod", "f12");		/* a string that the message has already */
	set(&more, "node", "n1");
	set(&more, "zone", "n1");
	set(&more, "url", "/other");
	set(&more, "id", "17");
	set(&more, "source", "x");
	set(&more, "discarded", "1");
	CHECK(wire_labels_add(&m, &more, &out));
	CHECK_INT(strobe_wire_parse(out.data, out.size, &with), STROBE_WIRE_OK);
	text = folded_labels(&with);
	CHECK(strstr(text, "url=/cart;") && strstr(text, "pod=f12;") && strstr(text, "node=n1;") && strstr(text, "zone=n1;"));
	CHECK(!strstr(text, "id=") && !strstr(text, "source=") && !strstr(text, "discarded="));
	CHECK_INT(with.strings, m.strings + 4);		/* pod, node, n1, zone */
	check_same(&m, &with);

	/* Now it lacks none of them. */
	CHECK(!wire_labels_add(&with, &more, &b));
	labels_done(&more);
}

TEST(labels_invalid_in_a_message_are_omitted)
{
	_cleanup_(buf_done) struct buf b = { 0 }, out = { 0 };
	_cleanup_(freep) char *longer = xcalloc(1, STROBE_WIRE_LABEL_VALUE + 2);
	struct strobe_wire_message m, with;
	struct labels more = { 0 };

	make(3, &b, &m);
	buf_init(&out);
	labels_init(&more);
	CHECK(!wire_labels_add(&m, &more, &out));
	memset(longer, 'x', STROBE_WIRE_LABEL_VALUE + 1);
	set(&more, "long", longer);
	set(&more, "no-key", "1");
	CHECK(!wire_labels_add(&m, &more, &out));
	for (int i = 0; i < 100; i++) {
		char key[16];

		snprintf(key, sizeof(key), "k%d", i);
		set(&more, key, key);
	}
	CHECK(wire_labels_add(&m, &more, &out));
	CHECK_INT(strobe_wire_parse(out.data, out.size, &with), STROBE_WIRE_OK);
	CHECK_INT(with.labels, STROBE_WIRE_LABELS);
	check_same(&m, &with);
	labels_done(&more);
}

TEST_MAIN()
