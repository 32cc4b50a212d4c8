/* time_namespace.c: reads /proc/self/timens_offsets. */

#include "time_namespace.h"

#include "clock.h"
#include "io.h"
#include "mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX	((size_t)1 << 12)

static int64_t offset_of(const char *text, const char *clock)
{
	const char *line = strstr(text, clock);
	int64_t seconds, ns;

	if (!line || sscanf(line + strlen(clock), "%" SCNd64 "%" SCNd64, &seconds, &ns) != 2 || seconds > INT64_MAX / NS_PER_SECOND - 1 ||
	    seconds < INT64_MIN / NS_PER_SECOND || ns < 0 || ns >= NS_PER_SECOND)
		return 0;
	return seconds * NS_PER_SECOND + ns;
}

struct time_offsets time_namespace_parse(const char *text)
{
	return (struct time_offsets){ offset_of(text, "monotonic"), offset_of(text, "boottime") };
}

struct time_offsets time_namespace_offsets(void)
{
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	/* Kernels before 5.6 have neither the file nor such namespaces. */
	if (io_read_file("/proc/self/timens_offsets", &text, TEXT_MAX, NULL) < 0 || !text.size)
		return (struct time_offsets){ 0 };
	return time_namespace_parse(text.data);
}

uint64_t time_namespace_kernel_ns(int64_t monotonic_ns)
{
	return (uint64_t)(monotonic_ns - time_namespace_offsets().monotonic_ns);
}
