/* clickhouse_cache.h: frames and stacks that queries have read, in memory that processes forked later share.
 *
 * A stack's name is a hash of its content, so a stack never changes once read. Each query is a process of its own: without this memory
 * it would fetch tens of thousands of stacks that the previous query has just read, and build a tree of them, which
 * takes longer than the sums. So the cache stores stacks as that tree, with parents before children. Readers take no
 * lock: writers append, and publish last. */
#ifndef STORE_CLICKHOUSE_CACHE_H
#define STORE_CLICKHOUSE_CACHE_H

#include "clickhouse_url.h"
#include "intern.h"
#include <stdbool.h>
#include <stdint.h>

struct clickhouse_cache;

/* Until these (monotonic) times queries do without a shard, each of which would wait for it otherwise. */
struct clickhouse_shard_health {
	_Atomic int64_t silent_until_ns;	/* it did not respond a moment ago */
	_Atomic int64_t slow_until_ns;		/* it responded, but sent an answer byte by byte */
};

/* Returns NULL if out of memory. Grows with its content, up to 80 MB. */
struct clickhouse_cache *clickhouse_cache_new(void);
struct clickhouse_cache *clickhouse_cache_free(struct clickhouse_cache *c);	/* NULL is fine; returns NULL */

/* Tells whether the cache is full and so old that most of it may be unused. Processes that share it keep their
 * copy. */
bool clickhouse_cache_is_old(const struct clickhouse_cache *c, int64_t now_ns);

/* Returns an array with one entry per shard. */
struct clickhouse_shard_health *clickhouse_cache_health(struct clickhouse_cache *c);

#define CLICKHOUSE_NO_NODE	UINT32_MAX

/* Node 0 is the root; it has no frame. */
struct cached_node {
	uint32_t parent;			/* smaller than the node's number */
	uint32_t frame;				/* number of the frame */
	uint32_t line;				/* executed line; 0 if unknown */
	uint32_t plain;				/* the same stack without lines; itself if it has none */
};

struct cached_frame {
	struct str name, file;
	uint32_t line;
};

/* Return CLICKHOUSE_NO_NODE or UINT32_MAX if not found. Results are valid as long as the cache. NULL is treated as an
 * empty cache. */
uint32_t clickhouse_cache_stack(const struct clickhouse_cache *c, uint64_t name);
const struct cached_node *clickhouse_cache_nodes(const struct clickhouse_cache *c);
uint32_t clickhouse_cache_find_frame(const struct clickhouse_cache *c, uint64_t name);
struct cached_frame clickhouse_cache_frame(const struct clickhouse_cache *c, uint32_t number);
uint32_t clickhouse_cache_frames(const struct clickhouse_cache *c);	/* number of frames so far */

/* Returns false while another thread or process is adding, or if the cache is missing or full; otherwise call
 * clickhouse_cache_end. */
bool clickhouse_cache_begin(struct clickhouse_cache *c);
void clickhouse_cache_end(struct clickhouse_cache *c);

/* Call between clickhouse_cache_begin and clickhouse_cache_end. Known names are not added again. Return UINT32_MAX or
 * CLICKHOUSE_NO_NODE if there is no room. */
uint32_t clickhouse_cache_add_frame(struct clickhouse_cache *c, uint64_t name, const struct cached_frame *f);
uint32_t clickhouse_cache_add_node(struct clickhouse_cache *c, uint32_t parent, uint32_t frame, uint32_t line);
void clickhouse_cache_add_stack(struct clickhouse_cache *c, uint64_t name, uint32_t node);

#endif
