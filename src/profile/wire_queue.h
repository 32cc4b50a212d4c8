/* wire_queue.h: queues messages to be added to profiles, many at once and series by series.
 *
 * Adding a message accesses the profile in a hundred places, and a profile that was not used for some milliseconds
 * has left the processor's cache. So receivers of messages of many series in turn keep them here for a while. A
 * series is identified by a number that the owner chose. */
#ifndef PROFILE_WIRE_QUEUE_H
#define PROFILE_WIRE_QUEUE_H

#include "arena.h"
#include "strobe_wire.h"

#include <stdbool.h>

struct wire_queue_entry {
	uint32_t series, number;		/* `number`: in the order in which they came */
	struct strobe_wire_message message;
};

/* Open for reading; it is changed through the functions below only. */
struct wire_queue {
	struct wire_queue_entry *list;
	size_t count, capacity;
	size_t taken;				/* messages taken from the list */
	bool sorted;
	struct arena bytes;			/* bytes of all messages in the list, including those taken */
};

void wire_queue_init(struct wire_queue *w);
void wire_queue_done(struct wire_queue *w);

/* Drops all; keeps the list's memory, but not the messages'. */
void wire_queue_clear(struct wire_queue *w);

/* Copies a message that strobe_wire_parse accepted. Not between two calls of wire_queue_take. */
void wire_queue_add(struct wire_queue *w, uint32_t series, const struct strobe_wire_message *m);

/* The next one: in the order of the series, and within one in that in which they came. NULL, and the queue is empty,
 * when there is none. It is there until wire_queue_clear, or until NULL was returned. */
const struct wire_queue_entry *wire_queue_take(struct wire_queue *w);

bool wire_queue_is_empty(const struct wire_queue *w);

#endif
