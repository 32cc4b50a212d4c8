/* top_session.h: an interactive recording, second by second, on a terminal or as lines on standard output, until a
 * key is pressed, a signal arrives or its time is over.
 */
#ifndef TOP_TOP_SESSION_H
#define TOP_TOP_SESSION_H

#include "recorder.h"
#include "terminal.h"

struct top_session_options {
	const struct stack_registry_layers *layers;
	const char *target, *frames;	/* names shown in the head */
	const char *php_offsets;	/* a file, or NULL */
	unsigned hz;			/* rate of samples on CPU; 0: none */
	int64_t duration_ns;		/* 0: no limit */
	int64_t every_ns;		/* between tables; 0: the default for screens, or lines */
	int64_t window_ns;		/* the window on a screen; lines show the time since the previous table */
	bool json;			/* instead of lines */
	size_t rows;			/* rows of each table in lines; 0: all */
};

/* `r` must be open, but not started. `terminal` NULL: lines. */
int top_session_run(struct recorder *r, struct top_view *v, struct terminal *terminal, const struct top_session_options *o,
		    struct err *err);

#endif
