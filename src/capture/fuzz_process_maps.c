/* fuzz_process_maps.c: parses any bytes as /proc/PID/maps: parts must have a size, and paths must end. */
#include "process_maps.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct process_maps m;

	process_maps_parse(&m, (const char *)data, size);
	for (size_t i = 0; i < m.count; i++)
		if (m.list[i].end <= m.list[i].start || strlen(m.list[i].path) > size)
			abort();
	process_maps_done(&m);
	return 0;
}
