/* test_wire.c: written messages are read back, and damaged ones do no harm. */
#include "cleanup.h"
#include "mem.h"
#include "test_wire.h"

/* The parts of a message, for comparison with the result of reading. */
struct model {
	struct strobe_wire_info info;
	uint32_t labels, columns, drops, strings, frames, nodes;
	char text[64][20];
	size_t length[64];
	uint32_t label[8][2], column[4][2];
	uint64_t drop[6][2];
	uint32_t frame[64][3];
	uint32_t parent[300], node_frame[300];
	uint32_t line[300];
	int64_t value[300][4];

	/* Version 2. */
	uint32_t edge_nodes, edge_pairs, calls;
	uint32_t edge_frame[40], pair[60][2];
	uint64_t edge_level[40], call[80][3];
	int64_t edge_value[40][4], pair_value[60][4];
};

static void make_values(const struct model *m, int64_t *values)
{
	for (uint32_t k = 0; k < m->columns; k++)
		values[k] = any_value();
}

static void model_make_2(struct model *m)
{
	m->info.version = 2;
	m->info.flags = (uint16_t)below(STROBE_WIRE_FLAGS + 1);
	for (uint32_t i = 0; i < m->nodes; i++)
		m->line[i] = (uint32_t)(next_random() >> (32 + below(32)));
	m->edge_nodes = below(40);
	for (uint32_t i = 0; i < m->edge_nodes; i++) {
		m->edge_frame[i] = below(m->frames + 1);
		m->edge_level[i] = next_random() >> (31 + below(33));
		if (!m->edge_frame[i] && i)
			m->edge_nodes = i;
		if (!m->edge_frame[i])
			m->edge_level[i] = 0;
		make_values(m, m->edge_value[i]);
	}
	m->edge_pairs = m->edge_nodes > 1 ? below(60) : 0;
	for (uint32_t i = 0; i < m->edge_pairs; i++) {
		m->pair[i][0] = below(m->edge_nodes);
		m->pair[i][1] = 1 + below(m->edge_nodes - 1);
		make_values(m, m->pair_value[i]);
	}
	m->calls = m->nodes ? below(80) : 0;
	for (uint32_t i = 0; i < m->calls; i++) {
		m->call[i][0] = 1 + below(m->nodes);
		m->call[i][1] = next_random() >> (8 + below(56));
		m->call[i][2] = next_random() >> (1 + below(63));
	}
}

static void model_make(struct model *m)
{
	memset(m, 0, sizeof(*m));
	m->info = (struct strobe_wire_info){
		.kind = below(2) ? STROBE_WIRE_SAMPLES : STROBE_WIRE_RUN, .clock = (enum strobe_clock)below(3),
		.pid = (uint32_t)next_random(), .start_ns = next_random() >> 2, .period_ns = next_random() >> 1, .version = 1,
	};
	m->info.end_ns = m->info.start_ns + (next_random() >> 2);
	m->strings = 1 + below(64);
	for (uint32_t i = 0; i < m->strings; i++) {
		m->length[i] = (size_t)snprintf(m->text[i], sizeof(m->text[i]), "k%u%.*s", i, (int)below(12),
						"_abcdefghijk");
		if (i % 5 == 4)
			m->text[i][1] = 0, m->text[i][0] = (char)0xff;
	}
	m->labels = below(9);
	m->columns = below(5);
	m->drops = below(7);
	for (uint32_t i = 0; i < m->labels; i++) {
		m->label[i][0] = 1 + below(m->strings) / 5 * 5;		/* 1, 6, 11 …: valid keys */
		m->label[i][1] = below(m->strings + 1);
	}
	for (uint32_t i = 0; i < m->columns; i++) {
		m->column[i][0] = 1 + below(m->strings);
		m->column[i][1] = below(m->strings + 1);
	}
	for (uint32_t i = 0; i < m->drops; i++) {
		m->drop[i][0] = 1 + below(9);
		m->drop[i][1] = next_random() >> below(64);
	}
	m->frames = below(64);
	for (uint32_t i = 0; i < m->frames; i++) {
		m->frame[i][0] = below(m->strings + 1);
		m->frame[i][1] = below(m->strings + 1);
		m->frame[i][2] = (uint32_t)(next_random() >> (32 + below(32)));
	}
	m->nodes = m->frames ? below(300) : 0;
	for (uint32_t i = 0; i < m->nodes; i++) {
		m->parent[i] = below(i + 1);
		m->node_frame[i] = below(m->frames);
		make_values(m, m->value[i]);
	}
	if (below(2))
		model_make_2(m);
}

