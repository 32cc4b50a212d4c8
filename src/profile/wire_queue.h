/* wire_queue.h: queues messages to be added to profiles, many at once and series by series.
 *
 * Adding a message accesses the profile in a hundred places, and a profile that was not used for a few milliseconds
 * has been evicted from the cache. So receivers of interleaved messages of many series queue them here for a while. A
 * series is identified by a number chosen by the owner. */
#ifndef PROFILE_WIRE_QUEUE_H
#define PROFILE_WIRE_QUEUE_H

#include "arena.h"
#include "strobe_wire.h"

#include <stdbool.h>

struct wire_queue_entry {
	uint32_t series, number;		/* `number`: in order of arrival */
	struct strobe_wire_message message;
};

/* Read the struct directly, but change it only through the functions below. */
struct wire_queue {
	struct wire_queue_entry *list;
	size_t count, capacity;
	size_t taken;				/* messages taken from the list */
	bool sorted;
	struct arena bytes;			/* bytes of all messages in the list, including those taken */
};

void wire_queue_init(struct wire_queue *w);
void wire_queue_done(struct wire_queue *w);

/* Drops all messages; keeps the list's memory, but not the messages'. */
void wire_queue_clear(struct wire_queue *w);

/* Copies a message accepted by strobe_wire_parse. Do not call it between two calls of wire_queue_take. */
void wire_queue_add(struct wire_queue *w, uint32_t series, const struct strobe_wire_message *m);

/* Returns the next message, sorted by series and then by arrival. Returns NULL, and the queue is empty, if there is
 * none. The result is valid until wire_queue_clear, or until NULL is returned. */
const struct wire_queue_entry *wire_queue_take(struct wire_queue *w);

bool wire_queue_is_empty(const struct wire_queue *w);

#endif
