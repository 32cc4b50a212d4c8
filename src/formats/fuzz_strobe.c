/* fuzz_strobe.c: reads any bytes as a file of unknown format, compressed or not; accepted ones must survive being
 * written and read natively. */
#include "chart.h"
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

/* A chart that does not fit into the message is left out. */
static bool same_chart(const struct chart *a, const struct chart *b)
{
	if (!a || !a->count || !b)
		return !b;
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (a->calls[i].node != b->calls[i].node || a->calls[i].end_ns - a->calls[i].start_ns != b->calls[i].end_ns - b->calls[i].start_ns)
			return false;
	return true;
}

static void check_chart(const struct profile *p)
{
	const struct chart *c = p->chart;

	for (uint32_t i = 0, before; c && i < c->count; i++) {
		const struct chart_call *call = &c->calls[i];

		if (call->end_ns < call->start_ns || (i && call->start_ns < c->calls[i - 1].start_ns))
			abort();
		for (before = i; before > 0 && c->calls[before - 1].depth > call->depth;)
			before--;
		/* The nearest earlier call at the same depth or above is a sibling, or the call around this one. */
		if (before > 0 && c->calls[before - 1].depth == call->depth && c->calls[before - 1].end_ns > call->start_ns)
			abort();
		if (i - before > 1000)
			break;
	}
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
	profile_keep_chart(p, true);
	profile_keep_chart(again, true);
	buf_init(&out);
	if (format_load_bytes("fuzz", (const char *)data, size, p, &err) >= 0 &&
	    format_strobe.write(p, UINT32_MAX, &out, &err) >= 0) {
		if (format_read_bytes(&format_strobe, again, out.data, out.size, &err) != 0 || !same(p, again) ||
		    p->estimated != again->estimated || !p->edges != !again->edges ||
		    (p->edges && !same_edges(p->edges, again->edges)) || !same_chart(p->chart, again->chart))
			abort();
		add_up(p);
		check_chart(p);
	}
	profile_free(p);
	profile_free(again);
	buf_done(&out);
	return 0;
}
