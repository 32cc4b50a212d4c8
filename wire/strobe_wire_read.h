/* strobe_wire_read.h: the reader of messages; included only by strobe_wire.h, which has the rules for valid messages.
 *
 * strobe_wire_parse checks a whole message by these rules. After that, cursors need no further checks: walk a section
 * with exactly as many steps as its count says.
 */
#ifndef STROBE_WIRE_READ_H
#define STROBE_WIRE_READ_H

struct strobe_wire_message {
	struct strobe_wire_info info;
	uint32_t labels, columns, drops, strings, frames, nodes, edge_nodes, edge_pairs, calls;	/* counts */
	const uint8_t *at_strings, *at_labels, *at_columns, *at_drops, *at_frames, *at_nodes;
	const uint8_t *at_edge_nodes, *at_edge_pairs, *at_calls;
	size_t size;
	uint64_t samples;	/* sum of the first column "samples", without negative values */
};

struct strobe_wire_cursor {
	const uint8_t *p, *end;
};

/* Reads one varint. Returns 0, without advancing, if it is truncated, longer than 10 bytes or above 64 bits. */
static inline int strobe_wire_get_varint(struct strobe_wire_cursor *c, uint64_t *ret)
{
	const uint8_t *p = c->p;
	uint64_t v = 0;

	/* Nearly all varints have one byte. */
	if (p != c->end && *p < 0x80) {
		*ret = *p;
		c->p = p + 1;
		return 1;
	}
	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte;

		if (p == c->end)
			return 0;
		byte = *p++;
		if (shift == 63 && byte > 1)
			return 0;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			c->p = p;
			*ret = v;
			return 1;
		}
	}
	return 0;
}

/* Reads the next varint of an accepted message. */
static inline uint64_t strobe_wire_next(const uint8_t **p)
{
	uint8_t byte = *(*p)++;
	uint64_t v = byte & 0x7f;

	for (unsigned shift = 7; byte & 0x80; shift += 7) {
		byte = *(*p)++;
		v |= (uint64_t)(byte & 0x7f) << shift;
	}
	return v;
}

/* Reads the next string of an accepted message; the result points into the message. */
static inline const char *strobe_wire_next_string(const uint8_t **p, size_t *ret_length)
{
	const char *bytes;

	*ret_length = (size_t)strobe_wire_next(p);
	bytes = (const char *)*p;
	*p += *ret_length;
	return bytes;
}

static inline int strobe_wire_is_label_key(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t lower = p[i] | 0x20;
		int letter = (lower >= 'a' && lower <= 'z') || p[i] == '_';

		if (!letter && (i == 0 || p[i] < '0' || p[i] > '9'))
			return 0;
	}
	return n > 0;
}

/* Whether the bytes are a valid source or id of a run. */
static inline int strobe_wire_is_run_key(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char lower = (char)(p[i] | 0x20);

		if ((lower < 'a' || lower > 'z') && (p[i] < '0' || p[i] > '9') && p[i] != '.' && p[i] != '_' &&
		    p[i] != '-')
			return 0;
	}
	if (n && p[0] == '.' && (n == 1 || (n == 2 && p[1] == '.')))
		return 0;
	return n > 0 && n <= STROBE_WIRE_RUN_KEY;
}

/* Finds string `reference` (1-based) by walking; meant for the few strings of labels and columns. */
static inline const char *strobe_wire_find_string(const struct strobe_wire_message *m, uint64_t reference,
						  size_t *ret_length)
{
	const uint8_t *p = m->at_strings;
	const char *bytes = "";

	*ret_length = 0;
	for (uint64_t i = 0; i < reference; i++)
		bytes = strobe_wire_next_string(&p, ret_length);
	return bytes;
}

static inline enum strobe_wire_error strobe_wire_check_strings(struct strobe_wire_cursor *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t length;

		if (!strobe_wire_get_varint(c, &length))
			return STROBE_WIRE_BAD_VARINT;
		if (length > STROBE_WIRE_STRING)
			return STROBE_WIRE_TOO_MANY;
		if (length > (size_t)(c->end - c->p))
			return STROBE_WIRE_TRUNCATED;
		c->p += length;
	}
	return STROBE_WIRE_OK;
}

