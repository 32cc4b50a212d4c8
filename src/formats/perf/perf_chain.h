/* perf_chain.h: the lines below an event of perf script, and the node of the profile that they are.
 *
 * What a line stands for is known once it was seen: a frame, or several where functions were inlined, or none. Lines
 * that are none of perf's are left out and counted.
 */
#ifndef FORMATS_PERF_CHAIN_H
#define FORMATS_PERF_CHAIN_H

#include "format.h"
#include "perf_inline.h"
#include "perf_name.h"
#include "seen.h"

struct perf_chains {
	uint64_t unreadable;		/* lines */
	struct err first_unreadable;
	struct perf_inline *inlined;	/* NULL until it is needed */

	/* private */
	struct profile *profile;
	const struct format_options *options;
	struct seen lines;		/* frames, as number_of says */
	struct perf_span {
		uint32_t first, count;	/* in `frames` */
	} *spans;
	uint32_t *frames;		/* callers first */
	size_t span_count, span_capacity, frame_count, frame_capacity;
	struct perf_names names;

	/* The last chain that was not known: from its root on the next one often is the same. */
	struct buf last;
	uint32_t last_process;
	struct perf_chain_step *steps;
	size_t depth, step_capacity;
	struct perf_chain_line *chain;	/* scratch */
	size_t chain_capacity;
};

/* Profile and options must stay. */
void perf_chains_init(struct perf_chains *c, struct profile *p, const struct format_options *o);
void perf_chains_done(struct perf_chains *c);

/* The node of a chain, leaf first, below that of its process. `number` is that of the event's line, which stands above
 * the chain; names of Java are taken apart with `java`. */
uint32_t perf_chains_add(struct perf_chains *c, uint32_t process, bool java, struct str chain, uint64_t number);

/* Notes a line that is none of perf's; the first one is shown. */
void perf_chains_skip(struct perf_chains *c, struct str line, uint64_t number);

#endif
