/* push_name.h: the name that Pyroscope's old agents give a profile: "app.cpu{key=value,key2=value2}". */
#ifndef EXCHANGE_PUSH_NAME_H
#define EXCHANGE_PUSH_NAME_H

#include "pushed.h"

/* Describes values of a text format; chosen by the last part of the name. */
struct push_type {
	const char *suffix;
	const char *name;			/* __name__ */
	const char *column, *unit;
	enum strobe_clock clock;		/* a clock: values are sample counts, taken at the rate of the push */
};

/* Reads the name into labels, among them `service_name`: a label of that name comes before the application's, which is then the
 * label `app_name`. With `typed`, the part after the last dot is the profile type: a known one is stripped, anything else means CPU.
 * -EINVAL with a sentence. */
int push_name(struct pushed *p, struct str text, bool typed, struct labels *ret, const struct push_type **ret_type,
	      struct err *err);

#endif
