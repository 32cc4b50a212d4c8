/* source.h: where messages come from. A source knows its transport and nothing of stores. */
#ifndef COLLECT_SOURCE_H
#define COLLECT_SOURCE_H

#include "err.h"
#include "loop.h"
#include "strobe_wire.h"
#include <stdatomic.h>

/* Counted by every source, read by any thread. */
struct source_counters {
	_Atomic uint64_t messages, bytes, connections, connections_now;
	_Atomic uint64_t connections_refused;			/* above the limit, or of descriptors */
	_Atomic uint64_t connections_closed_for_garbage;
	_Atomic uint64_t rejected[STROBE_WIRE_ERRORS];		/* by enum strobe_wire_error */
	_Atomic uint64_t rejected_memfd;			/* not sealed, not readable, wrong size */
	_Atomic int64_t last_message_ns;
};

struct source;

/* Called with each valid message; `m` points into memory that lives until it returns. */
typedef void source_got(void *data, const struct strobe_wire_message *m);

struct source_ops {
	const char *scheme;					/* "unix" */
	int (*open)(const char *url, struct loop *loop, source_got *got, void *data, struct source **ret,
		    struct err *err);
	void (*ack)(struct source *s);				/* all messages so far are durable; may be NULL */
	struct source *(*close)(struct source *s);
};

struct source {
	const struct source_ops *ops;
	char *url;
	struct source_counters counters;
	source_got *got;
	void *data;
	struct loop *loop;
};

/* Opens "unix:/run/strobe/strobe.sock" (and, later, other schemes) and adds it to the loop. */
int source_open(const char *url, struct loop *loop, source_got *got, void *data, struct source **ret, struct err *err);
struct source *source_close(struct source *s);

#endif
