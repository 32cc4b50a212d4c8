/* wire_profile.h: converts between messages of wire/strobe_wire.h and profiles. */
#ifndef PROFILE_WIRE_PROFILE_H
#define PROFILE_WIRE_PROFILE_H

#include "batch.h"
#include "profile.h"
#include "strobe_wire.h"

/* Adds a message that strobe_wire_parse accepted to `p`: the tree, with lines if `p` keeps them, and the columns by name. Times,
 * period and labels of `p` are not touched. Returns -E2BIG (nothing added) if `p` has no room for its columns. */
int wire_profile_add(struct profile *p, const struct strobe_wire_message *m);

/* The same for a message with the columns of `p`: its stacks become nodes of `stacks`, which has no columns, and its
 * values become rows. */
int wire_profile_add_rows(struct profile *p, struct profile *stacks, struct batch_rows *rows, const struct strobe_wire_message *m);

/* The same including edges, and the flag that the tree is an estimate: for messages that together are the whole
 * content of `p`. Edges of several profiles are added up by profile_merge.
 *
 * If `capacity` (NULL: no limit) is too small, parts are pruned, and 1 is returned: stacks with the smallest values end
 * in PROFILE_PRUNED, and the functions with the smallest values become one function of that name in the edges and
 * have no nodes either, so that the sums stay correct and each other function keeps its values. A tree without
 * columns has nothing worth keeping, so all of it is pruned.
 *
 * A profile that keeps a chart gets the message's, if it had no nodes before. Pruned calls are replaced by one call
 * per outermost one; if there is no room, the calls that began first are kept. */
struct wire_capacity {
	uint32_t nodes, edge_nodes, edge_pairs, calls;
	const char *column;		/* the column that decides; NULL or a missing one: the default column */
};

int wire_profile_add_whole(struct profile *p, const struct strobe_wire_message *m, const struct wire_capacity *capacity);

/* Like wire_profile_add, and the chart of the message replaces that of `p`. */
int wire_profile_add_charted(struct profile *p, const struct strobe_wire_message *m);

/* Returns the first byte of a message accepted by strobe_wire_parse. */
static inline const uint8_t *wire_message_bytes(const struct strobe_wire_message *m)
{
	return m->at_strings - strobe_wire_header_size(&m->info);
}

/* Returns the same message for a copy of its bytes at `bytes`. */
struct strobe_wire_message wire_message_at(const struct strobe_wire_message *m, const void *bytes);

/* Reads the message's labels; replaces `ret`. */
void wire_profile_labels(const struct strobe_wire_message *m, struct labels *ret);

/* Appends `p` as one message, or as several that add up to it if one would exceed STROBE_WIRE_MAX. The version is 2
 * if it has edges, lines or a chart, or is an estimate; a chart that does not fit into the same message is left out.
 * Values of the tree's root are not written. Returns -E2BIG if a single name or label exceeds the caps. */
int wire_profile_write(const struct profile *p, struct buf *out, struct err *err);

/* The same as messages of a run. Returns -EINVAL if its label `source` or `id` is invalid for a run. */
int wire_profile_write_run(const struct profile *p, struct buf *out, struct err *err);

#endif
