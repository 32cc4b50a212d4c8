/* tick_snapshot.h: the calls that were running at a tick, as far as they can be determined at the next safe point.
 *
 * Frames of the note (tick_note.h) that are still there were running, and functions that are gone had their share of time, too.
 * An internal function is the leaf of a sample only if it was running at the tick. A noted pointer is never followed before the
 * same function has been found in PHP's own tables.
 */
#ifndef STROBE_TICK_SNAPSHOT_H
#define STROBE_TICK_SNAPSHOT_H

#include "call_sites.h"
#include "tick_note.h"

/* The calls that were running when the tick came; passed to the callbacks of timers. */
struct tick_snapshot {
	zend_execute_data *frame;		/* the innermost one of them that is still running; may be NULL */
	const zend_function *returned[TICK_NOTE_DEPTH];	/* called by it, and by each other, outermost first; they have returned since */
	const zend_op *returned_ops[TICK_NOTE_DEPTH];	/* their opcodes then; may be invalid */
	unsigned returned_count;
	const struct noted_call *noted;		/* calls in the note: `frame` and its callers */
	unsigned noted_count;			/* 0: the note does not have it, or there is none */
	zend_op_array stand_ins[TICK_NOTE_DEPTH];	/* for those among them that have left nothing of their own: file scopes, and closures */
	bool more;				/* other moments of the same time follow right after this one */
};

/* Caches the results of looking through PHP's tables, by noted code. All zero is empty; must be cleared at the start of each
 * request. */
#define FOUND_FUNCTIONS 256

struct found_functions {
	struct {
		const void *code;
		const zend_class_entry *scope;	/* classes that use a trait share the code of its methods, */
		const zend_string *name;	/* and aliases that of what they stand for */
		const zend_function *function;	/* NULL: there was none with so many functions and classes declared */
		uint32_t declared;
	} at[FOUND_FUNCTIONS];
	bool any;
	struct call_sites sites;
};

void found_functions_clear(struct found_functions *found);

/* Compares a note with the stack below `current`, the frame that PHP runs at a safe point. */
void tick_snapshot_find(struct tick_snapshot *m, const struct tick_note *note, zend_execute_data *current, struct found_functions *found);

/* For a tick after the last call of a request: only the file scope of its script remains. */
void tick_snapshot_take_script(struct tick_snapshot *m);

#endif