static size_t model_write(const struct model *m, void *buffer, size_t capacity)
{
	struct strobe_wire_writer w;

	strobe_wire_begin(&w, buffer, capacity, &m->info);
	for (uint32_t i = 0; i < m->strings; i++)
		CHECK_INT(strobe_wire_string(&w, m->text[i], m->length[i]), i + 1);
	for (uint32_t i = 0; i < m->labels; i++)
		strobe_wire_label(&w, m->label[i][0], m->label[i][1]);
	for (uint32_t i = 0; i < m->columns; i++)
		strobe_wire_column(&w, m->column[i][0], m->column[i][1]);
	for (uint32_t i = 0; i < m->drops; i++)
		strobe_wire_drop(&w, (enum strobe_drop)m->drop[i][0], m->drop[i][1]);
	for (uint32_t i = 0; i < m->frames; i++)
		CHECK_INT(strobe_wire_frame(&w, m->frame[i][0], m->frame[i][1], m->frame[i][2]), i);
	for (uint32_t i = 0; i < m->nodes; i++)
		CHECK_INT(strobe_wire_node_at(&w, m->parent[i], m->node_frame[i], m->line[i], m->value[i]), i + 1);
	for (uint32_t i = 0; i < m->edge_nodes; i++)
		CHECK_INT(strobe_wire_edge_node(&w, m->edge_frame[i], (uint32_t)(m->edge_level[i] / 2),
						m->edge_level[i] % 2 == 0, m->edge_value[i]), i);
	for (uint32_t i = 0; i < m->edge_pairs; i++)
		strobe_wire_edge_pair(&w, m->pair[i][0], m->pair[i][1], m->pair_value[i]);
	for (uint32_t i = 0; i < m->calls; i++)
		strobe_wire_call(&w, (uint32_t)m->call[i][0], m->call[i][1], m->call[i][2]);
	return strobe_wire_end(&w);
}

static bool values_match(const struct model *m, const int64_t *values, const uint8_t **p)
{
	bool same = true;

	for (uint32_t k = 0; k < m->columns; k++)
		same &= strobe_wire_unzigzag(strobe_wire_next(p)) == values[k];
	return same;
}

static bool version_2_matches(const struct model *m, const struct strobe_wire_message *got)
{
	const uint8_t *p = got->at_edge_nodes;
	bool same = m->edge_nodes == got->edge_nodes && m->edge_pairs == got->edge_pairs && m->calls == got->calls;

	for (uint32_t i = 0; i < m->edge_nodes && same; i++) {
		same &= strobe_wire_next(&p) == m->edge_frame[i];
		same &= strobe_wire_next(&p) == m->edge_level[i];
		same &= values_match(m, m->edge_value[i], &p);
	}
	same &= p == got->at_edge_pairs;
	for (uint32_t i = 0; i < m->edge_pairs && same; i++) {
		for (int k = 0; k < 2; k++)
			same &= strobe_wire_next(&p) == m->pair[i][k];
		same &= values_match(m, m->pair_value[i], &p);
	}
	same &= p == got->at_calls;
	for (uint32_t i = 0; i < m->calls && same; i++)
		for (int k = 0; k < 3; k++)
			same &= strobe_wire_next(&p) == m->call[i][k];
	return same;
}

