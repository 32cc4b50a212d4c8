/* pushed.h: the content of another profiler's message: profiles by series and bucket, ready for the collector.
 *
 * Readers of the formats (push_pprof.h, push_text.h, otlp_read.h) fill it; nothing is handed on before a whole message was
 * read, so that a message is taken or refused as a whole. */
#ifndef EXCHANGE_PUSHED_H
#define EXCHANGE_PUSHED_H

#include "batch.h"
#include "err.h"
#include "profile.h"
#include "strobe_wire.h"

#define PUSHED_BYTES_MAX	((size_t)64 << 20)	/* limit of an uncompressed message */
#define PUSHED_SERIES_MAX	10000u			/* series and buckets of one message */
#define PUSHED_ATTRIBUTES_MAX	(4u << 20)	/* labels of all its samples, those of their profile included */
#define PUSHED_NODES_MAX	(4u << 20)		/* frames of all its stacks; a long name counts as several */
#define PUSHED_DEPTH_MAX	2048u			/* frames of a stack */
#define PUSHED_NAME_MAX		STROBE_WIRE_STRING	/* bytes of a frame's name or file */

/* When and how it was measured. */
struct pushed_facts {
	enum strobe_clock clock;
	int64_t period_ns;			/* 0: unknown */
	int64_t start_ns, end_ns;		/* 0: unknown. The bucket is the one of the end, as with messages of PHP */
};

struct pushed_series {
	struct profile *profile;		/* with its labels, times and period */
	enum strobe_clock clock;
};

struct pushed {
	struct pushed_series *items;
	size_t count, capacity;
	uint64_t nodes;				/* frames that were looked up */
	uint64_t attributes;			/* those of samples */
	struct intern keys;			/* series and buckets, by number */
	struct buf key;
	uint64_t labels_cut;			/* values longer than labels may be */
	uint64_t labels_left_out;		/* for their name, or as there were too many */
	uint64_t ids_dropped;			/* those labels among them that only runs keep */
};

void pushed_init(struct pushed *p);
void pushed_done(struct pushed *p);

/* The profile of these labels, facts and bucket. -E2BIG with a sentence if there are too many, or it was requested too often. */
int pushed_series(struct pushed *p, const struct labels *labels, const struct pushed_facts *f, struct profile **ret,
		  struct err *err);

/* Counts a frame that is about to be looked up, which takes longer the longer its name is. -E2BIG with a sentence if there were too
 * many. */
int pushed_node(struct pushed *p, size_t name_size, struct err *err);

/* Counts one attribute of a sample. -E2BIG: the push has too many. */
int pushed_attribute(struct pushed *p, struct err *err);

/* Goes from *node of `to` on to the child that frame `frame` of another profile names, at the executed line. */
int pushed_child(struct pushed *p, struct profile *to, uint32_t *node, const struct profile *from, uint32_t frame, uint32_t line,
		 struct err *err);

/* The node that has the values of a stack which ends in `node`: the root has none on the wire, so that a stack without frames is
 * "[no stack]". */
uint32_t pushed_leaf(struct profile *to, uint32_t node);

/* Sets a label by another system's name: what is no letter, digit or _ becomes _. Left out are private names ("__name__"),
 * ids of threads, processes, traces, spans and profiles, which would make a series of each sample, and `clock` and `tenant`, which
 * only this side decides. Values are cut at STROBE_WIRE_LABEL_VALUE bytes. */
void pushed_label(struct pushed *p, struct labels *l, struct str key, struct str value);

/* Appends the whole as messages of wire/strobe_wire.h, with the label `tenant` unless that is NULL, and by the time `now_ns`
 * where none is known. */
int pushed_write(struct pushed *p, const char *tenant, int64_t now_ns, struct buf *out, struct err *err);

/* -EINVAL with a sentence for what cannot be the header X-Scope-OrgID: 1 to 150 of letters, digits and !-_.*'(), and neither
 * "." nor "..". Several tenants (a|b) can only be read. */
int pushed_check_tenant(const char *tenant, struct err *err);

#endif
