/* strobe_wire.h: the message that carries a profile from a PHP process to the daemon.
 *
 * One message is one calling context tree with values, the labels that describe it, and a count of what was lost
 * before it. A PHP process sends messages over a unix SOCK_SEQPACKET socket, one datagram each; a `.strobe` file is
 * such messages one after another. Header only, so that the extension and the daemon share these bytes and no
 * runtime. It needs nothing but the C library's memcpy and memcmp, and never allocates.
 *
 * Layout, versions 1 and 2. All integers of the header are little-endian.
 *
 *   offset  size  header
 *        0     4  magic "STRB"
 *        4     1  version, 1 or 2
 *        5     1  kind: 1 samples (what was seen of a series of labels between start and end; messages add up)
 *                       2 run (one exact profile, such as the trace of a request; each message is one of its own)
 *                       3 open run (what is known so far of a run that has not ended; see below)
 *                       4 open samples (what a samples message that is still to come has at least; see below)
 *        6     1  clock that ran the sampling: 0 none, 1 wall, 2 CPU
 *        7     1  zero
 *        8     4  length of the whole message in bytes, header included
 *       12     4  process id of the sender as it sees itself, 0 if it has none
 *       16     8  start, nanoseconds since 1970-01-01 00:00 UTC
 *       24     8  end, the same; not before start
 *       32     8  sampling period in nanoseconds, 0 if nothing was sampled by time
 *       40     2  number of labels
 *       42     2  number of value columns
 *       44     2  number of drop counts
 *       46     2  version 1: zero
 *                 version 2: flags, added up: 1 nodes have lines, 2 the tree is an estimate, 4 more of the same profile
 *                       follows in the next message
 *       48     4  number of strings
 *       52     4  number of frames
 *       56     4  number of nodes
 *       60     4  version 1: zero
 *                 version 2: number of edge nodes
 *       64        version 1: body, the first six of the sections below, in this order, without gaps
 *       64     4  version 2: number of edge pairs
 *       68     4  number of calls
 *       72     8  zero
 *       80        version 2: body, all sections below
 *
 * Writers use version 1 for all that it can say, so that older readers understand them.
 *
 * The body is made of varints: unsigned LEB128, least significant group first, at most 10 bytes, no value above
 * 2^64-1. A signed value is zigzag coded first (0, -1, 1, -2 … become 0, 1, 2, 3 …). A string reference is 0 for
 * "none", else 1 + the index of the string.
 *
 *   strings  length, then that many bytes. Any bytes: names are not always UTF-8. Each string once.
 *   labels   key reference, value reference
 *   columns  name reference, unit reference ("samples" in "count", "wall_ns" in "nanoseconds")
 *   drops    reason (enum strobe_drop), number of samples (in a run: of runs) lost for it since the last message that
 *            arrived
 *   frames   name reference, file reference, line of the definition (0 unknown)
 *   nodes    distance to the parent, frame index, the line if the nodes have lines, one signed value per column (what
 *            the node itself took, without its children). Node i is counted from 1; its parent is node i - distance;
 *            node 0 is the root of the tree, which has no frame, no values and no bytes here. So a parent always
 *            stands before its children.
 *            The line is the one that ran (0 unknown): where the stack ends in the node, the line executed there, else
 *            the line of the call to its children. One frame may stand below one parent several times, by line.
 *   edge nodes  frame reference (0 the root, else 1 + the index), twice the level of recursion and 1 if it may stand in
 *            one stack twice, one signed value per column (src/profile/edges.h says what they mean). They are counted
 *            from 0; the root can only be the first, and is at level 0.
 *   edge pairs  caller, callee (edge nodes, the callee not the root), one signed value per column
 *   calls    the order in which things were called, by start: node, start in nanoseconds since that of the call before
 *            (the first: since the start of the message), duration in nanoseconds
 *
 * Edges are what was measured per pair of caller and callee (xhprof, callgrind); the tree beside them is an estimate.
 * Only files and stores hold one profile in several messages, and the daemon refuses a run that is continued. Their
 * trees add up, as do their edges, which may stand in any of them; nodes and pairs may come again, as places of others.
 *
 * A run has these labels beside those that samples have; each may be absent. Their values are no paths and no secrets:
 *
 *   source   the namespace that the run belongs to, [A-Za-z0-9._-]{1,64}; "default" if absent
 *   id       its name there, [A-Za-z0-9._-]{1,64}; the receiver makes one if absent
 *   url      path and query of the request
 *   name     anything that people call it
 *
 * Its columns are "calls", "wall_ns", "cpu_ns", "off_cpu_ns" (wall less CPU), "memory_bytes", "peak_memory_bytes",
 * "allocations", "frees", "allocated_bytes", "samples", as far as they were measured. Values may be negative: memory
 * shrinks. Its top node is usually "main()", which holds everything.
 *
 * An open run says that a run with this id has begun, so that it is not lost without a count when its process is killed. It may
 * have nodes: what has been measured up to its end time. The next message about the same id on the same connection takes its
 * place: another open run, the run itself (kind 2), or an open run with a label "discarded", after which no run comes. One with
 * nodes may also come on a connection of its own, and then does not replace what has a later end. It carries no drop counts.
 *
 * Open samples are told by a process whose PHP thread waits in one call and can send nothing itself. The samples messages with
 * the same process id and the same start time, whether they come before or after and on whichever connection, hold all of
 * it and more; so do open samples with that start and a later end. It counts only if the process is killed before those come.
 * It carries no drop counts.
 *
 * A message is valid if, checked in this order,
 *    1. there are at least 64 bytes,
 *    2. the magic is right,
 *    3. the version is known, and there are at least the bytes of its header,
 *    4. the kind is known,
 *    5. the length is that of the data, and at most STROBE_WIRE_MAX,
 *    6. clock, flags, reserved bytes and times are as above,
 *    7. every count is within its cap below,
 *    8. every section ends inside the message, every varint is well formed, every string is within its cap,
 *    9. label keys match [A-Za-z_][A-Za-z0-9_]*, label and column names and values are within their caps and
 *       stand among the first STROBE_WIRE_NAMED strings; in a run `source` and `id` are as above, and neither "." nor
 *       "..", which would not survive in an address,
 *   10. every reference names an existing string, frame or node, every parent stands before its node, the root of the
 *       edges is where it may be, lines and levels have 32 bits, and no start or duration of a call is above 2^63-1,
 *   11. the last section ends where the message ends.
 *
 * The default limit of a unix datagram is 212,960 bytes, so a message above STROBE_WIRE_INLINE travels as a file
 * descriptor (SCM_RIGHTS) of a memfd sealed with F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL. It holds
 * that message, or several one after another: smaller ones that found no room in the socket's buffer. The datagram that
 * carries it is this envelope:
 *
 *   offset  size  envelope
 *        0     4  magic "STRF"
 *        4     4  version, 1
 *        8     8  size of the memfd in bytes
 */