/* Walks all sections of an accepted message and compares. */
static bool model_matches(const struct model *m, const struct strobe_wire_message *got)
{
	const uint8_t *p = got->at_strings;
	bool same = !memcmp(&m->info, &got->info, sizeof(m->info)) && m->labels == got->labels &&
		    m->columns == got->columns && m->drops == got->drops && m->strings == got->strings &&
		    m->frames == got->frames && m->nodes == got->nodes;

	for (uint32_t i = 0; i < m->strings && same; i++) {
		size_t n;
		const char *bytes = strobe_wire_next_string(&p, &n);

		same &= n == m->length[i] && !memcmp(bytes, m->text[i], n);
	}
	for (uint32_t i = 0; i < m->labels && same; i++)
		for (int k = 0; k < 2; k++)
			same &= strobe_wire_next(&p) == m->label[i][k];
	for (uint32_t i = 0; i < m->columns && same; i++)
		for (int k = 0; k < 2; k++)
			same &= strobe_wire_next(&p) == m->column[i][k];
	for (uint32_t i = 0; i < m->drops && same; i++)
		for (int k = 0; k < 2; k++)
			same &= strobe_wire_next(&p) == m->drop[i][k];
	same &= p == got->at_frames;
	for (uint32_t i = 0; i < m->frames && same; i++)
		for (int k = 0; k < 3; k++)
			same &= strobe_wire_next(&p) == m->frame[i][k];
	for (uint32_t i = 0; i < m->nodes && same; i++) {
		same &= i + 1 - strobe_wire_next(&p) == m->parent[i];
		same &= strobe_wire_next(&p) == m->node_frame[i];
		if (m->info.flags & STROBE_WIRE_LINES)
			same &= strobe_wire_next(&p) == m->line[i];
		same &= values_match(m, m->value[i], &p);
	}
	return same && p == got->at_edge_nodes && version_2_matches(m, got);
}

static struct model model;
static uint8_t buffer[1 << 16], copy[1 << 16];

TEST(every_message_survives_a_round_trip)
{
	unsigned nodes = 0, pairs = 0, calls = 0;

	for (int i = 0; i < 2000; i++) {
		struct strobe_wire_message got;
		size_t n;

		model_make(&model);
		n = model_write(&model, buffer, sizeof(buffer));
		CHECK(n <= sizeof(buffer));
		CHECK_INT(strobe_wire_parse(buffer, n, &got), STROBE_WIRE_OK);
		CHECK_INT(got.size, n);
		CHECK(model_matches(&model, &got));
		nodes += got.nodes;
		pairs += got.edge_pairs;
		calls += got.calls;
	}
	CHECK(nodes > 100000 && pairs > 10000 && calls > 10000);
}

TEST(samples_are_counted_in_the_first_column_named_samples)
{
	static const struct { const char *columns[3]; int64_t values[2][3]; uint64_t samples; } cases[] = {
		{ { "wall_ns", "samples", "samples" }, { { 100, 3, 50 }, { 100, 4, 50 } }, 7 },
		{ { "samples", "wall_ns", "x" }, { { -3, 1, 1 }, { 300, 1, 1 } }, 300 },
		{ { "samples_", "sample", "wall_ns" }, { { 1, 1, 1 }, { 1, 1, 1 } }, 0 },
		{ { "samples", "a", "b" }, { { INT64_MAX, 0, 0 }, { INT64_MIN, 0, 0 } }, INT64_MAX },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct strobe_wire_info info = { .kind = STROBE_WIRE_SAMPLES };
		struct strobe_wire_message got;
		struct strobe_wire_writer w;
		uint32_t columns[3], name, unit;

		strobe_wire_begin(&w, buffer, sizeof(buffer), &info);
		for (int k = 0; k < 3; k++)
			columns[k] = strobe_wire_string(&w, cases[i].columns[k], strlen(cases[i].columns[k]));
		unit = strobe_wire_string(&w, "count", 5);
		name = strobe_wire_string(&w, "f", 1);
		for (int k = 0; k < 3; k++)
			strobe_wire_column(&w, columns[k], unit);
		strobe_wire_frame(&w, name, 0, 0);
		for (uint32_t k = 0; k < 2; k++)
			strobe_wire_node(&w, k, 0, cases[i].values[k]);
		CHECK_INT(strobe_wire_parse(buffer, strobe_wire_end(&w), &got), STROBE_WIRE_OK);
		CHECK(got.samples == cases[i].samples);
	}
}

