/* wire_profile.h: converts between messages of wire/strobe_wire.h and profiles. */
#ifndef PROFILE_WIRE_PROFILE_H
#define PROFILE_WIRE_PROFILE_H

#include "batch.h"
#include "profile.h"
#include "strobe_wire.h"

/* Adds a message that strobe_wire_parse accepted to `p`: the tree, with lines if `p` keeps them, and the columns by name. Times,
 * period and labels of `p` are not touched. Returns -E2BIG (nothing added) if `p` has no room for its columns. */
int wire_profile_add(struct profile *p, const struct strobe_wire_message *m);

/* The same for a message whose columns are those of `p`: its stacks become nodes of `stacks`, which has no columns, and its values
 * rows. */
int wire_profile_add_rows(struct profile *p, struct profile *stacks, struct batch_rows *rows, const struct strobe_wire_message *m);

/* The same with its edges, and with the knowledge that the tree is an estimate: for messages that together are all that
 * `p` is to hold. Edges of several profiles are added up by profile_merge.
 *
 * Where `room` (NULL: any) is too small, a part is left out, and 1 is returned: stacks end in PROFILE_PRUNED where those with the
 * least values begin, and the functions with the least values are one function of that name among the edges and have no nodes
 * either, so that the sums stay right and each other function keeps its values. A tree without columns has nothing
 * worth keeping, so all of it is cut.
 *
 * A profile that keeps a chart gets that of the message, if it has had no nodes before: of what is cut one call per outermost one,
 * and where there is no room the calls that began first. */
struct wire_room {
	uint32_t nodes, edge_nodes, edge_pairs, calls;
	const char *column;		/* the column whose values count; NULL or a missing one: that of pictures */
};

int wire_profile_add_whole(struct profile *p, const struct strobe_wire_message *m, const struct wire_room *room);

/* Like wire_profile_add, and the chart of the message takes the place of the one that `p` has. */
int wire_profile_add_charted(struct profile *p, const struct strobe_wire_message *m);

/* The first byte of a message that strobe_wire_parse accepted. */
static inline const uint8_t *wire_message_bytes(const struct strobe_wire_message *m)
{
	return m->at_strings - strobe_wire_header_size(&m->info);
}

/* The same message when its bytes lie elsewhere, at `bytes`. */
struct strobe_wire_message wire_message_at(const struct strobe_wire_message *m, const void *bytes);

/* The message's labels; replaces `ret`. */
void wire_profile_labels(const struct strobe_wire_message *m, struct labels *ret);

/* Appends `p` as one message, or as several that add up to it when one would be above STROBE_WIRE_MAX. It is of version 2
 * if it has edges or lines, or is an estimate, or has a chart, which is left out if it does not fit into one message with all else. Values of the root of the tree have no place in it. -E2BIG if one name or label alone is above
 * the caps. */
int wire_profile_write(const struct profile *p, struct buf *out, struct err *err);

/* The same as messages of a run. -EINVAL if its label `source` or `id` is invalid for a run. */
int wire_profile_write_run(const struct profile *p, struct buf *out, struct err *err);

#endif
