/* wire_labels.c: inserts new strings at the front, where labels may refer to them, and increases all other references
 * by their number. */
#include "wire_labels.h"

#include "wire_profile.h"

#include <assert.h>
#include <string.h>

struct added {
	struct str texts[2 * STROBE_WIRE_LABELS];	/* strings that the message lacks */
	uint32_t text_count;
	struct { struct str key, value; } labels[STROBE_WIRE_LABELS];
	uint32_t count;
};

static bool may_be_added(const char *key, size_t n)
{
	return n <= STROBE_WIRE_LABEL_KEY && strobe_wire_is_label_key((const uint8_t *)key, n) && strcmp(key, "source") &&
	       strcmp(key, "id") && strcmp(key, "discarded");
}

/* Returns the reference of this text among the first strings of the message; 0 if it is not there. */
static uint64_t reference_of(const struct strobe_wire_message *m, struct str text)
{
	const uint8_t *p = m->at_strings;

	for (uint32_t i = 0; i < m->strings && i < STROBE_WIRE_NAMED; i++) {
		size_t n;
		const char *s = strobe_wire_next_string(&p, &n);

		if (n == text.n && !memcmp(s, text.p, n))
			return i + 1;
	}
	return 0;
}

static uint64_t new_reference_of(const struct added *a, struct str text)
{
	for (uint32_t i = 0; i < a->text_count; i++)
		if (a->texts[i].n == text.n && !memcmp(a->texts[i].p, text.p, text.n))
			return i + 1;
	return 0;
}

static void note_text(const struct strobe_wire_message *m, struct added *a, struct str text)
{
	if (!reference_of(m, text) && !new_reference_of(a, text))
		a->texts[a->text_count++] = text;
}

static void note_labels(const struct strobe_wire_message *m, const struct labels *more, struct added *a)
{
	struct labels own = { 0 };

	labels_init(&own);
	wire_profile_labels(m, &own);
	for (size_t i = 0; i < more->count; i++) {
		struct str key = { more->items[i].key, strlen(more->items[i].key) };
		struct str value = { more->items[i].value, strlen(more->items[i].value) };

		if (!may_be_added(key.p, key.n) || value.n > STROBE_WIRE_LABEL_VALUE || labels_get(&own, key.p) ||
		    m->labels + a->count == STROBE_WIRE_LABELS)
			continue;
		note_text(m, a, key);
		note_text(m, a, value);
		a->labels[a->count].key = key;
		a->labels[a->count++].value = value;
	}
	labels_done(&own);
}

/* --- Writing --- */

struct moving {
	const struct strobe_wire_message *m;
	const struct added *added;
	struct buf *out;
	bool too_far;			/* a label or a column would need an invalid reference */
};

static void put_reference(struct moving *w, uint64_t reference, bool named)
{
	uint64_t moved = reference ? reference + w->added->text_count : 0;

	w->too_far = w->too_far || (named && moved > STROBE_WIRE_NAMED);
	buf_put_varint(w->out, moved);
}

static void put_text(struct moving *w, struct str text)
{
	uint64_t known = new_reference_of(w->added, text);

	if (known)
		buf_put_varint(w->out, known);
	else
		put_reference(w, reference_of(w->m, text), true);
}

static void put_references(struct moving *w, const uint8_t *p, uint64_t count)
{
	while (count--)
		put_reference(w, strobe_wire_next(&p), true);
}

static void put_frames(struct moving *w)
{
	const uint8_t *p = w->m->at_frames;

	for (uint32_t i = 0; i < w->m->frames; i++) {
		put_reference(w, strobe_wire_next(&p), false);
		put_reference(w, strobe_wire_next(&p), false);
		buf_put_varint(w->out, strobe_wire_next(&p));
	}
	assert(p == w->m->at_nodes);
}

static void put_sections(struct moving *w, const uint8_t *end)
{
	const struct strobe_wire_message *m = w->m;
	const struct added *a = w->added;

	for (uint32_t i = 0; i < a->text_count; i++) {
		buf_put_varint(w->out, a->texts[i].n);
		buf_put(w->out, a->texts[i].p, a->texts[i].n);
	}
	buf_put(w->out, m->at_strings, (size_t)(m->at_labels - m->at_strings));
	put_references(w, m->at_labels, 2 * (uint64_t)m->labels);
	for (uint32_t i = 0; i < a->count; i++) {
		put_text(w, a->labels[i].key);
		put_text(w, a->labels[i].value);
	}
	put_references(w, m->at_columns, 2 * (uint64_t)m->columns);
	buf_put(w->out, m->at_drops, (size_t)(m->at_frames - m->at_drops));
	put_frames(w);
	buf_put(w->out, m->at_nodes, (size_t)(end - m->at_nodes));
}

bool wire_labels_add(const struct strobe_wire_message *m, const struct labels *more, struct buf *out)
{
	const uint8_t *bytes = wire_message_bytes(m);
	struct added a = { 0 };
	struct moving w = { m, &a, out, false };
	uint8_t *header;

	buf_reset(out);
	note_labels(m, more, &a);
	if (!a.count)
		return false;
	buf_put(out, bytes, strobe_wire_header_size(&m->info));
	put_sections(&w, bytes + m->size);
	if (w.too_far || out->overflow || out->size > STROBE_WIRE_MAX || m->strings + a.text_count > STROBE_WIRE_STRINGS)
		return false;
	header = (uint8_t *)out->data;
	strobe_wire_put_le(header + 8, out->size, 4);
	strobe_wire_put_le(header + 40, m->labels + a.count, 2);
	strobe_wire_put_le(header + 48, m->strings + a.text_count, 4);
	return true;
}

void wire_labels_add_clock(struct labels *l, enum strobe_clock clock)
{
	const char *name = clock == STROBE_CLOCK_CPU ? "cpu" : "wall";

	if (clock != STROBE_CLOCK_NONE && !labels_get(l, "clock"))
		labels_set(l, "clock", 5, name, strlen(name));
}
