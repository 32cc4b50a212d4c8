/* blocks.c: allocates and keeps blocks of memory. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "blocks.h"

#include "strobe_assert.h"

#include "php.h"

#include <sys/mman.h>

#define BLOCK_BYTES	(1024u * 1024)

/* A request with 230,000 calls and 33,000 nodes takes six. */
#define KEPT_MAX	8u

/* A tree begins with two, so that starting and stopping costs no system call. Only these are kept after many requests
 * without a trace. */
#define KEPT_ALWAYS	2u
#define IDLE_REQUESTS	100u

#ifndef MAP_POPULATE
#define MAP_POPULATE	0
#endif

ZEND_TLS struct block *kept;
ZEND_TLS unsigned kept_count, idle_requests;

struct block *blocks_alloc(size_t size, int more)
{
	struct block *b = kept;

	size += sizeof(*b);
	idle_requests = 0;
	if (size <= BLOCK_BYTES && b) {
		STROBE_ASSERT(kept_count > 0 && b->size == BLOCK_BYTES);
		kept = b->next;
		kept_count--;
		return b;
	}
	if (size < BLOCK_BYTES)
		size = BLOCK_BYTES;
	/* Mapping all pages at once costs half as much as faulting them in one by one. */
	b = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (more ? MAP_POPULATE : 0), -1, 0);
	if (b == MAP_FAILED)
		return NULL;
	b->size = size;
	return b;
}

static void keep_at_most(unsigned count)
{
	while (kept_count > count) {
		struct block *b = kept;

		STROBE_ASSERT(b);
		kept = b->next;
		kept_count--;
		munmap(b, b->size);
	}
}

void blocks_release(struct block *list)
{
	while (list) {
		struct block *b = list;

		STROBE_ASSERT(b->size >= BLOCK_BYTES);
		list = b->next;
		if (b->size == BLOCK_BYTES && kept_count < KEPT_MAX) {
			b->next = kept;
			kept = b;
			kept_count++;
		} else {
			munmap(b, b->size);
		}
	}
}

void blocks_request_end(void)
{
	if (kept_count > KEPT_ALWAYS && ++idle_requests > IDLE_REQUESTS)
		keep_at_most(KEPT_ALWAYS);
}

void blocks_thread_end(void)
{
	keep_at_most(0);
	STROBE_ASSERT(!kept);
}
