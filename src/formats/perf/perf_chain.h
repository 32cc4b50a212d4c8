/* perf_chain.h: converts the lines below an event of perf script to a node of the profile.
 *
 * The meaning of each line is cached: a frame, or several with inlined functions, or none. Lines that are not perf's
 * are skipped and counted.
 */
#ifndef FORMATS_PERF_CHAIN_H
#define FORMATS_PERF_CHAIN_H

#include "format.h"
#include "perf_inline.h"
#include "perf_name.h"
#include "seen.h"

struct perf_chains {
	uint64_t unreadable;		/* unreadable lines */
	struct err first_unreadable;
	struct perf_inline *inlined;	/* NULL until first used */

	/* private */
	struct profile *profile;
	const struct format_options *options;
	struct seen lines;		/* results of number_of */
	struct perf_span {
		uint32_t first, count;	/* in `frames` */
	} *spans;
	uint32_t *frames;		/* callers first */
	size_t span_count, span_capacity, frame_count, frame_capacity;
	struct perf_names names;

	/* The last new chain: the next one often begins with the same frames from the root. */
	struct buf last;
	uint32_t last_process;
	struct perf_chain_step *steps;
	size_t depth, step_capacity;
	struct perf_chain_line *chain;	/* scratch */
	size_t chain_capacity;
};

/* Profile and options must outlive this. */
void perf_chains_init(struct perf_chains *c, struct profile *p, const struct format_options *o);
void perf_chains_done(struct perf_chains *c);

/* Returns the node of a chain, leaf first, below that of its process. `number` is that of the event's line, before
 * the chain; with `java`, Java names are split. */
uint32_t perf_chains_add(struct perf_chains *c, uint32_t process, bool java, struct str chain, uint64_t number);

/* Notes a line that is not perf's; the first one is shown. */
void perf_chains_skip(struct perf_chains *c, struct str line, uint64_t number);

#endif
