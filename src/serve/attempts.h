/* attempts.h: how often an address may give a wrong token: ATTEMPTS_BURST times at once, and then once every
 * ATTEMPT_COSTS_NS. Until then its tokens are not looked at, right or wrong, or it could go on guessing.
 *
 * Any thread. Times are of the monotonic clock. */
#ifndef SERVE_ATTEMPTS_H
#define SERVE_ATTEMPTS_H

#include "clock.h"
#include "networks.h"

#define ATTEMPTS_BURST		10
#define ATTEMPT_COSTS_NS	(6 * NS_PER_SECOND)
#define ATTEMPTS_ADDRESSES	1024u	/* that are remembered; above it the one that may go on first is forgotten */

struct attempts;

struct attempts *attempts_new(void);
struct attempts *attempts_free(struct attempts *a);	/* NULL is fine; returns NULL */

/* 0 if it may try now, else the seconds until it may. */
unsigned attempts_wait(struct attempts *a, const struct ip *from, int64_t now_ns);

/* A wrong token came. Logs it, at most once a minute. */
void attempts_failed(struct attempts *a, const struct ip *from, int64_t now_ns);

#endif
