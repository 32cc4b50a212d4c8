/* run_message.h: a tree as a run: a message of wire/strobe_wire.h of kind 2, or of kind 3 while it is running.
 *
 * A run is one profile that is kept as such: it has a source (a namespace), an id, perhaps a URL and a name, which
 * travel as labels. Its tree has one top node "main()", which is the root of the call tree; values are what each node
 * took itself. If the node budget has folded calls, a label "folded_calls" says how many, and a label
 * "uncharted_calls" how many calls its flame chart had no room for. The losses that it reports are runs.
 */
#ifndef STROBE_RUN_MESSAGE_H
#define STROBE_RUN_MESSAGE_H

#include "call_tree.h"
#include "request_labels.h"
#include "sender.h"

struct run_info {
	const char *source, *id;	/* as strobe_wire_is_run_key says */
	const char *url, *name;		/* or NULL; cut to STROBE_WIRE_LABEL_VALUE bytes */
	const struct request_labels *attributes;	/* or NULL; labels of this run alone, in place of equal ones */
	uint32_t pid;
	bool open;			/* the run has not ended: a message of kind 3 */
};

/* Whether a label of this key identifies the run, so that no other label may have it. */
bool run_is_reserved(const char *key, size_t n);

/* Sends the tree to `path`, by memfd when it is large, with the losses of `s` that the daemon does not know of yet.
 * Labels with a reserved key are left out. Never waits. Returns 0, or why it could not be sent, which is counted in `s`
 * as one lost run unless it is open: that takes no losses along either. */
int run_message_send(struct sender *s, const char *path, const struct call_tree *t, const struct run_info *info,
		     const struct request_labels *labels);

/* Announces a run with this source and id, or withdraws the announcement. If that cannot be sent nothing is counted. */
void run_message_announce(struct sender *s, const char *path, const struct run_info *info, bool discarded);

#endif
