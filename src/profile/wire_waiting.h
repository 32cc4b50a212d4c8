/* wire_waiting.h: messages that wait to be added to profiles, many at once and series by series.
 *
 * Adding a message looks into the profile in a hundred places, and a profile that was not used for some milliseconds
 * has left the processor's cache. So whoever gets messages of many series in turn keeps them here for a while. What a
 * series is says its number, which the owner chose. */
#ifndef PROFILE_WIRE_WAITING_H
#define PROFILE_WIRE_WAITING_H

#include "arena.h"
#include "strobe_wire.h"

#include <stdbool.h>

struct wire_waiting_message {
	uint32_t series, number;		/* `number`: in the order in which they came */
	struct strobe_wire_message message;
};

/* Open for reading; it is changed through the functions below only. */
struct wire_waiting {
	struct wire_waiting_message *list;
	size_t count, capacity;
	size_t taken;				/* of the list */
	bool sorted;
	struct arena bytes;			/* of all in the list, also of what was taken */
};

void wire_waiting_init(struct wire_waiting *w);
void wire_waiting_done(struct wire_waiting *w);

/* Forgets all; keeps the list's memory, but not the messages'. */
void wire_waiting_clear(struct wire_waiting *w);

/* Copies a message that strobe_wire_parse accepted. Not between two calls of wire_waiting_take. */
void wire_waiting_add(struct wire_waiting *w, uint32_t series, const struct strobe_wire_message *m);

/* The next one: in the order of the series, and within one in that in which they came. NULL, and all are forgotten,
 * when there is none. It is there until wire_waiting_clear, or until NULL was returned. */
const struct wire_waiting_message *wire_waiting_take(struct wire_waiting *w);

bool wire_waiting_is_empty(const struct wire_waiting *w);

#endif
