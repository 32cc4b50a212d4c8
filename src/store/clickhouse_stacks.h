/* clickhouse_stacks.h: stacks of one shard, looked up by the names in its samples, as nodes of a profile. */
#ifndef STORE_CLICKHOUSE_STACKS_H
#define STORE_CLICKHOUSE_STACKS_H

#include "clickhouse_ask.h"
#include "clickhouse_cache.h"
#include "map.h"

/* Stacks as received from the shard and the cache; one thread converts them to nodes later. */
struct clickhouse_stacks {
	struct buf *stacks;			/* answers; each has the bases of the previous one's deep stacks */
	size_t count, capacity;
	struct buf frames;			/* an answer, too */
	struct map numbers;			/* numbers of frames, which replace their hashes in `stacks` */
	uint32_t *cache_numbers;		/* by those numbers; UINT32_MAX: not in the cache */
	struct clickhouse_cached {
		uint64_t name;
		uint32_t node;
	} *cached;				/* stacks in the cache, old and new */
	size_t cached_count, cached_capacity;
};

/* Finds or fetches the stacks with these names (8 bytes each), and the stacks and frames that they refer to. */
int clickhouse_fetch_stacks(struct clickhouse_store *s, unsigned shard, const struct store_query *q,
			    const struct buf *names, struct clickhouse_stacks *ret, struct err *err);
void clickhouse_stacks_done(struct clickhouse_stacks *t);

/* --- clickhouse_tree.c --- */

/* Adds the stacks of all shards to the profile, which must not have nodes yet, and consumes them. `nodes` receives
 * the node of each name. Returns the number of names that belong to two different stacks. */
uint64_t clickhouse_place_stacks(const struct clickhouse_cache *c, struct clickhouse_stacks *const *t, size_t count, struct profile *p,
				 struct map *nodes);

/* Returns the node PROFILE_UNKNOWN, for samples whose stack, or a part of it, is missing from the tables. */
uint32_t clickhouse_unknown_stack(struct profile *p);

#endif
