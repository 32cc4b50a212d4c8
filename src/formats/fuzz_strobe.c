/* fuzz_strobe.c: any bytes as a file of unknown format, compressed or not; what was accepted is written natively and
 * must come back. */
#include "format.h"
#include "test_same_edges.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(const struct profile *a, const struct profile *b)
{
	if (a->node_count != b->node_count || a->column_count != b->column_count || a->end_ns != b->end_ns)
		return false;
	for (uint32_t c = 0; c < a->column_count; c++)
		if (memcmp(a->columns[c].self, b->columns[c].self, a->node_count * sizeof(int64_t)))
			return false;
	for (uint32_t n = 0; n < a->node_count; n++)
		if (profile_line(a, n) != profile_line(b, n))
			return false;
	return !memcmp(a->parents, b->parents, a->node_count * sizeof(*a->parents));
}

static void add_up(const struct profile *p)
{
	struct edges_sums sums;

	if (!p->edges)
		return;
	edges_sums(p, &sums);
	edges_sums_done(&sums);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *p = profile_new(), *again = profile_new();
	struct buf out;
	struct err err;

	profile_keep_lines(p, true);
	profile_keep_lines(again, true);
	buf_init(&out);
	if (format_load_bytes("fuzz", (const char *)data, size, p, &err) >= 0 &&
	    format_strobe.write(p, UINT32_MAX, &out, &err) >= 0) {
		if (format_read_bytes(&format_strobe, again, out.data, out.size, &err) != 0 || !same(p, again) ||
		    p->estimated != again->estimated || !p->edges != !again->edges ||
		    (p->edges && !same_edges(p->edges, again->edges)))
			abort();
		add_up(p);
	}
	profile_free(p);
	profile_free(again);
	buf_done(&out);
	return 0;
}
