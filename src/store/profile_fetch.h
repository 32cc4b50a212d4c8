/* profile_fetch.h: prefetches the memory of a profile shortly before it is read.
 *
 * Each of the thousands of small profiles of a batch is spread over a dozen places in memory that have been evicted
 * from the cache since they were written. Waiting for them one by one takes as long as processing them. */
#ifndef STORE_PROFILE_FETCH_H
#define STORE_PROFILE_FETCH_H

#include "profile.h"

/* Three steps, to be interleaved with other work, since each step needs the memory that the previous one
 * prefetches. */
#define PROFILE_FETCH_STEPS	3u

void profile_fetch(const struct profile *p, unsigned step);	/* from 0 */

#endif