/* Checks pairs of string references (labels, columns): both must exist, with lengths within the limits. */
static inline enum strobe_wire_error strobe_wire_check_pairs(const struct strobe_wire_message *m,
							     struct strobe_wire_cursor *c, uint32_t n,
							     size_t first_cap, size_t second_cap, int keys)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t first, second;
		size_t length;
		const char *bytes;

		if (!strobe_wire_get_varint(c, &first) || !strobe_wire_get_varint(c, &second))
			return STROBE_WIRE_BAD_VARINT;
		if (first > m->strings || second > m->strings)
			return STROBE_WIRE_BAD_REFERENCE;
		/* Finding a string means walking, so labels and columns must refer to strings near the start. */
		if (first > STROBE_WIRE_NAMED || second > STROBE_WIRE_NAMED)
			return STROBE_WIRE_BAD_LABEL;
		bytes = strobe_wire_find_string(m, first, &length);
		if (length == 0 || length > first_cap ||
		    (keys && !strobe_wire_is_label_key((const uint8_t *)bytes, length)))
			return STROBE_WIRE_BAD_LABEL;
		strobe_wire_find_string(m, second, &length);
		if (length > second_cap)
			return STROBE_WIRE_BAD_LABEL;
	}
	return STROBE_WIRE_OK;
}

/* Checks the labels that name a run; strobe_wire_check_pairs has accepted all labels. */
static inline enum strobe_wire_error strobe_wire_check_run(const struct strobe_wire_message *m)
{
	const uint8_t *p = m->at_labels;

	for (uint32_t i = 0; i < m->labels; i++) {
		size_t key_length, length;
		const char *key = strobe_wire_find_string(m, strobe_wire_next(&p), &key_length);
		const char *value = strobe_wire_find_string(m, strobe_wire_next(&p), &length);

		if (((key_length == 6 && !memcmp(key, "source", 6)) || (key_length == 2 && !memcmp(key, "id", 2))) &&
		    !strobe_wire_is_run_key(value, length))
			return STROBE_WIRE_BAD_LABEL;
	}
	return STROBE_WIRE_OK;
}

static inline enum strobe_wire_error strobe_wire_check_frames(const struct strobe_wire_message *m,
							      struct strobe_wire_cursor *c)
{
	for (uint32_t i = 0; i < m->frames; i++) {
		uint64_t name, file, line;

		if (!strobe_wire_get_varint(c, &name) || !strobe_wire_get_varint(c, &file) ||
		    !strobe_wire_get_varint(c, &line))
			return STROBE_WIRE_BAD_VARINT;
		if (name > m->strings || file > m->strings || line > UINT32_MAX)
			return STROBE_WIRE_BAD_REFERENCE;
	}
	return STROBE_WIRE_OK;
}

/* Returns the index of the first column "samples", or the number of columns if there is none. */
static inline uint32_t strobe_wire_samples_column(const struct strobe_wire_message *m)
{
	const uint8_t *p = m->at_columns;

	for (uint32_t i = 0; i < m->columns; i++) {
		size_t length;
		const char *name = strobe_wire_find_string(m, strobe_wire_next(&p), &length);

		strobe_wire_next(&p);
		if (length == 7 && !memcmp(name, "samples", 7))
			return i;
	}
	return m->columns;
}

/* Also sums up samples, so that callers need not walk again. */
static inline enum strobe_wire_error strobe_wire_check_nodes(struct strobe_wire_message *m,
							     struct strobe_wire_cursor *c)
{
	uint32_t samples = strobe_wire_samples_column(m);
	int has_lines = m->info.flags & STROBE_WIRE_LINES;

	for (uint32_t i = 1; i <= m->nodes; i++) {
		uint64_t distance, frame, value, line = 0;

		if (!strobe_wire_get_varint(c, &distance) || !strobe_wire_get_varint(c, &frame) ||
		    (has_lines && !strobe_wire_get_varint(c, &line)))
			return STROBE_WIRE_BAD_VARINT;
		if (distance == 0 || distance > i || frame >= m->frames || line > UINT32_MAX)
			return STROBE_WIRE_BAD_REFERENCE;
		for (uint32_t k = 0; k < m->columns; k++) {
			if (!strobe_wire_get_varint(c, &value))
				return STROBE_WIRE_BAD_VARINT;
			/* In zigzag coding, negative numbers are odd. */
			if (k == samples && !(value & 1))
				m->samples += value >> 1;
		}
	}
	return STROBE_WIRE_OK;
}

static inline int strobe_wire_skip_values(const struct strobe_wire_message *m, struct strobe_wire_cursor *c)
{
	for (uint32_t i = 0; i < m->columns; i++) {
		uint64_t value;

		if (!strobe_wire_get_varint(c, &value))
			return 0;
	}
	return 1;
}

static inline enum strobe_wire_error strobe_wire_check_edges(struct strobe_wire_message *m,
							     struct strobe_wire_cursor *c)
{
	int has_root = 0;

