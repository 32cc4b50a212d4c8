/* call_chart.c: allocates a flame chart. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "call_chart.h"

#include <sys/mman.h>

static size_t bytes_of(const struct chart *h)
{
	return (size_t)((char *)h->limit - (char *)h->calls);
}

bool chart_start(struct chart *h, size_t max)
{
	void *p = mmap(NULL, max * sizeof(*h->calls), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	STROBE_ASSERT(max > 0 && !h->calls);
	if (p == MAP_FAILED)
		return false;
	h->calls = h->next = p;
	h->limit = h->calls + max;
	return true;
}

void chart_stop(struct chart *h)
{
	if (h->calls)
		munmap(h->calls, bytes_of(h));
	memset(h, 0, sizeof(*h));
}
