/* large_query_cache.c: hashes of paths, queries and bodies without their timestamps. */
#include "large_query_cache.h"

#include "buf.h"
#include "clock.h"
#include "http.h"

#include <ctype.h>
#include <string.h>
#include <xxhash.h>

/* Seconds since 1970 have ten digits, and milliseconds more; limits and widths have fewer. */
#define DIGITS_OF_TIMES	9u

static void put_without_times(const char *text, size_t n, struct buf *out)
{
	size_t digits = 0;

	for (size_t i = 0; i <= n; i++) {
		if (i < n && isdigit((unsigned char)text[i])) {
			digits++;
			continue;
		}
		if (digits < DIGITS_OF_TIMES)
			buf_put(out, text + i - digits, digits);
		digits = 0;
		buf_putc(out, i < n ? text[i] : 0);
	}
}

static uint64_t hash_of(const struct request *q)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	put_without_times(q->path, strlen(q->path), &b);
	put_without_times(q->query ? q->query : "", q->query ? strlen(q->query) : 0, &b);
	put_without_times(q->body ? q->body : "", q->body ? q->body_size : 0, &b);
	return XXH3_64bits(b.data, b.size);
}

void large_query_cache_init(struct large_query_cache *k)
{
	memset(k, 0, sizeof(*k));
	pthread_mutex_init(&k->lock, NULL);
}

void large_query_cache_done(struct large_query_cache *k)
{
	pthread_mutex_destroy(&k->lock);
}

void large_query_cache_add(struct large_query_cache *k, const struct request *q, int64_t now_ns)
{
	uint64_t hash = hash_of(q);

	pthread_mutex_lock(&k->lock);
	k->entries[k->next].hash = hash;
	k->entries[k->next].until_ns = now_ns + LARGE_QUERY_NS;
	k->next = (k->next + 1) % LARGE_QUERY;
	pthread_mutex_unlock(&k->lock);
}

bool large_query_cache_has(struct large_query_cache *k, const struct request *q, int64_t now_ns)
{
	uint64_t hash = hash_of(q);
	bool has = false;

	pthread_mutex_lock(&k->lock);
	for (unsigned i = 0; i < LARGE_QUERY; i++)
		has = has || (k->entries[i].hash == hash && now_ns < k->entries[i].until_ns);
	pthread_mutex_unlock(&k->lock);
	return has;
}
