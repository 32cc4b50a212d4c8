/* tick_snapshot.h: determines at a safe point, as far as possible, the calls that were running at the last tick.
 *
 * Frames of the note (tick_note.h) that still exist were running then, and functions that have returned took their
 * share of time, too. An internal function is the leaf of a sample only if it was running at the tick. A noted
 * pointer is dereferenced only after the same function has been found in PHP's own tables.
 */
#ifndef STROBE_TICK_SNAPSHOT_H
#define STROBE_TICK_SNAPSHOT_H

#include "call_sites.h"
#include "tick_note.h"

/* The calls that were running when the tick came; passed to the callbacks of timers. */
struct tick_snapshot {
	zend_execute_data *frame;		/* the innermost call that is still running; may be NULL */
	const zend_function *returned[TICK_NOTE_DEPTH];	/* calls inside it that have returned since, outermost first */
	const zend_op *returned_ops[TICK_NOTE_DEPTH];	/* their opcodes at the tick; may be invalid */
	unsigned returned_count;
	const struct noted_call *noted;		/* noted calls: `frame` and its callers */
	unsigned noted_count;			/* 0: not in the note, or there is no note */
	zend_op_array stand_ins[TICK_NOTE_DEPTH];	/* for those among them that have left nothing of their own: file scopes, and closures */
	bool more;				/* more moments of the same period follow */
};

/* Caches results of searching PHP's tables, by noted code. Zeroed means empty; must be cleared at the start of each
 * request. */
#define FOUND_FUNCTIONS 256

struct found_functions {
	struct {
		const void *code;
		const zend_class_entry *scope;	/* classes that use a trait share the code of its methods, */
		const zend_string *name;	/* and aliases share the code of the original method */
		const zend_function *function;	/* NULL: not found with so many functions and classes declared */
		uint32_t declared;
	} at[FOUND_FUNCTIONS];
	bool any;
	struct call_sites sites;
};

void found_functions_clear(struct found_functions *found);

/* Compares a note with the stack below `current`, the frame that PHP is executing at a safe point. */
void tick_snapshot_find(struct tick_snapshot *m, const struct tick_note *note, zend_execute_data *current, struct found_functions *found);

/* For a tick after the last call of a request: only its script's file scope remains. */
void tick_snapshot_take_script(struct tick_snapshot *m);

#endif
