/* source_entry.c: hands over the messages or lines of an entry, one by one. */
#include "source_entry.h"

#include "entry.h"

#include <assert.h>
#include <string.h>

static uint32_t get_u32(const char *p)
{
	const unsigned char *b = (const unsigned char *)p;

	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Each message has its length, so after an invalid one the rest cannot be parsed. */
static size_t hand_messages(struct source *s, struct message_metadata about, struct str body, struct err *err)
{
	size_t taken = 0;

	while (body.n) {
		size_t n = body.n < STROBE_WIRE_HEADER ? body.n : get_u32(body.p + 8);
		enum strobe_wire_error e = source_message(s, about, body.p, n < body.n ? n : body.n);

		if (e) {
			err_set(err, -EBADMSG, "message %zu of the entry is malformed: %s", taken + 1,
				strobe_wire_error_name(e));
			return taken;
		}
		assert(n <= body.n);		/* the check made sure that it ends there */
		about.part = (uint32_t)++taken;
		body.p += n;
		body.n -= n;
	}
	return taken;
}

static void add_labels(struct labels *l, const struct labels *more)
{
	for (size_t i = 0; more && i < more->count; i++) {
		const struct label *one = &more->items[i];

		if (!labels_get(l, one->key))
			labels_set(l, one->key, strlen(one->key), one->value, strlen(one->value));
	}
}

size_t source_entry(struct source *s, struct message_metadata about, const struct str *fields, size_t count,
		    struct err *err)
{
	struct entry e = { 0 };
	size_t taken = 0;

	if (entry_read(fields, count, &e, err) >= 0) {
		add_labels(&e.labels, about.labels);
		about.labels = e.labels.count ? &e.labels : NULL;
		if (e.batch_id)
			about.batch_id = e.batch_id;
		err_set(err, -EINVAL, "the entry is empty");
		taken = e.is_messages ? hand_messages(s, about, e.body, err) :
					source_lines(s, about, e.body.p, e.body.n, err);
	}
	if (!taken)
		s->counters.rejected_entries++;
	entry_done(&e);
	return taken;
}
