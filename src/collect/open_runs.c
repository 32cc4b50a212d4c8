/* open_runs.c: a list of a few ids, searched linearly. */

#include "open_runs.h"

#include "mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void open_runs_done(struct open_runs *o)
{
	free(o->ids);
	*o = (struct open_runs){ 0 };
}

const char *open_runs_label(const struct strobe_wire_message *m, const char *name, size_t *ret_length)
{
	const uint8_t *p = m->at_labels;

	for (uint32_t i = 0; i < m->labels; i++) {
		size_t length;
		const char *key = strobe_wire_find_string(m, strobe_wire_next(&p), &length);
		uint64_t value = strobe_wire_next(&p);

		if (length == strlen(name) && !memcmp(key, name, length))
			return strobe_wire_find_string(m, value, ret_length);
	}
	return NULL;
}

static void add(struct open_runs *o, uint64_t id)
{
	if (o->count == OPEN_RUNS_MAX)
		return;
	if (o->count == o->capacity) {
		o->capacity = o->capacity ? o->capacity * 2 : 4;
		o->ids = xrealloc(o->ids, o->capacity * sizeof(*o->ids));
	}
	o->ids[o->count++] = id;
	assert(o->count <= o->capacity && o->count <= OPEN_RUNS_MAX);
}

void open_runs_note(struct open_runs *o, const struct strobe_wire_message *m)
{
	/* A message that announces a run has no nodes. One with nodes may come over a connection of its own, so it
	 * opens nothing here. */
	bool is_open = m->info.kind == STROBE_WIRE_OPEN_RUN, opens = is_open && !m->nodes;
	const char *text;
	size_t length, i;
	uint64_t id;

	/* Most messages are samples, or runs of senders that announce none. */
	if (!opens && (is_open || m->info.kind != STROBE_WIRE_RUN || !o->count))
		return;
	text = open_runs_label(m, "id", &length);
	if (!text)
		return;
	id = XXH3_64bits(text, length);
	for (i = 0; i < o->count && o->ids[i] != id; i++)
		;
	opens = opens && !open_runs_label(m, "discarded", &length);
	if (opens && i == o->count)
		add(o, id);
	else if (!opens && i < o->count)
		o->ids[i] = o->ids[--o->count];
}
