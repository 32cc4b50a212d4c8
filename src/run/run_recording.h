/* run_recording.h: messages of one command and its children, merged into one profile.
 *
 * Its flame chart, if traces have one, is that of the trace that began first: that of the command itself. The calls
 * of the others are counted as missing (label CHART_UNCHARTED).
 */
#ifndef RUN_RECORDING_H
#define RUN_RECORDING_H

#include "profile.h"
#include "run_unfinished.h"
#include "source.h"

struct recording {
	struct profile *profile;	/* with period and labels common to all messages */
	uint64_t messages, samples, unfit;	/* unfit: messages with too many different columns */
	uint64_t runs;			/* messages that were traces */
	uint64_t lost[STROBE_DROP_REASONS];	/* samples or runs that the senders could not deliver */
	uint64_t uncharted;		/* calls of traces that are missing in the flame chart */
	uint64_t cut;			/* unfinished runs: their last known data is in the profile */
	uint64_t charted, charted_less;	/* calls of the trace with the chart, and how many of these it lacks */
	struct unfinished unfinished;	/* runs and samples of which only a part is known */
};

void recording_init(struct recording *r);
void recording_done(struct recording *r);

/* Ends the input: adds the last known data of unfinished runs and samples, and counts runs without any data as lost. */
void recording_end(struct recording *r);

/* Returns the receiver to open a source with. */
struct source_receiver recording_receiver(struct recording *r);

#endif
