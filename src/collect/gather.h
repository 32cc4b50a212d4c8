/* gather.h: many connections with little data each, read together.
 *
 * A wakeup costs more than reading a message, and costs its sender several times as much as sending. So when messages
 * are frequent the loop pauses for a tenth of a second, and then reads everything that has arrived. Until then messages
 * wait in the sender's buffer, which must not fill up: a unix socket has 208 KB, of which a message takes gather_space.
 * Pauses are shorter, down to a millisecond, while some sender takes more than 48 KB in a tenth of a second, so that it
 * takes no more than that in one pause. A sudden burst still blocks its sender. There are no pauses
 *	- while fewer than 50 messages arrive in a second: each is read at once,
 *	- while so much arrives that a pause would save nothing.
 * Pauses begin after half a second in which neither is true, and end after a tenth of a second in which one is. */
#ifndef COLLECT_GATHER_H
#define COLLECT_GATHER_H

#include "loop.h"

#include <stddef.h>

#define GATHER_PERIOD_NS	100000000	/* the longest time without a wake */
#define GATHER_PAUSE_MIN_NS	1000000
#define GATHER_STEADY		5u		/* periods until pauses begin */
#define GATHER_MESSAGES		5u		/* in a period: fewer are not worth a pause */
#define GATHER_BYTES		(2u << 20)	/* in a period: with more there is always data to read */
#define GATHER_SENDER_ROOM	49152u		/* bytes from one sender in a pause */

struct gather;

/* A connection. */
struct gather_sender {
	struct watch watch;
	uint32_t period;			/* the last period in which it sent … */
	size_t space;				/* … and the buffer space that it took then */
};

/* Socket buffer space that a message of `bytes` bytes takes from its sender, with the kernel's overhead, rounded up.
 * Measured on x86-64 with messages of 50 bytes to 60 KB: 766 bytes for the smallest and never more than this. */
static inline size_t gather_space(size_t bytes)
{
	return 768 + bytes + bytes / 2;
}

int gather_new(struct loop *l, struct gather **ret, struct err *err);
struct gather *gather_free(struct gather *g);		/* all watches must have been removed; NULL is fine; returns NULL */

/* As loop_add and loop_remove. A callback removes no other watch than its own. */
int gather_add(struct gather *g, struct gather_sender *s, uint32_t events, struct err *err);
void gather_remove(struct gather *g, struct gather_sender *s);

/* Notes a message of `bytes` bytes. */
void gather_note(struct gather *g, struct gather_sender *s, size_t bytes);

/* Whether this sender has sent anything in this period. Most send at most one message per period. */
bool gather_noted(const struct gather *g, const struct gather_sender *s);

int64_t gather_pause_ns(const struct gather *g);	/* current length of pauses; 0: none */

#endif
