/* pushed.h: the content of another profiler's message: profiles by series and bucket, ready for the collector.
 *
 * Readers of the formats (push_pprof.h, push_text.h, otlp_read.h) fill it. Nothing is passed on before the whole message
 * was read, so messages are accepted or refused as a whole. */
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

/* Time, clock and period of a measurement. */
struct pushed_metadata {
	enum strobe_clock clock;
	int64_t period_ns;			/* 0: unknown */
	int64_t start_ns, end_ns;		/* 0: unknown. The bucket is that of the end, as for messages of PHP */
};

struct pushed_series {
	struct profile *profile;		/* with its labels, times and period */
	enum strobe_clock clock;
};

struct pushed {
	struct pushed_series *items;
	size_t count, capacity;
	uint64_t nodes;				/* frames looked up so far */
	uint64_t attributes;			/* attributes of samples so far */
	struct intern keys;			/* series and buckets, by number */
	struct buf key;
	uint64_t labels_cut;			/* values longer than labels may be */
	uint64_t labels_left_out;		/* because of their name, or because there were too many */
	uint64_t ids_dropped;			/* omitted labels that are only kept with runs */
};

void pushed_init(struct pushed *p);
void pushed_done(struct pushed *p);

/* Finds or creates the profile for these labels, facts and bucket. -E2BIG with a sentence if there are too many
 * series, or too many calls. */
int pushed_series(struct pushed *p, const struct labels *labels, const struct pushed_metadata *f, struct profile **ret,
		  struct err *err);

/* Counts a frame before it is looked up; a long name counts as several, since looking it up takes longer. -E2BIG with
 * a sentence if there were too many. */
int pushed_node(struct pushed *p, size_t name_size, struct err *err);

/* Counts one attribute of a sample. -E2BIG: the push has too many. */
int pushed_attribute(struct pushed *p, struct err *err);

/* Moves *node of `to` to its child for frame `frame` of another profile, at the executed line. */
int pushed_child(struct pushed *p, struct profile *to, uint32_t *node, const struct profile *from, uint32_t frame, uint32_t line,
		 struct err *err);

/* Returns the node that gets the values of a stack ending in `node`. The root cannot have values on the wire, so
 * stacks without frames become "[no stack]". */
uint32_t pushed_leaf(struct profile *to, uint32_t node);

/* Sets a label from another system's attribute: characters other than letters, digits and _ become _. Omits
 * private names ("__name__"), ids of threads, processes, traces, spans and profiles, which would make a series of
 * each sample, and `clock` and `tenant`, which are set on this side only. Values are cut at
 * STROBE_WIRE_LABEL_VALUE bytes. */
void pushed_label(struct pushed *p, struct labels *l, struct str key, struct str value);

/* Appends everything as messages of wire/strobe_wire.h, with the label `tenant` unless that is NULL. Profiles of
 * unknown time get `now_ns`. */
int pushed_write(struct pushed *p, const char *tenant, int64_t now_ns, struct buf *out, struct err *err);

/* Checks a value of the header X-Scope-OrgID: 1 to 150 letters, digits and !-_.*'(), but not "." or "..". Several
 * tenants (a|b) are valid only for reading. -EINVAL with a sentence. */
int pushed_check_tenant(const char *tenant, struct err *err);

#endif
