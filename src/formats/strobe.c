/* strobe.c: the native format: messages of wire/strobe_wire.h one after another, as they were received. */
#include "format.h"
#include "wire_profile.h"
#include <string.h>

static int strobe_sniff(const char *bytes, size_t n)
{
	if (n >= 5 && !memcmp(bytes, "STRB", 4))
		return 100;
	return 0;
}

static int too_large(struct err *err, size_t at)
{
	return err_set(err, -E2BIG, "the message at byte %zu brings more than %u value columns together", at,
		       PROFILE_COLUMNS);
}

static int bad_message(struct err *err, int code, size_t at, enum strobe_wire_error e)
{
	if (e == STROBE_WIRE_TRUNCATED)
		return err_set(err, code, "the message at byte %zu is cut off: the file is not complete", at);
	if (e == STROBE_WIRE_UNKNOWN_VERSION)
		return err_set(err, code, "the message at byte %zu is of a version that a newer Strobe wrote", at);
	return err_set(err, code, "the message at byte %zu is damaged (%s)", at, strobe_wire_error_name(e));
}

/* Where a sender did not say it as a label, the clock is one: it decides what a sample means. */
static void add_clock(struct labels *labels, enum strobe_clock clock)
{
	const char *name = clock == STROBE_CLOCK_CPU ? "cpu" : "wall";

	if (clock != STROBE_CLOCK_NONE && !labels_get(labels, "clock"))
		labels_set(labels, "clock", 5, name, strlen(name));
}

static void describe(struct profile *p, const struct strobe_wire_message *m)
{
	_cleanup_(labels_done) struct labels labels = { 0 };

	profile_cover(p, (int64_t)m->info.start_ns, (int64_t)m->info.end_ns);
	/* A message without samples says nothing about the others. */
	if (m->nodes == 0 && p->node_count > 1)
		return;
	labels_init(&labels);
	wire_profile_labels(m, &labels);
	add_clock(&labels, m->info.clock);
	profile_describe(p, (int64_t)m->info.period_ns, false, &labels);
}

/* The size that the header at `bytes` claims, as far as there is one, held to what is left. */
static size_t message_size(const char *bytes, size_t left)
{
	size_t size;

	if (left < STROBE_WIRE_HEADER)
		return left;
	size = (size_t)strobe_wire_get_le((const uint8_t *)bytes + 8, 4);
	return size < left ? size : left;
}

#define FILE_MAX ((size_t)8 << 30)

static int strobe_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	size_t at = 0, read = 0;
	struct str all;
	int r = format_whole(in, FILE_MAX, &all, err);

	(void)o;
	if (r < 0)
		return r;
	while (at < all.n) {
		size_t size = message_size(all.p + at, all.n - at);
		struct strobe_wire_message m;
		enum strobe_wire_error e = strobe_wire_parse(all.p + at, size, &m);

		/* The rest of a file whose writer was killed is left out; what is damaged is not guessed at. */
		if (e == STROBE_WIRE_TRUNCATED && read && size == all.n - at) {
			bad_message(err, -EINVAL, at, e);
			return 1;
		}
		if (e)
			return bad_message(err, -EINVAL, at, e);
		describe(p, &m);
		if (wire_profile_add(p, &m) < 0)
			return too_large(err, at);
		at += size;
		read++;
	}
	return 0;
}

static int strobe_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err)
{
	struct profile one = *p;	/* borrows everything */

	if (column == UINT32_MAX)
		return wire_profile_write(p, out, err);
	one.columns[0] = p->columns[column];
	one.column_count = 1;
	return wire_profile_write(&one, out, err);
}

const struct format format_strobe = { "strobe", "strobe", strobe_sniff, strobe_read, strobe_write,
	.about = "Strobe's own, all values and labels", .is_binary = true };
