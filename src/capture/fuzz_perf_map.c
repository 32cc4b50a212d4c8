/* fuzz_perf_map.c: parses any bytes as a perf map: every entry can be looked up, and its name is bounded. */
#include "perf_map.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = { 0, 1, 0x1000, 0x7f1c2e4010c0, UINT64_MAX };
	struct perf_map m;

	perf_map_parse(&m, (const char *)data, size);
	if (m.count > size || m.malformed > size)
		abort();
	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		const char *name = perf_map_find(&m, addresses[i]);

		if (name && (!*name || strlen(name) > PERF_MAP_NAME || strchr(name, '\n')))
			abort();
	}
	perf_map_done(&m);
	return 0;
}
