/* tick_note.h: the calls that were running at a tick.
 *
 * A tick only raises a flag; PHP checks the flag later, at its next safe point, and by then another function may be
 * running. So the ticking thread writes down the innermost calls at the moment of the tick, and the PHP thread compares
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

/* One call, by addresses that are compared and never followed. */
struct noted_call {
	const zend_execute_data *frame;
	const zend_function *function;		/* NULL: the frame has none, or memory could not be read */
	const void *code;			/* its opcodes or C function: distinguishes a closure from an earlier one at the same
						 * address; NULL: not read */
	const zend_string *file;		/* for a script's file scope: its name; NULL: another function, or not read */
	const zend_string *name;		/* for another one; NULL: not read */
	const zend_class_entry *scope;		/* for a method */
	bool placeholder;			/* it has no function: it stands between a generator and the one that delegates to it */
	const zend_op *op;			/* if lines are wanted, the last opcode that PHP has noted in the frame; NULL: not read. In a
					 * new frame it may be anything */
};

struct tick_note {
	int64_t last_ns;			/* CLOCK_MONOTONIC: when it found them last */
	int64_t read_ns;			/* the same, before they were read */
	int64_t ns;				/* from the previous ticks to those that found these calls: the time it represents */
	uint32_t hash;				/* hash over the calls */
	bool sure;				/* these calls were running at the same moment; else a caller may
						 * belong to another call */
	unsigned depth;
	struct noted_call calls[TICK_NOTE_DEPTH];	/* the innermost first */
};

/* The notes of ticks that have not been taken, one for each set of calls that was found. Written by the ticking thread, read
 * by the PHP thread; neither waits. */
struct tick_notes {
	struct tick_note notes[TICK_NOTES];
	_Atomic unsigned state[TICK_NOTES];	/* 0: free, 1: written, 2: in use */
	unsigned last;				/* that was written; like the next one the ticking thread's own */
	int64_t tick_ns;			/* CLOCK_MONOTONIC: when it was */
	uintptr_t mapped;			/* the first chunk of PHP's heap; 0: not known */
	_Atomic int64_t since_ns;		/* CLOCK_MONOTONIC: earlier time is not part of any note */
	_Atomic bool lines;			/* notes are wanted; set by the PHP thread */
};

/* In the PHP thread, before the ticking thread learns of it. */
void tick_notes_init(struct tick_notes *n);

/* In the ticking thread: writes down what the PHP thread runs whose EG(current_execute_data) is at `leaf`. If the
 * thread is not known to be working, an internal function is not noted, since it may be waiting; PHP code has only
 * lost its processor. Returns whether the thread may be waiting: whether an internal function runs as it did at the
 * tick before. */
bool tick_note_write(struct tick_notes *n, zend_execute_data *const *leaf, int64_t now_ns, bool works);

/* Takes the notes, the most recent last. Returns how many there were. Later notes are for the
 * time after `now_ns`. One that was read before the last time and written since is left out: that time has been
 * reported, and another unit of work may be running now. */
unsigned tick_notes_take(struct tick_notes *n, struct tick_note ret[TICK_NOTES], int64_t now_ns);

#endif
