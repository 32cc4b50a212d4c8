/* mem.h: allocation that ends the program with one line when memory is exhausted.
 *
 * Therefore every size from outside is capped by its parser. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/* Status of a program that ended because memory was exhausted. */
#define MEM_EXIT_STATUS 2

/* For libraries that allocate themselves and report failure. */
void mem_exhausted(size_t size) __attribute__((noreturn));

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);		/* copies exactly n bytes and adds a NUL */
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Makes room for `need` elements in the array `*p` of `*capacity`, doubling it. Usual form: GROW(&list, &capacity,
 * count + 1); */
void mem_grow(void **p, size_t *capacity, size_t need, size_t element);
#define GROW(p, capacity, need) mem_grow((void **)(p), capacity, need, sizeof(**(p)))

/* For a process without threads that builds something large in at most `limit` bytes, responds and exits: reserves an
 * eighth of that, at least 16 MB, as heap, to be backed by huge pages if the kernel allows it, and keeps freed
 * memory. Arrays above a sixteenth, at least 8 MB, are separate mappings, which grow without copying. Does nothing
 * below 64 MB. A page fault takes up to 10 µs in a virtual machine, and half a million nodes take 15,000 small pages.
 * This is a hint, and cannot fail. */
void mem_prefer_huge_pages(size_t limit);

#endif
