/* random.c: xorshift64*, seeded by the kernel. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "random.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* Early during boot the kernel may have no random bytes yet; this does not wait for them. */
static void seed(struct random *r)
{
	struct timespec t;

	if (getrandom(&r->state, sizeof(r->state), GRND_NONBLOCK) != sizeof(r->state)) {
		clock_gettime(CLOCK_REALTIME, &t);
		r->state = ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec) ^ (uint64_t)getpid() << 40;
	}
	r->state |= r->state == 0;
}

static uint64_t next(struct random *r)
{
	if (!r->state)
		seed(r);
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 0x2545f4914f6cdd1dull;
}

double random_share(struct random *r)
{
	return (double)(next(r) >> 11) / 9007199254740992.0;
}

void random_id(struct random *r, char out[33])
{
	static const char hex[] = "0123456789abcdef";
	uint8_t bytes[16];

	if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) != sizeof(bytes)) {
		uint64_t words[2] = { next(r), next(r) };

		memcpy(bytes, words, sizeof(bytes));
	}
	for (size_t i = 0; i < sizeof(bytes); i++) {
		out[2 * i] = hex[bytes[i] >> 4];
		out[2 * i + 1] = hex[bytes[i] & 15];
	}
	out[32] = '\0';
}