#ifndef STROBE_WIRE_H
#define STROBE_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define STROBE_WIRE_HEADER	64			/* version 1; no message is shorter */
#define STROBE_WIRE_HEADER_2	80
#define STROBE_WIRE_ENVELOPE	16
#define STROBE_WIRE_INLINE	(128u * 1024)		/* larger messages go by memfd */
#define STROBE_WIRE_MAX		(64u * 1024 * 1024)

/* Caps of what one message may hold. */
#define STROBE_WIRE_LABELS	64u
#define STROBE_WIRE_LABEL_KEY	64u			/* bytes */
#define STROBE_WIRE_LABEL_VALUE	1024u			/* bytes */
#define STROBE_WIRE_RUN_KEY	64u			/* bytes, source and id of a run each */
#define STROBE_WIRE_COLUMNS	16u
#define STROBE_WIRE_COLUMN	64u			/* bytes, name and unit each */
#define STROBE_WIRE_NAMED	256u			/* labels and columns refer to the first so many strings */
#define STROBE_WIRE_DROPS	16u
#define STROBE_WIRE_STRINGS	(4u * 1024 * 1024)
#define STROBE_WIRE_STRING	(64u * 1024)		/* bytes */
#define STROBE_WIRE_FRAMES	(4u * 1024 * 1024)
#define STROBE_WIRE_NODES	(16u * 1024 * 1024)
#define STROBE_WIRE_EDGE_NODES	STROBE_WIRE_FRAMES
#define STROBE_WIRE_EDGE_PAIRS	(16u * 1024 * 1024)
#define STROBE_WIRE_CALLS	(16u * 1024 * 1024)

