/* recording.h: common code of the xhprof family's APIs: one recording at a time per API, an exact trace or
 * a sampling one, whose result is an array.
 *
 * A recording lives in the globals of the module that stands in, zeroed before its first use. It is independent of
 * flags, warnings and return values, in which the APIs differ.
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
	struct edges *edges;		/* exact recordings only: the overflow of the tree, and in the end everything */
	uint64_t folded_calls;
	struct sampled *sampled;	/* sampling recordings only */
};

/* Begins an exact recording; nothing may be running. Measures what the columns of `format` need; its names say whether
 * files and compilations are seen. `options` is an array whose "ignored_functions" is a name or a list of names,
 * anything else is taken for no options, as is NULL. Warns with the name of the running function, and returns false, if
 * the observer is not registered or there is no memory. */
bool recording_start(struct recording *r, const struct edge_format *format, bool no_internals,
		     const struct trace_annotation *annotation, const zval *options);

/* Begins a sampling one. */
bool recording_start_sampled(struct recording *r, const struct sampled_options *options);

/* Ends what is running and fills `ret` with its array. */
void recording_stop(struct recording *r, zval *ret);

/* Ends what is running, if anything is. For the end of a request. */
void recording_drop(struct recording *r);

/* Adds a column to a format. */
void recording_column(struct edge_format *format, const char *key, enum tree_column column);

#endif
