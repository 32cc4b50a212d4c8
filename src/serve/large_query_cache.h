/* large_query_cache.h: remembers queries that needed more memory than the first attempt allows, so that they start as large
 * ones.
 *
 * An open page sends the same query every few seconds, and a query that was too large a moment ago usually still is.
 * Queries that differ only in times count as the same. Entries expire, because the store and its ranges change. Any
 * thread. */
#ifndef SERVE_LARGE_QUERY_CACHE_H
#define SERVE_LARGE_QUERY_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define LARGE_QUERY	64u			/* beyond that, the oldest is replaced */
#define LARGE_QUERY_NS	(600 * NS_PER_SECOND)

struct request;

struct large_query_cache {
	pthread_mutex_t lock;
	struct {
		uint64_t hash;
		int64_t until_ns;		/* monotonic */
	} entries[LARGE_QUERY];
	unsigned next;
};

void large_query_cache_init(struct large_query_cache *k);
void large_query_cache_done(struct large_query_cache *k);
void large_query_cache_add(struct large_query_cache *k, const struct request *q, int64_t now_ns);
bool large_query_cache_has(struct large_query_cache *k, const struct request *q, int64_t now_ns);

#endif