enum strobe_wire_flag {
	STROBE_WIRE_LINES = 1,
	STROBE_WIRE_ESTIMATE = 2,
	STROBE_WIRE_CONTINUED = 4,
	STROBE_WIRE_FLAGS = 7
};

enum strobe_wire_kind { STROBE_WIRE_SAMPLES = 1, STROBE_WIRE_RUN = 2, STROBE_WIRE_OPEN_RUN = 3,
			STROBE_WIRE_OPEN_SAMPLES = 4 };

/* Whether a message of that kind is about a run, whole or not. */
static inline int strobe_wire_is_run(enum strobe_wire_kind kind)
{
	return kind == STROBE_WIRE_RUN || kind == STROBE_WIRE_OPEN_RUN;
}

/* Whether what it says comes once more. */
static inline int strobe_wire_is_open(enum strobe_wire_kind kind)
{
	return kind == STROBE_WIRE_OPEN_RUN || kind == STROBE_WIRE_OPEN_SAMPLES;
}

enum strobe_clock { STROBE_CLOCK_NONE = 0, STROBE_CLOCK_WALL = 1, STROBE_CLOCK_CPU = 2 };

/* Why a sender lost samples or runs. Numbers are part of the format; a reader shows unknown ones as "other".
 *
 * All count samples that are missing in the profile. STROBE_DROP_JIT counts samples that were never taken: a request
 * that cannot be sampled counts the sampling periods that it ran for. A sender that has no samples tells its losses
 * in a message with labels and drops only, which every reader of version 1 takes. */
enum strobe_drop {
	STROBE_DROP_NO_DAEMON = 1,	/* nobody listened on the socket, or it was not there */
	STROBE_DROP_FULL = 2,		/* the daemon did not read; the socket's buffer was full */
	STROBE_DROP_TOO_LARGE = 3,	/* the message would have been above a cap */
	STROBE_DROP_NO_MEMORY = 4,	/* no memory, or no memfd */
	STROBE_DROP_REFUSED = 5,	/* no permission to write to the socket */
	STROBE_DROP_JIT = 6,		/* not taken: PHP's JIT makes it unsafe to interrupt; see below */
	STROBE_DROP_KILLED = 7,		/* a run: its process was gone before its end. Counted by the receiver */
	STROBE_DROP_TABLE_FULL = 8,	/* a system sampler's table of counts, or of threads that wait, was full */
	STROBE_DROP_TORN = 9,		/* a system sampler without BPF: the thread ran at each attempt to read its stack */
	STROBE_DROP_REASONS
};

/* Why a message was not accepted: the results of strobe_wire_parse and strobe_wire_open_envelope. */
enum strobe_wire_error {
	STROBE_WIRE_OK = 0,
	STROBE_WIRE_TRUNCATED,
	STROBE_WIRE_BAD_MAGIC,
	STROBE_WIRE_UNKNOWN_VERSION,
	STROBE_WIRE_UNKNOWN_KIND,
	STROBE_WIRE_BAD_LENGTH,
	STROBE_WIRE_TOO_LARGE,
	STROBE_WIRE_BAD_HEADER,
	STROBE_WIRE_TOO_MANY,
	STROBE_WIRE_BAD_VARINT,
	STROBE_WIRE_BAD_LABEL,
	STROBE_WIRE_BAD_REFERENCE,
	STROBE_WIRE_TRAILING,
	STROBE_WIRE_ERRORS
};

/* The name of an error as a metric label, such as "bad_magic". */
static inline const char *strobe_wire_error_name(enum strobe_wire_error e)
{
	static const char *const names[STROBE_WIRE_ERRORS] = {
		"ok", "truncated", "bad_magic", "unknown_version", "unknown_kind", "bad_length", "too_large",
		"bad_header", "too_many", "bad_varint", "bad_label", "bad_reference", "trailing_bytes",
	};

	return (unsigned)e < STROBE_WIRE_ERRORS ? names[e] : "other";
}

/* The name of a drop reason as a metric label, such as "no_daemon". */
static inline const char *strobe_drop_name(unsigned reason)
{
	static const char *const names[STROBE_DROP_REASONS] = {
		"other", "no_daemon", "socket_full", "too_large", "no_memory", "refused", "jit", "killed",
		"table_full", "torn",
	};

	return reason < STROBE_DROP_REASONS ? names[reason] : names[0];
}

