/* strobe_wire_write.h: the writer of messages; included only by strobe_wire.h, which documents the layout.
 *
 * Begin, add the sections in order, and end:
 *
 *	strobe_wire_begin(&w, buffer, sizeof(buffer), &info);
 *	strobe_wire_string(&w, "entry", 5); …
 *	strobe_wire_label(&w, 1, 2); …
 *	size_t size = strobe_wire_end(&w);
 *
 * Nothing is written past `capacity`, but the size is still counted: if the result of strobe_wire_end exceeds the
 * capacity, the buffer has no message, and a second pass with that many bytes will fit. A NULL buffer of capacity 0
 * only measures. The caller must respect the limits; readers enforce them.
 */
#ifndef STROBE_WIRE_WRITE_H
#define STROBE_WIRE_WRITE_H

struct strobe_wire_writer {
	uint8_t *buffer;
	size_t capacity, size;
	uint32_t labels, columns, drops, strings, frames, nodes, edge_nodes, edge_pairs, calls;
	struct strobe_wire_info info;
};

static inline void strobe_wire_begin(struct strobe_wire_writer *w, void *buffer, size_t capacity,
				     const struct strobe_wire_info *info)
{
	memset(w, 0, sizeof(*w));
	w->buffer = buffer;
	w->capacity = capacity;
	w->size = strobe_wire_header_size(info);
	w->info = *info;
}

static inline void strobe_wire_put_varint(struct strobe_wire_writer *w, uint64_t v)
{
	if (v < 0x80 && w->size < w->capacity) {
		w->buffer[w->size++] = (uint8_t)v;
		return;
	}
	do {
		uint8_t byte = (uint8_t)(v & 0x7f);

		v >>= 7;
		if (w->size < w->capacity)
			w->buffer[w->size] = v ? (uint8_t)(byte | 0x80) : byte;
		w->size++;
	} while (v);
}

#define STROBE_WIRE_VARINT_MAX 10u

/* Writes a number where STROBE_WIRE_VARINT_MAX bytes may be overwritten. Returns its end. The lengths of times vary
 * so much that a loop would mispredict branches at every other byte, so all bytes get their seven bits at once. */
static inline uint8_t *strobe_wire_encode_varint(uint8_t *p, uint64_t v)
{
	if (v < 0x80) {
		*p = (uint8_t)v;
		return p + 1;
	}
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (v < (uint64_t)1 << 56) {
		unsigned bits = 64 - (unsigned)__builtin_clzll(v), size = (bits + 6) * 37 / 256; /* by 7, rounded up */

		v = (v & 0x000000000fffffff) | (v & 0x00fffffff0000000) << 4;
		v = (v & 0x00003fff00003fff) | (v & 0x0fffc0000fffc000) << 2;
		v = (v & 0x007f007f007f007f) | (v & 0x3f803f803f803f80) << 1;
		v |= 0x8080808080808080 & (((uint64_t)1 << 8 * (size - 1)) - 1);
		memcpy(p, &v, sizeof(v));
		return p + size;
	}
#endif
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p = (uint8_t)v;
	return p + 1;
}

/* Adds a string; returns a reference to it. */
static inline uint32_t strobe_wire_string(struct strobe_wire_writer *w, const char *bytes, size_t length)
{
	strobe_wire_put_varint(w, length);
	if (length && w->size <= w->capacity && length <= w->capacity - w->size)
		memcpy(w->buffer + w->size, bytes, length);
	w->size += length;
	return ++w->strings;
}

static inline void strobe_wire_label(struct strobe_wire_writer *w, uint32_t key, uint32_t value)
{
	strobe_wire_put_varint(w, key);
	strobe_wire_put_varint(w, value);
	w->labels++;
}

static inline void strobe_wire_column(struct strobe_wire_writer *w, uint32_t name, uint32_t unit)
{
	strobe_wire_put_varint(w, name);
	strobe_wire_put_varint(w, unit);
	w->columns++;
}

static inline void strobe_wire_drop(struct strobe_wire_writer *w, enum strobe_drop reason, uint64_t samples)
{
	strobe_wire_put_varint(w, reason);
	strobe_wire_put_varint(w, samples);
	w->drops++;
}

/* Adds a frame; returns its index. */
static inline uint32_t strobe_wire_frame(struct strobe_wire_writer *w, uint32_t name, uint32_t file, uint32_t line)
{
	strobe_wire_put_varint(w, name);
	strobe_wire_put_varint(w, file);
	strobe_wire_put_varint(w, line);
	return w->frames++;
}

static inline void strobe_wire_put_values(struct strobe_wire_writer *w, const int64_t *values)
{
	for (uint32_t i = 0; i < w->columns; i++)
		strobe_wire_put_varint(w, strobe_wire_zigzag(values[i]));
}

