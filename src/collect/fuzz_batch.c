/* fuzz_batch.c: any bytes as a datagram: what the parser accepts goes into a batch, twice, and adds up there. */

#include "open_batch.h"

#include "wire_profile.h"

#include <stdlib.h>

#define MAX_SERIES	2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t samples_in(const struct batch *b)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < b->count; i++) {
		const struct profile *p = b->entries[i].profile;
		uint32_t column = profile_find_column(p, "samples");

		for (uint32_t n = 0; column != UINT32_MAX && n < p->node_count; n++)
			sum += (uint64_t)p->columns[column].self[n];
	}
	return sum;
}

/* Whether sums are exact: values that saturate or are negative, or the same column twice, count differently. */
static bool is_plain(const struct strobe_wire_message *m)
{
	const uint8_t *p = m->at_nodes;

	for (uint32_t i = 0; i < m->nodes; i++) {
		strobe_wire_next(&p);
		strobe_wire_next(&p);
		if (m->info.flags & STROBE_WIRE_LINES)
			strobe_wire_next(&p);
		for (uint32_t k = 0; k < m->columns; k++)
			if (strobe_wire_next(&p) & ~(uint64_t)0xfffffffe)
				return false;
	}
	return m->columns == 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct open_batch_rules rules = { .max_series = MAX_SERIES };
	const struct message_metadata about = { 0 };
	struct strobe_wire_message m;
	struct open_batch *b;
	uint64_t samples;
	bool folded;

	if (size > 1 << 20 || strobe_wire_parse(data, size, &m))
		return 0;
	b = open_batch_new(1);
	for (int i = 0; i < 2; i++)
		if (open_batch_add(b, &about, &m, (int64_t)m.info.end_ns, &rules, &samples, &folded) < 0 || folded ||
		    samples != m.samples)
			abort();
	if (b->batch.count != 1 || b->samples != 2 * m.samples)
		abort();
	open_batch_seal(b);
	if (is_plain(&m) && samples_in(&b->batch) != b->samples)
		abort();
	open_batch_free(b);
	return 0;
}
