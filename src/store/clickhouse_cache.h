/* clickhouse_cache.h: frames and stacks that queries have read, in memory that processes forked later share.
 *
 * A stack's name is a hash of its content, so a stack never changes once read. Each query is a process of its own: without this memory
 * it would fetch tens of thousands of stacks that the previous query has just read, and put them together to a tree, which takes longer
 * than the sums. So stacks are kept as that tree, with each node behind its parent. Readers take no lock: writers append, and publish
 * last. */
#ifndef STORE_CLICKHOUSE_CACHE_H
#define STORE_CLICKHOUSE_CACHE_H

#include "clickhouse_url.h"
#include "intern.h"
#include <stdbool.h>
#include <stdint.h>

struct clickhouse_cache;

/* NULL: out of memory. Grows with its content to 80 MB at most. */
struct clickhouse_cache *clickhouse_cache_new(void);
struct clickhouse_cache *clickhouse_cache_free(struct clickhouse_cache *c);	/* NULL is fine; returns NULL */

/* Whether it is full and so old that most of it may be unused. Processes that share it keep their copy. */
bool clickhouse_cache_is_old(const struct clickhouse_cache *c, int64_t now_ns);

/* By shard, the time (monotonic) until which it is not queried, because it did not respond a moment ago: else each query
 * would wait for it. */
_Atomic int64_t *clickhouse_cache_silent(struct clickhouse_cache *c);

#define CLICKHOUSE_NO_NODE	UINT32_MAX

/* Node 0 is the root, which calls nothing. */
struct cached_node {
	uint32_t parent;			/* smaller than its own number */
	uint32_t frame;				/* its number */
	uint32_t line;				/* executed; 0: not known */
	uint32_t plain;				/* the same stack without lines; its own number if it has none */
};

struct cached_frame {
	struct str name, file;
	uint32_t line;
};

/* CLICKHOUSE_NO_NODE, UINT32_MAX: not found. Results are valid as long as the cache. NULL is an empty cache. */
uint32_t clickhouse_cache_stack(const struct clickhouse_cache *c, uint64_t name);
const struct cached_node *clickhouse_cache_nodes(const struct clickhouse_cache *c);
uint32_t clickhouse_cache_find_frame(const struct clickhouse_cache *c, uint64_t name);
struct cached_frame clickhouse_cache_frame(const struct clickhouse_cache *c, uint32_t number);
uint32_t clickhouse_cache_frames(const struct clickhouse_cache *c);	/* all numbers so far are below it */

/* False while another thread or process is adding, or without a cache with room; otherwise call clickhouse_cache_end. */
bool clickhouse_cache_begin(struct clickhouse_cache *c);
void clickhouse_cache_end(struct clickhouse_cache *c);

/* Between the two. Known names are not added again; UINT32_MAX, CLICKHOUSE_NO_NODE: no room. */
uint32_t clickhouse_cache_add_frame(struct clickhouse_cache *c, uint64_t name, const struct cached_frame *f);
uint32_t clickhouse_cache_add_node(struct clickhouse_cache *c, uint32_t parent, uint32_t frame, uint32_t line);
void clickhouse_cache_add_stack(struct clickhouse_cache *c, uint64_t name, uint32_t node);

#endif
