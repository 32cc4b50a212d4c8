/* allocations.c: counts the requests to PHP's allocator.
 *
 * A reallocation is an allocation of the new size and a free. The allocator accepts custom handlers; ours count,
 * disable themselves for a moment and call it. If a heap already has handlers (USE_ZEND_ALLOC=0), those are called.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "capture.h"

#if ZEND_DEBUG
#define PLACE		ZEND_FILE_LINE_CC ZEND_FILE_LINE_EMPTY_CC
#define PLACE_ARGS	ZEND_FILE_LINE_DC ZEND_FILE_LINE_ORIG_DC
#else
#define PLACE
#define PLACE_ARGS
#endif

/* The previous handlers, per thread, since each thread has its own heap. */
static TSRM_TLS struct {
	void *(*allocate)(size_t PLACE_ARGS);
	void (*release)(void * PLACE_ARGS);
	void *(*reallocate)(void *, size_t PLACE_ARGS);
#if PHP_VERSION_ID >= 80400
	size_t (*collect)(void);
	void (*shut_down)(bool full, bool silent);
#endif
	bool any;
} before;

/* The first member of a heap tells whether it has handlers, in all versions since PHP 7. While it is 0 the allocator
 * does the work itself. */
static inline int *has_handlers(zend_mm_heap *heap)
{
	return (int *)heap;
}

/* After that and the pointer to its storage, a heap has its usage and peak, in all versions so far. With
 * USE_ZEND_ALLOC=0, PHP does not count. */
const struct heap_use *allocations_heap(void)
{
	const struct heap_use *u = (const struct heap_use *)((char *)zend_mm_get_heap() + 2 * sizeof(void *));

	return u->now && u->now == zend_memory_usage(false) && u->peak == zend_memory_peak_usage(false) ? u : NULL;
}

static void *allocate(size_t size PLACE_ARGS)
{
	struct capture *c = CAPTURE;
	zend_mm_heap *heap = zend_mm_get_heap();
	int *handlers = has_handlers(heap), was = *handlers;
	void *p;

	c->counts.allocations++;
	c->counts.bytes += size;
	if (before.any)
		return before.allocate(size PLACE);
	*handlers = 0;
	p = zend_mm_alloc(heap, size);
	*handlers = was;
	return p;
}

static void release(void *p PLACE_ARGS)
{
	struct capture *c = CAPTURE;
	zend_mm_heap *heap = zend_mm_get_heap();
	int *handlers = has_handlers(heap), was = *handlers;

	c->counts.frees++;
	if (before.any) {
		before.release(p PLACE);
		return;
	}
	*handlers = 0;
	zend_mm_free(heap, p);
	*handlers = was;
}

static void *reallocate(void *p, size_t size PLACE_ARGS)
{
	struct capture *c = CAPTURE;
	zend_mm_heap *heap = zend_mm_get_heap();
	int *handlers = has_handlers(heap), was = *handlers;

	c->counts.allocations++;
	c->counts.frees++;
	c->counts.bytes += size;
	if (before.any)
		return before.reallocate(p, size PLACE);
	*handlers = 0;
	p = zend_mm_realloc(heap, p, size);
	*handlers = was;
	return p;
}

void allocations_start(struct capture *c)
{
	zend_mm_heap *heap = zend_mm_get_heap();

	if (c->counting)
		return;
	before.any = zend_mm_is_custom_heap(heap);
	if (before.any) {
#if PHP_VERSION_ID >= 80400
		zend_mm_get_custom_handlers_ex(heap, &before.allocate, &before.release, &before.reallocate, &before.collect,
					       &before.shut_down);
#else
		zend_mm_get_custom_handlers(heap, &before.allocate, &before.release, &before.reallocate);
#endif
	}
#if PHP_VERSION_ID >= 80400
	zend_mm_set_custom_handlers_ex(heap, allocate, release, reallocate, before.any ? before.collect : NULL,
				       before.any ? before.shut_down : NULL);
#else
	zend_mm_set_custom_handlers(heap, allocate, release, reallocate);
#endif
	c->counting = true;
}

void allocations_stop(struct capture *c)
{
	zend_mm_heap *heap = zend_mm_get_heap();

	if (!c->counting)
		return;
	c->counting = false;
#if PHP_VERSION_ID >= 80400
	zend_mm_set_custom_handlers_ex(heap, before.any ? before.allocate : NULL, before.any ? before.release : NULL,
				       before.any ? before.reallocate : NULL, before.any ? before.collect : NULL,
				       before.any ? before.shut_down : NULL);
#else
	zend_mm_set_custom_handlers(heap, before.any ? before.allocate : NULL, before.any ? before.release : NULL,
				    before.any ? before.reallocate : NULL);
#endif
}