	for (uint32_t i = 0; i < m->edge_nodes; i++) {
		uint64_t frame, level;

		if (!strobe_wire_get_varint(c, &frame) || !strobe_wire_get_varint(c, &level) ||
		    !strobe_wire_skip_values(m, c))
			return STROBE_WIRE_BAD_VARINT;
		if (frame > m->frames || level / 2 > UINT32_MAX || (!frame && (i || level)))
			return STROBE_WIRE_BAD_REFERENCE;
		has_root |= !frame;
	}
	m->at_edge_pairs = c->p;
	for (uint32_t i = 0; i < m->edge_pairs; i++) {
		uint64_t caller, callee;

		if (!strobe_wire_get_varint(c, &caller) || !strobe_wire_get_varint(c, &callee) ||
		    !strobe_wire_skip_values(m, c))
			return STROBE_WIRE_BAD_VARINT;
		if (caller >= m->edge_nodes || callee >= m->edge_nodes || (has_root && !callee))
			return STROBE_WIRE_BAD_REFERENCE;
	}
	return STROBE_WIRE_OK;
}

static inline enum strobe_wire_error strobe_wire_check_calls(const struct strobe_wire_message *m,
							     struct strobe_wire_cursor *c)
{
	uint64_t start = 0;

	for (uint32_t i = 0; i < m->calls; i++) {
		uint64_t node, since, duration;

		if (!strobe_wire_get_varint(c, &node) || !strobe_wire_get_varint(c, &since) ||
		    !strobe_wire_get_varint(c, &duration))
			return STROBE_WIRE_BAD_VARINT;
		if (!node || node > m->nodes || since > (uint64_t)INT64_MAX - start || duration > (uint64_t)INT64_MAX)
			return STROBE_WIRE_BAD_REFERENCE;
		start += since;
	}
	return STROBE_WIRE_OK;
}

/* Reads the header: points 1 to 7 of the list. */
static inline enum strobe_wire_error strobe_wire_parse_header(const uint8_t *p, size_t size,
							      struct strobe_wire_message *m)
{
	memset(m, 0, sizeof(*m));
	if (size < STROBE_WIRE_HEADER)
		return STROBE_WIRE_TRUNCATED;
	if (memcmp(p, "STRB", 4))
		return STROBE_WIRE_BAD_MAGIC;
	m->info.version = p[4];
	if (p[4] != 1 && p[4] != 2)
		return STROBE_WIRE_UNKNOWN_VERSION;
	if (size < strobe_wire_header_size(&m->info))
		return STROBE_WIRE_TRUNCATED;
	if (p[5] < STROBE_WIRE_SAMPLES || p[5] > STROBE_WIRE_OPEN_SAMPLES)
		return STROBE_WIRE_UNKNOWN_KIND;
	m->size = (size_t)strobe_wire_get_le(p + 8, 4);
	if (m->size > STROBE_WIRE_MAX)
		return STROBE_WIRE_TOO_LARGE;
	if (m->size > size)
		return STROBE_WIRE_TRUNCATED;
	if (m->size != size)
		return STROBE_WIRE_BAD_LENGTH;

	m->info.kind = (enum strobe_wire_kind)p[5];
	m->info.clock = (enum strobe_clock)p[6];
	m->info.pid = (uint32_t)strobe_wire_get_le(p + 12, 4);
	m->info.start_ns = strobe_wire_get_le(p + 16, 8);
	m->info.end_ns = strobe_wire_get_le(p + 24, 8);
	m->info.period_ns = strobe_wire_get_le(p + 32, 8);
	m->labels = (uint32_t)strobe_wire_get_le(p + 40, 2);
	m->columns = (uint32_t)strobe_wire_get_le(p + 42, 2);
	m->drops = (uint32_t)strobe_wire_get_le(p + 44, 2);
	m->strings = (uint32_t)strobe_wire_get_le(p + 48, 4);
	m->frames = (uint32_t)strobe_wire_get_le(p + 52, 4);
	m->nodes = (uint32_t)strobe_wire_get_le(p + 56, 4);
	m->info.flags = (uint16_t)strobe_wire_get_le(p + 46, 2);
	m->edge_nodes = (uint32_t)strobe_wire_get_le(p + 60, 4);
	if (m->info.version == 2) {
		m->edge_pairs = (uint32_t)strobe_wire_get_le(p + 64, 4);
		m->calls = (uint32_t)strobe_wire_get_le(p + 68, 4);
		if (m->info.flags & ~STROBE_WIRE_FLAGS || strobe_wire_get_le(p + 72, 8))
			return STROBE_WIRE_BAD_HEADER;
	} else if (m->info.flags || m->edge_nodes) {
		return STROBE_WIRE_BAD_HEADER;
	}
	if (p[6] > STROBE_CLOCK_CPU || p[7] ||
	    m->info.end_ns < m->info.start_ns || m->info.end_ns > (uint64_t)INT64_MAX ||
	    m->info.period_ns > (uint64_t)INT64_MAX)
		return STROBE_WIRE_BAD_HEADER;
	if (m->labels > STROBE_WIRE_LABELS || m->columns > STROBE_WIRE_COLUMNS || m->drops > STROBE_WIRE_DROPS ||
	    m->strings > STROBE_WIRE_STRINGS || m->frames > STROBE_WIRE_FRAMES || m->nodes > STROBE_WIRE_NODES ||
	    m->edge_nodes > STROBE_WIRE_EDGE_NODES || m->edge_pairs > STROBE_WIRE_EDGE_PAIRS ||
	    m->calls > STROBE_WIRE_CALLS)
		return STROBE_WIRE_TOO_MANY;
	return STROBE_WIRE_OK;
}

