/* waiting.h: messages that found no room in the socket's buffer, in the order in which they were sent.
 *
 * It knows nothing of sockets. All queues of a process together hold WAITING_MAX bytes at most. What waits belongs to the
 * process that put it there: a forked child has a copy, which it must not send.
 */
#ifndef STROBE_WAITING_H
#define STROBE_WAITING_H

#include "strobe_wire.h"

#include <stdbool.h>
#include <sys/types.h>

#define WAITING_MAX (16u * 1024 * 1024)

struct waiting_message {
	struct waiting_message *next;
	size_t size;
	uint8_t bytes[];
};

struct waiting {
	struct waiting_message *first, *last;
	size_t bytes;			/* of the messages, without what keeping them takes */
	pid_t owner;			/* of what is in it */
};

/* Room for a message of `size` bytes at the end, which the caller fills; NULL if there is none. */
void *waiting_add(struct waiting *q, size_t size);

/* Forgets the first message, or all of them. */
void waiting_remove(struct waiting *q);
void waiting_clear(struct waiting *q);

/* Forgets what this process has from its parent. */
void waiting_forget_parents(struct waiting *q);

/* Adds what a message stands for to counts by reason: `lost` gets its samples, or one run; `drops` what it told of losses
 * before it. */
void waiting_count(const void *message, size_t size, uint64_t *lost, uint64_t *drops);

#endif
