/* time_namespace.c: reads /proc/PID/timens_offsets. */

#include "time_namespace.h"

#include "clock.h"
#include "io.h"
#include "mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX	((size_t)1 << 12)
#define NAME_MAX_SIZE	64

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

static struct time_offsets read_offsets(const char *path)
{
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	/* Kernels before 5.6 have neither the file nor time namespaces. */
	if (io_read_file(path, &text, TEXT_MAX, NULL) < 0 || !text.size)
		return (struct time_offsets){ 0 };
	return time_namespace_parse(text.data);
}

struct time_offsets time_namespace_offsets(void)
{
	return read_offsets("/proc/self/timens_offsets");
}

/* Reads a name such as "time:[4026531834]"; empty if it cannot be read. */
static void read_name(const char *process, const char *namespace, char ret[NAME_MAX_SIZE])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", process, namespace);
	n = readlink(path, ret, NAME_MAX_SIZE - 1);
	ret[n > 0 ? n : 0] = 0;
}

bool time_namespace_offsets_of(pid_t pid, struct time_offsets *ret)
{
	char process[16], its[NAME_MAX_SIZE], of_children[NAME_MAX_SIZE], ours[NAME_MAX_SIZE], path[64];

	snprintf(process, sizeof(process), "%d", (int)pid);
	read_name(process, "time", its);
	read_name("self", "time", ours);
	if (!strcmp(its, ours)) {
		*ret = time_namespace_offsets();
		return true;
	}
	read_name(process, "time_for_children", of_children);
	if (!*its || strcmp(its, of_children))
		return false;
	snprintf(path, sizeof(path), "/proc/%s/timens_offsets", process);
	*ret = read_offsets(path);
	return true;
}

uint64_t time_namespace_kernel_ns(int64_t monotonic_ns)
{
	return (uint64_t)(monotonic_ns - time_namespace_offsets().monotonic_ns);
}
