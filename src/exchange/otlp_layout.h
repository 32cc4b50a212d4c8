/* otlp_layout.h: detects the version of the .proto files that a request of OTLP profiles uses, since requests do not
 * state it.
 *
 * Field numbers changed three times, and a reader of one layout accepts another without an error but loses the
 * values. All samples of a request are examined:
 *	Profile 3 is bytes				1.7 or older
 *	Profile 8 is bytes, or there is a 12		1.8, whose samples are those of 1.9
 *	Sample 3 is bytes, or several numbers		1.9 or 1.8: a list of attributes
 *	Sample 4 is bytes, or several numbers		1.10 or newer: a list of values
 *	a Sample of 2 without 4 and 5			1.9 or 1.8: one without values would tell nothing
 *	a Sample of 4 without 2 and 5			1.10 or newer, for the same reason
 *	a KeyValue of a resource has a 3, or its AnyValue an 8	1.10 or newer: indices of strings
 *	Samples of 1, 2 and 5				1.10 or newer, unless 2 and 5 are as many in all of them, and a number of 2 is
 *							not the index of an attribute, or occurs twice (below 64)
 * and where none of these is found, as lists of one number that are not packed look like the index of a link:
 *	Sample 4 is a number				a link of 1.9 if 2 is packed and there is such a link, else a value of 1.10
 *	Sample 3 is a number				a link of 1.10
 */
#ifndef EXCHANGE_OTLP_LAYOUT_H
#define EXCHANGE_OTLP_LAYOUT_H

#include "err.h"

#include <stdbool.h>
#include <stddef.h>

enum otlp_layout { OTLP_LAYOUT_1_9, OTLP_LAYOUT_1_10 };

/* Requests converted from JSON (otlp_messages.h) have names and thus one layout; only 1.7 or older is refused there.
 * -EINVAL with a sentence if the layout is older, or if parts contradict each other. Damaged bytes are not reported
 * here. */
int otlp_layout(const void *bytes, size_t n, bool from_json, enum otlp_layout *ret, struct err *err);

#endif
