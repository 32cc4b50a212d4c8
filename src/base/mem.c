/* mem.c: allocation that ends the program with one line if there is no memory. */
#include "mem.h"
#include "cleanup.h"
#include <assert.h>
#include <limits.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* Reports it without allocating, which is what just failed. */
void mem_exhausted(size_t size)
{
	dprintf(STDERR_FILENO, "strobe: out of memory: could not get %zu bytes\n", size);
	exit(MEM_EXIT_STATUS);
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		mem_exhausted(size);
	return p;
}

void *xcalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		mem_exhausted(size && count > SIZE_MAX / size ? SIZE_MAX : count * size);
	return p;
}

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		mem_exhausted(size);
	return p;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
	char *copy = xmalloc(n + 1);

	if (n)
		memcpy(copy, s, n);
	copy[n] = 0;
	return copy;
}

char *xasprintf(const char *format, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0)
		mem_exhausted(strlen(format));
	return text;
}

void mem_grow(void **p, size_t *capacity, size_t need, size_t element)
{
	size_t n = *capacity;

	assert(element > 0);
	if (need <= n)
		return;
	if (need > SIZE_MAX / 2 / element)
		mem_exhausted(SIZE_MAX);
	n = n < 8 ? 8 : n;
	while (n < need)
		n *= 2;
	if (n > SIZE_MAX / element)
		n = need;
	*p = xrealloc(*p, n * element);
	*capacity = n;
}

#define TOP_PAD_DEFAULT	(128 << 10)
#define WORTH_IT	(64u << 20)			/* a quarter of less is only a few huge pages */
#define HEAP_LEAST	(16u << 20)
#define MAPPED_LEAST	(8u << 20)

static int within(size_t n, size_t least, size_t most)
{
	return (int)(n < least ? least : n < most ? n : most);
}

void mem_prefer_huge_pages(size_t limit)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)sbrk(0), end;
	void *volatile block;				/* compilers elide a malloc whose memory is unused */

	if (limit < WORTH_IT)
		return;
	mallopt(M_MMAP_THRESHOLD, within(limit / 16, MAPPED_LEAST, 32u << 20));	/* accepted by every glibc */
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_TOP_PAD, within(limit / 8, HEAP_LEAST, INT_MAX));
	block = malloc(1 << 20);			/* more than is free now, so the heap grows */
	free(block);
	mallopt(M_TOP_PAD, TOP_PAD_DEFAULT);
	start = (start + page - 1) & ~(page - 1);
	end = (uintptr_t)sbrk(0) & ~(page - 1);
	if (end > start)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}
