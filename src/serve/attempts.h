/* attempts.h: limits the rate at which an address may try wrong tokens: a burst of ATTEMPTS_BURST, and then one
 * every ATTEMPT_COSTS_NS. Above the rate all its tokens are rejected unchecked, right or wrong; otherwise it could
 * continue guessing.
 *
 * Any thread. Times are of the monotonic clock. */
#ifndef SERVE_ATTEMPTS_H
#define SERVE_ATTEMPTS_H

#include "clock.h"
#include "networks.h"

#define ATTEMPTS_BURST		10
#define ATTEMPT_COSTS_NS	(6 * NS_PER_SECOND)
#define ATTEMPTS_ADDRESSES	1024u	/* addresses remembered; beyond that, the one whose wait ends first is
					 * forgotten */

struct attempts;

struct attempts *attempts_new(void);
struct attempts *attempts_free(struct attempts *a);	/* NULL is fine; returns NULL */

/* Returns 0 if the address may try now, else the seconds to wait. */
unsigned attempts_retry_after(struct attempts *a, const struct ip *from, int64_t now_ns);

/* Records a wrong token, and logs it at most once a minute. */
void attempts_record_failure(struct attempts *a, const struct ip *from, int64_t now_ns);

#endif
