/* strobe_wire.h: the message that carries a profile from a PHP process to the daemon.
 *
 * One message is one calling context tree with values, the labels that describe it, and a count of what was lost
 * before it. A PHP process sends messages over a unix SOCK_SEQPACKET socket, one datagram each; a `.strobe` file is
 * such messages one after another. Header only, so that the extension and the daemon share these bytes and no
 * runtime. It needs nothing but the C library's memcpy, memset and memcmp, and never allocates. The writer
 * (strobe_wire_write.h) and the reader (strobe_wire_read.h) come with it.
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
 * Writers use version 1 for everything that it can represent, so that older readers understand them.
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
 * An open run announces that a run with this id has begun, so that it is counted as lost if its process is killed. It
 * may have nodes: what has been measured up to its end time. The next message with the same id on the same connection
 * replaces it: another open run, the run itself (kind 2), or an open run with a label "discarded", after which no run
 * follows. One with nodes may also arrive on another connection, and then does not replace messages with a later end.
 * It carries no drop counts.
 *
 * Open samples are sent on behalf of a PHP thread that waits in one call and cannot send anything itself. They are
 * included in the samples messages with the same process id and start time, which may arrive earlier or later and on
 * any connection, and in open samples with that start and a later end. They count only if the process is killed
 * before those arrive. They carry no drop counts.
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

#define STROBE_WIRE_HEADER	64			/* version 1; every message has at least these bytes */
#define STROBE_WIRE_HEADER_2	80
#define STROBE_WIRE_ENVELOPE	16
#define STROBE_WIRE_INLINE	(128u * 1024)		/* larger messages go by memfd */
#define STROBE_WIRE_MAX		(64u * 1024 * 1024)

/* Limits of a message. */
#define STROBE_WIRE_LABELS	64u
#define STROBE_WIRE_LABEL_KEY	64u			/* bytes */
#define STROBE_WIRE_LABEL_VALUE	1024u			/* bytes */
#define STROBE_WIRE_RUN_KEY	64u			/* bytes, of source and id of a run each */
#define STROBE_WIRE_COLUMNS	16u
#define STROBE_WIRE_COLUMN	64u			/* bytes, of name and unit each */
#define STROBE_WIRE_NAMED	256u			/* labels and columns may refer to only the first strings */
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

/* Whether a message of that kind belongs to a run, complete or not. */
static inline int strobe_wire_is_run(enum strobe_wire_kind kind)
{
	return kind == STROBE_WIRE_RUN || kind == STROBE_WIRE_OPEN_RUN;
}

/* Whether its content is sent again later. */
static inline int strobe_wire_is_open(enum strobe_wire_kind kind)
{
	return kind == STROBE_WIRE_OPEN_RUN || kind == STROBE_WIRE_OPEN_SAMPLES;
}

enum strobe_clock { STROBE_CLOCK_NONE = 0, STROBE_CLOCK_WALL = 1, STROBE_CLOCK_CPU = 2 };

/* Reasons for which a sender lost samples or runs. Numbers are part of the format; readers show unknown ones as
 * "other".
 *
 * Each counts samples that are missing in the profile. STROBE_DROP_JIT counts samples that were never taken: a
 * request that cannot be sampled counts the sampling periods during which it ran. A sender without samples reports
 * its losses in a message that has only labels and drops, which every reader of version 1 accepts. */
enum strobe_drop {
	STROBE_DROP_NO_DAEMON = 1,	/* nothing listened on the socket, or it did not exist */
	STROBE_DROP_FULL = 2,		/* the daemon did not read; the socket's buffer was full */
	STROBE_DROP_TOO_LARGE = 3,	/* the message would have exceeded a limit */
	STROBE_DROP_NO_MEMORY = 4,	/* no memory, or no memfd */
	STROBE_DROP_REFUSED = 5,	/* no permission to write to the socket */
	STROBE_DROP_JIT = 6,		/* not taken: PHP's JIT makes it unsafe to interrupt; see below */
	STROBE_DROP_KILLED = 7,		/* a run whose process was killed. Counted by the receiver */
	STROBE_DROP_TABLE_FULL = 8,	/* a system sampler's table of counts, or of waiting threads, was full */
	STROBE_DROP_TORN = 9,		/* a system sampler without BPF: the thread ran whenever its stack was read */
	STROBE_DROP_REASONS
};

/* Reasons to reject a message: results of strobe_wire_parse and strobe_wire_open_envelope. */
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

/* Returns the metric label for an error, such as "bad_magic". */
static inline const char *strobe_wire_error_name(enum strobe_wire_error e)
{
	static const char *const names[STROBE_WIRE_ERRORS] = {
		"ok", "truncated", "bad_magic", "unknown_version", "unknown_kind", "bad_length", "too_large",
		"bad_header", "too_many", "bad_varint", "bad_label", "bad_reference", "trailing_bytes",
	};

	return (unsigned)e < STROBE_WIRE_ERRORS ? names[e] : "other";
}

/* Returns the metric label for a drop reason, such as "no_daemon". */
static inline const char *strobe_drop_name(unsigned reason)
{
	static const char *const names[STROBE_DROP_REASONS] = {
		"other", "no_daemon", "socket_full", "too_large", "no_memory", "refused", "jit", "killed",
		"table_full", "torn",
	};

	return reason < STROBE_DROP_REASONS ? names[reason] : names[0];
}

/* The header's fields except counts; used for both writing and reading. */
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

static inline size_t strobe_wire_header_size(const struct strobe_wire_info *info)
{
	return info->version == 2 ? STROBE_WIRE_HEADER_2 : STROBE_WIRE_HEADER;
}

#include "strobe_wire_write.h"
#include "strobe_wire_read.h"

#endif
