/* count_steps.h: counts the steps of executed code: the same number on each machine and under any load.
 *
 * A step is a basic block of code compiled with -fsanitize-coverage=trace-pc, or 16 bytes read by a function of the C
 * library or of libxxhash, which are linked with --wrap (see meson.build). Include it once per program.
 */
#ifndef FORMATS_COUNT_STEPS_H
#define FORMATS_COUNT_STEPS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <xxhash.h>

static uint64_t steps;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	steps++;
}

static inline void count_bytes(size_t n)
{
	steps += 1 + n / 16;
}

/* Returns the distance of a search: to the match, or to the end. */
static inline size_t bytes_to(const void *start, const void *found, size_t n)
{
	return found ? (size_t)((const char *)found - (const char *)start) : n;
}

#define WRAP(type, name, ...)				\
	type __real_##name(__VA_ARGS__);		\
	type __wrap_##name(__VA_ARGS__);		\
	type __wrap_##name(__VA_ARGS__)

WRAP(void *, memchr, const void *s, int c, size_t n)
{
	void *found = __real_memchr(s, c, n);

	count_bytes(bytes_to(s, found, n));
	return found;
}

WRAP(void *, memrchr, const void *s, int c, size_t n)
{
	void *found = __real_memrchr(s, c, n);

	count_bytes(found ? n - bytes_to(s, found, n) : n);
	return found;
}

WRAP(void *, memmem, const void *s, size_t n, const void *word, size_t size)
{
	void *found = __real_memmem(s, n, word, size);

	count_bytes(bytes_to(s, found, n));
	return found;
}

WRAP(int, memcmp, const void *a, const void *b, size_t n)
{
	const char *x = a, *y = b;
	size_t same = 0;

	while (same < n && x[same] == y[same])
		same++;
	count_bytes(same);
	return __real_memcmp(a, b, n);
}

WRAP(void *, memcpy, void *to, const void *from, size_t n)
{
	count_bytes(n);
	return __real_memcpy(to, from, n);
}

WRAP(void *, memmove, void *to, const void *from, size_t n)
{
	count_bytes(n);
	return __real_memmove(to, from, n);
}

WRAP(void *, memset, void *to, int c, size_t n)
{
	count_bytes(n);
	return __real_memset(to, c, n);
}

WRAP(size_t, strlen, const char *s)
{
	size_t n = __real_strlen(s);

	count_bytes(n);
	return n;
}

WRAP(size_t, strnlen, const char *s, size_t max)
{
	size_t n = __real_strnlen(s, max);

	count_bytes(n);
	return n;
}

WRAP(char *, strchr, const char *s, int c)
{
	char *found = __real_strchr(s, c);

	count_bytes(found ? bytes_to(s, found, 0) : __real_strlen(s));
	return found;
}

WRAP(size_t, strspn, const char *s, const char *set)
{
	size_t n = __real_strspn(s, set);

	count_bytes(n);
	return n;
}

WRAP(size_t, strcspn, const char *s, const char *set)
{
	size_t n = __real_strcspn(s, set);

	count_bytes(n);
	return n;
}

#define WRAP_HASH(type, name)							\
	WRAP(type, name, const void *bytes, size_t n)				\
	{									\
		count_bytes(n);							\
		return __real_##name(bytes, n);					\
	}

#define WRAP_SEEDED(type, name)							\
	WRAP(type, name, const void *bytes, size_t n, XXH64_hash_t seed)	\
	{									\
		count_bytes(n);							\
		return __real_##name(bytes, n, seed);				\
	}

WRAP_HASH(XXH64_hash_t, XXH3_64bits)
#ifdef STROBE_XXH_DISPATCH
WRAP_HASH(XXH64_hash_t, XXH3_64bits_dispatch)
WRAP_HASH(XXH128_hash_t, XXH3_128bits_dispatch)
WRAP_SEEDED(XXH128_hash_t, XXH3_128bits_withSeed_dispatch)
#else
WRAP_HASH(XXH128_hash_t, XXH3_128bits)
WRAP_SEEDED(XXH128_hash_t, XXH3_128bits_withSeed)
#endif

#endif
