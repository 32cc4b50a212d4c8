/* run_recording.h: messages of one command and its children, merged into one profile. */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "profile.h"
#include "source.h"

struct recording {
	struct profile *profile;	/* period and labels are set, as far as all messages agree */
	uint64_t messages, samples, unfit;	/* unfit: messages with too many different columns */
	uint64_t runs;			/* messages that were traces */
	uint64_t lost[STROBE_DROP_REASONS];	/* samples or runs that the senders could not hand over */
};

void recording_init(struct recording *r);
void recording_done(struct recording *r);

/* To open a source with. */
struct source_receiver recording_receiver(struct recording *r);

#endif
