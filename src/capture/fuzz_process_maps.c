/* fuzz_process_maps.c: any bytes as what /proc tells of a process' memory: parts have a size, and paths an end. */
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
