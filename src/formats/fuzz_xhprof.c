/* fuzz_xhprof.c: reads any bytes as pairs of caller and callee; accepted ones must be a valid tree, which is written
 * and read again. */
#include "format.h"
#include "edge_list.h"
#include "wire_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void again(const struct format *f, const struct profile *p)
{
	struct profile *back = profile_new();
	struct err err = { 0 };
	struct buf out;

	buf_init(&out);
	if (f->write(p, UINT32_MAX, &out, &err) < 0 || format_read_bytes(&format_xhprof, back, out.data, out.size,
									 &err) != 0)
		abort();
	profile_free(back);
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *p = profile_new();
	struct err err = { 0 };
	struct buf out;

	buf_init(&out);
	format_xhprof.sniff((const char *)data, size);
	if (format_read_bytes(&format_xhprof, p, (const char *)data, size, &err) >= 0) {
		if (p->node_count < 2 || p->node_count > 2 * EDGE_LIST_NODES + 2 * size || !p->column_count)
			abort();
		for (uint32_t c = 0; c < p->column_count; c++) {
			int64_t *totals = profile_totals(p, c);

			free(totals);
		}
		if (size < 4096) {
			again(&format_xhprof, p);
			again(&format_xhprof_json, p);
		}
		if (size < 60000 && wire_profile_write(p, &out, &err) < 0)
			abort();
	} else if (!err.code) {
		abort();
	}
	profile_free(p);
	buf_done(&out);
	return 0;
}