/* The header's fields beside the counts; the same struct is written and read. */
struct strobe_wire_info {
	enum strobe_wire_kind kind;
	enum strobe_clock clock;
	uint32_t pid;
	uint16_t version;		/* 2 for flags, edges and calls; 0 is written as 1 */
	uint16_t flags;			/* bits of enum strobe_wire_flag */
	uint64_t start_ns, end_ns, period_ns;
};

static inline void strobe_wire_put_le(uint8_t *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static inline uint64_t strobe_wire_get_le(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

static inline uint64_t strobe_wire_zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (v < 0 ? ~(uint64_t)0 : 0);
}

static inline int64_t strobe_wire_unzigzag(uint64_t v)
{
	return (int64_t)((v >> 1) ^ (~(v & 1) + 1));
}

/* --- Writing ---------------------------------------------------------------------------------------------------
 *
 * Begin, add the sections in their order, end:
 *
 *	strobe_wire_begin(&w, buffer, sizeof(buffer), &info);
 *	strobe_wire_string(&w, "entry", 5); …
 *	strobe_wire_label(&w, 1, 2); …
 *	size_t size = strobe_wire_end(&w);
 *
 * Nothing is written past `capacity`, but the size goes on being counted: when the result of strobe_wire_end is
 * above the capacity the buffer holds no message, and a second pass with that many bytes will fit. A NULL buffer
 * of capacity 0 only measures. The caller keeps to the caps; readers enforce them.
 */
struct strobe_wire_writer {
	uint8_t *buffer;
	size_t capacity, size;
	uint32_t labels, columns, drops, strings, frames, nodes, edge_nodes, edge_pairs, calls;
	struct strobe_wire_info info;
};

static inline size_t strobe_wire_header_size(const struct strobe_wire_info *info)
{
	return info->version == 2 ? STROBE_WIRE_HEADER_2 : STROBE_WIRE_HEADER;
}

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

/* Writes a number where there is room for STROBE_WIRE_VARINT_MAX bytes, all of which may be written to. Returns the end of
 * it. Times differ in length so much that a processor guesses wrong at every other byte of a loop: seven bits are put into
 * each byte all at once instead. */
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

/* Adds a string; returns the reference to it. */
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

/* Adds a node below `parent` (0 is the root) with as many values as there are columns; returns its number. The line is
 * written if the nodes of the message have lines. */
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

/* The three below are of version 2. Adds an edge node; returns its number. */
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

/* Fills in the header. Returns the size of the message, which the buffer holds if it is not above the capacity. */
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

/* --- Reading ---------------------------------------------------------------------------------------------------
 *
 * strobe_wire_parse checks a whole message by the list above. Only then are the cursors usable, and they need no
 * more checks: walk a section with exactly as many steps as its count says.
 */
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

/* Reads one varint. Returns 0 when it is cut off, longer than 10 bytes or above 64 bits; nothing is read then. */
static inline int strobe_wire_get_varint(struct strobe_wire_cursor *c, uint64_t *ret)
{
	const uint8_t *p = c->p;
	uint64_t v = 0;

	/* Nearly all have one byte. */
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

/* The next varint of a message that strobe_wire_parse has accepted. */
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

/* The next string of an accepted message; it points into the message. */
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

/* Whether these bytes may be the source or the id of a run. */
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

/* Finds string `reference` (1-based) by walking; only for the few strings of labels and columns. */
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

/* Checks pairs of string references (labels, columns): both exist, lengths are within the caps. */
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
		/* Finding a string walks, so what labels and columns name must stand near the start. */
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

/* The labels of a run that name it; strobe_wire_check_pairs has accepted all of them. */
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

/* The number of the message's first column "samples"; as many as it has if there is none. */
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

/* Counts the samples on the way, so that nobody needs to walk again for them. */
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
			/* A number below zero is odd in zigzag. */
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

/* The end of the first of several messages that stand one after another. If that is not in the data it is all of it, which
 * then is no message. */
static inline size_t strobe_wire_first(const void *data, size_t size)
{
	size_t n = size < STROBE_WIRE_HEADER ? 0 : (size_t)strobe_wire_get_le((const uint8_t *)data + 8, 4);

	return n < STROBE_WIRE_HEADER || n > size ? size : n;
}

/* Checks the `size` bytes at `data` as one message and finds its sections. `data` must not change while `m` is
 * used, which for a memfd means that its seals were checked first. On an error `m` is unusable, but its header
 * fields are filled as far as they were read. */
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
