/* wire_labels.h: a message with more labels, its bytes otherwise untouched.
 *
 * Runs wait as the bytes they came in, so labels that the daemon knows of their sender are inserted into the message without decoding
 * it. */
#ifndef PROFILE_WIRE_LABELS_H
#define PROFILE_WIRE_LABELS_H

#include "labels.h"
#include "strobe_wire.h"

/* Puts the message (which strobe_wire_parse accepted) into `out`, in place of what is there, with those of `more` that it lacks. Labels that a
 * message cannot have, and `source`, `id` and `discarded`, which say what a run is, are left out. False: there are none to add, or there is no
 * room for them. */
bool wire_labels_add(const struct strobe_wire_message *m, const struct labels *more, struct buf *out);

/* Adds the clock of a message's header as a label if the sender did not: it decides what a sample means. */
void wire_labels_add_clock(struct labels *l, enum strobe_clock clock);

#endif
