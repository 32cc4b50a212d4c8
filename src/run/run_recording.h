/* run_recording.h: messages of one command and its children, merged into one profile.
 *
 * Its flame chart, if traces have one, is that of the trace that began first: of the command itself. The calls of the others are
 * counted as those that are not in it (label CHART_UNCHARTED).
 */
#ifndef RUN_RECORDING_H
#define RUN_RECORDING_H

#include "profile.h"
#include "run_unfinished.h"
#include "source.h"

struct recording {
	struct profile *profile;	/* period and labels are set, as far as all messages agree */
	uint64_t messages, samples, unfit;	/* unfit: messages with too many different columns */
	uint64_t runs;			/* messages that were traces */
	uint64_t lost[STROBE_DROP_REASONS];	/* samples or runs that the senders could not hand over */
	uint64_t uncharted;		/* calls of traces that the flame chart does not have */
	uint64_t cut;			/* runs that did not end: their last known data is in the profile */
	uint64_t charted, charted_less;	/* calls of the trace that the chart is of, and how many of these it does not have */
	struct unfinished unfinished;	/* runs and samples of which only a part is known */
};

void recording_init(struct recording *r);
void recording_done(struct recording *r);

/* The end of input: the last known data of unfinished runs and samples is added, and runs without any data are
 * lost. */
void recording_end(struct recording *r);

/* To open a source with. */
struct source_receiver recording_receiver(struct recording *r);

#endif
