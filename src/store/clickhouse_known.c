/* clickhouse_known.c: a map that is cleared when it is full, or a day old. */
#include "clickhouse_known.h"
#include "clickhouse_url.h"
#include "clock.h"
#include "map.h"
#include "mem.h"
#include <assert.h>
#include <stdlib.h>

static_assert(CLICKHOUSE_SHARDS <= 256, "the number of a shard takes one byte of the place");

struct clickhouse_known {
	struct map proofs;			/* 31 bits, keyed by name, table, shard and part */
	uint32_t most;
	int64_t since_ns;			/* monotonic */
};

struct clickhouse_known *clickhouse_known_new(uint32_t most)
{
	struct clickhouse_known *k = xcalloc(1, sizeof(*k));

	map_init(&k->proofs);
	k->most = most;
	return k;
}

struct clickhouse_known *clickhouse_known_free(struct clickhouse_known *k)
{
	if (k)
		map_done(&k->proofs);
	free(k);
	return NULL;
}

bool clickhouse_known_add(struct clickhouse_known *k, XXH128_hash_t name, char table, unsigned shard, uint32_t part,
			  bool *ret_collision)
{
	uint64_t place = ((uint64_t)part << 16 | (uint64_t)shard << 8 | (uint8_t)table) * 0x9e3779b97f4a7c15u;
	uint32_t *slot = map_slot(&k->proofs, name.low64 ^ place), proof = (uint32_t)(name.high64 >> 33);

	assert(proof != MAP_NONE && shard < CLICKHOUSE_SHARDS);
	if (*slot != MAP_NONE && *slot != proof)
		*ret_collision = true;
	if (*slot != MAP_NONE)
		return *slot == proof;
	*slot = proof;
	return false;
}

void clickhouse_known_forget(struct clickhouse_known *k)
{
	map_done(&k->proofs);
	map_init(&k->proofs);
}

void clickhouse_known_bound(struct clickhouse_known *k, int64_t now_ns)
{
	if (k->proofs.count <= k->most && now_ns - k->since_ns < NS_PER_DAY)
		return;
	clickhouse_known_forget(k);
	k->since_ns = now_ns;
}
