/* profile_fetch.h: fetches the memory of a profile a little before it is read.
 *
 * Each of the thousands of small profiles of a batch lies in a dozen places that have been evicted from the cache since they
 * were filled. Waiting
 * for them one by one takes as long as processing them. */
#ifndef STORE_PROFILE_FETCH_H
#define STORE_PROFILE_FETCH_H

#include "profile.h"

/* Three steps, to be interleaved with other work, since each needs the memory that the step before prefetches. */
#define PROFILE_FETCH_STEPS	3u

void profile_fetch(const struct profile *p, unsigned step);	/* from 0 */

#endif
