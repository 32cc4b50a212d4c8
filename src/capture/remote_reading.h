/* remote_reading.h: the stack of PHP or Perl of one thread with all names in it, read while the thread does not run
 * (consistent_read.h).
 *
 * Names are read together with the stack, since they may no longer exist later.
 */
#ifndef CAPTURE_REMOTE_READING_H
#define CAPTURE_REMOTE_READING_H

#include "bpf/perl_walk.h"
#include "map.h"
#include "remote_walk.h"

struct remote_reading {
	struct remote_php php;		/* the PHP to read */
	const struct map *known;	/* functions whose names are not needed again; NULL: all are needed */
	bool with_request;
	u32 tgid;			/* for the events: the process' number for the programs; 0: unknown */
	u64 start_ticks;

	bool readable;			/* the interpreter's globals could be read */
	struct php_walk walk;
	struct perl_walk perl;		/* additional data for Perl */
	struct function_event *functions;	/* names of functions that are not in `known` */
	size_t function_count, function_capacity;
	struct request_event request;	/* id 0: there is none */
};

/* Reads the stack; for consistent_read, whose `data` is the reading. */
uint64_t remote_reading_take(void *reading);

/* Returns the names of a function; NULL if they were not read, or it is not on the stack. */
const struct function_event *remote_reading_function(const struct remote_reading *r, u64 id);

void remote_reading_done(struct remote_reading *r);

#endif
