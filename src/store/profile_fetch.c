/* profile_fetch.c: prefetches, which may be useless but never fail. */
#include "profile_fetch.h"
#include <assert.h>

#define CACHE_LINE	64u
#define AT_ONCE		((size_t)4 << 10)	/* per array: reading a larger profile is faster than prefetching it */

static void fetch(const void *memory, size_t size)
{
	const char *p = memory;

	for (size_t i = 0; i < size && i < AT_ONCE; i += CACHE_LINE)
		__builtin_prefetch(p + i);
}

/* Names are mostly stored in the order of their numbers. */
static void fetch_names(const struct intern *strings)
{
	const char *first, *last;

	if (!strings->count)
		return;
	first = strings->strings[0].p;
	last = strings->strings[strings->count - 1].p;
	fetch(first, last >= first ? (size_t)(last - first) + 1 : CACHE_LINE);
}

void profile_fetch(const struct profile *p, unsigned step)
{
	assert(step < PROFILE_FETCH_STEPS);
	switch (step) {
	case 0:
		fetch(p, offsetof(struct profile, columns) + sizeof(p->columns[0]));
		fetch(&p->column_count, sizeof(p->column_count));
		break;
	case 1:
		fetch(p->strings.strings, p->strings.count * sizeof(*p->strings.strings));
		fetch(p->frames, p->frame_count * sizeof(*p->frames));
		fetch(p->parents, p->node_count * sizeof(*p->parents));
		fetch(p->node_frames, p->node_count * sizeof(*p->node_frames));
		fetch(p->columns[0].self, p->node_count * sizeof(*p->columns[0].self));
		break;
	default:
		fetch_names(&p->strings);
	}
}
