/* recording.h: shared by the xhprof family's APIs: one recording at a time per API, exact or sampled, whose result is
 * an array.
 *
 * A recording is part of the stand-in module's globals, and must be zeroed before its first use. Flags, warnings and
 * return values, in which the APIs differ, are left to them.
 */
#ifndef STROBE_RECORDING_H
#define STROBE_RECORDING_H

#include "call_pairs.h"
#include "sampled.h"
#include "tracer.h"

struct recording {
	bool running;
	struct edge_format format;
	struct trace_session *session;	/* exact recordings only */
	struct edges *edges;		/* exact recordings only: the sums of full trees, and finally everything */
	uint64_t folded_calls;
	struct sampled *sampled;	/* sampling recordings only */
};

/* Begins an exact recording; none may be running. Measures the columns of `format`; its names determine whether files
 * and compilations are included. `options` is an array whose "ignored_functions" is a name or a list of names;
 * anything else, including NULL, means no options. If the observer is not registered or memory is short, warns with
 * the name of the running function and returns false. */
bool recording_start(struct recording *r, const struct edge_format *format, bool no_internals,
		     const struct trace_annotation *annotation, const zval *options);

/* Begins a sampling recording. */
bool recording_start_sampled(struct recording *r, const struct sampled_options *options);

/* Ends the recording and fills `ret` with its array. */
void recording_stop(struct recording *r, zval *ret);

/* Ends the recording, if one is running. For the end of a request. */
void recording_drop(struct recording *r);

/* Adds a column to a format. */
void recording_column(struct edge_format *format, const char *key, enum tree_column column);

#endif
