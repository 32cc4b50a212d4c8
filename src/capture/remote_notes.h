/* remote_notes.h: tells of what was read from outside (remote_reading.h) as the BPF programs tell of it: functions, stacks,
 * requests and processes come once, before the counts that refer to them, and what could not be read is counted.
 */
#ifndef CAPTURE_REMOTE_NOTES_H
#define CAPTURE_REMOTE_NOTES_H

#include "bpf_sampler.h"
#include "map.h"
#include "remote_reading.h"

struct remote_notes {
	struct sampler_receiver receiver;
	struct map functions;		/* ids that were told; for remote_reading's `known` */
	struct map others;		/* the same of stacks, requests and processes */
	u64 counters[COUNTERS];
};

void remote_notes_init(struct remote_notes *n, const struct sampler_receiver *r);
void remote_notes_done(struct remote_notes *n);

/* Everything is told again when it is seen next. */
void remote_notes_forget(struct remote_notes *n);

/* The id of the stack of PHP or Perl that was read; 0 if no function runs. */
u64 remote_notes_stack(struct remote_notes *n, const struct remote_reading *r);

/* The id of the request; 0 if there is none. */
u64 remote_notes_request(struct remote_notes *n, const struct remote_reading *r);

/* Any other event, by its id. */
void remote_notes_event(struct remote_notes *n, u64 id, const void *event, size_t size);

#endif