/* Adds a node below `parent` (0 is the root) with one value per column; returns its index. The line is written if
 * nodes of this message have lines. */
static inline uint32_t strobe_wire_node_at(struct strobe_wire_writer *w, uint32_t parent, uint32_t frame, uint32_t line,
					   const int64_t *values)
{
	uint32_t number = ++w->nodes;
	uint8_t *p;

	if (w->size <= w->capacity && w->capacity - w->size >= (3 + (size_t)w->columns) * STROBE_WIRE_VARINT_MAX) {
		p = strobe_wire_encode_varint(w->buffer + w->size, number - parent);
		p = strobe_wire_encode_varint(p, frame);
		if (w->info.flags & STROBE_WIRE_LINES)
			p = strobe_wire_encode_varint(p, line);
		for (uint32_t i = 0; i < w->columns; i++)
			p = strobe_wire_encode_varint(p, strobe_wire_zigzag(values[i]));
		w->size = (size_t)(p - w->buffer);
		return number;
	}
	strobe_wire_put_varint(w, number - parent);
	strobe_wire_put_varint(w, frame);
	if (w->info.flags & STROBE_WIRE_LINES)
		strobe_wire_put_varint(w, line);
	strobe_wire_put_values(w, values);
	return number;
}

static inline uint32_t strobe_wire_node(struct strobe_wire_writer *w, uint32_t parent, uint32_t frame,
					const int64_t *values)
{
	return strobe_wire_node_at(w, parent, frame, 0, values);
}

/* The next three require version 2. Adds an edge node; returns its index. */
static inline uint32_t strobe_wire_edge_node(struct strobe_wire_writer *w, uint32_t frame_reference, uint32_t level,
					     int is_once, const int64_t *values)
{
	strobe_wire_put_varint(w, frame_reference);
	strobe_wire_put_varint(w, 2 * (uint64_t)level + !is_once);
	strobe_wire_put_values(w, values);
	return w->edge_nodes++;
}

static inline void strobe_wire_edge_pair(struct strobe_wire_writer *w, uint32_t caller, uint32_t callee,
					 const int64_t *values)
{
	strobe_wire_put_varint(w, caller);
	strobe_wire_put_varint(w, callee);
	strobe_wire_put_values(w, values);
	w->edge_pairs++;
}

static inline void strobe_wire_call(struct strobe_wire_writer *w, uint32_t node, uint64_t since_last_ns,
				    uint64_t duration_ns)
{
	strobe_wire_put_varint(w, node);
	strobe_wire_put_varint(w, since_last_ns);
	strobe_wire_put_varint(w, duration_ns);
	w->calls++;
}

/* Fills in the header. Returns the size of the message, which is in the buffer if it does not exceed the capacity. */
static inline size_t strobe_wire_end(struct strobe_wire_writer *w)
{
	uint8_t *p = w->buffer;

	if (w->size > w->capacity)
		return w->size;
	memset(p, 0, strobe_wire_header_size(&w->info));
	memcpy(p, "STRB", 4);
	p[4] = w->info.version == 2 ? 2 : 1;
	p[5] = (uint8_t)w->info.kind;
	p[6] = (uint8_t)w->info.clock;
	strobe_wire_put_le(p + 8, w->size, 4);
	strobe_wire_put_le(p + 12, w->info.pid, 4);
	strobe_wire_put_le(p + 16, w->info.start_ns, 8);
	strobe_wire_put_le(p + 24, w->info.end_ns, 8);
	strobe_wire_put_le(p + 32, w->info.period_ns, 8);
	strobe_wire_put_le(p + 40, w->labels, 2);
	strobe_wire_put_le(p + 42, w->columns, 2);
	strobe_wire_put_le(p + 44, w->drops, 2);
	strobe_wire_put_le(p + 48, w->strings, 4);
	strobe_wire_put_le(p + 52, w->frames, 4);
	strobe_wire_put_le(p + 56, w->nodes, 4);
	if (w->info.version == 2) {
		strobe_wire_put_le(p + 46, w->info.flags, 2);
		strobe_wire_put_le(p + 60, w->edge_nodes, 4);
		strobe_wire_put_le(p + 64, w->edge_pairs, 4);
		strobe_wire_put_le(p + 68, w->calls, 4);
	}
	return w->size;
}

/* Writes the 16 bytes that announce a memfd of `size` bytes. */
static inline void strobe_wire_put_envelope(uint8_t *p, uint64_t size)
{
	memcpy(p, "STRF", 4);
	strobe_wire_put_le(p + 4, 1, 4);
	strobe_wire_put_le(p + 8, size, 8);
}

#endif
