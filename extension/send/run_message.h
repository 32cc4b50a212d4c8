/* run_message.h: a tree as a run: a message of wire/strobe_wire.h of kind 2, or of kind 3 while it is running.
 *
 * A run is a profile that is stored individually: it has a source (a namespace), an id, and optionally a URL and a
 * name, all sent as labels. Its tree has one top node "main()", which is the root of the call tree; values are self
 * values. If calls were folded because of the node budget, a label "folded_calls" has their number, and a label
 * "uncharted_calls" the number of calls that did not fit into its flame chart. Losses reported with it are numbers of
 * runs.
 */
#ifndef STROBE_RUN_MESSAGE_H
#define STROBE_RUN_MESSAGE_H

#include "call_tree.h"
#include "request_labels.h"
#include "sender.h"

struct run_info {
	const char *source, *id;	/* valid by strobe_wire_is_run_key */
	const char *url, *name;		/* may be NULL; truncated to STROBE_WIRE_LABEL_VALUE bytes */
	const struct request_labels *attributes;	/* or NULL; labels of this run alone, in place of equal ones */
	uint32_t pid;
	bool open;			/* the run has not ended: a message of kind 3 */
};

/* Whether labels with this key identify the run, so that no other label may use it. */
bool run_is_reserved(const char *key, size_t n);

/* Sends the tree to `path`, by memfd if it is large, with unreported losses of `s`. Labels with a reserved key are
 * omitted. Never blocks. Returns 0, or the reason for a loss, which is counted in `s` as one lost run. An open
 * message neither counts as lost nor carries losses. */
int run_message_send(struct sender *s, const char *path, const struct call_tree *t, const struct run_info *info,
		     const struct request_labels *labels);

/* Announces a run with this source and id, or withdraws the announcement. Nothing is counted if that fails. */
void run_message_announce(struct sender *s, const char *path, const struct run_info *info, bool discarded);

#endif
