/* fuzz_callgrind.c: reads any bytes as a callgrind file; an accepted one must be a tree, and is written and read
 * again. */
#include "format.h"
#include "edge_list.h"
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *p = profile_new(), *back = profile_new();
	struct err err = { 0 };
	struct buf b;

	buf_init(&b);
	format_callgrind.sniff((const char *)data, size);
	if (format_read_bytes(&format_callgrind, p, (const char *)data, size, &err) < 0) {
		if (!err.code)
			abort();
	} else if (p->node_count > 2 * EDGE_LIST_NODES + 2 * size || format_callgrind.write(p, UINT32_MAX, &b, &err) < 0 ||
		   (p->node_count > 1 && format_load_bytes("back", b.data, b.size, back, &err) != 0)) {
		abort();
	}
	profile_free(p);
	profile_free(back);
	buf_done(&b);
	return 0;
}
