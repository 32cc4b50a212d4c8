/* remote_notes.h: reports data read from outside (remote_reading.h) with the events of the BPF programs: functions,
 * stacks, requests and processes once, before the counts that refer to them. Failed reads are counted.
 */
#ifndef CAPTURE_REMOTE_NOTES_H
#define CAPTURE_REMOTE_NOTES_H

#include "bpf_sampler.h"
#include "map.h"
#include "remote_reading.h"

struct remote_notes {
	struct sampler_receiver receiver;
	struct map functions;		/* ids reported so far; also used as `known` of remote_reading */
	struct map others;		/* the same for stacks, requests and processes */
	u64 counters[COUNTERS];
};

void remote_notes_init(struct remote_notes *n, const struct sampler_receiver *r);
void remote_notes_done(struct remote_notes *n);

/* Makes everything be reported again when it is next seen. */
void remote_notes_forget(struct remote_notes *n);

/* Returns the id of the PHP or Perl stack that was read; 0 if no function is running. */
u64 remote_notes_stack(struct remote_notes *n, const struct remote_reading *r);

/* Returns the id of the request; 0 if there is none. */
u64 remote_notes_request(struct remote_notes *n, const struct remote_reading *r);

/* Reports any other event, by its id. */
void remote_notes_event(struct remote_notes *n, u64 id, const void *event, size_t size);

#endif
