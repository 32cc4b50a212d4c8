/* gather.h: many connections with little data each, read together.
 *
 * Being woken for a message costs more than taking it, and waking costs its sender several times what sending does. So where
 * messages come often the loop sleeps for a tenth of a second, and then takes all that have arrived. Messages sent
 * meanwhile wait in the sender's buffer, which should not fill: for a unix socket it is 208 KB, and gather_room gives
 * a message's share. So breaks are shorter, down to a millisecond, while some sender takes more than 48 KB of its
 * buffer in a tenth of a second: short enough for it to take no more in one of them. A sudden burst still waits in
 * the sender. There are no breaks
 *	- while fewer than 50 messages come in a second: each is taken when it comes,
 *	- while so much comes that a break would save nothing.
 * Breaks begin after half a second in which neither holds, and end after a tenth of a second in which one does. */
#ifndef COLLECT_GATHER_H
#define COLLECT_GATHER_H

#include "loop.h"

#include <stddef.h>

#define GATHER_PERIOD_NS	100000000	/* the longest time without a wake */
#define GATHER_PAUSE_MIN_NS	1000000
#define GATHER_STEADY		5u		/* periods, before breaks begin */
#define GATHER_MESSAGES		5u		/* in a period: fewer are not worth a break */
#define GATHER_BYTES		(2u << 20)	/* the same: with more there is always something to do */
#define GATHER_SENDER_ROOM	49152u		/* bytes from one sender in a break */

struct gather;

/* One of the connections. */
struct gather_sender {
	struct watch watch;
	uint32_t period;			/* in which it sent last … */
	size_t room;				/* … so much */
};

/* Socket buffer space that a message of `bytes` bytes takes from its sender, with the kernel's overhead, rounded up.
 * Measured on x86-64 with messages of 50 bytes to 60 KB: 766 bytes for the smallest and never more than this. */
static inline size_t gather_room(size_t bytes)
{
	return 768 + bytes + bytes / 2;
}

int gather_new(struct loop *l, struct gather **ret, struct err *err);
struct gather *gather_free(struct gather *g);		/* all watches must have been removed; NULL is fine; returns NULL */

/* As loop_add and loop_remove. A callback removes no other watch than its own. */
int gather_add(struct gather *g, struct gather_sender *s, uint32_t events, struct err *err);
void gather_remove(struct gather *g, struct gather_sender *s);

/* A message of so many bytes came. */
void gather_note(struct gather *g, struct gather_sender *s, size_t bytes);

/* Whether this sender sent anything in this period; most send no more than one message in one. */
bool gather_noted(const struct gather *g, const struct gather_sender *s);

int64_t gather_pause_ns(const struct gather *g);	/* present duration of a break; 0: there are none */

#endif
