/* tick_note.h: the calls that were running at a tick.
 *
 * A tick only raises a flag; PHP checks the flag later, at its next safe point, and by then another function may be
 * running. So the ticking thread notes the innermost calls at the moment of the tick, and the PHP thread compares
 * them with its stack at the safe point (tick_snapshot.h).
 *
 * The ticking thread reads another thread's stack, so it copies pointers and never trusts them. It loads directly from
 * the first chunk of PHP's heap, which is never unmapped while that thread lives, and uses guarded_read.h for
 * everything else.
 */
#ifndef STROBE_TICK_NOTE_H
#define STROBE_TICK_NOTE_H

#include "php.h"

#include <stdatomic.h>

#define TICK_NOTE_DEPTH	12
#define TICK_NOTES	64

/* One call, identified by addresses that are compared and never dereferenced. */
struct noted_call {
	const zend_execute_data *frame;
	const zend_function *function;		/* NULL: the frame has no function, or memory could not be read */
	const void *code;			/* its opcodes or C function, which distinguish a closure from an
						 * earlier one at the same address; NULL: not read */
	const zend_string *file;		/* name of a script's file scope; NULL: another function, or not read */
	const zend_string *name;		/* name of any other function; NULL: not read */
	const zend_class_entry *scope;		/* class of a method */
	bool placeholder;			/* it has no function: it stands between a generator and the one that delegates to it */
	const zend_op *op;			/* the opcode last stored in the frame (undefined in a new one), if lines are
					 * wanted; NULL: not read */
};

struct tick_note {
	int64_t last_ns;			/* CLOCK_MONOTONIC: when these calls were last found */
	int64_t read_ns;			/* CLOCK_MONOTONIC: before they were read */
	int64_t ns;				/* time covered, from the previous ticks to those with these calls */
	uint32_t hash;				/* hash over the calls */
	bool sure;				/* these calls existed at the same moment; otherwise a caller may
						 * belong to another call */
	unsigned depth;
	struct noted_call calls[TICK_NOTE_DEPTH];	/* innermost first */
};

/* Notes of ticks that have not been taken, one for each distinct set of calls. Written by the ticking thread, read by
 * the PHP thread; neither waits. */
struct tick_notes {
	struct tick_note notes[TICK_NOTES];
	_Atomic unsigned state[TICK_NOTES];	/* 0: free, 1: written, 2: in use */
	unsigned last;				/* the last one written; like `tick_ns`, the ticking thread's own */
	int64_t tick_ns;			/* CLOCK_MONOTONIC: time of the previous tick */
	uintptr_t mapped;			/* first chunk of PHP's heap; 0: unknown */
	_Atomic int64_t since_ns;		/* CLOCK_MONOTONIC: notes do not cover earlier time */
	_Atomic bool lines;			/* lines are wanted; set by the PHP thread */
};

/* Call it in the PHP thread, before the ticking thread knows of the notes. */
void tick_notes_init(struct tick_notes *n);

/* Called in the ticking thread: notes what the PHP thread whose EG(current_execute_data) is at `leaf` is running. If
 * the thread is not known to be working, an internal function is not noted, since it may be blocked; PHP code has
 * only been preempted. Returns whether the thread may be blocked: whether an internal function was already running at
 * the previous tick. */
bool tick_note_write(struct tick_notes *n, zend_execute_data *const *leaf, int64_t now_ns, bool works);

/* Takes all notes, the most recent last, and returns their number. Later notes cover time after `now_ns`. A note that
 * was read before the previous call and written after it is dropped: that time has been reported, and another unit of
 * work may be running now. */
unsigned tick_notes_take(struct tick_notes *n, struct tick_note ret[TICK_NOTES], int64_t now_ns);

#endif
