/* strobe.c: the native format: consecutive messages of wire/strobe_wire.h, as received. */
#include "edges.h"
#include "format.h"
#include "mem.h"
#include "wire_labels.h"
#include "wire_profile.h"
#include <string.h>

static int strobe_sniff(const char *bytes, size_t n)
{
	return n >= 5 && !memcmp(bytes, "STRB", 4) ? 100 : 0;
}

static int too_large(struct err *err, size_t at)
{
	return err_set(err, -E2BIG, "the message at byte %zu would make more than %u value columns in all", at,
		       PROFILE_COLUMNS);
}

static int bad_message(struct err *err, int code, size_t at, enum strobe_wire_error e)
{
	if (e == STROBE_WIRE_TRUNCATED)
		return err_set(err, code, "the message at byte %zu is truncated: the file is incomplete", at);
	if (e == STROBE_WIRE_UNKNOWN_VERSION)
		return err_set(err, code, "the message at byte %zu was written by a newer Strobe", at);
	return err_set(err, code, "the message at byte %zu is damaged (%s)", at, strobe_wire_error_name(e));
}

static void describe(struct profile *p, const struct strobe_wire_message *m)
{
	_cleanup_(labels_done) struct labels labels = { 0 };

	profile_cover(p, (int64_t)m->info.start_ns, (int64_t)m->info.end_ns);
	/* A message without samples must not affect the others' metadata. */
	if (m->nodes == 0 && p->node_count > 1)
		return;
	labels_init(&labels);
	wire_profile_labels(m, &labels);
	wire_labels_add_clock(&labels, m->info.clock);
	profile_describe(p, (int64_t)m->info.period_ns, false, &labels);
}

/* Returns the size in the header at `bytes`, limited to the remaining bytes. */
static size_t message_size(const char *bytes, size_t left)
{
	size_t size;

	if (left < STROBE_WIRE_HEADER)
		return left;
	size = (size_t)strobe_wire_get_le((const uint8_t *)bytes + 8, 4);
	return size < left ? size : left;
}

#define FILE_MAX ((size_t)8 << 30)

struct reading {
	struct str all;
	size_t at, read;		/* bytes, and messages */
	struct err *err;
};

/* An incomplete message at the end of a file whose writer was killed is left out, and 1 is returned; damaged messages
 * are errors. */
static int parse_message(struct reading *r, struct strobe_wire_message *m)
{
	size_t size = message_size(r->all.p + r->at, r->all.n - r->at);
	enum strobe_wire_error e = strobe_wire_parse(r->all.p + r->at, size, m);

	if (!e)
		return 0;
	bad_message(r->err, -EINVAL, r->at, e);
	return e == STROBE_WIRE_TRUNCATED && size == r->all.n - r->at && r->read ? 1 : -EINVAL;
}

static int add_message(struct reading *r, struct profile *p, const struct strobe_wire_message *m)
{
	describe(p, m);
	if (wire_profile_add_whole(p, m, NULL) < 0)
		return too_large(r->err, r->at);
	r->at += m->size;
	return 0;
}

/* Reads a profile that does not simply add up: from its first message to its last. */
static int read_estimate(struct reading *r, struct profile *p, struct strobe_wire_message *m)
{
	_cleanup_(profile_freep) struct profile *one = profile_new();
	size_t start = r->at;
	uint32_t messages = 1;
	int code;

	profile_keep_lines(one, p->keeps_lines);
	profile_keep_chart(one, p->keeps_chart);
	code = add_message(r, one, m);
	while (code == 0 && m->info.flags & STROBE_WIRE_CONTINUED) {
		code = parse_message(r, m);
		if (code == 0)
			code = add_message(r, one, m);
		messages++;
	}
	if (code)
		return code;
	if (!profile_columns_fit(p, one))
		return too_large(r->err, start);
	profile_merge(p, one);
	r->read += messages;
	return 0;
}

static int read_profile(struct reading *r, struct profile *p)
{
	struct strobe_wire_message m;
	int code = parse_message(r, &m);

	if (code)
		return code;
	if (m.edge_nodes || m.info.flags & STROBE_WIRE_ESTIMATE)
		return read_estimate(r, p, &m);
	r->read++;
	return add_message(r, p, &m);
}

static int strobe_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	struct reading r = { .err = err };
	int code = format_whole(in, FILE_MAX, &r.all, err);

	(void)o;
	while (code == 0 && r.at < r.all.n)
		code = read_profile(&r, p);
	return code;
}

/* Returns the edges with values of only one column, which becomes the first. */
static struct edges *edges_of_column(const struct profile *p, uint32_t column)
{
	_cleanup_(freep) uint32_t *frames = xmalloc(((size_t)p->frame_count + 1) * sizeof(*frames));
	uint32_t columns[PROFILE_COLUMNS];
	const struct edges_places to = { .columns = columns, .frames = frames, .column_count = p->column_count };
	struct edges *e = edges_new();

	for (uint32_t f = 0; f < p->frame_count; f++)
		frames[f] = f;
	for (uint32_t c = 0; c < p->column_count; c++)
		columns[c] = c == column ? 0 : UINT32_MAX;
	edges_add(e, p->edges, &to);
	return e;
}

static int strobe_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err)
{
	struct profile one = *p;	/* shares everything but the edges */
	int r;

	if (column == UINT32_MAX)
		return wire_profile_write(p, out, err);
	one.columns[0] = p->columns[column];
	one.column_count = 1;
	one.edges = p->edges ? edges_of_column(p, column) : NULL;
	r = wire_profile_write(&one, out, err);
	edges_free(one.edges);
	return r;
}

const struct format format_strobe = { "strobe", "strobe", strobe_sniff, strobe_read, strobe_write,
				      .about = "Strobe's own, all values and labels", .is_binary = true, .has_lines = true, .has_edges = true, .has_any_columns = true };