TEST(the_measured_size_matches_the_written_size)
{
	for (int i = 0; i < 200; i++) {
		size_t n, less;

		model_make(&model);
		n = model_write(&model, NULL, 0);
		CHECK_INT(model_write(&model, buffer, n), n);
		/* One byte less is too little: that is reported, and nothing is written beyond the end. */
		less = below((uint32_t)n);
		memset(copy, 0xa5, sizeof(copy));
		CHECK_INT(model_write(&model, copy, less), n);
		for (size_t k = less; k < n + 100; k++)
			if (copy[k] != 0xa5) {
				CHECK(!"written past the capacity");
				break;
			}
	}
}

TEST(every_truncated_message_is_rejected)
{
	for (int i = 0; i < 20; i++) {
		struct strobe_wire_message got;
		size_t n;

		model_make(&model);
		n = model_write(&model, buffer, sizeof(buffer));
		for (size_t k = 0; k < n; k++) {
			uint8_t size[4];

			CHECK_INT(parse_exactly(buffer, k, &got), STROBE_WIRE_TRUNCATED);
			if (k < strobe_wire_header_size(&model.info))
				continue;
			/* Even if the header claims the shorter size. */
			memcpy(size, buffer + 8, 4);
			strobe_wire_put_le(buffer + 8, k, 4);
			if (parse_exactly(buffer, k, &got) == STROBE_WIRE_OK)
				CHECK(!"a shorter message is accepted");
			memcpy(buffer + 8, size, 4);
		}
	}
}

TEST(changing_any_byte_yields_an_error_or_another_valid_message)
{
	unsigned refused = 0, accepted = 0;

	for (int i = 0; i < 10; i++) {
		size_t n;

		do {
			model_make(&model);
			n = model_write(&model, buffer, sizeof(buffer));
		} while (n > 2000);
		for (size_t k = 0; k < n; k++)
			for (unsigned bit = 0; bit < 8; bit++) {
				struct strobe_wire_message got;
				enum strobe_wire_error e;

				buffer[k] ^= (uint8_t)(1u << bit);
				e = parse_exactly(buffer, n, &got);
				buffer[k] ^= (uint8_t)(1u << bit);
				CHECK((unsigned)e < STROBE_WIRE_ERRORS);
				e ? refused++ : accepted++;
			}
	}
	CHECK(refused > 1000 && accepted > 1000);
}

TEST(garbage_is_rejected)
{
	for (int i = 0; i < 20000; i++) {
		struct strobe_wire_message got;
		size_t n = below(300);

		for (size_t k = 0; k < n; k++)
			buffer[k] = (uint8_t)next_random();
		/* Half of the messages pass the first checks. */
		if (i % 2 && n >= STROBE_WIRE_HEADER) {
			memcpy(buffer, i % 4 == 1 ? "STRB\1\1\1\0" : "STRB\2\1\1\0", 8);
			strobe_wire_put_le(buffer + 8, n, 4);
			memset(buffer + 16, 0, 48);
			for (int k = 40; k < 60; k += 4)
				buffer[k] = (uint8_t)below(4);
			if (i % 4 == 3 && n >= STROBE_WIRE_HEADER_2) {
				memset(buffer + 60, 0, 20);
				for (int k = 60; k < 72; k += 4)
					buffer[k] = (uint8_t)below(4);
			}
		}
		parse_exactly(buffer, n, &got);
	}
	CHECK_INT(parse_exactly((const uint8_t *)"", 0, &(struct strobe_wire_message){ 0 }), STROBE_WIRE_TRUNCATED);
}

TEST_MAIN()
