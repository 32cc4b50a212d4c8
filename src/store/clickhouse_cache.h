/* clickhouse_cache.h: frames and stacks that queries have read, in memory that processes forked later share.
 *
 * A stack's name is a hash of its content, so a stack never changes once read. Each query is a process of its own: without this memory
 * it would fetch tens of thousands of stacks that the previous query has just read, which takes longer than the sums. Readers take no
 * lock: writers append, and publish last. */
#ifndef STORE_CLICKHOUSE_CACHE_H
#define STORE_CLICKHOUSE_CACHE_H

#include "clickhouse_batch.h"
#include "intern.h"

struct clickhouse_cache;

/* NULL: out of memory. Grows with its content to 50 MB at most. */
struct clickhouse_cache *clickhouse_cache_new(void);
struct clickhouse_cache *clickhouse_cache_free(struct clickhouse_cache *c);	/* NULL is fine; returns NULL */

/* Whether it is full and so old that most of it may be unused. Processes that share it keep it. */
bool clickhouse_cache_is_old(const struct clickhouse_cache *c, int64_t now_ns);

struct cached_stack {
	uint64_t proof;
	uint32_t count;
	const uint32_t *frames;			/* their numbers, root first */
	const uint32_t *lines;			/* NULL: none */
};

struct cached_frame {
	struct str name, file;
	uint32_t line;
};

/* False, or UINT32_MAX: not found. Results are valid as long as the cache. NULL is an empty cache. */
bool clickhouse_cache_stack(const struct clickhouse_cache *c, uint64_t name, struct cached_stack *ret);
uint32_t clickhouse_cache_find_frame(const struct clickhouse_cache *c, uint64_t name);
struct cached_frame clickhouse_cache_frame(const struct clickhouse_cache *c, uint32_t number);
uint32_t clickhouse_cache_frames(const struct clickhouse_cache *c);	/* all numbers so far are below it */

/* False while another thread or process is adding, or without a cache with room; otherwise call clickhouse_cache_end. */
bool clickhouse_cache_begin(struct clickhouse_cache *c);
void clickhouse_cache_end(struct clickhouse_cache *c);

/* Between the two. Known names are not added again; UINT32_MAX: no room. At most CLICKHOUSE_STACK frames. */
uint32_t clickhouse_cache_add_frame(struct clickhouse_cache *c, uint64_t name, const struct cached_frame *f);
void clickhouse_cache_add_stack(struct clickhouse_cache *c, uint64_t name, const struct cached_stack *s);

#endif
