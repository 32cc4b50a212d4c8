/* clickhouse_cache.h: frames and stacks that queries have read, in memory that processes forked later share.
 *
 * The name of a stack is a hash of what it is, so that one that was read once never changes. Each query is a process of its own:
 * without this memory it would ask for tens of thousands of stacks that the query before it has just had, which takes longer
 * than the sums. Readers take no lock: all is added to the end, and published last. */
#ifndef STORE_CLICKHOUSE_CACHE_H
#define STORE_CLICKHOUSE_CACHE_H

#include "clickhouse_batch.h"
#include "intern.h"

struct clickhouse_cache;

/* NULL: there is no memory. Takes what is added only, 50 MB at most. */
struct clickhouse_cache *clickhouse_cache_new(void);
struct clickhouse_cache *clickhouse_cache_free(struct clickhouse_cache *c);	/* NULL is fine; returns NULL */

/* Full for so long that most of it may be out of use. The others' processes keep the old one. */
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

/* False, or UINT32_MAX: it is not there. What is returned is there as long as the cache. NULL is an empty cache. */
bool clickhouse_cache_stack(const struct clickhouse_cache *c, uint64_t name, struct cached_stack *ret);
uint32_t clickhouse_cache_find_frame(const struct clickhouse_cache *c, uint64_t name);
struct cached_frame clickhouse_cache_frame(const struct clickhouse_cache *c, uint32_t number);
uint32_t clickhouse_cache_frames(const struct clickhouse_cache *c);	/* all numbers so far are below it */

/* False while another thread or process adds, or if there is nothing to add to; else clickhouse_cache_end follows. */
bool clickhouse_cache_begin(struct clickhouse_cache *c);
void clickhouse_cache_end(struct clickhouse_cache *c);

/* Between the two. Adds nothing that is there; UINT32_MAX: there is no room. At most CLICKHOUSE_STACK frames. */
uint32_t clickhouse_cache_add_frame(struct clickhouse_cache *c, uint64_t name, const struct cached_frame *f);
void clickhouse_cache_add_stack(struct clickhouse_cache *c, uint64_t name, const struct cached_stack *s);

#endif
