/* clickhouse_known.h: frames, stacks, series and kinds that shards have already, so that each is sent once.
 *
 * All are named by 64 bits of a hash. The rest of the 128-bit hash is kept as a proof, which reveals collisions of
 * names. This is only a cache: after a loss, entries are sent again, which is harmless. */
#ifndef STORE_CLICKHOUSE_KNOWN_H
#define STORE_CLICKHOUSE_KNOWN_H

#include <stdbool.h>
#include <stdint.h>
#include <xxhash.h>

#define CLICKHOUSE_KNOWN_MAX	(1u << 21)	/* 32 MB to 64 MB */

struct clickhouse_known;

struct clickhouse_known *clickhouse_known_new(uint32_t most);
struct clickhouse_known *clickhouse_known_free(struct clickhouse_known *k);	/* NULL is fine; returns NULL */

/* Tells whether the shard already has the entry in this part (a month, a day) of the table, and notes that it has
 * from now on. A different entry with the same name sets *ret_collision. */
bool clickhouse_known_add(struct clickhouse_known *k, XXH128_hash_t name, char table, unsigned shard, uint32_t part,
			  bool *ret_collision);

/* Forgets all entries. Call it after failed inserts and dropped partitions, and between two batches to bound the size
 * and age of the cache. */
void clickhouse_known_forget(struct clickhouse_known *k);
void clickhouse_known_bound(struct clickhouse_known *k, int64_t now_ns);

#endif
