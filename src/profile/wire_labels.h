/* wire_labels.h: adds labels to a message without changing its other content.
 *
 * Runs are queued as received, so labels that the daemon knows about their sender are inserted without decoding the
 * message. */
#ifndef PROFILE_WIRE_LABELS_H
#define PROFILE_WIRE_LABELS_H

#include "labels.h"
#include "strobe_wire.h"

/* Writes the message (accepted by strobe_wire_parse) to `out`, replacing its content, with the labels of `more` that
 * it lacks. Labels that a message cannot have are left out, and so are `source`, `id` and `discarded`, which identify
 * a run. Returns false if there are none to add, or there is no room for them. */
bool wire_labels_add(const struct strobe_wire_message *m, const struct labels *more, struct buf *out);

/* Adds the clock in a message's header as a label if the sender did not: it determines the meaning of a sample. */
void wire_labels_add_clock(struct labels *l, enum strobe_clock clock);

#endif
