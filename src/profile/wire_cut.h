/* wire_cut.h: selects the smallest parts of an oversized message, to be dropped.
 *
 * It only reads the message's numbers, which takes 13 bytes a node and 8 a pair meanwhile: a tenth of what they would take as
 * parts of a profile.
 */
#ifndef PROFILE_WIRE_CUT_H
#define PROFILE_WIRE_CUT_H

#include "wire_profile.h"

struct wire_cut {
	bool *nodes;		/* by node of the message, of those whose caller is not cut; NULL: none is */
	bool *frames;		/* by frame of the message, whose functions are cut from the edges; NULL: none is */
};

/* `column` is one of the message's, by which nodes and functions are worth more or less. */
void wire_cut_find(struct wire_cut *c, const struct strobe_wire_message *m, uint32_t column, const struct wire_room *room);
void wire_cut_done(struct wire_cut *c);

#endif
