/* test_message.h: small valid messages for the tests of this room. */
#ifndef COLLECT_TEST_MESSAGE_H
#define COLLECT_TEST_MESSAGE_H

#include "clock.h"
#include "strobe_wire.h"

#include <stdbool.h>
#include <assert.h>

struct test_message {
	const char *entry;		/* the label; "index" if NULL */
	const char *span_id;		/* another label; NULL: none */
	int64_t samples;		/* samples of the one stack main -> work */
	int64_t end_ns;			/* now if 0 */
	uint64_t lost;			/* samples reported as socket_full */
	uint64_t extra_strings;		/* padding, of 60 KB each */
	bool bare;			/* no nodes at all */
	bool run;			/* whether the kind is run */
};

/* Writes the message into `buffer`; returns its size, which may be above `capacity`. */
static inline size_t test_message_write(const struct test_message *t, void *buffer, size_t capacity)
{
	static const char padding[60 * 1024] = { 'x' };
	uint64_t end = (uint64_t)(t->end_ns ? t->end_ns : clock_wall_ns());
	struct strobe_wire_info info = {
		.kind = t->run ? STROBE_WIRE_RUN : STROBE_WIRE_SAMPLES, .clock = STROBE_CLOCK_WALL, .pid = 7,
		.start_ns = end - 1000000, .end_ns = end, .period_ns = 10000000,
	};
	const char *entry = t->entry ? t->entry : "index";
	struct strobe_wire_writer w;
	int64_t none = 0;

	strobe_wire_begin(&w, buffer, capacity, &info);
	strobe_wire_string(&w, "entry", 5);
	strobe_wire_string(&w, entry, strlen(entry));
	strobe_wire_string(&w, "samples", 7);
	strobe_wire_string(&w, "count", 5);
	strobe_wire_string(&w, "main", 4);
	strobe_wire_string(&w, "work", 4);
	if (t->span_id) {
		strobe_wire_string(&w, "span_id", 7);
		strobe_wire_string(&w, t->span_id, strlen(t->span_id));
	}
	for (uint64_t i = 0; i < t->extra_strings; i++)
		strobe_wire_string(&w, padding, sizeof(padding));
	strobe_wire_label(&w, 1, 2);
	if (t->span_id)
		strobe_wire_label(&w, 7, 8);
	strobe_wire_column(&w, 3, 4);
	if (t->lost)
		strobe_wire_drop(&w, STROBE_DROP_FULL, t->lost);
	strobe_wire_frame(&w, 5, 0, 0);
	strobe_wire_frame(&w, 6, 0, 0);
	if (!t->bare) {
		strobe_wire_node(&w, 0, 0, &none);
		strobe_wire_node(&w, 1, 1, &t->samples);
	}
	return strobe_wire_end(&w);
}

#endif
