/* fuzz_wire.c: parses any bytes as a message and as an envelope.
 *
 * An accepted message is walked to its last byte, loaded into a profile, written and parsed again: tree, labels and
 * header must be the same. If it is loaded with limits, the sums must be the same. */
#include "edges.h"
#include "wire_profile.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Steps through every section as the header says, and reads every byte of the message. */
static uint64_t walk(const struct strobe_wire_message *m)
{
	const uint8_t *p = m->at_strings;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->strings; i++) {
		size_t n;
		const char *bytes = strobe_wire_next_string(&p, &n);

		for (size_t k = 0; k < n; k++)
			sum += (uint8_t)bytes[k];
	}
	if (p != m->at_labels)
		abort();
	for (uint32_t i = 0; i < 2 * (m->labels + m->columns + m->drops) + 3 * m->frames; i++)
		sum += strobe_wire_next(&p);
	if (p != m->at_nodes)
		abort();
	for (uint64_t i = 0; i < (uint64_t)m->nodes * (2 + !!(m->info.flags & STROBE_WIRE_LINES) + m->columns); i++)
		sum += strobe_wire_next(&p);
	if (p != m->at_edge_nodes)
		abort();
	for (uint64_t i = 0; i < (uint64_t)m->edge_nodes * (2 + m->columns); i++)
		sum += strobe_wire_next(&p);
	if (p != m->at_edge_pairs)
		abort();
	for (uint64_t i = 0; i < (uint64_t)m->edge_pairs * (2 + m->columns); i++)
		sum += strobe_wire_next(&p);
	if (p != m->at_calls)
		abort();
	for (uint64_t i = 0; i < (uint64_t)m->calls * 3; i++)
		sum += strobe_wire_next(&p);
	return sum;
}

static bool same_labels(const struct labels *a, const struct labels *b)
{
	struct buf x, y;
	bool same;

	buf_init(&x);
	buf_init(&y);
	labels_put(a, &x);
	labels_put(b, &y);
	same = !strcmp(x.data, y.data);
	buf_done(&x);
	buf_done(&y);
	return same;
}

static bool same_tree(const struct profile *a, const struct profile *b)
{
	if (a->node_count != b->node_count || a->column_count != b->column_count ||
	    memcmp(a->parents, b->parents, a->node_count * sizeof(*a->parents)))
		return false;
	for (uint32_t c = 0; c < a->column_count; c++)
		if (strcmp(a->columns[c].name, b->columns[c].name) || strcmp(a->columns[c].unit, b->columns[c].unit) ||
		    memcmp(a->columns[c].self, b->columns[c].self, a->node_count * sizeof(int64_t)))
			return false;
	if (a->estimated != b->estimated || !a->edges != !b->edges ||
	    (a->edges && (a->edges->node_count != b->edges->node_count || a->edges->pair_count != b->edges->pair_count)))
		return false;
	for (uint32_t n = 1; n < a->node_count; n++) {
		struct str x = profile_name(a, a->node_frames[n]), y = profile_name(b, b->node_frames[n]);

		if (x.n != y.n || memcmp(x.p, y.p, x.n))
			return false;
	}
	return true;
}

/* An open message is written with the kind that it announces. */
static void again(const struct strobe_wire_message *m)
{
	const bool is_run = strobe_wire_is_run(m->info.kind);
	struct profile *p = profile_new(), *back = profile_new();
	struct strobe_wire_message n;
	struct labels labels;
	struct err err;
	struct buf b;

	buf_init(&b);
	labels_init(&labels);
	if (wire_profile_add_whole(p, m, NULL) < 0)
		abort();
	p->start_ns = (int64_t)m->info.start_ns;
	p->end_ns = (int64_t)m->info.end_ns;
	p->period_ns = (int64_t)m->info.period_ns;
	wire_profile_labels(m, &p->labels);
	if ((is_run ? wire_profile_write_run : wire_profile_write)(p, &b, &err) < 0 ||
	    strobe_wire_parse(b.data, b.size, &n) != STROBE_WIRE_OK || wire_profile_add_whole(back, &n, NULL) < 0)
		abort();
	wire_profile_labels(&n, &labels);
	if (!same_tree(p, back) || !same_labels(&p->labels, &labels) || n.info.start_ns != m->info.start_ns ||
	    n.info.end_ns != m->info.end_ns || n.info.kind != (is_run ? STROBE_WIRE_RUN : STROBE_WIRE_SAMPLES) || n.info.period_ns != m->info.period_ns)
		abort();
	profile_free(p);
	profile_free(back);
	labels_done(&labels);
	buf_done(&b);
}

static uint64_t sum_of(const struct profile *p, uint32_t column)
{
	uint64_t sum = 0;

	for (uint32_t n = 0; n < p->node_count; n++)
		sum += (uint64_t)p->columns[column].self[n];
	for (uint32_t n = 0; p->edges && n < p->edges->node_count; n++)
		sum += (uint64_t)p->edges->nodes[n].self[column];
	return sum;
}

/* Sums must be those of the whole, unless one has saturated. */
static bool same_sums(const struct profile *a, const struct profile *b)
{
	for (uint32_t c = 0; c < a->column_count; c++) {
		for (uint32_t n = 0; n < a->node_count; n++)
			if (llabs(a->columns[c].self[n] / 2) > INT64_MAX / 4 / a->node_count)
				return true;
		for (uint32_t n = 0; a->edges && n < a->edges->node_count; n++)
			if (llabs(a->edges->nodes[n].self[c] / 2) > INT64_MAX / 4 / a->edges->node_count)
				return true;
		if (sum_of(a, c) != sum_of(b, c))
			return false;
	}
	return true;
}

/* Loads the message with room for only part of it. */
static void in_part(const struct strobe_wire_message *m)
{
	struct profile *whole = profile_new(), *p = profile_new();
	struct wire_capacity capacity = { .nodes = m->nodes / 2, .edge_nodes = m->edge_nodes / 2, .edge_pairs = m->edge_pairs };
	int cut = wire_profile_add_whole(p, m, &capacity);

	if (wire_profile_add_whole(whole, m, NULL) || cut != (capacity.nodes < m->nodes || capacity.edge_nodes < m->edge_nodes) ||
	    (m->nodes && p->node_count > capacity.nodes + 2) || !same_sums(whole, p))
		abort();
	profile_free(whole);
	profile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strobe_wire_message m;
	enum strobe_wire_error e = strobe_wire_parse(data, size, &m);
	uint64_t envelope;

	if (!strobe_wire_error_name(e)[0])
		abort();
	if (e == STROBE_WIRE_OK) {
		volatile uint64_t sum = walk(&m);

		(void)sum;
		again(&m);
		in_part(&m);
	}
	if (strobe_wire_open_envelope(data, size, &envelope) == STROBE_WIRE_OK &&
	    (e == STROBE_WIRE_OK || size != STROBE_WIRE_ENVELOPE || envelope > STROBE_WIRE_MAX))
		abort();
	return 0;
}
