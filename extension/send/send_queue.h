/* send_queue.h: messages that found no room in the socket's buffer, in the order in which they were sent.
 *
 * It knows nothing of sockets. All queues of a process together are limited to WAITING_MAX bytes. Queued messages
 * belong to the process that queued them: a forked child has a copy that it must not send.
 */
#ifndef STROBE_SEND_QUEUE_H
#define STROBE_SEND_QUEUE_H

#include "strobe_wire.h"

#include <stdbool.h>
#include <sys/types.h>

#define WAITING_MAX (16u * 1024 * 1024)

struct send_queue_message {
	struct send_queue_message *next;
	size_t size;
	uint8_t bytes[];
};

struct send_queue {
	struct send_queue_message *first, *last;
	size_t bytes;			/* size of the messages, without overhead */
	pid_t owner;			/* process that queued the messages */
};

/* Allocates a message of `size` bytes at the end, which the caller fills; NULL if there is no room. */
void *send_queue_add(struct send_queue *q, size_t size);

/* Removes the first message, or all of them. */
void send_queue_remove(struct send_queue *q);
void send_queue_clear(struct send_queue *q);

/* Discards messages inherited from the parent process. */
void send_queue_forget_parents(struct send_queue *q);

/* Adds a message's content to counts by reason: its samples, or one run, to `lost`; the earlier losses that it
 * reported to `drops`. */
void send_queue_count(const void *message, size_t size, uint64_t *lost, uint64_t *drops);

#endif
