/* clickhouse_stacks.h: stacks of one shard, by the names that its samples have, as nodes of a profile. */
#ifndef STORE_CLICKHOUSE_STACKS_H
#define STORE_CLICKHOUSE_STACKS_H

#include "clickhouse_ask.h"
#include "clickhouse_cache.h"
#include "map.h"

/* As they came from the shard and the cache; made into nodes by one thread later. */
struct clickhouse_stacks {
	struct buf *stacks;			/* answers, a further one for the bases of deep stacks of the one before */
	size_t count, capacity;
	struct buf frames;			/* an answer, too */
	struct map numbers;			/* numbers of frames, which stand for their hashes in `stacks` */
	uint32_t *cache_numbers;		/* by those; UINT32_MAX: not in the cache */
	struct clickhouse_cached {
		uint64_t name;
		uint32_t node;
	} *cached;				/* in the cache, since before or now */
	size_t cached_count, cached_capacity;
};

/* Finds or fetches the stacks with these names (8 bytes each), and their parts. */
int clickhouse_fetch_stacks(struct clickhouse_store *s, unsigned shard, const struct store_query *q,
			    const struct buf *names, struct clickhouse_stacks *ret, struct err *err);
void clickhouse_stacks_done(struct clickhouse_stacks *t);

/* --- clickhouse_tree.c --- */

/* Adds those of all shards to the profile, which has no nodes yet, and uses them up. `nodes` gets the node of each name. Returns how many names have two
 * different stacks. */
uint64_t clickhouse_place_stacks(const struct clickhouse_cache *c, struct clickhouse_stacks *const *t, size_t count, struct profile *p,
				 struct map *nodes);

/* The node PROFILE_UNKNOWN, of samples whose stack, or a part of it, is not in the tables. */
uint32_t clickhouse_unknown_stack(struct profile *p);

#endif
