/* wire_cut.h: selects the smallest parts of an oversized message, to be dropped.
 *
 * It only reads the message's numbers, and temporarily needs 13 bytes per node and 8 per pair: a tenth of their size
 * as parts of a profile.
 */
#ifndef PROFILE_WIRE_CUT_H
#define PROFILE_WIRE_CUT_H

#include "wire_profile.h"

struct wire_cut {
	bool *nodes;		/* by node of the message; set if it is cut, but its caller is not; NULL: none is */
	bool *frames;		/* by frame of the message; set if cut from the edges; NULL: none is */
};

/* `column` is the column of the message that decides which nodes and functions are cut. */
void wire_cut_find(struct wire_cut *c, const struct strobe_wire_message *m, uint32_t column, const struct wire_capacity *capacity);
void wire_cut_done(struct wire_cut *c);

#endif