/* Returns the size of the first of several concatenated messages. If it exceeds the data, returns the size of the
 * data, which then is not a valid message. */
static inline size_t strobe_wire_first(const void *data, size_t size)
{
	size_t n = size < STROBE_WIRE_HEADER ? 0 : (size_t)strobe_wire_get_le((const uint8_t *)data + 8, 4);

	return n < STROBE_WIRE_HEADER || n > size ? size : n;
}

/* Checks `size` bytes at `data` as one message and finds its sections. `data` must not change while `m` is used; for
 * a memfd, check its seals first. On an error `m` is unusable, except the header fields read so far. */
static inline enum strobe_wire_error strobe_wire_parse(const void *data, size_t size, struct strobe_wire_message *m)
{
	const uint8_t *p = data;
	struct strobe_wire_cursor c;
	enum strobe_wire_error e = strobe_wire_parse_header(p, size, m);

	if (e)
		return e;
	c.p = p + strobe_wire_header_size(&m->info);
	c.end = p + size;

	m->at_strings = c.p;
	if ((e = strobe_wire_check_strings(&c, m->strings)))
		return e;
	m->at_labels = c.p;
	if ((e = strobe_wire_check_pairs(m, &c, m->labels, STROBE_WIRE_LABEL_KEY, STROBE_WIRE_LABEL_VALUE, 1)))
		return e;
	if (strobe_wire_is_run(m->info.kind) && (e = strobe_wire_check_run(m)))
		return e;
	m->at_columns = c.p;
	if ((e = strobe_wire_check_pairs(m, &c, m->columns, STROBE_WIRE_COLUMN, STROBE_WIRE_COLUMN, 0)))
		return e;
	m->at_drops = c.p;
	for (uint32_t i = 0; i < m->drops; i++) {
		uint64_t reason, samples;

		if (!strobe_wire_get_varint(&c, &reason) || !strobe_wire_get_varint(&c, &samples))
			return STROBE_WIRE_BAD_VARINT;
	}
	m->at_frames = c.p;
	if ((e = strobe_wire_check_frames(m, &c)))
		return e;
	m->at_nodes = c.p;
	if ((e = strobe_wire_check_nodes(m, &c)))
		return e;
	m->at_edge_nodes = c.p;
	if ((e = strobe_wire_check_edges(m, &c)))
		return e;
	m->at_calls = c.p;
	if ((e = strobe_wire_check_calls(m, &c)))
		return e;
	return c.p == c.end ? STROBE_WIRE_OK : STROBE_WIRE_TRAILING;
}

/* Reads an envelope. Returns STROBE_WIRE_BAD_MAGIC for other bytes, such as a message. */
static inline enum strobe_wire_error strobe_wire_open_envelope(const void *data, size_t size, uint64_t *ret_size)
{
	const uint8_t *p = data;

	if (size < 4 || memcmp(p, "STRF", 4))
		return STROBE_WIRE_BAD_MAGIC;
	if (size != STROBE_WIRE_ENVELOPE)
		return STROBE_WIRE_BAD_LENGTH;
	if (strobe_wire_get_le(p + 4, 4) != 1)
		return STROBE_WIRE_UNKNOWN_VERSION;
	*ret_size = strobe_wire_get_le(p + 8, 8);
	return *ret_size > STROBE_WIRE_MAX ? STROBE_WIRE_TOO_LARGE : STROBE_WIRE_OK;
}

#endif
