/* known_large.h: remembers queries that needed more memory than the first attempt allows, so that they start as large
 * ones.
 *
 * An open page sends the same query every few seconds, and a query that was too large a moment ago usually still is.
 * Queries that differ only in times count as the same. Entries expire, because the store and its ranges change. Any
 * thread. */
#ifndef SERVE_KNOWN_LARGE_H
#define SERVE_KNOWN_LARGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define KNOWN_LARGE	64u			/* beyond that, the oldest is replaced */
#define KNOWN_LARGE_NS	(600 * NS_PER_SECOND)

struct request;

struct known_large {
	pthread_mutex_t lock;
	struct {
		uint64_t hash;
		int64_t until_ns;		/* monotonic */
	} entries[KNOWN_LARGE];
	unsigned next;
};

void known_large_init(struct known_large *k);
void known_large_done(struct known_large *k);
void known_large_add(struct known_large *k, const struct request *q, int64_t now_ns);
bool known_large_has(struct known_large *k, const struct request *q, int64_t now_ns);

#endif
